//! The gate that a run must pass: an earlier run as its baseline, and limits.

use analysis::{Analysed, analyse};
use anyhow::ensure;
use model::analysis::Analysis;
use model::diff::Diff;
use model::matching::Matching;
use model::plan::Plan;
use model::run::Run;
use units::{Judgement, Limit};

use crate::cli::GateArgs;
use crate::exit::{Exit, UsageError, sentence};
use crate::results::baseline::{diff, judged, repeats};
use crate::results::confined;
use crate::results::delivery::Targets;
use crate::results::destination::Destination;
use crate::results::source::Source;
use crate::terminal::output;

/// The baseline and the limits of a run, and where to report whether it keeps them.
pub(crate) struct Gate {
    baseline: Option<(Box<Run>, Analysis)>,
    matching: Matching,
    limits: Vec<Limit>,
    allow_missing: bool,
    junit: Option<Destination>,
    github: bool,
}

impl Gate {
    /// Reads the baseline before anything is measured. `targets` are the run's other outputs.
    pub(crate) fn open(
        args: &GateArgs,
        plan: &Plan,
        targets: &mut Targets,
    ) -> anyhow::Result<Self> {
        for (flag, is_given) in [("--junit", args.junit.is_some()), ("--github", args.github)] {
            ensure!(
                !is_given || args.baseline.is_some() || !plan.fail.is_empty(),
                UsageError(format!(
                    "{flag} needs something to judge the run by: add --baseline RUN, or a limit, \
                     as in --fail 'log.p99 > 5ms'"
                ))
            );
        }
        let read = |given: &std::path::PathBuf| {
            let run = Source::open(Some(given)).and_then(confined::comparison).map_err(|why| {
                UsageError(format!(
                    "cannot use {} as the baseline: {}",
                    given.display(),
                    sentence(&why)
                ))
            })?;
            let analysis = analyse(&run);
            Ok::<_, anyhow::Error>((run, analysis))
        };
        let baseline = args.baseline.as_ref().map(read).transpose()?;
        let junit = args.junit.as_deref().map(Destination::open).transpose()?;
        if junit.as_ref().is_some_and(Destination::is_stdout) {
            targets.take_stdout("--junit")?;
        }
        ensure!(
            !args.github || targets.print_report(),
            UsageError(
                "--github prints to standard output, which another option already uses".into()
            )
        );
        Ok(Self {
            baseline,
            matching: args.matching.rule(),
            limits: plan.fail.clone(),
            allow_missing: args.allow_missing,
            junit,
            github: args.github,
        })
    }

    /// Judges a run, and reports that wherever it is wanted.
    pub(crate) fn judge(
        self,
        run: &Run,
        analysis: &Analysis,
        prints: bool,
    ) -> anyhow::Result<Exit> {
        let after = Analysed { run, analysis };
        let diff = self.baseline.as_ref().map(|(before, of_before)| {
            let before = Analysed { run: before, analysis: of_before };
            diff(before, after, &self.matching, judged(run, None, None), &repeats())
        });
        let limits = analysis::limited(run, analysis, &self.limits);
        let gate = report::ci::Gate {
            diff: diff.as_ref(),
            limits: &limits,
            allow_missing: self.allow_missing,
            started: &run.run.started,
            seconds: run.run.seconds,
        };
        let written = self.junit.map_or(Ok(()), |junit| junit.write(gate.junit().as_bytes()));
        if prints {
            let text = |diff: &Diff| format!("\n{}", report::diff(diff, output::width()));
            let limits = report::limits(&limits, output::width());
            let limits = if limits.is_empty() { limits } else { format!("\n{limits}") };
            output::result(&(diff.as_ref().map(text).unwrap_or_default() + &limits))?;
        }
        if self.github {
            output::commands(&gate.github())?;
        }
        written?;
        Ok(exit(&gate))
    }
}

/// How a gate ends: the gravest of what it found. Each is noted.
fn exit(gate: &report::ci::Gate<'_>) -> Exit {
    let mut exit = Exit::Done;
    let has = |judgement| gate.limits.iter().any(|limited| limited.judgement == judgement);
    if has(Judgement::Undecided) {
        output::note("it is undecided whether a limit of --fail is missed; measure for longer");
        exit = Exit::NoVerdict;
    }
    if gate.is_incomplete() {
        let what = if gate.diff.is_some_and(|diff| diff.arms.is_empty()) {
            "nothing of --baseline was measured, so that nothing was compared"
        } else {
            "a combination of --baseline was not measured"
        };
        output::note(&format!("{what}; --allow-missing lets it pass"));
        exit = Exit::Missing;
    }
    if has(Judgement::Missed) {
        output::note("a limit of --fail is missed");
        exit = Exit::Slower;
    }
    if gate.diff.is_some_and(|diff| diff.slower().next().is_some()) {
        output::note("--baseline was given, and a combination is slower than in that run");
        exit = Exit::Slower;
    }
    exit
}
