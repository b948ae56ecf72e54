//! The main job: from a plan to the report of its run. The commands that measure a comparison
//! differ in where their plan is from.

use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use std::time::Instant;

use analysis::analyse;
use anyhow::anyhow;
use engine::folders::Folders as _;
use engine::job::Job;
use engine::measure::Event;
use engine::needs::needs;
use engine::run::Header;
use engine::study::{Footprint, Workload};
use model::analysis::{Analysis, Verdict};
use model::arm::Arm;
use model::article::Article;
use model::plan::Plan;
use model::run::Run;
use ranks::Leader;
use report::formats::Content;
use report::terminal::Rest;

use crate::cli::RunArgs;
use crate::exit::{Exit, UsageError};
use crate::measuring::check::CheckPlan;
use crate::measuring::environment::LocalEnvironment;
use crate::measuring::prepared_places::PreparedPlaces;
use crate::measuring::session::{self, Session};
use crate::measuring::stop_reason::StopReason;
use crate::measuring::{clients, dry_run, preflight, replayed};
use crate::results::{Gate, RunSaver, Targets, deliver, saving, summaries};
use crate::signals;
use crate::terminal::{Progress, Shown, output};

/// What is to be measured, and how.
pub(crate) struct Comparison<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) args: &'a RunArgs,
    /// Whether the user chose the places.
    pub(crate) chose_places: bool,
    /// The article that is repeated by what is measured in the end.
    pub(crate) article: &'a dyn Fn(&Plan) -> Option<Article>,
    /// What of storage is checked, where that is what is wanted.
    pub(crate) checks: Option<&'a CheckPlan>,
    /// Whether the run fails where a combination does.
    pub(crate) needs_all: bool,
    /// The other ranks, as clients.
    pub(crate) others: Option<&'a Leader>,
}

fn interrupted_before(places: PreparedPlaces) -> anyhow::Result<Exit> {
    output::note("interrupted before anything was measured");
    places.close()?;
    Ok(Exit::Interrupted)
}

impl<'a> Comparison<'a> {
    /// Of a plan alone, whose places the user did not choose.
    pub(crate) fn of(plan: &'a Plan, args: &'a RunArgs) -> Self {
        Self {
            plan,
            args,
            chose_places: false,
            article: &|_| None,
            checks: None,
            needs_all: false,
            others: None,
        }
    }

    /// Measures, and reports.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let Self { plan, args, others, .. } = *self;
        let began = Instant::now();
        let (mut places, work) = self.prepare()?;
        if args.kept.dry_run {
            let Work { job, needs, .. } = &work;
            output::result(&dry_run::describe(job, &places.facts, needs, output::width()))?;
            return Ok(Exit::Done);
        }
        let mut targets = Targets::open(args.shown.formats.files())?;
        let gate = Gate::open(&args.gate, plan, &mut targets)?;
        let prints = targets.print_report();
        let mut saver = RunSaver::new(saving::open(args.kept.no_save));
        if plan.gentle {
            step_back();
        }
        let stop_reason = StopReason::new(signals::stop_flag()?);
        places.create(&stop_reason.stop)?;
        if stop_reason.stop.load(Ordering::Relaxed) {
            return interrupted_before(places);
        }
        // What was made is what counts, and some of it may not have been.
        let Work { job, workloads, needs } = work.without_left_out(&places.plan, self)?;
        places.check_space(&needs)?;
        replayed::tell(&job);
        let mut session =
            Session::open(&places.facts, places.holders(), &stop_reason, began, job.run_limits)?;
        session.share_with(others, &args.local)?;
        let (facts, left_out) = (session.facts().to_vec(), places.left_out.clone());
        let mut runner = session.runner(&job.arms, workloads);
        let shown = if args.shown.quiet { Shown::Line } else { Shown::Table };
        let mut progress = Progress::new(began, job.budget, shown);
        let header = self.header(&places.plan, &job.arms);
        let mut environment = LocalEnvironment::new(facts, left_out, stop_reason.clone())
            .with_clients(others, &args.local);
        let mut happens = |event: Event<'_>| {
            if let Some(trouble) = saver.take(&event) {
                progress.note(&trouble);
            }
            progress.show(&event, &job.arms);
            if let (Event::Block { blocks, .. }, true) = (event, args.tell_blocks) {
                output::note(&format!("block {blocks}"));
            }
        };
        let mut run = engine::run::run(&job, header, &mut environment, &mut *runner, &mut happens);
        progress.finish();
        let store = saver.finish(&run);
        clients::tell_interrupted(others, &run);
        studies::complete(&mut run.studies);
        let analysis = analyse(&run);
        // Before anything is ended or removed, which may fail.
        let delivered = deliver(targets, self.content(&run, &analysis), |width| {
            report::terminal::report(&run, &analysis, rest(args), width)
        });
        summaries::keep(store, &run, &analysis);
        let judged = gate.judge(&run, &analysis, prints);
        drop(runner);
        let closed = session.close().and(places.close());
        delivered.and(closed)?;
        let exit = self.fit(exit_code(args, &run, &analysis, judged?)?, &run, &analysis);
        if let (Exit::Done | Exit::NoVerdict, Some(why)) = (exit, stop_reason.why()) {
            output::note(&format!("ended early: {why}"));
            return Ok(Exit::CouldNot);
        }
        Ok(exit)
    }

    /// What the run is called, and what it is of.
    fn header(&self, plan: &Plan, arms: &[Arm]) -> Header {
        Header {
            article: (self.article)(plan),
            checks: self.checks.map(|checks| checks.request(arms)),
            ..session::header()
        }
    }

    /// How it ends, where storage was to be good enough, or all combinations to be measured.
    fn fit(&self, exit: Exit, run: &Run, analysis: &Analysis) -> Exit {
        match (exit, self.checks) {
            (Exit::Done | Exit::NoVerdict, Some(checks)) => checks.exit(exit, analysis),
            (Exit::Done, None) if self.needs_all && !run.failures.is_empty() => Exit::CouldNot,
            _ => exit,
        }
    }

    /// What files are written of.
    fn content<'r>(&self, run: &'r Run, analysis: &'r Analysis) -> Content<'r> {
        if self.checks.is_some() {
            return Content::Check { run, analysis };
        }
        Content::Comparison { run, analysis }
    }

    /// Measures one round, and neither keeps nor prints it.
    pub(crate) fn one_round(&self) -> anyhow::Result<Run> {
        let began = Instant::now();
        let (mut places, work) = self.prepare()?;
        let stop_reason = StopReason::new(signals::stop_flag()?);
        places.create(&stop_reason.stop)?;
        let Work { job, workloads, needs } = work.without_left_out(&places.plan, self)?;
        places.check_space(&needs)?;
        let job = Job { rounds: NonZeroU32::new(1), ..job };
        let mut session =
            Session::open(&places.facts, places.holders(), &stop_reason, began, job.run_limits)?;
        let mut runner = session.runner(&job.arms, workloads);
        let (facts, left_out) = (places.facts.clone(), places.left_out.clone());
        let mut environment = LocalEnvironment::new(facts, left_out, stop_reason);
        let header = session::header();
        let run = engine::run::run(&job, header, &mut environment, &mut *runner, &mut |_| {});
        drop(runner);
        session.close().and(places.close())?;
        Ok(run)
    }

    /// What the plan comes to here, and whether that can be measured. Nothing is touched yet.
    fn prepare(&self) -> anyhow::Result<(PreparedPlaces, Work)> {
        let Self { plan, args, others, .. } = *self;
        plan.check_limits()?;
        let work = Work::of(plan, self)?;
        clients::check(plan, &work.job.arms, &args.local, clients::count(others))?;
        if args.require_verdict && work.job.pairs.is_empty() {
            return Err(nothing_to_compare(&work.job.arms).into());
        }
        for unused in preflight::unused(plan, &work.job.arms) {
            output::note(&format!(
                "{unused} has no effect here; `iotoll studies NAME` says what it \
                 is for"
            ));
        }
        let places = PreparedPlaces::look(plan.clone())?;
        preflight::check_apart(&places.facts, self.chose_places)?;
        let work = work.without_left_out(&places.plan, self)?;
        places.check_space(&work.needs)?;
        Ok((places, work))
    }
}

/// What a plan comes to.
struct Work {
    job: Job,
    workloads: Vec<Box<dyn Workload>>,
    needs: Vec<Footprint>,
}

impl Work {
    fn of(plan: &Plan, comparison: &Comparison<'_>) -> anyhow::Result<Self> {
        let mut job = Job::of(plan);
        if let Some(checks) = comparison.checks {
            checks.shape(&mut job);
        }
        let workloads = preflight::workloads(&job.arms)?;
        job.materials = workloads.iter().map(|workload| workload.about().material).collect();
        let needs = needs(&job, &workloads, plan.places.len());
        Ok(Self { job, workloads, needs })
    }

    /// The same of a plan that may lack some of the places, as all else in it is.
    fn without_left_out(self, plan: &Plan, comparison: &Comparison<'_>) -> anyhow::Result<Self> {
        if plan.places.len() == self.needs.len() { Ok(self) } else { Self::of(plan, comparison) }
    }
}

/// Why no verdict can be had, and what to add.
fn nothing_to_compare(arms: &[Arm]) -> UsageError {
    let what = match arms {
        [arm] => format!("there is only {}", arm.id),
        _ => format!("no two of the {} combinations are compared", arms.len()),
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

/// Where a reader finds what the printed screen leaves out.
fn rest(args: &RunArgs) -> Rest<'static> {
    match (args.shown.full, args.kept.no_save) {
        (true, _) => Rest::Below,
        (false, true) => Rest::Nowhere,
        (false, false) => Rest::LATEST,
    }
}

fn exit_code(args: &RunArgs, run: &Run, analysis: &Analysis, judged: Exit) -> anyhow::Result<Exit> {
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
    if matches!(judged, Exit::Slower | Exit::Missing) {
        return Ok(judged);
    }
    // A round takes as long as the program, so that a budget may have room for none.
    let of_a_program = run.plan.arms.iter().any(|arm| ["replay", "exec"].contains(&&*arm.study));
    if of_a_program && run.blocks().next().is_none() {
        output::note("no round was complete, so there is no verdict: give a longer --budget");
        return Ok(Exit::NoVerdict);
    }
    let without = |v| matches!(v, Verdict::Unclear | Verdict::Invalid);
    let lacks_verdict = || analysis.comparisons.iter().any(|c| without(c.verdict));
    if args.require_verdict && (!run.run.left_out.is_empty() || lacks_verdict()) {
        output::note("--require-verdict was given, but not every comparison has a verdict");
        return Ok(Exit::NoVerdict);
    }
    Ok(judged)
}
