//! Pauses between gentle slices.
//!
//! A sync of a neighbour's that comes upon a slice waits for what the slice wrote, and
//! no priority prevents that: the file system's journal is shared, and a device's flush is
//! everyone's. What helps is to be seldom there. So after a slice on a device the run rests
//! for many times as long as that took with all around it, and of a neighbour's syncs only
//! a few in a thousand meet one, which its 99th percentile does not show. Busy for one part
//! in 50, a run made that percentile twice as long (×2.07, 1.50 to 2.73); for one in 400 no
//! difference was seen (×1.05, 0.92 to 1.17; `cargo xtask bench neighbour`). A slice in
//! memory takes from others no more than a processor, and the run rests for as long.

use std::time::Duration;

/// On a device a run is busy for one part in so many …
const PARTS_ON_DEVICE: u32 = 400;
/// … and in memory for one in so many.
const PARTS_IN_MEMORY: u32 = 2;
/// A run syncs so often in a second at the most, on average since a slice began.
pub(crate) const SYNCS_PER_S: u32 = 20;
/// The longest pause: a slice that starts a server takes seconds.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How long to rest after something that took so long and synced so often, on a device or in
/// memory.
pub(crate) fn pause_after(took: Duration, syncs: u64, on_device: bool) -> Duration {
    let parts = if on_device { PARTS_ON_DEVICE } else { PARTS_IN_MEMORY };
    let pause = (took * (parts - 1)).min(PAUSE_MAX);
    if !on_device {
        return pause;
    }
    let least = Duration::from_secs_f64(syncs as f64 / f64::from(SYNCS_PER_S));
    pause.max(least.saturating_sub(took))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_rests_for_most_of_the_time_and_never_for_long() {
        let ms = Duration::from_millis;
        assert_eq!(pause_after(ms(10), 0, true), ms(3990));
        assert_eq!(pause_after(ms(10), 0, false), ms(10));
        assert_eq!(pause_after(ms(5000), 0, true), PAUSE_MAX);
    }

    #[test]
    fn a_run_syncs_no_more_often_than_it_may() {
        let took = Duration::from_millis(5);
        assert_eq!(pause_after(took, 400, true) + took, Duration::from_secs(20));
        assert_eq!(pause_after(took, 400, false), took);
    }
}
