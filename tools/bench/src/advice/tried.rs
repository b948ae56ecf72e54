//! What `iotoll try` says of a program.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use model::analysis::Verdict;
use model::trial::{TriedAdvice, TriedCondition, TriedRow, TriedVariant, TryResult};

use super::listed::Remedy;
use crate::replay::Program;
use crate::spread::Spread;

/// Syncs are found to be what helps where they take this share of the time.
const SYNCS_MIN: f64 = 0.05;
/// And so is doing it another way where files take this one.
const BOUND_MIN: f64 = 0.2;

/// What it says.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Tried {
    pub(crate) bound: f64,
    pub(crate) bound_complete: bool,
    /// What moving all of its files saves.
    pub(crate) saves: Option<Spread>,
    pub(crate) verdict_is_faster: bool,
    /// What the command took as it is, in its private view.
    pub(crate) as_now_ns: Option<f64>,
    /// Whether there is advice, of any kind.
    advises: bool,
    has_scratch: bool,
    syncs_are_slow: bool,
}

impl Tried {
    /// Whether it found what helps.
    pub(crate) fn found(&self, remedy: Remedy) -> bool {
        match remedy {
            Remedy::Scratch => self.has_scratch,
            Remedy::Sync => self.syncs_are_slow,
            Remedy::Write => self.bound >= BOUND_MIN,
            Remedy::None => self.advises,
        }
    }
}

/// Has it try a program in its folder.
pub(crate) fn tried(
    iotoll: &Path,
    program: &Program,
    folder: &Path,
    budget: Duration,
) -> Result<Tried> {
    let mut command = Command::new(iotoll);
    let budget = budget.as_secs().to_string();
    command.args(["try", "--quiet", "--budget", &budget, "--json", "-", "--", "sh", "-c"]);
    command.arg(&program.command).current_dir(folder).stderr(Stdio::piped());
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", said.lines().last().unwrap_or_default());
    let result: TryResult = serde_json::from_slice(&output.stdout).context("its result")?;
    let row = |variant| result.rows.iter().find(|row: &&TriedRow| row.variant == variant);
    let in_ram = row(TriedVariant::AllInRam);
    let saves = in_ram.and_then(|row| {
        let (median, low, high) = (row.ratio?, row.ratio_high?, row.ratio_low?);
        Some(Spread { median: 1.0 - median, low: 1.0 - low, high: 1.0 - high })
    });
    let is_faster =
        |row: Option<&TriedRow>| row.is_some_and(|row| row.verdict == Some(Verdict::Faster));
    let is_scratch = |advice: &TriedAdvice| advice.condition != TriedCondition::CanBeMadeAgain;
    Ok(Tried {
        bound: result.bound,
        bound_complete: result.bound_complete,
        verdict_is_faster: is_faster(in_ram),
        advises: !result.advice.is_empty(),
        has_scratch: result.advice.iter().any(is_scratch),
        syncs_are_slow: is_faster(row(TriedVariant::SyncsFree))
            || result.syncs.share >= SYNCS_MIN
            || result.syncs.at_least,
        as_now_ns: row(TriedVariant::AsNow).and_then(|row| row.time_ns),
        saves,
    })
}
