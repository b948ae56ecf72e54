//! Pauses between gentle slices.
//!
//! A sync of a neighbour's that comes upon a slice waits for what the slice wrote, and
//! no priority prevents that: the file system's journal is shared, and a device's flush is
//! everyone's. What helps is to be seldom there. So after each slice the run rests for many
//! times as long as the slice took with all around it, so that of a neighbour's syncs only
//! a few in a hundred meet one.

use std::time::Duration;

/// A run is busy for one part in so many.
const PARTS: u32 = 25;
/// The longest pause: a slice that starts a server takes seconds.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// How long to rest after something that took so long.
pub(crate) fn pause_after(took: Duration) -> Duration {
    (took * (PARTS - 1)).min(PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_rests_for_most_of_the_time_and_never_for_long() {
        assert_eq!(pause_after(Duration::from_millis(10)), Duration::from_millis(240));
        assert_eq!(pause_after(Duration::from_secs(5)), PAUSE_MAX);
    }
}
