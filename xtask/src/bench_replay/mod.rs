//! `cargo xtask bench replay`: real programs beside the replays of their recordings.
//!
//! Each program is recorded once by the built binary. Then, round by round and in an order drawn
//! for each, it runs as it is on the disk and in memory, and its recording is replayed there. A
//! replay on the disk that takes about as long as the program shows that what was recorded is
//! what takes the time. What the program itself saves by moving must be no more than the bound
//! that the recording gave, and what replays said.

mod programs;

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use engine::recorder::Recorder;
use engine::study::{SliceFolders, Workload};
use host::clock::Clock;
use model::study::Params;
use rand::seq::SliceRandom as _;
use tempfile::TempDir;

use self::programs::{PROGRAMS, Program};
use crate::packages::is_installed;
use crate::process;
use crate::spread::{ROUNDS_MIN, Spread};

/// Calls that take so long leave little to what replaying itself takes …
const LONG_NS: f64 = 10_000.0;
/// … and a replay of them is off by no more than this; of shorter ones by no more than that.
const OFF_MAX: [f64; 2] = [0.10, 0.15];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Rounds, in each of which a program runs and is replayed, on disk and in memory
    #[arg(long, value_name = "N", default_value_t = 15)]
    rounds: usize,
    /// A folder on the disk
    #[arg(long, value_name = "DIR", default_value = ".")]
    disk: PathBuf,
    /// A folder in memory
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    ram: PathBuf,
    /// Programs whose name has this in it
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Go by what was measured, and fail for nothing
    #[arg(long)]
    no_target: bool,
}

/// What is done in a round: the program itself or its replay, on disk or in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    OnDisk,
    InRam,
    ReplayOnDisk,
    ReplayInRam,
}

const TURNS: [Turn; 4] = [Turn::OnDisk, Turn::InRam, Turn::ReplayOnDisk, Turn::ReplayInRam];

pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(args.rounds >= ROUNDS_MIN, "--rounds must be at least {ROUNDS_MIN}");
    let iotoll = process::release_iotoll()?;
    let mut missed = Vec::new();
    for program in PROGRAMS.iter().filter(|program| program.name.contains(&args.only)) {
        if !is_installed(program.needs) {
            println!("{}: skipped, for there is no {}", program.name, program.needs);
            continue;
        }
        missed.extend(measure(args, &iotoll, program).with_context(|| program.name)?);
    }
    ensure!(missed.is_empty() || args.no_target, "{}", missed.join("\n"));
    Ok(())
}

/// Measures one program; what it misses of its targets.
fn measure(args: &Args, iotoll: &Path, program: &Program) -> Result<Vec<String>> {
    let kept = tempfile::tempdir()?;
    let trace = kept.path().join("program.trace");
    let recorded_in = prepared(program, &args.disk)?;
    let mut record = Command::new(iotoll);
    record.arg("record").arg("-o").arg(&trace).args(["--", "sh", "-c", program.command]);
    let recorded = record.current_dir(recorded_in.path()).stdout(Stdio::null()).status()?;
    ensure!(recorded.success(), "it could not be recorded");
    let mut workload = workload(&trace, recorded_in.path())?;
    let mut took: [Vec<f64>; TURNS.len()] = [const { Vec::new() }; TURNS.len()];
    let mut replayed = Replayed::default();
    for _ in 0..args.rounds {
        let mut order = TURNS;
        order.shuffle(&mut rand::rng());
        for turn in order {
            let place = match turn {
                Turn::OnDisk | Turn::ReplayOnDisk => &args.disk,
                Turn::InRam | Turn::ReplayInRam => &args.ram,
            };
            took[turn as usize].push(match turn {
                Turn::OnDisk | Turn::InRam => original_ns(program, place)?,
                Turn::ReplayOnDisk => replay_ns(&mut *workload, place, &mut replayed)?,
                // Only those on disk tell how long calls take.
                Turn::ReplayInRam => {
                    let call_ns = replayed.call_ns;
                    let took_ns = replay_ns(&mut *workload, place, &mut replayed)?;
                    replayed.call_ns = call_ns;
                    took_ns
                }
            });
        }
    }
    Ok(tell(program, &took, &replayed))
}

/// What replays told of themselves, those of the last one.
#[derive(Default)]
struct Replayed {
    calls: f64,
    /// The most of any replay.
    deviations: f64,
    bound: f64,
    /// What one call took, on disk.
    call_ns: f64,
    untrusted: Option<String>,
}

/// Prints a program's figures; what they miss.
fn tell(program: &Program, took: &[Vec<f64>; 4], replayed: &Replayed) -> Vec<String> {
    let [disk, ram, replay_disk, replay_ram] = took;
    let ratio = |a: &[f64], b: &[f64]| Spread::of(a.iter().zip(b).map(|(a, b)| a / b));
    let saved = |a: &[f64], b: &[f64]| Spread::of(a.iter().zip(b).map(|(a, b)| 1.0 - b / a));
    let off = ratio(replay_disk, disk);
    let (really, foretold) = (saved(disk, ram), saved(replay_disk, replay_ram));
    let millis = |ns: &[f64]| Spread::of(ns.iter().copied()).median / 1e6;
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    let off_max = OFF_MAX[usize::from(replayed.call_ns < LONG_NS)];
    println!("{}", program.name);
    println!(
        "  {} calls of {:.1} µs; {:.1} ms on disk, replayed in {:.1} ms: ×{}, ×{:.2} at most",
        replayed.calls,
        replayed.call_ns / 1e3,
        millis(disk),
        millis(replay_disk),
        off.show(|ratio| format!("{ratio:.3}")),
        1.0 + off_max
    );
    println!(
        "  moving saves {}; replays say {}; at most {}; deviations {}",
        really.show(percent),
        foretold.show(percent),
        percent(replayed.bound),
        replayed.deviations
    );
    let name = program.name;
    let mut missed = Vec::new();
    if off.median > 1.0 + off_max || off.median < 1.0 / (1.0 + off_max) {
        missed.push(format!("{name}: a replay takes ×{:.3} of the program's time", off.median));
    }
    if let Some(why) = &replayed.untrusted {
        missed.push(format!("{name}: {why}"));
    }
    if really.low > replayed.bound {
        missed.push(format!("{name}: moving saves more than the bound"));
    }
    if really.low > foretold.high || really.high < foretold.low {
        missed.push(format!("{name}: moving saves another share than replays say"));
    }
    missed
}

/// A folder in a place with what the program finds, all of it on the device.
fn prepared(program: &Program, place: &Path) -> Result<TempDir> {
    let folder = TempDir::new_in(place)?;
    let mut prepare = Command::new("sh");
    prepare.args(["-ec", program.prepare]).current_dir(folder.path());
    process::succeed(&mut prepare)?;
    rustix::fs::syncfs(std::fs::File::open(folder.path())?)?;
    Ok(folder)
}

fn original_ns(program: &Program, place: &Path) -> Result<f64> {
    let folder = prepared(program, place)?;
    let mut command = Command::new("sh");
    command.args(["-c", program.command]).current_dir(folder.path()).stdout(Stdio::null());
    let began = Instant::now();
    let ended = command.status()?;
    let took = began.elapsed();
    ensure!(ended.success(), "the program itself failed");
    Ok(took.as_nanos() as f64)
}

fn workload(trace: &Path, folder: &Path) -> Result<Box<dyn Workload>> {
    let study = studies::find("replay").context("there is no study replay")?;
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path that is no text");
    let given = [("trace", text(trace)?), ("folder", text(folder)?), ("until", "10min".to_owned())];
    let mut params = Vec::new();
    for param in study.spec().params {
        let given = given.iter().find(|(name, _)| *name == param.name);
        let value = match given {
            Some((_, text)) => param.parse(text).map_err(anyhow::Error::msg)?,
            None => param.default_value(),
        };
        params.push((param.name, value));
    }
    Ok(study.workload("recorded", &Params(params))?)
}

fn replay_ns(workload: &mut dyn Workload, place: &Path, told: &mut Replayed) -> Result<f64> {
    let folder = TempDir::new_in(place)?;
    let opened = std::fs::File::open(folder.path())?;
    let folders = SliceFolders { fresh: opened.as_fd(), kept: opened.as_fd(), kept_is_new: true };
    let mut recorder = Recorder::new(Clock::new(), ::process::StopFlag::default());
    let ready = workload.prepare(folders)?.ready(1, &recorder)?;
    recorder.start();
    let ran = ready.run(&mut recorder)?;
    recorder.finish();
    let elapsed_ns = recorder.elapsed_ns() as f64;
    let outcome = ran.finish()?;
    let figure = |name: &str| outcome.figures.get(name).copied();
    let (Some(calls), Some(think_ns), Some(deviations), Some(bound)) =
        (figure("calls"), figure("think_ns"), figure("deviations"), figure("bound_share"))
    else {
        bail!("the replay does not tell of itself");
    };
    told.call_ns = (elapsed_ns - think_ns) / calls.max(1.0);
    told.deviations = told.deviations.max(deviations);
    (told.calls, told.bound) = (calls, bound);
    told.untrusted = outcome.untrusted.or(told.untrusted.take());
    Ok(elapsed_ns)
}
