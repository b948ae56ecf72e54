//! `iotoll compare`: the main job, from flags to report.

use std::sync::atomic::Ordering;
use std::time::Instant;

use analysis::analyse;
use anyhow::anyhow;
use engine::folders::Folders as _;
use engine::job::Job;
use engine::measure::Event;
use engine::needs::{PlaceNeeds, needs};
use engine::run::Header;
use engine::runner::SliceRunner;
use engine::study::Workload;
use model::analysis::{Analysis, Verdict};
use model::arm::Arm;
use model::article::Article;
use model::plan::Plan;
use model::run::Run;
use ranks::Leader;
use store::Store;

use crate::baseline::Baseline;
use crate::cli::CompareArgs;
use crate::consent::{Consent, Request};
use crate::delivery::{Targets, deliver_comparison};
use crate::environment::LocalEnvironment;
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::prepared_places::PreparedPlaces;
use crate::progress::{Progress, Shown};
use crate::saving::{self, RunSaver};
use crate::session::{self, Session};
use crate::stop_reason::StopReason;
use crate::{clients, dry_run, plan, preflight, signals, summaries};

/// With the other ranks as clients, where there are any.
pub(crate) fn run(args: &CompareArgs, others: Option<&Leader>) -> anyhow::Result<Exit> {
    let (plan, typed) = plan::from_args(args, count(others))?;
    if let Some(file) = &args.plan {
        let (allowed, dry_run) = (args.allow_commands, args.dry_run);
        if (Request { file, typed, allowed, dry_run }).ask(&plan)? == Consent::OnlyShown {
            return Ok(Exit::Done);
        }
    }
    measured(args, &plan, &|_| None, others)
}

/// The same of a plan that is made; of the flags, what is no part of a plan. What is
/// measured in the end may repeat an article.
pub(crate) fn measured(
    args: &CompareArgs,
    plan: &Plan,
    article: &dyn Fn(&Plan) -> Option<Article>,
    others: Option<&Leader>,
) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let work = Work::of(plan, args)?;
    clients::check(plan, &work.job.arms, &args.local, count(others))?;
    if args.require_verdict && work.job.pairs.is_empty() {
        return Err(nothing_to_compare(&work.job.arms).into());
    }
    for unused in preflight::unused(plan, &work.job.arms) {
        output::note(&format!(
            "{unused} has no effect on any arm of this run; `iotoll studies` says what it is for"
        ));
    }
    let mut prepared_places = PreparedPlaces::look(plan.clone())?;
    preflight::check_apart(&prepared_places.facts, args)?;
    let work = work.without_left_out(&prepared_places.plan, args)?;
    prepared_places.check_space(&work.needs)?;
    if args.dry_run {
        let Work { job, needs, .. } = &work;
        output::result(&dry_run::describe(job, &prepared_places.facts, needs, output::width()))?;
        return Ok(Exit::Done);
    }
    let targets = Targets::open(&args.output)?;
    let prints = targets.print_report();
    let baseline = Baseline::open(args, plan, prints)?;
    let saver = RunSaver::new(saving::open(args.no_save));
    if args.gentle {
        step_back();
    }
    let stop_reason = StopReason::new(signals::stop_flag()?);
    prepared_places.make(&stop_reason.stop)?;
    if stop_reason.stop.load(Ordering::Relaxed) {
        output::note("interrupted before anything was measured");
        prepared_places.close()?;
        return Ok(Exit::Interrupted);
    }
    // What was made is what counts, and some of it may not have been.
    let Work { job, workloads, needs } = work.without_left_out(&prepared_places.plan, args)?;
    prepared_places.check_space(&needs)?;
    let mut session = Session::open(
        &prepared_places.facts,
        prepared_places.holders(),
        &stop_reason,
        began,
        job.run_limits,
    )?;
    session.share_with(others, &args.local)?;
    let mut runner = session.runner(&job.arms, workloads);
    let shown = if args.quiet { Shown::Line } else { Shown::Table };
    let progress = Progress::new(began, job.budget, shown);
    let header = Header { article: article(&prepared_places.plan), ..session::header() };
    let watched = Watched { header, saver, progress, tells_blocks: args.tell_blocks };
    let (facts, left_out) = (prepared_places.facts.clone(), prepared_places.left_out.clone());
    let environment = LocalEnvironment::new(facts, left_out, stop_reason.clone())
        .with_clients(others, &args.local);
    let (run, store) = measure(&job, &mut *runner, environment, watched);
    clients::tell_interrupted(others, &run);
    let analysis = analyse(&run);
    // Before anything is ended or removed, which may fail.
    let delivered = deliver_comparison(targets, &run, &analysis, args.output.full);
    summaries::keep(store, &run, &analysis);
    let slower = baseline.map(|baseline| baseline.report(&run, &analysis, prints)).transpose();
    drop(runner);
    let closed = session.close().and(prepared_places.close());
    delivered.and(closed)?;
    let exit = exit_code(args, &run, &analysis, slower?.unwrap_or(false))?;
    if let (Exit::Done | Exit::NoVerdict, Some(why)) = (exit, stop_reason.why()) {
        output::note(&format!("ended early: {why}"));
        return Ok(Exit::CouldNot);
    }
    Ok(exit)
}

/// How many clients there are, this process among them.
fn count(others: Option<&Leader>) -> usize {
    others.map_or(1, Leader::ranks)
}

/// What a plan comes to.
struct Work {
    job: Job,
    workloads: Vec<Box<dyn Workload>>,
    needs: Vec<PlaceNeeds>,
}

impl Work {
    fn of(plan: &Plan, args: &CompareArgs) -> anyhow::Result<Self> {
        let mut job = Job {
            blocks: args.blocks.map(|blocks| blocks.get() as usize),
            run_limits: args.run_limits(),
            ..Job::of(plan)
        };
        let workloads = preflight::workloads(&job.arms)?;
        job.materials = workloads.iter().map(|workload| workload.material()).collect();
        let needs = needs(&job, &workloads, plan.places.len());
        Ok(Self { job, workloads, needs })
    }

    /// The same of a plan that may lack some of the places, as all else in it is.
    fn without_left_out(self, plan: &Plan, args: &CompareArgs) -> anyhow::Result<Self> {
        if plan.places.len() == self.needs.len() { Ok(self) } else { Self::of(plan, args) }
    }
}

/// Why no verdict can be had, and what to add.
fn nothing_to_compare(arms: &[Arm]) -> UsageError {
    let what = match arms {
        [arm] => format!("there is only {}", arm.id),
        _ => format!("no two of the {} arms are compared", arms.len()),
    };
    let strategies = arms.first().map_or(&[][..], |arm| &arm.study.strategies);
    let names: Vec<&str> =
        strategies.iter().take(2).map(|strategy| strategy.name.as_str()).collect();
    let or_strategy = match names.as_slice() {
        [one, other] => format!(", or another strategy, as in --strategy {one},{other}"),
        _ => String::new(),
    };
    UsageError(format!(
        "--require-verdict was given, but there is nothing to compare ({what}): add another \
         place, as in `iotoll compare . /dev/shm`{or_strategy}"
    ))
}

/// Has the storage serve others first, before any thread or process is started.
fn step_back() {
    if let Err(error) = sys::priority::storage_when_idle() {
        output::note(&format!(
            "--gentle: cannot lower the I/O priority (ioprio_set: {error}); only small slices and \
             pauses are used"
        ));
    }
}

/// What a run is called, and who is told what happens while measuring.
struct Watched {
    header: Header,
    saver: RunSaver,
    progress: Progress,
    tells_blocks: bool,
}

/// Measures, with all of it kept as it goes and its progress on the terminal; and where it is
/// kept.
fn measure(
    job: &Job,
    runner: &mut dyn SliceRunner,
    mut environment: LocalEnvironment,
    mut watched: Watched,
) -> (Run, Option<Store>) {
    let Watched { header, saver, progress, tells_blocks } = &mut watched;
    let mut happens = |event: Event<'_>| {
        if let Some(trouble) = saver.take(&event) {
            progress.note(&trouble);
        }
        progress.show(&event, &job.arms);
        if let Event::Block { blocks, .. } = event
            && *tells_blocks
        {
            output::note(&format!("block {blocks}"));
        }
    };
    let header = std::mem::take(header);
    let run = engine::run::run(job, header, &mut environment, runner, &mut happens);
    watched.progress.finish();
    let store = watched.saver.finish(&run);
    (run, store)
}

fn exit_code(
    args: &CompareArgs,
    run: &Run,
    analysis: &Analysis,
    is_slower: bool,
) -> anyhow::Result<Exit> {
    if run.run.interrupted {
        return Ok(Exit::Interrupted);
    }
    if let Some(why) = &run.run.ended_early
        && run.blocks().next().is_none()
    {
        return Err(anyhow!("nothing could be measured: {why}"));
    }
    if let Some(failure) = run.failures.first()
        && run.failures.len() == run.plan.arms.len()
    {
        return Err(anyhow!("nothing could be measured: {}", failure.why));
    }
    if analysis.arms.iter().any(|arm| arm.integrity.as_ref().is_some_and(|i| !i.is_intact())) {
        output::note("corrupted data was found: see the records in the report");
        return Ok(Exit::BrokenData);
    }
    if is_slower {
        return Ok(Exit::Slower);
    }
    let without = |v| matches!(v, Verdict::Unclear | Verdict::Invalid);
    let lacks_verdict = || analysis.comparisons.iter().any(|c| without(c.verdict));
    if args.require_verdict && (!run.run.left_out.is_empty() || lacks_verdict()) {
        output::note("--require-verdict was given, but not every comparison has a verdict");
        return Ok(Exit::NoVerdict);
    }
    Ok(Exit::Done)
}
