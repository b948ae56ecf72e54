//! A server under load, watched while it works, and the replay of what was recorded.
//!
//! Its time is that of the load, so a replay is held against the recording rather than against
//! another run: it must take as long on the same disk, and each call must go as it went.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::{Args, Folders, LONG_NS, OFF_MAX, Replayed, Turn, bound, middle, replay_ns, workload};
use crate::ended::Ended;
use crate::spread::Spread;
use xtask::packages::is_installed;
use xtask::process;

pub(super) const NAME: &str = "a Django view under load";
/// How many requests a second, and for how long the server is watched.
const RATE: u32 = 50;
const SECONDS: u32 = 4;
/// The load begins before and ends after.
const AROUND: u32 = 2;
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures it; what it misses of its targets.
pub(super) fn measure(args: &Args, iotoll: &Path, folders: &mut Folders) -> Result<Vec<String>> {
    if !is_installed("django") {
        println!("{NAME}: skipped, for there is no django");
        return Ok(Vec::new());
    }
    let kept = tempfile::tempdir()?;
    let trace = kept.path().join("watched.trace");
    let folder = fs::canonicalize(folders.empty(&args.disk)?)?;
    record(iotoll, &folder, &trace)?;
    let mut workload = workload(&trace, &folder)?;
    let mut replayed = Replayed { bound: vec![bound(&trace)?], ..Replayed::default() };
    let (mut disk, mut ram) = (Vec::new(), Vec::new());
    for _ in 0..args.rounds {
        for (turn, place, took) in
            [(Turn::ReplayOnDisk, &args.disk, &mut disk), (Turn::ReplayInRam, &args.ram, &mut ram)]
        {
            took.push(replay_ns(&mut *workload, folders.empty(place)?, turn, &mut replayed)?);
        }
    }
    Ok(tell(&disk, &ram, &replayed))
}

/// Watches a server under load for some seconds.
fn record(iotoll: &Path, folder: &Path, trace: &Path) -> Result<()> {
    let free = TcpListener::bind("127.0.0.1:0")?;
    let address = free.local_addr()?.to_string();
    drop(free);
    let application = process::root().join("examples/django-visits/visits.py");
    let serve = "for python in python3 /usr/bin/python3; do \"$python\" -c 'import django' 2>/dev/null \
                 && exec \"$python\" -B \"$0\" runserver --noreload \"$1\"; done";
    let mut command = Command::new("sh");
    command.args(["-c", serve]).arg(application).arg(&address).current_dir(folder);
    let quiet = |command: &mut Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let server = Ended(quiet(&mut command)?);
    let began = Instant::now();
    while TcpStream::connect(&address).is_err() {
        ensure!(began.elapsed() < PATIENCE, "the server does not listen");
        sleep(Duration::from_millis(50));
    }
    let connections = (RATE * (SECONDS + 2 * AROUND)).to_string();
    let mut load = Command::new(iotoll);
    load.args(["load", &format!("http://{address}/3"), "--no-save"]);
    load.args(["--rate", &RATE.to_string(), "--connections", &connections]);
    let mut load = quiet(&mut load)?;
    sleep(Duration::from_secs(AROUND.into()));
    let mut watch = Command::new(iotoll);
    watch.args(["watch", &server.0.id().to_string(), "--for", &format!("{SECONDS}s"), "-o"]);
    process::succeed(watch.arg(trace).stdin(Stdio::null()))?;
    ensure!(load.wait().context("the load")?.success(), "the load failed");
    Ok(())
}

/// Prints the figures; what they miss.
fn tell(disk: &[f64], ram: &[f64], replayed: &Replayed) -> Vec<String> {
    let (recorded_ns, call_ns) = (middle(&replayed.recorded_ns), middle(&replayed.call_ns));
    let off = Spread::of(disk.iter().map(|ns| ns / recorded_ns));
    let saved = Spread::of(disk.iter().zip(ram).map(|(disk, ram)| 1.0 - ram / disk));
    let off_max = OFF_MAX[usize::from(call_ns < LONG_NS)];
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    println!("{NAME}");
    println!(
        "  {} calls of {:.1} µs; watched for {:.1} s, replayed in ×{} of that, ×{:.2} at most",
        middle(&replayed.calls),
        call_ns / 1e3,
        recorded_ns / 1e9,
        off.show(|ratio| format!("{ratio:.3}")),
        1.0 + off_max
    );
    println!(
        "  replays say that moving saves {}; at most {}; deviations {}",
        saved.show(percent),
        percent(replayed.bound[0]),
        replayed.deviations
    );
    let mut missed = Vec::new();
    if off.median > 1.0 + off_max || off.median < 1.0 / (1.0 + off_max) {
        missed.push(format!("{NAME}: a replay takes ×{:.3} of what was watched", off.median));
    }
    missed.extend(replayed.untrusted.iter().map(|why| format!("{NAME}: {why}")));
    missed
}
