//! Arms whose slices take one of two times, far apart: no single figure describes them.

use model::analysis::Modes;
use model::slice::Slice;

/// The kind of time that makes this much of what is between the two is why.
const MOST: f64 = 0.5;

/// The two times of an arm's slices, where there are two, and what differs between them.
pub(crate) fn of(slices: &[&Slice]) -> Option<Modes> {
    let logs: Vec<f64> = slices.iter().map(|slice| slice.score_ns().ln()).collect();
    let found = stats::modes(&logs)?;
    let (fast_ns, slow_ns) = (found.low.exp(), found.high.exp());
    let is_fast = |slice: &&&Slice| slice.score_ns().ln() <= found.edge;
    let (fast, slow): (Vec<&Slice>, Vec<&Slice>) = slices.iter().partition(|slice| is_fast(slice));
    let more = KINDS.iter().map(|(name, ns)| (*name, typical(&slow, *ns) - typical(&fast, *ns)));
    let most = more.max_by(|a, b| a.1.total_cmp(&b.1));
    let why = most.filter(|(_, ns)| *ns >= MOST * (slow_ns - fast_ns));
    let why = why.map(|(name, _)| name.to_owned());
    Some(Modes { fast_ns, fast_share: found.low_share, slow_ns, why })
}

/// What a slice spent of a kind of time.
type Kind = (&'static str, fn(&Slice) -> u64);

const KINDS: [Kind; 4] = [
    ("the time in syncs", |slice| slice.spent.sync_ns),
    ("the kernel's work outside of syncs", |slice| {
        slice.spent.system_ns.saturating_sub(slice.spent.sync_ns)
    }),
    ("the program's own work", |slice| slice.spent.user_ns),
    ("waiting for a processor", |slice| slice.spent.run_queue_ns.unwrap_or_default()),
];

/// The median over slices, per operation.
pub(crate) fn typical(slices: &[&Slice], ns: impl Fn(&Slice) -> u64) -> f64 {
    let per_op = |slice: &&Slice| ns(slice) as f64 / slice.operations.max(1) as f64;
    stats::median(&mut slices.iter().map(per_op).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Forty slices, of which two fifths take 150 ms instead of 35 with syncs of 20 ms, the more
    /// of it in the kernel.
    fn slices(slow_ns: u64) -> Vec<Slice> {
        let slice = |block: usize| {
            let mut slice = testing::slice(0, block);
            let shake = 1_000_000 * (block as u64 % 3);
            slice.operations = 1;
            slice.spent.elapsed_ns = shake + if block % 5 < 3 { 35_000_000 } else { slow_ns };
            slice.spent.sync_ns = 20_000_000 + shake;
            slice.spent.system_ns = slice.spent.elapsed_ns - 10_000_000;
            slice
        };
        (0..40).map(slice).collect()
    }

    fn found(slices: &[Slice]) -> Option<Modes> {
        of(&slices.iter().collect::<Vec<&Slice>>())
    }

    #[test]
    fn two_times_are_reported_with_what_differs() {
        let modes = found(&slices(150_000_000)).unwrap_or_else(|| panic!("not found"));
        assert!((modes.fast_ns / 36e6 - 1.0).abs() < 0.05, "{modes:?}");
        assert!((modes.slow_ns / 151e6 - 1.0).abs() < 0.05, "{modes:?}");
        assert!((modes.fast_share - 0.6).abs() < 1e-9);
        assert_eq!(modes.why.as_deref(), Some("the kernel's work outside of syncs"));
        assert_eq!(found(&slices(36_000_000)), None);
    }
}
