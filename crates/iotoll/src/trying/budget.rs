//! How often a command runs, and how long that takes.

use std::time::Duration;

use units::counted;

/// What is decided in five rounds at the earliest, in ten at the latest.
const ROUNDS: [u32; 2] = [5, 10];
/// Ten rounds that take no longer than this are always measured.
const SHORT: Duration = Duration::from_secs(60);
/// A quick command is measured for so long.
const LEAST: Duration = Duration::from_secs(15);
/// Nobody waits for longer unasked.
const MOST: Duration = Duration::from_secs(300);
/// Waiting until the storage is quiet, before each run.
const SETTLING: Duration = Duration::from_millis(50);
/// Working folders are made, and what measuring itself costs is measured.
const BEGINNING: Duration = Duration::from_millis(500);
/// A round may take so much longer than was reckoned.
const MARGIN: f64 = 1.15;

/// What the user asked for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asked {
    /// How long all of it may take.
    pub(crate) budget: Option<Duration>,
    pub(crate) rounds: Option<u32>,
}

/// How long is measured.
pub(crate) struct Plan {
    pub(crate) budget: Duration,
    pub(crate) text: String,
}

/// How long the parts of it take.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// A run.
    pub(crate) took: Duration,
    /// What is around it: comparing and resetting files.
    pub(crate) around: Duration,
    /// Opening a view, once in a stretch.
    pub(crate) opening: Duration,
    /// Making all copies, once in a stretch.
    pub(crate) copying: Duration,
}

/// The plan for this many variants, once `so_far` has passed.
pub(crate) fn plan(asked: Asked, variants: usize, parts: Parts, so_far: Duration) -> Plan {
    let Parts { took, around, opening, copying } = parts;
    let variants = variants as u32;
    let round = ((took + around + SETTLING) * variants).mul_f64(MARGIN);
    let stretch = (opening * variants + copying).mul_f64(MARGIN);
    let [fewest, most] = ROUNDS.map(|rounds| (round + stretch) * rounds);
    let budget = match asked.budget {
        // One round there is in any case, also where it takes longer than was reckoned.
        Some(budget) => budget.saturating_sub(so_far).max(BEGINNING + (round + stretch) * 2),
        None if most <= SHORT => most.max(LEAST),
        None => fewest.max(SHORT).min(MOST),
    };
    // There are ten stretches, or with fewer rounds, one for each.
    let room = match budget.checked_sub(stretch * ROUNDS[1]) {
        Some(left) if budget >= most => left.div_duration_f64(round),
        _ => budget.div_duration_f64(round + stretch),
    } as u32;
    let runs = room.min(asked.rounds.unwrap_or(u32::MAX)).max(1) * variants;
    let seconds = budget.as_secs_f64().ceil();
    let mut text = format!(
        "it runs about {} in {variants} variants, for at most {seconds:.0} s",
        counted(runs.into(), "more time"),
    );
    if room < ROUNDS[0] && asked.rounds.is_none_or(|rounds| rounds >= ROUNDS[0]) {
        let enough = (so_far + fewest).as_secs_f64().ceil();
        text += &format!(
            "; that has room for {room} of the {} rounds that a verdict takes: --budget \
             {enough:.0}s would do",
            ROUNDS[0]
        );
    }
    Plan { budget, text }
}

/// What to say before the recorded run where a budget is too short for a command whose first run took
/// so long: it is recorded, runs once more, and then at least once in two variants.
pub(crate) fn too_short(asked: Asked, took: Duration, so_far: Duration) -> Option<String> {
    let least = so_far + took * 4;
    let budget = asked.budget.filter(|budget| *budget < least)?;
    let [budget, least] = [budget, least].map(|time| units::time(time.as_nanos() as f64));
    Some(format!("--budget {budget} is too short for it: this takes {least} at least"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const PARTS: Parts = Parts {
        took: MS.saturating_mul(4),
        around: MS,
        opening: MS.saturating_mul(45),
        copying: MS,
    };

    fn seconds(budget: u64, rounds: Option<u32>) -> Asked {
        Asked { budget: Some(Duration::from_secs(budget)), rounds }
    }

    #[test]
    fn as_many_runs_are_forecast_as_are_planned() {
        let text = plan(Asked::default(), 3, PARTS, Duration::ZERO).text;
        assert_eq!(text, "it runs about 210 more times in 3 variants, for at most 15 s");
        let text = plan(seconds(5, Some(2)), 3, PARTS, Duration::ZERO).text;
        assert_eq!(text, "it runs about 6 more times in 3 variants, for at most 5 s");
    }

    #[test]
    fn what_came_before_is_part_of_the_budget_and_one_round_is_there_in_any_case() {
        let used = Duration::from_secs(2);
        assert_eq!(plan(seconds(5, None), 2, PARTS, used).budget, Duration::from_secs(3));
        let Plan { budget, text } = plan(seconds(1, None), 2, PARTS, used);
        assert!(budget > MS * 700 && budget < MS * 1200, "{budget:?}");
        assert!(text.ends_with("verdict takes: --budget 4s would do"), "{text}");
        let (took, budget) = (Duration::from_secs(3), seconds(1, None));
        let told = "--budget 1.00 s is too short for it: this takes 16.0 s at least";
        assert_eq!(too_short(budget, took, took + MS * 1000).as_deref(), Some(told));
        assert_eq!(too_short(seconds(20, None), took, took), None);
    }
}
