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
/// The longest pause: a slice that starts a server takes seconds.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How long to rest after something that took so long, on a device or in memory.
pub(crate) fn pause_after(took: Duration, on_device: bool) -> Duration {
    let parts = if on_device { PARTS_ON_DEVICE } else { PARTS_IN_MEMORY };
    (took * (parts - 1)).min(PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_rests_for_most_of_the_time_and_never_for_long() {
        let ms = Duration::from_millis;
        assert_eq!(pause_after(ms(10), true), ms(3990));
        assert_eq!(pause_after(ms(10), false), ms(10));
        assert_eq!(pause_after(ms(5000), true), PAUSE_MAX);
    }
}
