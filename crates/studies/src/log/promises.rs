//! What strategies promise, and what instead once they sync.

use model::condition::ParamCondition;

use crate::rules::{Promise, is, not};

pub(super) const WRITTEN: &str = "process crash: nothing acknowledged is lost; power failure: \
                                  data not yet written back is lost";
pub(super) const SYNCED: &str = "process crash: nothing acknowledged is lost; power failure: \
                                 nothing acknowledged is lost, provided that the device honours \
                                 flushes";

/// What is lost of data that is in memory, and of what is synced now and then.
const CACHED: &str = "data not yet written back is";
const SINCE_LAST_SYNC: &str = "what was written after the last sync is";

/// A promise that depends on the syncs. `crash` is lost in a process crash, `unsynced` in a power
/// failure without a sync. `also` is added, or `also_if_each` where each record is synced.
fn by_sync(crash: &str, unsynced: &str, also: &str, also_if_each: &str) -> Promise {
    let lost =
        |power: &str| format!("process crash: {crash} lost; power failure: {power} lost{also}");
    Promise::from(&*lost(unsynced))
        .when([is("sync", &["each"])], &format!("{SYNCED}{also_if_each}"))
        .when([ParamCondition::beginning("sync", "every ")], &lost(SINCE_LAST_SYNC))
}

/// Of those that write each record to the file, and sync that file.
pub(super) fn record_by_record() -> Promise {
    by_sync("nothing acknowledged is", CACHED, "", "")
}

/// Of one that writes several records at once. A sync writes out what there is of them.
pub(super) fn batches() -> Promise {
    by_sync("a batch not yet acknowledged is", CACHED, "", "")
}

pub(super) fn ring() -> Promise {
    let only_linked = "; records keep their order only if the ring's entries are linked";
    let in_order = "; records keep their order";
    by_sync("a batch not yet acknowledged is", CACHED, only_linked, in_order)
}

pub(super) fn full_buffers() -> Promise {
    let mixed = "; several writers: records that a full buffer splits are mixed with others";
    by_sync("the buffer is", "the buffer and data not yet written back are", mixed, mixed)
}

pub(super) fn file_per_writer() -> Promise {
    let order = "; the order between writers is only as exact as their clocks";
    by_sync("nothing acknowledged is", CACHED, order, order)
}

pub(super) fn queue() -> Promise {
    let lost = |drops: &str, power: &str| {
        format!(
            "process crash: records in the queue are lost although they were acknowledged{drops}; \
             power failure: {power}"
        )
    };
    let drops = "; a full queue drops records";
    let cached = "these and data not yet written back are lost";
    let synced = "what was not yet synced is lost, and a sync waits in the queue, too";
    Promise::from(&*lost("", cached))
        .when([not("sync", "never"), is("full", &["drop"])], &lost(drops, synced))
        .when([not("sync", "never")], &lost("", synced))
        .when([is("full", &["drop"])], &lost(drops, cached))
}

#[cfg(test)]
mod tests {
    use model::strategy::{Recipe, Syncs};

    use super::super::spec::{SPEC, Strategy};
    use super::*;

    /// What an arm promises with these parameters beside the defaults.
    fn promised(strategy: &str, given: &[(&str, &str)]) -> String {
        let mut params: std::collections::BTreeMap<String, String> = SPEC
            .params
            .iter()
            .map(|param| (param.name.clone(), param.default_value().to_string()))
            .collect();
        params.extend(given.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        SPEC.promise_of(strategy, &params).to_owned()
    }

    #[test]
    fn what_is_synced_with_each_record_is_safe_from_a_power_failure() {
        let safe = "power failure: nothing acknowledged is lost";
        for strategy in Strategy::descriptions() {
            let (name, syncs) = (strategy.name.as_str(), strategy.facts.syncs);
            let [never, each, every] =
                ["never", "each", "every 20"].map(|sync| promised(name, &[("sync", sync)]));
            // The queue's thread syncs later, and the control promises nothing.
            let is_kept = name != "queued" && strategy.facts.recipe != Recipe::Control;
            if syncs == Syncs::AsAsked && is_kept {
                assert!(!never.contains(safe) && each.contains(safe), "{name}: {never}, {each}");
                assert!(every.contains("what was written after the last sync is lost"), "{every}");
            }
            if syncs != Syncs::AsAsked {
                assert!(never == each && never == every, "{name}: {never}, {each}, {every}");
                assert_eq!(never.contains(safe), syncs == Syncs::Always, "{name}: {never}");
            }
        }
        assert_eq!(promised("held", &[]), WRITTEN);
        assert_eq!(promised("dsync", &[("sync", "every 10ms")]), SYNCED);
    }

    #[test]
    fn whoever_shares_the_file_relies_on_one_thing() {
        for strategy in &SPEC.strategies {
            let relied_on = SPEC.guarantees_of(&strategy.name, &[].into()).len();
            // A file of its own, and the control that must fail.
            let shares_nothing = ["per-writer", "seek-end"].contains(&strategy.name.as_str());
            let name = &strategy.name;
            let expected = usize::from(!shares_nothing);
            assert_eq!(
                relied_on, expected,
                "{name}: what does it rely on, or does it share nothing?"
            );
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
