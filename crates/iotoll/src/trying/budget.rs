//! How often a command runs, and how long that takes.

use std::time::Duration;

use units::counted;

use crate::commands::TryArgs;

/// What is decided in five rounds at the earliest, in ten at the latest.
const ROUNDS: [u32; 2] = [5, 10];
/// Ten rounds that take no longer than this are always measured.
const SHORT: Duration = Duration::from_secs(60);
/// A quick command is measured for so long.
const LEAST: Duration = Duration::from_secs(15);
/// Nobody waits for longer unasked.
const MOST: Duration = Duration::from_secs(300);
/// What starting, comparing and resetting a run takes, beside what copying does.
const AROUND: Duration = Duration::from_millis(40);
/// A round may take so much longer than was reckoned.
const MARGIN: f64 = 1.15;

/// How long is measured.
pub(crate) struct Plan {
    pub(crate) budget: Duration,
    pub(crate) text: String,
}

/// For so many variants of a command that takes so long, whose copies take so long to make.
pub(crate) fn plan(args: &TryArgs, variants: usize, took: Duration, copying: Duration) -> Plan {
    let run = took + AROUND;
    let round = (run * variants as u32 + copying).mul_f64(MARGIN);
    let [fewest, most] = ROUNDS.map(|rounds| round * rounds);
    let budget = args.budget.unwrap_or_else(|| {
        let wanted = if most <= SHORT { most.max(LEAST) } else { fewest.max(SHORT) };
        wanted.min(MOST)
    });
    let rounds = (budget.as_secs_f64() / round.as_secs_f64()) as u32;
    let runs = rounds.max(1) * variants as u32;
    let seconds = budget.as_secs_f64();
    let mut text = format!(
        "it runs about {} in {variants} variants, for at most {seconds:.0} s",
        counted(runs.into(), "more time"),
    );
    if rounds < ROUNDS[0] {
        let enough = fewest.as_secs_f64().ceil();
        text += &format!(
            "; that has room for {rounds} of the {} rounds that a verdict takes: --budget \
             {enough:.0}s would do",
            ROUNDS[0]
        );
    }
    Plan { budget, text }
}
