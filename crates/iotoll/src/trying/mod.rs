//! What `iotoll try` does: a first run that shows what the command changes, a recorded one that shows
//! what could matter, and then the engine, with each variant as an arm.

mod advice;
mod budget;
mod found;
mod grounds;
mod measured;
mod recorded;
mod serving;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context as _, bail};
use model::analysis::Verdict;
use model::trial::TryResult;
use trial::{Ignored, Missing, Trial, Variant, missing};

use self::budget::{Asked, Parts};
use self::grounds::Grounds;
use self::recorded::RecordedRun;
use crate::commands::TryArgs;
use crate::exit::{Exit, UsageError};
use crate::measuring::StopReason;
use crate::results::Destination;
use crate::signals;
use crate::terminal::output;

/// What `--ignore` calls standard output.
const STDOUT: &str = "stdout";
/// What to try where a command does not come to the same again.
const WAY_OUT: &str = "--setup COMMAND can put back what it needs before each run, --check COMMAND \
                       can say what a right result is, and --ignore what need not be the same";

pub(crate) fn run(args: &TryArgs) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let folder = std::env::current_dir().context("finding the working folder")?;
    let json = args.json.as_deref().map(Destination::open).transpose()?;
    let stop = StopReason::new(signals::stop_flag()?);
    let grounds = Grounds::open(&folder, args.ram.as_deref())?;
    let lacks = missing(grounds.work(), &stop.stop);
    if let Some(why) = &lacks.view {
        bail!(
            "{why}. `iotoll record -- COMMAND` still says what its files cost, and `iotoll compare` \
             compares storage"
        );
    }
    let outcome = tried(args, began, folder, &stop, &grounds, &lacks);
    let closed = grounds.close();
    if stop.stop.load(Ordering::Relaxed) && outcome.is_err() {
        output::note("interrupted before anything was measured");
        return closed.map(|()| Exit::Interrupted);
    }
    let result = outcome?;
    closed?;
    let prints = json.as_ref().is_none_or(|json| !json.is_stdout());
    if prints {
        output::result(&report::trial::report(&result, args.apply, output::width()))?;
    }
    if let Some(json) = json {
        json.write(&[serde_json::to_vec_pretty(&result)?, b"\n".to_vec()].concat())?;
    }
    Ok(exit(args, &result))
}

fn exit(args: &TryArgs, result: &TryResult) -> Exit {
    if result.interrupted {
        return Exit::Interrupted;
    }
    let lacks = |row: &model::trial::TriedRow| {
        matches!(row.verdict, Some(Verdict::Unclear | Verdict::Invalid))
    };
    if args.require_verdict && result.rows.iter().any(lacks) {
        output::note("--require-verdict was given, but not every comparison has a verdict");
        return Exit::NoVerdict;
    }
    Exit::Done
}

fn tried(
    args: &TryArgs,
    began: Instant,
    folder: PathBuf,
    stop: &StopReason,
    grounds: &Grounds,
    lacks: &Missing,
) -> anyhow::Result<TryResult> {
    let mut trial = trial_of(args, folder, stop, grounds)?;
    record::program_of(&trial.command())?;
    output::note("running it once to see what it changes");
    let own_users = lacks.takes_rights;
    let recorded_run = |trial: &Trial, took| RecordedRun::of(args, trial, grounds, took, own_users);
    let (took, mut failed) = trial.survey(grounds.work())?;
    let asked = Asked { budget: args.budget, rounds: args.rounds.rounds.map(NonZeroU32::get) };
    if let Some(why) = budget::too_short(asked, took, began.elapsed()) {
        output::note(&why);
    }
    let mut recorded = recorded_run(&trial, took)?;
    if let Some((took, again)) = trial.survey_again(&recorded.found.refused)? {
        failed = again;
        recorded = recorded_run(&trial, took)?;
    }
    if let Some(how) = failed {
        output::note(&format!("the first run ended with {how}; that is taken for what it does"));
    }
    let once_more = Instant::now();
    let (took, opening, again) = trial.once_more()?;
    again.map_err(|why| cannot_run_again(&why))?;
    let around = once_more.elapsed().saturating_sub(took + opening);
    let mut variants = variants(args, &trial, &recorded, lacks, grounds)?;
    let made = Instant::now();
    let left_out = trial.prepare(&mut variants)?;
    let parts = Parts { took, around, opening, copying: made.elapsed() };
    let plan = budget::plan(asked, variants.len(), parts, began.elapsed());
    output::note(&plan.text);
    let trial = Rc::new(trial);
    let measured = measured::measure(args, &trial, &variants, &recorded, grounds, stop, &plan)?;
    let context = found::Context {
        began,
        once: took,
        trial: &trial,
        variants: &variants,
        recorded: &recorded,
        lacks,
        left_out,
    };
    let found = found::result(&context, &measured);
    let advice = advice::advice(&found.rows, &recorded, &trial);
    Ok(TryResult { advice, ..found })
}

fn trial_of(
    args: &TryArgs,
    folder: PathBuf,
    stop: &StopReason,
    grounds: &Grounds,
) -> anyhow::Result<Trial> {
    let command = match &args.serve {
        Some(script) => ["/bin/sh", "-c", script].map(Into::into).to_vec(),
        None => args.command.clone(),
    };
    let mut trial = Trial::new(command, folder, grounds.disk(), &stop.stop);
    trial.serving = serving::serving(args)?;
    (trial.setup, trial.check) = (args.setup.clone(), args.check.clone());
    trial.ignored = Ignored {
        output: args.ignore.iter().any(|part| part == STDOUT),
        paths: args.ignore.iter().filter(|part| *part != STDOUT).cloned().collect(),
    };
    trial.ram = grounds.ram().map(ToOwned::to_owned);
    if let Some(bytes) = args.copy_max {
        trial.copy_max_bytes = bytes;
    }
    for moved in &args.moved {
        if !moved.is_dir() {
            bail!(UsageError(format!("--move {}: it is no directory", moved.display())));
        }
    }
    Ok(trial)
}

fn cannot_run_again(why: &str) -> anyhow::Error {
    anyhow::anyhow!("it does not do the same when it runs again ({why}): {WAY_OUT}")
}

/// What is tried, as now first.
fn variants(
    args: &TryArgs,
    trial: &Trial,
    recorded: &RecordedRun,
    lacks: &Missing,
    grounds: &Grounds,
) -> anyhow::Result<Vec<Variant>> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for moved in &args.moved {
        folders.push(moved.canonicalize().with_context(|| moved.display().to_string())?);
    }
    if folders.is_empty() {
        folders = recorded.found.folders.iter().map(|folder| folder.path.clone()).collect();
    }
    let (copied, _) = trial.copied();
    let mut variants = vec![Variant::AsNow];
    let is_all = |folder: &PathBuf| copied.len() == 1 && copied.contains(folder);
    if grounds.ram().is_some() && !(folders.is_empty() && copied.is_empty()) {
        let is_one = args.moved.is_empty() && folders.iter().all(is_all);
        match copied.as_slice() {
            // It is named, for it is not where the user would look for it.
            [one] if is_one && !trial.folder.starts_with(one) => {
                variants.push(Variant::InRam(one.clone()));
            }
            _ => variants.push(Variant::AllInRam),
        }
        let is_the_same = |folder: &PathBuf| is_one || is_all(folder) && *folder == trial.folder;
        let is_asked_for = !args.moved.is_empty();
        let alone = folders.into_iter().filter(|folder| is_asked_for || !is_the_same(folder));
        variants.extend(alone.map(Variant::InRam));
    }
    if recorded.found.syncs.calls > 0 && lacks.filter.is_none() {
        variants.push(Variant::SyncsFree);
    }
    variants.push(Variant::Cold);
    Ok(variants)
}
