//! How much memory a very long measurement takes: that of a short one.
//!
//! A child process runs `log/held` as the engine does, slice after slice, and
//! reads the high-water mark of its own resident memory from proc(5).

use std::fs;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use engine::local::LocalRunner;
use engine::place_handle::PlaceHandle;
use engine::runner::SliceRunner as _;
use engine::study::{Footprint, Workload};
use model::arm::Arm;
use model::slice::Slice;
use model::spent::DeviceTraffic;
use places::WorkDir;
use process::StopFlag;
use xtask::process::output_alone;

const PEAK_MAX_KIB: u64 = 64 << 10;

/// The folder of one slice.
const SLICE: &str = "slice";
/// That of the one arm.
const KEPT: &str = "arm";

#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    place: PathBuf,
    #[arg(long)]
    operations: u64,
}

/// Runs the child and prints what it found; whether the target is met.
pub(super) fn parent(place: &Path, operations: u64) -> Result<bool> {
    println!("\npeak memory of log/held over {operations} operations");
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["held-memory", "--operations", &operations.to_string(), "--place"]).arg(place);
    let peak_kib: u64 = output_alone(&mut child)?.trim().parse()?;
    let met = peak_kib < PEAK_MAX_KIB;
    let word = if met { "met" } else { "MISSED" };
    println!(
        "  {:.1} MiB, to be under {} MiB: {word}",
        peak_kib as f64 / 1024.0,
        PEAK_MAX_KIB >> 10
    );
    Ok(met)
}

/// The child: prints the high-water mark in KiB.
pub(crate) fn child(args: &Args) -> Result<()> {
    let work = WorkDir::create("bench", &args.place)?;
    let slices = measure(&work, args.operations)?;
    let timed: u64 = slices.iter().map(|slice| slice.latencies.count()).sum();
    ensure!(timed == args.operations, "operations went untimed");
    let kib = peak_kib()?;
    // Held until here, as a run holds them for its report.
    drop(slices);
    work.remove()?;
    println!("{kib}");
    Ok(())
}

/// The high-water mark of this process's resident memory.
pub(crate) fn peak_kib() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.context("/proc/self/status has no VmHWM")?.trim().trim_end_matches(" kB");
    Ok(kib.parse()?)
}

/// The arm that appends to one handle kept open, with its workload.
pub(super) fn held() -> Result<(Arm, Box<dyn Workload>)> {
    let log = studies::find("log").context("there is no study log")?;
    let strategy = log.spec().strategy("held").context("log has no strategy held")?;
    let params = log.spec().params_with([]).map_err(anyhow::Error::msg)?;
    let workload = log.workload(&strategy.name, &params)?;
    let arm = Arm {
        id: "log/held".to_owned(),
        study: log.spec(),
        label: None,
        strategy,
        place: 0,
        params,
    };
    Ok((arm, workload))
}

fn measure(work: &WorkDir, operations: u64) -> Result<Vec<Slice>> {
    let (arm, workload) = held()?;
    let place = BenchPlace::boxed(work);
    let (stop, began) = (StopFlag::default(), Instant::now());
    let mut runner = LocalRunner::new(&[arm], vec![workload], vec![place], stop, began);
    let slice_max = runner.operations(0).max;
    let (mut done, mut slices) = (0, Vec::new());
    while done < operations {
        let next = slice_max.min(operations - done);
        slices.push(runner.slice(0, next)?);
        done += next;
        eprint!("\r  {} million operations", done / 1_000_000);
        std::io::stderr().flush()?;
    }
    eprintln!();
    Ok(slices)
}

/// A folder as slices use it.
pub(crate) struct BenchPlace<'a> {
    work: &'a WorkDir,
}

impl<'a> BenchPlace<'a> {
    /// One folder for slices, and one for all arms.
    pub(crate) fn boxed(work: &'a WorkDir) -> Box<dyn PlaceHandle + 'a> {
        Box::new(Self { work })
    }
}

impl PlaceHandle for BenchPlace<'_> {
    fn fresh_folder(&mut self) -> std::io::Result<OwnedFd> {
        let folder = self.work.subdir(SLICE).map_err(std::io::Error::other)?;
        folder.fd().try_clone_to_owned()
    }

    fn kept_folder(&mut self, _arm: usize) -> std::io::Result<OwnedFd> {
        let folder = self.work.subdir(KEPT).map_err(std::io::Error::other)?;
        folder.fd().try_clone_to_owned()
    }

    /// It is settled before the next slice: there is no process of slices here.
    fn leave(&mut self) {}

    fn may_leave(&self, _left: &Footprint) -> bool {
        false
    }

    fn settle(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn put_away(&mut self) -> std::io::Result<()> {
        self.work.remove_subdir(SLICE).map_err(std::io::Error::other)
    }

    fn wears(&self) -> bool {
        false
    }

    fn device_bytes(&mut self) -> Option<DeviceTraffic> {
        None
    }
}
