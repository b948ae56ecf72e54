//! The harness's own overhead: what timing an operation costs when there is none.

use host::clock::Clock;
use model::run::Floor;

use crate::slice_timer::SliceTimer;

const LAPS: u64 = 20_000;
const ROUNDS: usize = 25;

/// Times the recorder on empty operations, in about 10 ms. The median of
/// several rounds: a round that was disturbed says nothing about the recorder.
pub(crate) fn measure(clock: &Clock, timer: &mut SliceTimer) -> Floor {
    let mut rounds_ns: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            timer.start();
            for _ in 0..LAPS {
                timer.lap();
            }
            timer.finish();
            timer.elapsed_ns() as f64 / LAPS as f64
        })
        .collect();
    Floor {
        record_ns: stats::median(&mut rounds_ns),
        clock: clock.source().to_owned(),
        tick_ns: clock.tick_ns(),
        ..Floor::default()
    }
}
