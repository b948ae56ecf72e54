//! Whom a program waits for.

use super::bill;
use crate::Entry;
use crate::planted::Planted;

const MS: u64 = 1_000_000;

/// Fails where threads of the recording are named, or where waits of several threads for one
/// server add up to more than the time.
#[test]
fn a_client_waits_for_whom_is_not_recorded() {
    let mut planted = Planted::new("/srv");
    for thread in [2, 3] {
        planted.begin(1, thread, true);
    }
    for _ in 0..10 {
        planted.think(10 * MS);
        for (thread, by, slept_ns) in [(1, 99, 8 * MS), (2, 99, 7 * MS), (3, 1, 9 * MS)] {
            let at_ns = planted.now_ns;
            planted.push(Entry::Woken { at_ns, thread, by, slept_ns });
        }
    }
    let awaited = bill(&planted.finish()).awaited;
    let [server] = &awaited[..] else { panic!("{awaited:?}") };
    assert_eq!((server.thread, server.times, server.waited_ns), (99, 20, 80 * MS));
    assert!((0.79..0.81).contains(&server.share), "{server:?}");
    assert_eq!(server.process, None);
}

/// Fails where a trace does not keep whom the program waited for, or where what the kernel makes for
/// a process of the recording is taken for another program.
#[test]
fn whom_it_was_is_kept_in_the_trace() {
    let mut planted = Planted::new("/srv");
    let [name, address] = ["postgres", "127.0.0.1:5432"].map(|text| planted.path(text));
    for (thread, process) in [(99, 90), (50, 1), (98, 90)] {
        let (at_ns, address) = (planted.now_ns, Some(address).filter(|_| thread == 99));
        planted.push(Entry::Woken { at_ns, thread: 1, by: thread, slept_ns: 4 * MS });
        planted.push(Entry::Outside { thread, process, name, address });
    }
    planted.think(10 * MS);
    let awaited = bill(&planted.finish()).awaited;
    let [server] = &awaited[..] else { panic!("{awaited:?}") };
    let process = server.process.clone().unwrap();
    assert_eq!((server.times, server.waited_ns), (2, 8 * MS), "of both its threads");
    assert_eq!((process.number, &*process.name), (90, "postgres"));
    assert_eq!(process.address.as_deref(), Some("127.0.0.1:5432"));
}

/// Fails where a program that was merely interrupted when a wait ended by time is said to be asked.
#[test]
fn who_ended_a_wait_or_two_need_not_have_been_asked() {
    for (times, named) in [(4, 0), (5, 1)] {
        let mut planted = Planted::new("/srv");
        for _ in 0..times {
            planted.think(10 * MS);
            let at_ns = planted.now_ns;
            planted.push(Entry::Woken { at_ns, thread: 1, by: 99, slept_ns: 9 * MS });
        }
        assert_eq!(bill(&planted.finish()).awaited.len(), named);
    }
}

/// Fails where a trace of a stranger's overflows a sum.
#[test]
fn any_wait_that_a_trace_can_have_is_added_up() {
    let mut planted = Planted::new("/srv");
    let name = planted.path("x");
    for thread in [98, 99] {
        let at_ns = planted.now_ns;
        planted.push(Entry::Woken { at_ns, thread: 1, by: thread, slept_ns: u64::MAX });
        planted.push(Entry::Outside { thread, process: 90, name, address: Some(name) });
    }
    assert_eq!(bill(&planted.finish()).awaited[0].waited_ns, u64::MAX);
}
