//! Exactly the calls between two readings are counted. The only test of its process, so
//! that nobody else's are.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use iotoll_host::probes::WorkerProbe;
use iotoll_host::root::Root;
use model::counters::Counters as _;

#[test]
fn exactly_the_calls_between_two_readings_are_counted() {
    let probe = WorkerProbe::open(&Root::real(), &[], &mut Vec::new());
    let mut file = tempfile::tempfile().unwrap();
    for times in [0, 5] {
        let before = probe.before();
        for _ in 0..times {
            file.write_all(b"seven b").unwrap();
        }
        let calls = probe.after().since(before).calls.unwrap();
        assert_eq!((calls.reads, calls.writes), (0, times), "{calls:?}");
        assert_eq!(calls.written_bytes, 7 * times, "{calls:?}");
        // The wait for a processor, read on both sides.
        assert!(calls.read_bytes < 200, "{calls:?}");
    }
}
