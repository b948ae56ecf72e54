//! `iotoll check`: whether storage is good enough, on one screen.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::{Args, ValueHint};
use model::check::{FOR, Need, NeedFigure, Program};
use model::place::PlaceRequest;
use model::place_argument::PlaceArgument;
use model::plan::{Draft, GENTLE_BUDGET, Plan, StudyPlan, find_study, parse_budget};
use model::study::{ParamValue, nearest};
use units::{Limit, parse_size};

use crate::cli::{GateArgs, KeptArgs, Offered, RunArgs, ShownArgs, heading};
use crate::exit::{Exit, UsageError};
use crate::measuring::{CheckPlan, Comparison, named_places, usual_programs};

/// The study that a check is made of.
const STORAGE: &str = "storage";
/// Its strategy with the commits of programs, and its parameter that names them.
const PROGRAM: &str = "program";
/// What is measured of each place.
const BUDGET: Duration = Duration::from_secs(20);
/// Reads under way at a time; the first is shown beside the page cache.
const DEPTHS: [u64; 3] = [1, 16, 64];

const CHECK_EXAMPLES: &str = "\
Examples:
  iotoll check                              this directory
  iotoll check /srv --for etcd              is it good enough for etcd?
  iotoll check /srv --for postgresql=500    for 500 commits a second?
  iotoll check / tmpfs:1G image:xfs:1G      compare places
  iotoll check . overlay:.                  container layer or volume?
  iotoll check /srv --require-fit           for scripts
  iotoll check /srv --gentle                on a machine in production";

const CHECK_NOTES: &str = "\
--json has what the screen says. `iotoll show last --json FILE` writes all of
the run, which --baseline, `diff` and `report` read.

Exit codes:
  0    success
  1    failure
  2    invalid usage or input
  3    a study found corrupted data
  4    it is undecided whether a place is good enough (--require-fit), or a
       limit is (--fail)
  5    a place is not good enough (--require-fit), a limit is missed (--fail),
       or something is slower than in an earlier run (--baseline)
  6    a combination of the earlier run was not measured (--baseline)
  130  interrupted; what was measured so far has been reported";

/// Check whether storage is good enough
///
/// Times fsync, fdatasync, random and sequential reads and writes, and durable renames, each next
/// to the same from the page cache. Says for which programs that is good enough, and why it is as
/// it is. Needs no root, works in a private folder and removes it.
#[derive(Args)]
#[command(after_help = CHECK_EXAMPLES)]
#[command(after_long_help = format!("{CHECK_EXAMPLES}\n\n{CHECK_NOTES}"))]
pub(crate) struct CheckArgs {
    /// Check these directories [default: .]
    ///
    /// tmpfs:SIZE, image:FS:SIZE and others are created for the run and removed after it, as
    /// `iotoll compare --help` lists them.
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    #[arg(help_heading = heading::PLACES)]
    places: Vec<PlaceArgument>,

    /// Answer for these programs [default: etcd,postgresql]
    ///
    /// Their commits were recorded from the programs themselves. etcd=50 asks for 50 commits a
    /// second by one client, in place of what its documentation asks. `none` answers for none.
    #[arg(long = "for", value_name = "PROGRAM", value_delimiter = ',')]
    #[arg(help_heading = heading::WORKLOAD)]
    #[arg(value_parser = Offered::of(offered), hide_possible_values = true)]
    programs: Vec<String>,

    /// Stop after this time [default: 20s for each place]
    ///
    /// Write it as 5min, 90s or 90. With --gentle, the default is an hour for each place.
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    #[arg(help_heading = heading::PRECISION)]
    budget: Option<Duration>,

    /// Set the seed of the random order
    #[arg(long, value_name = "N", help_heading = heading::PRECISION)]
    seed: Option<u64>,

    /// Exit with 5 if a place is not good enough
    ///
    /// Exit with 4 if that is undecided for a program. Programs whose documentation names no
    /// figure pass.
    #[arg(long, help_heading = heading::CI)]
    require_fit: bool,

    /// Exit with 5 if a figure is beyond a limit
    ///
    /// Name a figure, a sign and a value, as in 'storage/fsync.p99 > 5ms'. The figure must surely
    /// be beyond it; exit with 4 if that is undecided. It can be given again.
    #[arg(long, value_name = "LIMIT", help_heading = heading::CI)]
    fail: Vec<Limit>,

    #[command(flatten)]
    gate: GateArgs,

    #[command(flatten)]
    shown: ShownArgs,

    #[command(flatten)]
    kept: KeptArgs,

    /// Use low I/O priority and long pauses
    ///
    /// Measure in small bursts with at most 20 syncs a second, so that other programs on the
    /// storage come first. The report says what the check did to them.
    #[arg(long, help_heading = heading::SAFETY)]
    gentle: bool,

    /// Stop when this much is written [default: 16GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = heading::SAFETY)]
    write_limit: Option<u64>,
}

fn offered() -> Vec<String> {
    studies::programs().into_iter().map(|program| program.name.clone()).collect()
}

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    let programs = programs(&args.programs)?;
    let plan = plan(args, &programs)?;
    let is_asked = !args.programs.is_empty();
    let checks = CheckPlan { programs, is_asked, require_fit: args.require_fit };
    let run_args = RunArgs {
        shown: ShownArgs { quiet: true, ..args.shown.clone() },
        kept: args.kept,
        gate: args.gate.clone(),
        ..RunArgs::default()
    };
    let comparison = Comparison {
        chose_places: !args.places.is_empty(),
        checks: Some(&checks),
        ..Comparison::of(&plan, &run_args)
    };
    comparison.run()
}

/// The programs that are asked for, or the usual ones.
fn programs(asked: &[String]) -> anyhow::Result<Vec<Program>> {
    let known = studies::programs();
    if asked.is_empty() {
        return Ok(usual_programs());
    }
    if asked == ["none"] {
        return Ok(Vec::new());
    }
    let mut programs: Vec<Program> = Vec::new();
    for text in asked {
        let (name, rate) = text.split_once('=').map_or((&**text, None), |(n, r)| (n, Some(r)));
        let Some(program) = known.iter().find(|program| program.name == name) else {
            let names: Vec<&str> = known.iter().map(|program| program.name.as_str()).collect();
            let near = nearest(name, names.iter().copied());
            let hint = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            return Err(UsageError(format!(
                "no recorded commits of `{name}`{hint}: there are those of {}; `iotoll record` \
                 measures any other program",
                names.join(", ")
            ))
            .into());
        };
        ensure!(
            programs.iter().all(|other| other.name != name),
            UsageError(format!("--for names `{name}` twice"))
        );
        let needs = match rate {
            Some(rate) => vec![asked_for(text, rate)?],
            None => program.needs.clone(),
        };
        programs.push(Program { needs, ..(*program).clone() });
    }
    Ok(programs)
}

/// A number of commits a second that the user asks for.
fn asked_for(text: &str, rate: &str) -> anyhow::Result<Need> {
    let limit = rate.trim().parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    let limit = limit.ok_or_else(|| {
        UsageError(format!(
            "--for {text}: give a number of commits a second, as in --for postgresql=500"
        ))
    })?;
    let figure = NeedFigure::CommitsPerSecond;
    Ok(Need { figure, limit, says: "asked for".to_owned(), source: format!("{FOR}{text}") })
}

/// Everything that is timed, at each place.
fn plan(args: &CheckArgs, programs: &[Program]) -> anyhow::Result<Plan> {
    let spec = find_study(STORAGE, &studies::specs())?;
    let mut study = StudyPlan::new(spec);
    study.strategies = spec.strategies.iter().filter(|strategy| strategy.by_default).collect();
    study.set("depth", DEPTHS.map(ParamValue::Count).to_vec());
    if !programs.is_empty() {
        study.strategies.extend(spec.strategy(PROGRAM));
        let param = spec.param(PROGRAM).with_context(|| format!("{STORAGE} has no {PROGRAM}"))?;
        let parse = |program: &Program| param.parse(&program.name).map_err(anyhow::Error::msg);
        let names = programs.iter().map(parse).collect::<anyhow::Result<_>>()?;
        study.set(PROGRAM, names);
    }
    let places = if args.places.is_empty() {
        vec![PlaceRequest::directory("here", ".")]
    } else {
        named_places(&args.places)?
    };
    let each = if args.gentle { GENTLE_BUDGET } else { BUDGET };
    let draft = Draft {
        budget: args.budget.or(Some(each * places.len() as u32)),
        gentle: args.gentle,
        write_limit_bytes: args.write_limit,
        seed: args.seed,
        places,
        studies: vec![study],
        fail: args.fail.clone(),
        ..Draft::default()
    };
    Ok(draft.finish(u64::from(rand::random::<u32>()))?)
}
