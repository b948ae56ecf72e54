//! What strategies and parameters change about the study: what strategies promise once they
//! sync, what they rely on where several writers share the file, and which parameters are for
//! which strategies.

use model::guarantee::Guarantee;
use model::study::{AppliesWhen, Is, PromiseWhen, ReliesOn};

use crate::rules::{for_strategies, promise, relies, where_set};

pub(super) const WRITTEN: &str = "process crash: nothing acknowledged is lost; power failure: \
                                  data not yet written back is lost";
pub(super) const SYNCED: &str = "process crash: nothing acknowledged is lost; power failure: \
                                 nothing acknowledged is lost, provided that the device honours \
                                 flushes";

/// Those that write each record to the file, and sync that file.
const WRITING: &[&str] = &[
    "reopen",
    "held",
    "flock",
    "flock-nonblocking",
    "ofd-lock",
    "php-held",
    "php-reopen",
    "php-flock",
    "php-flock-nonblocking",
    "python-file-handler",
    "python-watched-file-handler",
];

const EACH: (&str, Is) = ("sync", Is::OneOf(&["each"]));
const EVERY: (&str, Is) = ("sync", Is::Beginning("every "));
const SYNCING: (&str, Is) = ("sync", Is::Not("never"));
const DROPPING: (&str, Is) = ("full", Is::OneOf(&["drop"]));

pub(super) const PROMISES: &[PromiseWhen] = &[
    promise(WRITING, &[EACH], SYNCED),
    // A sync writes out what there is of a batch.
    promise(&["batched"], &[EACH], SYNCED),
    promise(
        &["batched"],
        &[EVERY],
        "process crash: a batch not yet acknowledged is lost; power failure: what was written \
         after the last sync is lost",
    ),
    promise(
        WRITING,
        &[EVERY],
        "process crash: nothing acknowledged is lost; power failure: what was written after the \
         last sync is lost",
    ),
    promise(
        &["uring"],
        &[EACH],
        "process crash: nothing acknowledged is lost; power failure: nothing acknowledged is lost, \
         provided that the device honours flushes; records keep their order",
    ),
    promise(
        &["uring"],
        &[EVERY],
        "process crash: a batch not yet acknowledged is lost; power failure: what was written \
         after the last sync is lost; records keep their order only if the ring's entries are \
         linked",
    ),
    promise(
        &["buffered"],
        &[EACH],
        "process crash: nothing acknowledged is lost; power failure: nothing acknowledged is lost, \
         provided that the device honours flushes; several writers: records that a full buffer \
         splits are mixed with others",
    ),
    promise(
        &["buffered"],
        &[EVERY],
        "process crash: the buffer is lost; power failure: what was written after the last sync is \
         lost; several writers: records that a full buffer splits are mixed with others",
    ),
    promise(
        &["per-writer"],
        &[EACH],
        "process crash: nothing acknowledged is lost; power failure: nothing acknowledged is lost, \
         provided that the device honours flushes; the order between writers is only as exact as \
         their clocks",
    ),
    promise(
        &["per-writer"],
        &[EVERY],
        "process crash: nothing acknowledged is lost; power failure: what was written after the \
         last sync is lost; the order between writers is only as exact as their clocks",
    ),
    promise(
        &["queued"],
        &[SYNCING, DROPPING],
        "process crash: records in the queue are lost although they were acknowledged; a full \
         queue drops records; power failure: what was not yet synced is lost, and a sync waits in \
         the queue, too",
    ),
    promise(
        &["queued"],
        &[SYNCING],
        "process crash: records in the queue are lost although they were acknowledged; power \
         failure: what was not yet synced is lost, and a sync waits in the queue, too",
    ),
    promise(
        &["queued"],
        &[DROPPING],
        "process crash: records in the queue are lost although they were acknowledged; a full \
         queue drops records; power failure: these and data not yet written back are lost",
    ),
];

/// Those whose records follow each other because the file system appends them.
const APPENDING: &[&str] = &[
    "reopen",
    "held",
    "buffered",
    "batched",
    "dsync",
    "queued",
    "uring",
    "php-held",
    "php-reopen",
    "php-file-put-contents",
    "php-error-log",
    "python-file-handler",
    "python-watched-file-handler",
    "node-append-file-sync",
    "node-write-stream",
];

/// A lock has the next writer see where the one before it ended.
const LOCKING: &[&str] = &["flock", "flock-nonblocking", "php-flock", "php-flock-nonblocking"];

pub(super) const RELIES_ON: &[ReliesOn] = &[
    relies(Guarantee::Appends, APPENDING, &[]),
    relies(Guarantee::Flock, LOCKING, &[]),
    relies(Guarantee::FcntlLocks, &["ofd-lock"], &[]),
];

pub(super) const APPLIES: &[AppliesWhen] = &[
    for_strategies(&["buffer"], &["buffered"]),
    for_strategies(&["batch"], &["batched", "uring"]),
    for_strategies(&["queue", "full"], &["queued"]),
    for_strategies(&["ring"], &["uring"]),
    where_set(&["kind"], &[("writers", Is::Not("1"))]),
    where_set(&["record"], &[("sample", Is::OneOf(&[""]))]),
];

#[cfg(test)]
mod tests {
    use super::super::spec::SPEC;
    use super::*;

    /// What an arm promises with these parameters beside the defaults.
    fn promised(strategy: &str, given: &[(&str, &str)]) -> String {
        let study = SPEC.describe();
        let mut params: std::collections::BTreeMap<String, String> = SPEC
            .params
            .iter()
            .map(|param| (param.name.to_owned(), param.default_value().to_string()))
            .collect();
        params.extend(given.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        study.promise_of(strategy, &params).to_owned()
    }

    #[test]
    fn what_is_synced_with_each_record_is_safe_from_a_power_failure() {
        for strategy in WRITING.iter().chain(&["batched"]) {
            assert_ne!(promised(strategy, &[]), SYNCED);
            assert_eq!(promised(strategy, &[("sync", "each")]), SYNCED, "{strategy}");
            let some = promised(strategy, &[("sync", "every 20")]);
            assert!(some.contains("what was written after the last sync is lost"), "{some}");
        }
        assert_eq!(promised("held", &[]), WRITTEN);
        assert_eq!(promised("dsync", &[]), SYNCED);
        assert_eq!(promised("dsync", &[("sync", "every 10ms")]), SYNCED);
    }

    #[test]
    fn whoever_shares_the_file_relies_on_one_thing() {
        let study = SPEC.describe();
        for strategy in SPEC.strategies {
            let relied_on = study.guarantees_of(strategy.name, &[].into()).len();
            // A file of its own, and the control that must fail.
            let shares_nothing = ["per-writer", "seek-end"].contains(&strategy.name);
            assert_eq!(relied_on, usize::from(!shares_nothing), "{}", strategy.name);
        }
    }

    #[test]
    fn a_queue_keeps_no_promise_that_a_sync_would_make() {
        let synced = promised("queued", &[("sync", "each")]);
        assert!(synced.contains("a sync waits in the queue"), "{synced}");
        assert!(!synced.contains("drops records"), "{synced}");
        let dropping = promised("queued", &[("sync", "each"), ("full", "drop")]);
        assert!(dropping.contains("a full queue drops records"), "{dropping}");
    }
}
