//! `iotoll bench`: shell commands compared by their time, as a plan of the study `exec`.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::{Args, ValueHint};
use model::plan::{Draft, Plan, StudyPlan, find_study, parse_budget};
use model::study::{ParamValue, parse_threshold};

use crate::cli::{KeptArgs, RoundsArgs, RunArgs, ShownArgs, heading};
use crate::exit::{Exit, UsageError};
use crate::measuring::{Comparison, default_places};

/// The study that runs commands.
const EXEC: &str = "exec";

const BENCH_EXAMPLES: &str = "\
Examples:
  iotoll bench 'grep -r error src' 'rg error src'
  iotoll bench 'gzip -k data' 'zstd -k data' --prepare 'rm -f data.gz data.zst'
  iotoll bench './old' './new' --threshold 1% --budget 5min";

const BENCH_NOTES: &str = "\
The commands run in the current directory, by /bin/sh, one at a time and in
random order within each round. The time is from the start of a command to its
end, with all processes that it starts. Its standard output is thrown away. A
command that exits with another status than 0 is not measured.

iotoll makes a working folder here and removes it. The files that the commands
write are theirs: iotoll does not remove them.

The same with places: `iotoll compare --study exec --set exec.command=...`.";

/// Compare shell commands by their time
#[derive(Args)]
#[command(after_help = BENCH_EXAMPLES)]
#[command(after_long_help = format!("{BENCH_EXAMPLES}\n\n{BENCH_NOTES}"))]
pub(crate) struct BenchArgs {
    /// Compare these; the first is what you do now
    #[arg(value_name = "COMMAND", num_args = 2.., required = true)]
    #[arg(value_hint = ValueHint::CommandString)]
    commands: Vec<String>,

    /// Run this before each command, untimed
    #[arg(long, value_name = "COMMAND", help_heading = heading::WORKLOAD)]
    prepare: Option<String>,

    /// Ignore smaller differences [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_threshold)]
    #[arg(help_heading = heading::PRECISION)]
    threshold: Option<f64>,

    /// Stop after this time [default: 30s]
    ///
    /// Write it as 5min, 90s or 90.
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    #[arg(help_heading = heading::PRECISION)]
    budget: Option<Duration>,

    #[command(flatten)]
    rounds: RoundsArgs,

    /// Set the seed of the random order
    #[arg(long, value_name = "N", help_heading = heading::PRECISION)]
    seed: Option<u64>,

    #[command(flatten)]
    shown: ShownArgs,

    #[command(flatten)]
    kept: KeptArgs,
}

pub(crate) fn run(args: &BenchArgs) -> anyhow::Result<Exit> {
    let plan = plan(args)?;
    let run_args = RunArgs { shown: args.shown.clone(), kept: args.kept, ..RunArgs::default() };
    let comparison =
        Comparison { chose_places: true, needs_all: true, ..Comparison::of(&plan, &run_args) };
    comparison.run()
}

/// The commands as values of one parameter, in the current directory.
fn plan(args: &BenchArgs) -> anyhow::Result<Plan> {
    ensure!(
        args.commands.iter().all(|command| !command.trim().is_empty()),
        UsageError(
            "one of the commands is empty: write what the shell is to run, as in 'ls -l'".into()
        )
    );
    let spec = find_study(EXEC, &studies::specs())?;
    let mut study = StudyPlan::new(spec);
    let commands = args.commands.iter().map(|command| ParamValue::text(command));
    study.set("command", commands.collect());
    if let Some(prepare) = &args.prepare {
        study.set("prepare", vec![ParamValue::text(prepare)]);
    }
    for (name, value) in [("works-in", "current"), ("output", "any")] {
        let param = spec.param(name).with_context(|| format!("{EXEC} has no key {name}"))?;
        let value = param.parse(value).map_err(anyhow::Error::msg)?;
        study.set(&param.name, vec![value]);
    }
    let mut places = default_places();
    places.truncate(1);
    let draft = Draft {
        threshold: args.threshold,
        budget: args.budget,
        rounds: args.rounds.rounds,
        seed: args.seed,
        places,
        studies: vec![study],
        ..Draft::default()
    };
    Ok(draft.finish(u64::from(rand::random::<u32>()))?)
}
