//! `cargo xtask bench replay`: real programs beside the replays of their recordings.
//!
//! Each program is recorded by the built binary in each round: one run is not like the next, and
//! a recording is of one. Then, in an order drawn for each round, it runs as it is on the disk and
//! in memory, and its recording is replayed there. A replay on the disk that takes about as long
//! as the program shows that what was recorded is what takes the time. What the program itself
//! saves by moving must be no more than the bound that recordings gave, and what replays said, as far
//! as they know it: what they estimated may be as much more, or nothing. Last comes a server that is
//! watched under load.

pub(crate) mod folders;
pub(crate) mod programs;
mod watched;

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use engine::slice_timer::SliceTimer;
use engine::study::{SliceFolders, Workload};
use host::clock::Clock;
use model::figure::ESTIMATED_AWAY;
use tempfile::TempDir;
use trace::{TraceReader, bill_of};

pub(crate) use self::folders::Folders;
pub(crate) use self::programs::{Program, all as programs};
use crate::spread::{Spread, enough};
use crate::turns::in_any_order;
use xtask::process;

/// Calls that take so long leave little to what replaying itself takes …
const LONG_NS: f64 = 10_000.0;
/// … and a replay of them is off by no more than this; of shorter ones by no more than that.
const OFF_MAX: [f64; 2] = [0.10, 0.15];
/// More than any processor's caches have.
const CACHE_BYTES_MAX: usize = 256 << 20;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Rounds, in each of which a program runs and is replayed, on disk and in memory
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = enough)]
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
    let iotoll = process::build_release_iotoll()?;
    let mut folders = Folders::default();
    let (mut missed, mut rows) = (Vec::new(), Vec::new());
    let programs = programs()?;
    let chosen = programs.iter().filter(|program| program.name.contains(&args.only));
    for program in chosen.filter(|program| program.can_run()) {
        match measure(args, &iotoll, program, &mut folders) {
            Ok(measured) => {
                missed.extend(measured.missed);
                rows.push(measured.row);
            }
            // One that cannot be measured here says nothing of the others.
            Err(error) => missed.push(format!("{}: {error:#}", program.name)),
        }
    }
    if watched::NAME.contains(&args.only) {
        missed.extend(watched::measure(args, &iotoll, &mut folders).context(watched::NAME)?);
    }
    table(&rows);
    for miss in &missed {
        println!("missed: {miss}");
    }
    ensure!(missed.is_empty() || args.no_target, "{}", missed.join("\n"));
    Ok(())
}

/// A program's line in the table at the end.
struct Row {
    name: String,
    saved: Spread,
    foretold: Spread,
    bound: f64,
    off: f64,
    /// What a replay in memory took of the program's own time there.
    target: f64,
    verdict: bool,
}

struct Measured {
    row: Row,
    missed: Vec<String>,
}

/// What moving really saves, beside what was said of it.
fn table(rows: &[Row]) {
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    println!(
        "| program | moving saves | replays say | at most | replayed on disk | in memory | bound holds | replay holds |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let yes = |is: bool| if is { "yes" } else { "no" };
    for row in rows {
        let said = row.foretold.show(percent);
        let said = if row.verdict { said } else { format!("no verdict ({said})") };
        let holds = row.saved.low <= row.foretold.high && row.saved.high >= row.foretold.low;
        println!(
            "| {} | {} | {said} | {} | ×{:.2} | ×{:.2} | {} | {} |",
            row.name,
            row.saved.show(percent),
            percent(row.bound),
            row.off,
            row.target,
            yes(row.saved.low <= row.bound),
            if row.verdict { yes(holds) } else { "–" }
        );
    }
    // As ARTC (Weiss et al., SOSP 2013) has it.
    let errors = rows.iter().filter(|row| row.verdict).map(|row| (row.target - 1.0).abs());
    let errors: Vec<f64> = errors.collect();
    let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
    println!(
        "Of {} programs, {} have a verdict; in memory, their replays take a time that is off by \
         {} on average",
        rows.len(),
        errors.len(),
        percent(mean)
    );
}

/// Measures one program.
fn measure(
    args: &Args,
    iotoll: &Path,
    program: &Program,
    folders: &mut Folders,
) -> Result<Measured> {
    let mut took: [Vec<f64>; TURNS.len()] = [const { Vec::new() }; TURNS.len()];
    let mut replayed = Replayed::default();
    // What is read from the device the first time is in memory from then on.
    original_ns(program, folders.prepared(program, &args.disk)?)?;
    for _ in 0..args.rounds {
        let (_kept, mut workload, bound) =
            recorded(iotoll, program, folders.prepared(program, &args.disk)?)?;
        replayed.bound.push(bound);
        for turn in in_any_order(TURNS.len()).into_iter().map(|turn| TURNS[turn]) {
            let place = match turn {
                Turn::OnDisk | Turn::ReplayOnDisk => &args.disk,
                Turn::InRam | Turn::ReplayInRam => &args.ram,
            };
            took[turn as usize].push(match turn {
                Turn::OnDisk | Turn::InRam => {
                    original_ns(program, folders.prepared(program, place)?)?
                }
                Turn::ReplayOnDisk | Turn::ReplayInRam => {
                    replay_ns(&mut *workload, folders.empty(place)?, turn, &mut replayed)?
                }
            });
        }
    }
    Ok(tell(program, &took, &replayed))
}

/// Records a program in its folder, makes a replay of it, and has the bill's bound. The trace is
/// in the other folder.
fn recorded(
    iotoll: &Path,
    program: &Program,
    folder: &Path,
) -> Result<(TempDir, Box<dyn Workload>, f64)> {
    let kept = tempfile::tempdir()?;
    let trace = kept.path().join("program.trace");
    let mut record = Command::new(iotoll);
    record.arg("record").arg("-o").arg(&trace).args(["--", "sh", "-c", &program.command]);
    record.current_dir(folder);
    process::succeed(record.stdout(Stdio::null()).stderr(Stdio::null()))?;
    let workload = workload(&trace, folder)?;
    let bound = bound(&trace)?;
    Ok((kept, workload, bound))
}

/// The most that moving files can save, as the bill has it; all, where it does not know.
fn bound(trace: &Path) -> Result<f64> {
    let mut reader = TraceReader::new(File::open(trace)?)?;
    let bound = bill_of(&mut reader, |_, _| String::new())?.bound;
    Ok(if bound.complete { bound.share } else { 1.0 })
}

/// What replays told of themselves, each of them.
#[derive(Default)]
struct Replayed {
    calls: Vec<f64>,
    /// What the program took when it was recorded, without what recording took.
    recorded_ns: Vec<f64>,
    /// The most of any replay.
    deviations: f64,
    bound: Vec<f64>,
    /// The logarithm of what a replay would have taken without what it estimated over what it took:
    /// on disk, and in memory.
    estimated: [Vec<f64>; 2],
    /// What one call took, on disk.
    call_ns: Vec<f64>,
    untrusted: Option<String>,
}

fn middle(values: &[f64]) -> f64 {
    Spread::of(values.iter().copied()).median
}

/// Prints a program's figures; what they miss.
fn tell(program: &Program, took: &[Vec<f64>; 4], replayed: &Replayed) -> Measured {
    let [disk, ram, replay_disk, replay_ram] = took;
    let ratio = |a: &[f64], b: &[f64]| Spread::of(a.iter().zip(b).map(|(a, b)| a / b));
    let saved = |a: &[f64], b: &[f64]| Spread::of(a.iter().zip(b).map(|(a, b)| 1.0 - b / a));
    let off = ratio(replay_disk, disk);
    let (really, foretold) = (saved(disk, ram), saved(replay_disk, replay_ram));
    let [on_disk, in_ram] = &replayed.estimated;
    let foretold = doubted(foretold, (middle(in_ram) - middle(on_disk)).abs());
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    let (calls, call_ns) = (middle(&replayed.calls), middle(&replayed.call_ns));
    let target = ratio(replay_ram, ram).median;
    let bound = middle(&replayed.bound);
    let off_max = OFF_MAX[usize::from(call_ns < LONG_NS)];
    println!("{}", program.name);
    println!(
        "  {} calls of {:.1} µs; {:.1} ms on disk, recorded in {:.1} ms, replayed in {:.1} ms: \
         ×{}, ×{:.2} at most",
        calls,
        call_ns / 1e3,
        middle(disk) / 1e6,
        middle(&replayed.recorded_ns) / 1e6,
        middle(replay_disk) / 1e6,
        off.show(|ratio| format!("{ratio:.3}")),
        1.0 + off_max
    );
    println!(
        "  moving saves {}; replays say {}; at most {}; deviations {}",
        really.show(percent),
        foretold.show(percent),
        percent(bound),
        replayed.deviations
    );
    let name = &program.name;
    let mut missed = Vec::new();
    if off.median > 1.0 + off_max || off.median < 1.0 / (1.0 + off_max) {
        missed.push(format!("{name}: a replay takes ×{:.3} of the program's time", off.median));
    }
    if let Some(why) = &replayed.untrusted {
        missed.push(format!("{name}: {why}"));
    }
    if really.low > bound {
        missed.push(format!("{name}: moving saves more than the bound"));
    }
    let is_other = really.low > foretold.high || really.high < foretold.low;
    if replayed.untrusted.is_none() && is_other {
        missed.push(format!("{name}: moving saves another share than replays say"));
    }
    let row = Row {
        name: name.clone(),
        saved: really,
        foretold,
        bound,
        off: off.median,
        target,
        verdict: replayed.untrusted.is_none(),
    };
    Measured { row, missed }
}

/// What a replay saves, where the logarithm of the time that is left may be off by so much.
fn doubted(Spread { median, low, high }: Spread, doubt: f64) -> Spread {
    let (low, high) = (1.0 - (1.0 - low) * doubt.exp(), 1.0 - (1.0 - high) * (-doubt).exp());
    Spread { median, low, high }
}

/// What was just made is in the processor's caches, but not for a recorder, which measures what
/// it costs first: nobody is to find it there.
fn cool() {
    // Memory that is given back would be taken away by a hypervisor while others are timed.
    static MEMORY: OnceLock<Vec<u8>> = OnceLock::new();
    let memory = MEMORY.get_or_init(|| vec![1_u8; CACHE_BYTES_MAX]);
    std::hint::black_box(memory.chunks(64).map(|line| u64::from(line[0])).sum::<u64>());
}

pub(crate) fn original_ns(program: &Program, folder: &Path) -> Result<f64> {
    let mut command = Command::new("sh");
    command.args(["-c", &program.command]).current_dir(folder).stdout(Stdio::null());
    cool();
    let began = Instant::now();
    let ended = command.status()?;
    let took = began.elapsed();
    ensure!(ended.success(), "the program itself failed");
    Ok(took.as_nanos() as f64)
}

fn workload(trace: &Path, folder: &Path) -> Result<Box<dyn Workload>> {
    let study = studies::find("replay").context("there is no study replay")?;
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path that is no text");
    let [trace, folder] = [text(trace)?, text(folder)?];
    let given = [("trace", trace.as_str()), ("folder", &folder), ("until", "10min")];
    let params = study.spec().params_with(given).map_err(anyhow::Error::msg)?;
    Ok(study.workload("recorded", &params)?)
}

fn replay_ns(
    workload: &mut dyn Workload,
    folder: &Path,
    turn: Turn,
    told: &mut Replayed,
) -> Result<f64> {
    let opened = File::open(folder)?;
    let folders = SliceFolders::alone(opened.as_fd(), opened.as_fd(), true);
    let mut recorder = SliceTimer::new(Clock::new(), ::process::StopFlag::default());
    let ready = workload.ready(folders, 1, &recorder)?;
    // What others have written is not to be in its way.
    rustix::fs::syncfs(&opened)?;
    cool();
    recorder.start();
    let ran = ready.run(&mut recorder)?;
    recorder.finish();
    let elapsed_ns = recorder.elapsed_ns() as f64;
    let outcome = ran.finish()?;
    let figure = |name: &str| outcome.figures.get(name).copied();
    let (Some(calls), Some(think_ns), Some(recorded_ns), Some(deviations)) =
        (figure("calls"), figure("think_ns"), figure("recorded_ns"), figure("deviations"))
    else {
        bail!("the replay does not tell of itself");
    };
    let estimated_ns = figure(ESTIMATED_AWAY).unwrap_or_default();
    told.estimated[usize::from(turn == Turn::ReplayInRam)]
        .push((estimated_ns / elapsed_ns).ln_1p());
    if turn == Turn::ReplayOnDisk {
        told.call_ns.push((elapsed_ns - think_ns) / calls.max(1.0));
    }
    told.deviations = told.deviations.max(deviations);
    told.calls.push(calls);
    told.recorded_ns.push(recorded_ns);
    told.untrusted = outcome.untrusted.or(told.untrusted.take());
    Ok(elapsed_ns)
}
