//! Patterns of files that are written anew: opened for each record, or replaced.

use super::patterns::{LOG, US, found, planted, reopened};
use crate::flags::{O_CREAT, O_RDWR};
use crate::planted::Planted;
use crate::{Op, Pattern, PatternKind};

#[test]
fn a_file_that_is_reopened_for_each_record() {
    let patterns = found(reopened(300, false, 1));
    let [
        Pattern {
            what: PatternKind::Reopened { path, times, record_bytes, synced, .. },
            share,
            ..
        },
    ] = &patterns[..]
    else {
        panic!("{patterns:?}")
    };
    assert_eq!((path.as_str(), *times, *record_bytes), ("/home/eva/orders/logs/app.log", 300, 137));
    assert!(!synced && (0.02..0.04).contains(share), "{share}");
    // With a sync of each, both are told.
    let patterns = found(reopened(300, true, 1));
    let [forced, opened] = &patterns[..] else { panic!("{patterns:?}") };
    assert!(matches!(forced.what, PatternKind::SyncedEach { syncs: 300, reopened: true, .. }));
    assert!(matches!(opened.what, PatternKind::Reopened { synced: true, .. }));
    // Once at a start, or for many records each, is none.
    assert_eq!(found(reopened(10, false, 1)), []);
    assert_eq!(found(reopened(300, false, 3)), []);
}

#[test]
fn a_file_that_a_shell_reopens_for_each_record() {
    // `echo … >> app.log`: the file is opened, and written as standard output.
    let mut planted = planted();
    for _ in 0..300 {
        planted.open("app.log", LOG, 3);
        planted.call(1, Op::Duplicate, US, |call| (call.fd, call.other, call.result) = (3, 1, 1));
        planted.on(Op::Close, 3, US);
        planted.moved(Op::Write, 1, 137, US);
        planted.call(1, Op::Close, US, |call| call.fd = 1);
        planted.think(100 * US);
    }
    let patterns = found(planted);
    let [Pattern { what: PatternKind::Reopened { times: 300, .. }, .. }] = &patterns[..] else {
        panic!("{patterns:?}")
    };
    // `done >> app.log`: it is opened once, and written and closed by a process for each record.
    let mut planted = super::patterns::planted();
    planted.open("app.log", LOG, 3);
    for process in 10..310 {
        planted.begin(1, process, false);
        planted.call(process, Op::Write, 20 * US, |call| {
            (call.fd, call.length, call.result) = (3, 137, 137);
        });
        planted.call(process, Op::Close, US, |call| call.fd = 3);
    }
    assert_eq!(found(planted), []);
}

/// Files that are written by names of their own and renamed to these many others in turns.
pub(super) fn replaced(times: u64, names: u64, sync: bool) -> Planted {
    let mut planted = planted();
    for number in 0..times {
        let (own, name) = (format!("cache/tmp{number}"), format!("cache/{}.json", number % names));
        planted.open(&own, O_RDWR | O_CREAT, 3);
        planted.moved(Op::Write, 3, 2000, US);
        if sync {
            planted.on(Op::Fsync, 3, US);
        }
        planted.on(Op::Close, 3, US);
        let [path, to] = [own, name].map(|path| Some(planted.path(&path)));
        planted.call(1, Op::Rename, 20 * US, |call| {
            (call.path, call.to) = (path, to);
        });
    }
    planted
}

#[test]
fn files_that_replace_others_by_a_rename() {
    let patterns = found(replaced(300, 5, false));
    let [Pattern { what: PatternKind::Replaced { path, files, times, file_bytes, .. }, .. }] =
        &patterns[..]
    else {
        panic!("{patterns:?}")
    };
    let told = (path.as_str(), *files, *times, *file_bytes);
    assert_eq!(told, ("/home/eva/orders/cache", 5, 295, 2000));
    // What got its name so and replaced nothing, and what is synced before, are none.
    assert_eq!(found(replaced(300, 300, false)), []);
    // Nor is what took a name that nobody has any more.
    let mut planted = super::patterns::planted();
    for number in 0..300 {
        let own = format!("spool/tmp{number}");
        planted.open(&own, O_RDWR | O_CREAT, 3);
        planted.moved(Op::Write, 3, 2000, US);
        planted.on(Op::Close, 3, US);
        let [path, to] = [own.as_str(), "spool/job"].map(|path| Some(planted.path(path)));
        planted.call(1, Op::Rename, 20 * US, |call| (call.path, call.to) = (path, to));
        planted.named(Op::Unlink, "spool/job", US, 0);
    }
    assert_eq!(found(planted), []);
    let is_replaced = |pattern: &Pattern| matches!(pattern.what, PatternKind::Replaced { .. });
    assert!(!found(replaced(300, 5, true)).iter().any(is_replaced));
}
