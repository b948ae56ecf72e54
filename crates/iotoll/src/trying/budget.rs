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
/// Waiting until the storage is quiet, before each run.
const SETTLING: Duration = Duration::from_millis(100);
/// A round may take so much longer than was reckoned.
const MARGIN: f64 = 1.15;

/// How long is measured.
pub(crate) struct Plan {
    pub(crate) budget: Duration,
    pub(crate) text: String,
}

/// How long the parts of a round take.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// A run.
    pub(crate) took: Duration,
    /// What is around it: the view, and comparing and resetting files.
    pub(crate) around: Duration,
    /// Making all copies.
    pub(crate) copying: Duration,
}

/// For so many variants.
pub(crate) fn plan(args: &TryArgs, variants: usize, parts: Parts) -> Plan {
    let Parts { took, around, copying } = parts;
    let run = took + around + SETTLING;
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
