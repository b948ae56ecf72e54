//! How long a replay's round takes: as long as the program that was recorded.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use engine::job::Job;
use model::arm::Arm;
use trace::TraceReader;

use crate::terminal::output;

/// Rounds of up to so many arms have each as often as there are arms.
const BALANCED_MAX: usize = 4;
/// A verdict takes so many stretches, each of one round at the least.
const STRETCHES: u32 = 5;
/// What making the files and warming up take, as a part of a verdict's rounds.
const BESIDE: f64 = 1.5;

/// Says so before it begins, where anything is replayed.
pub(super) fn tell(job: &Job) {
    if let Some(expected) = foresee(job) {
        output::note(&expected);
    }
}

fn foresee(job: &Job) -> Option<String> {
    let replays: Vec<&Arm> = job.arms.iter().filter(|arm| arm.study.name == "replay").collect();
    let once = replays.iter().map(|arm| recorded(arm)).sum::<Option<Duration>>()?;
    if replays.is_empty() {
        return None;
    }
    let times = if job.arms.len() <= BALANCED_MAX { job.arms.len() as u32 } else { 1 };
    let round = once * times;
    let enough = (round * STRETCHES).mul_f64(BESIDE).as_secs_f64().ceil();
    Some(format!(
        "a round replays {} recordings, in {:.1} s at most; --budget {enough}s is enough for a verdict",
        replays.len() as u32 * times,
        round.as_secs_f64()
    ))
}

/// How long one replay takes at the most; none where the trace cannot be read, which is said later.
fn recorded(arm: &Arm) -> Option<Duration> {
    let file = File::open(Path::new(arm.params.text("trace"))).ok()?;
    let mut reader = TraceReader::new(file).ok()?;
    while reader.next_entry().ok()?.is_some() {}
    let wall = Duration::from_nanos(reader.summary()?.wall_ns);
    Some(wall.min(arm.params.duration("until")))
}
