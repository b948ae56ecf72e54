//! `cargo xtask bench kill`: runs of every study, killed (`SIGKILL`) at random moments.
//!
//! Afterwards no process that they started may be alive, the next run or `iotoll clean`
//! must leave nothing in their places, and every block that they had told of must be in
//! the record that was kept. With `--made`, runs create places, and what others have on the
//! machine must survive their cleaning. Kills happen on each of several file systems, where the
//! place and the record are, in several lanes at once: processes of their own, so that
//! each sees what its runs leave behind and nothing else.

mod grounds;
mod lane;
mod made;
mod others;
mod trial;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use grounds::Ground;
pub(crate) use lane::Args as LaneArgs;
pub(crate) use lane::run as run_lane;
use trial::Outcome;
use xtask::process;

#[derive(Clone, clap::Args)]
pub(crate) struct Args {
    /// How many runs are killed
    #[arg(long, value_name = "N", default_value_t = 1000)]
    kills: u64,
    /// Seed of the moments
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many at once
    #[arg(long, value_name = "N", default_value_t = 3)]
    at_once: u64,
    /// Kill runs that make places for themselves: as root, one at a time
    #[arg(long)]
    made: bool,
    /// Only on file systems that every machine has: memory, and where temporary files are
    #[arg(long, conflicts_with = "made")]
    usual: bool,
    /// The program whose runs are killed [default: it is built]
    #[arg(long, value_name = "FILE")]
    iotoll: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let build = if args.made { process::build_release_iotoll } else { process::build_iotoll };
    let iotoll = args.iotoll.clone().map_or_else(build, Ok)?;
    if args.usual {
        return kill_all(&iotoll, &grounds::usual()?, args);
    }
    let bytes = if args.made { grounds::BYTES_FOR_IMAGES } else { grounds::USUAL_BYTES };
    let (grounds, skipped) = grounds::all(bytes)?;
    for line in skipped {
        println!("not tried: {line}");
    }
    // Devices are the whole machine's: beside others nobody could say who left them.
    let at_once = if args.made { 1 } else { args.at_once };
    kill_all(&iotoll, &grounds, &Args { at_once, ..args.clone() })
}

/// Kills them all, and tells what became of them.
fn kill_all(iotoll: &Path, grounds: &[Ground], args: &Args) -> Result<()> {
    let began = Instant::now();
    let lanes = (0..args.at_once.max(1)).map(|lane| begin(iotoll, grounds, args, lane));
    let mut lanes = lanes.collect::<Result<Vec<Child>>>()?;
    let (sender, receiver) = mpsc::channel();
    let mut outcomes = Vec::new();
    thread::scope(|scope| {
        for lane in &mut lanes {
            let (sender, said) = (sender.clone(), lane.stdout.take());
            scope.spawn(move || {
                for line in said.into_iter().flat_map(|s| BufReader::new(s).lines()).flatten() {
                    // The receiver is there until all of these have ended.
                    let _ = sender.send(line);
                }
            });
        }
        drop(sender);
        for line in receiver {
            let outcome: Outcome = serde_json::from_str(&line).context("what a lane says")?;
            for what in &outcome.wrong {
                println!("kill {} ({}, {}): {what}", outcome.number, outcome.study, outcome.ground);
            }
            outcomes.push(outcome);
            if outcomes.len().is_multiple_of(50) {
                eprintln!("{} kills, {} s", outcomes.len(), began.elapsed().as_secs());
            }
        }
        anyhow::Ok(())
    })?;
    println!("{} kills in {} s", outcomes.len(), began.elapsed().as_secs());
    let judged = judge(&outcomes);
    for mut lane in lanes {
        ensure!(lane.wait()?.success(), "a lane failed; what it said is above");
    }
    ensure!(outcomes.len() as u64 == args.kills, "only {} kills", outcomes.len());
    judged
}

/// Starts a lane, which does every so manieth kill.
fn begin(iotoll: &Path, grounds: &[Ground], args: &Args, lane: u64) -> Result<Child> {
    // A build that went on meanwhile may have put another program in this one's place.
    let mut command = Command::new("/proc/self/exe");
    command.args(["kill-lane", "--iotoll"]).arg(iotoll);
    for (flag, value) in [
        ("--kills", args.kills),
        ("--seed", args.seed),
        ("--lane", lane),
        ("--lanes", args.at_once.max(1)),
    ] {
        command.args([flag, &value.to_string()]);
    }
    if args.made {
        command.arg("--made");
    }
    for ground in grounds {
        command.arg(format!("{}={}", ground.name, ground.path().display()));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("starting a lane")
}

/// A table of them; an error where anything is wrong.
fn judge(outcomes: &[Outcome]) -> Result<()> {
    let mut rows: BTreeMap<(&str, &str), Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        rows.entry(("by file system", &outcome.ground)).or_default().push(outcome);
        rows.entry(("by study", &outcome.study)).or_default().push(outcome);
    }
    rows.insert(("in all", ""), outcomes.iter().collect());
    println!(
        "{:<34} {:>6} {:>9} {:>8} {:>8} {:>6} {:>6} {:>8} {:>6}",
        "", "kills", "no record", "no block", "finished", "told", "kept", "ended ms", "wrong"
    );
    for ((group, name), outcomes) in &rows {
        let count = |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| is(o)).count();
        println!(
            "{:<34} {:>6} {:>9} {:>8} {:>8} {:>6} {:>6} {:>8} {:>6}",
            format!("{group}  {name}"),
            outcomes.len(),
            count(&|o| o.kept.is_none()),
            count(&|o| o.kept == Some(0)),
            count(&|o| o.finished),
            outcomes.iter().map(|o| u64::from(o.told)).sum::<u64>(),
            outcomes.iter().map(|o| u64::from(o.kept.unwrap_or(0))).sum::<u64>(),
            outcomes.iter().map(|o| o.ended_ms).max().unwrap_or(0),
            count(&|o| !o.wrong.is_empty()),
        );
    }
    println!(
        "told: blocks that were said to be complete before the kill; kept: blocks in the record;\n\
         ended: the longest that a process of a killed run lived on"
    );
    let wrong = outcomes.iter().filter(|outcome| !outcome.wrong.is_empty()).count();
    ensure!(wrong == 0, "{wrong} of {} kills left something, or lost it", outcomes.len());
    Ok(())
}
