//! `cargo xtask bench check`: `iotoll check` beside `pg_test_fsync`, ioping and fio, in turn on one
//! place, and on FUSE places whose syncs take as long as they are told.
//!
//! In each round every program has its turn, in random order, so that whatever else the machine
//! does meets all alike. For the same work, the interval of a check must hold what the others
//! found: fio's median of fdatasync after appends of 4 KiB, and fio's and ioping's random reads.
//! fio's recipe for etcd and `pg_test_fsync` do other work, and are shown beside it.
//!
//! A FUSE place that syncs in 8 ms must be good enough for etcd, one that takes 12 ms must not,
//! and one with 1% of its syncs at 12 ms and the others at 9 is on the limit: undecided. Where no
//! program is asked for, the 99th percentile of fsync must be known to 15% on one that takes 4 ms:
//! the host wakes what waits for a sync up to 1 ms late, which is much of 2 ms.

mod others;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use units::time;
use xtask::process;

use self::others::Other;
use crate::states::slow_disk::{self, Delay};
use crate::turns::in_any_order;

/// How far the bounds of the 99th percentile may be apart on a place that is steady.
const APART_MAX: f64 = 1.15 / 0.85;
/// A sync of a FUSE place is late if it took this many times the planted duration.
const LATE: f64 = 1.05;
/// If a larger share of the syncs is late, the host disturbed the place, and the check is repeated.
const LATE_MAX: f64 = 0.005;
/// A place is checked this often at most; the last check counts, disturbed or not.
const ATTEMPTS: usize = 5;
/// The answers of a FUSE place that may be others than planted, of so many.
const OTHERS_MAX: f64 = 1.0 / 20.0;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directories to check
    #[arg(value_name = "DIR", default_value = ".")]
    places: Vec<PathBuf>,

    /// Rounds of each program on each place
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,

    /// Checks of each FUSE place
    #[arg(long, value_name = "N", default_value_t = 20)]
    fuse: usize,

    /// The budget of each check
    #[arg(long, value_name = "TIME", default_value = "20s")]
    budget: String,

    /// The program to check with [default: one that is built]
    #[arg(long, value_name = "FILE")]
    pub(crate) iotoll: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let iotoll = match &args.iotoll {
        Some(iotoll) => iotoll.canonicalize().context("finding the program")?,
        None => process::build_release_iotoll()?,
    };
    slow_disk::keep_to_ourselves()?;
    let mut missed = 0;
    for place in &args.places {
        missed += beside(place, args, &iotoll)?;
    }
    slow_disk::use_one_processor()?;
    let mut others = steady(args, &iotoll)?;
    for planted in ["yes", "undecided", "no"] {
        others += on_fuse(planted, args, &iotoll)?;
    }
    ensure!(missed == 0, "{missed} intervals do not hold what others found for the same work");
    ensure!(others == 0, "{others} of the FUSE places were answered otherwise, or too widely");
    Ok(())
}

/// A figure of a check, with what another program must find within its interval.
struct Same {
    other: Other,
    /// Its measure and, of reads, how many are under way.
    measure: &'static str,
    depth: Option<u64>,
    /// Its figure.
    figure: &'static str,
}

const SAME: [Same; 4] = [
    Same { other: Other::FioAppend, measure: "fdatasync", depth: None, figure: "p50_ns" },
    Same { other: Other::FioRead(1), measure: "read", depth: Some(1), figure: "time_per_op_ns" },
    Same { other: Other::FioRead(16), measure: "read", depth: Some(16), figure: "time_per_op_ns" },
    Same { other: Other::Ioping, measure: "read", depth: Some(1), figure: "time_per_op_ns" },
];

/// How many intervals miss what others found on a place.
fn beside(place: &Path, args: &Args, iotoll: &Path) -> Result<usize> {
    let folder = tempfile::tempdir_in(place).context("making a folder for all of them")?;
    let mut checks: Vec<Value> = Vec::new();
    let mut found: Vec<(Other, Vec<f64>)> =
        Other::ALL.iter().map(|other| (*other, Vec::new())).collect();
    for _ in 0..args.rounds {
        for turn in in_any_order(1 + found.len()) {
            match turn.checked_sub(1) {
                None => checks.push(check(iotoll, folder.path(), Some("etcd"), &args.budget)?),
                Some(at) => {
                    let (other, times) = &mut found[at];
                    times.extend(other.run(folder.path())?);
                }
            }
        }
    }
    folder.close()?;
    println!("{}", place.display());
    for (other, times) in &mut found {
        if !times.is_empty() {
            println!("  {}: {}", other.name(), time(stats::median(times)));
        }
    }
    let mut missed = 0;
    for same in &SAME {
        let Some((_, times)) = found.iter_mut().find(|(other, _)| *other == same.other) else {
            continue;
        };
        if times.is_empty() {
            continue;
        }
        // Theirs differ from run to run, too.
        let fold = |pick: fn(f64, f64) -> f64| times.iter().copied().reduce(pick);
        let (Some(least), Some(most)) = (fold(f64::min), fold(f64::max)) else { continue };
        for check in &checks {
            let Some((low, high)) = interval(check, same) else { continue };
            let holds = low <= most && least <= high;
            missed += usize::from(!holds);
            println!(
                "  check, {} {}: {} to {} {} {} to {} of {}",
                same.measure,
                same.figure,
                time(low),
                time(high),
                if holds { "holds" } else { "MISSES" },
                time(least),
                time(most),
                same.other.name(),
            );
        }
    }
    Ok(missed)
}

/// A check's own interval.
fn interval(check: &Value, same: &Same) -> Option<(f64, f64)> {
    let measured = check["places"][0]["measured"].as_array()?;
    let is_it = |m: &&Value| m["measure"] == same.measure && m["depth"].as_u64() == same.depth;
    let figure = &measured.iter().find(is_it)?[same.figure];
    Some((figure["low"].as_f64()?, figure["high"].as_f64().unwrap_or(f64::INFINITY)))
}

fn check(iotoll: &Path, place: &Path, program: Option<&str>, budget: &str) -> Result<Value> {
    let mut command = Command::new(iotoll);
    command.arg("check").arg(place).args(["--budget", budget, "--no-save", "--json=-"]);
    command.args(program.into_iter().flat_map(|program| ["--for", program]));
    Ok(serde_json::from_str(&process::output_alone(&mut command)?)?)
}

/// How many checks of a steady FUSE place do not know the 99th percentile of fsync well enough.
fn steady(args: &Args, iotoll: &Path) -> Result<usize> {
    let mut wide = 0;
    for number in 0..args.fuse.div_ceil(4) {
        let check = planted("steady", number, args, iotoll)?;
        let fsync = Same { measure: "fsync", figure: "p99_ns", ..SAME[0] };
        let (low, high) = interval(&check, &fsync).unwrap_or((0.0, f64::INFINITY));
        wide += usize::from(high > APART_MAX * low);
        let (low, high) = (time(low), time(high));
        println!("FUSE, steady, check {number}: p99 of fsync {low} to {high}");
    }
    Ok(wide)
}

/// Whether a FUSE place is answered otherwise than planted in more than one check of twenty.
fn on_fuse(kind: &'static str, args: &Args, iotoll: &Path) -> Result<usize> {
    let mut otherwise = 0;
    for number in 0..args.fuse {
        let check = planted(kind, number, args, iotoll)?;
        let found = check["places"][0]["fits"][0]["needs"][0].as_str().unwrap_or("none");
        otherwise += usize::from(found != kind);
        println!("FUSE, {kind}, check {number}: {found}");
    }
    println!("FUSE, {kind}: {otherwise} of {} answered otherwise", args.fuse);
    Ok(usize::from(otherwise as f64 > OTHERS_MAX * args.fuse as f64))
}

/// A check of a FUSE place whose syncs have the planted durations. It is repeated, with a message, if
/// the host took the processor away and so made the syncs longer.
fn planted(kind: &'static str, number: usize, args: &Args, iotoll: &Path) -> Result<Value> {
    let program = (kind != "steady").then_some("etcd");
    let mut attempt = 0;
    loop {
        attempt += 1;
        let work = tempfile::tempdir()?;
        let mounted = slow_disk::mount(work.path(), delay(kind, number as u64))?;
        let check = check(iotoll, work.path(), program, &args.budget)?;
        let late = mounted.late_share(LATE);
        if late <= LATE_MAX || attempt == ATTEMPTS {
            return Ok(check);
        }
        let percent = 100.0 * late;
        println!("FUSE, {kind}, check {number}: again, {percent:.1}% of its syncs ended late");
    }
}

/// How long the syncs of a place take that is to be answered so.
fn delay(planted: &str, seed: u64) -> Delay {
    let ms = |ms: f64| Duration::from_secs_f64(ms / 1e3);
    match planted {
        "steady" => Box::new(move |_| ms(4.0)),
        "yes" => Box::new(move |_| ms(8.0)),
        "no" => Box::new(move |_| ms(12.0)),
        _ => {
            let random = Mutex::new(ChaCha8Rng::seed_from_u64(seed));
            Box::new(move |_| {
                let mut random = random.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                ms(if random.random_bool(0.01) { 12.0 } else { 9.0 })
            })
        }
    }
}
