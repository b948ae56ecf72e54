//! A second thread in the process as a cause.

use super::*;

#[test]
fn a_second_thread_is_named_where_it_is_all_that_differs() {
    let threads = |threads, elapsed_ns| {
        let calls = Calls { writes: OPERATIONS, ..Calls::default() };
        ArmTotals {
            threads,
            way: "held".to_owned(),
            ..with_calls(lasting(arm("disk"), elapsed_ns), calls)
        }
    };
    let [single, several] = [threads(1, ALL_NS), threads(2, ALL_NS + 90_000)];
    let causes = |base: &ArmTotals, other: &ArmTotals, verdict| {
        compared(base, other, Axis::Strategy, verdict)
    };
    let named = causes(&single, &several, Verdict::Slower);
    assert_eq!(named[0].code, CauseCode::SecondThread, "{named:?}");
    let says = "On ram, your process has more than one thread: 90.0 ns per step. The kernel";
    assert!(named[0].text.starts_with(says), "{}", named[0].text);
    assert!((named[0].evidence["calls_per_op"] - 1.0).abs() < 1e-9);
    assert_eq!(causes(&several, &single, Verdict::Faster)[0].code, CauseCode::SecondThread);
    // Where another thing differs, that may be the reason.
    let other_way = ArmTotals { way: "reopen".to_owned(), ..several.clone() };
    let elsewhere = ArmTotals { place: arm("ram").place, ..several.clone() };
    for (other, verdict) in [
        (&other_way, Verdict::Slower),
        (&elsewhere, Verdict::Slower),
        (&several, Verdict::Same),
        (&several, Verdict::Unclear),
        (&single, Verdict::Slower),
    ] {
        let named = causes(&single, other, verdict);
        let is_it = |cause: &Cause| cause.code == CauseCode::SecondThread;
        assert!(!named.iter().any(is_it), "{named:?}");
    }
}
