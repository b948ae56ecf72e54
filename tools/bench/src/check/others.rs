//! The programs that people ask instead: what each is run with, and the time that it reports.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;
use xtask::process;

/// How long each runs, in seconds.
const SECONDS: u64 = 5;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Other {
    PgTestFsync,
    Ioping,
    /// The recipe that is passed on for etcd.
    FioEtcd,
    /// The same with appends of 4 KiB, as a check has them.
    FioAppend,
    /// Random reads, so many at a time.
    FioRead(u64),
}

impl Other {
    pub(super) const ALL: [Self; 6] = [
        Self::PgTestFsync,
        Self::Ioping,
        Self::FioEtcd,
        Self::FioAppend,
        Self::FioRead(1),
        Self::FioRead(16),
    ];

    pub(super) fn name(self) -> String {
        match self {
            Self::PgTestFsync => "pg_test_fsync, fdatasync of 8 kB".to_owned(),
            Self::Ioping => "ioping, mean of direct reads".to_owned(),
            Self::FioEtcd => "fio's recipe for etcd, p99".to_owned(),
            Self::FioAppend => "fio, median of fdatasync after 4 KiB".to_owned(),
            Self::FioRead(depth) => format!("fio, random read at depth {depth}"),
        }
    }

    /// What it reports, in nanoseconds; none where it is not installed or cannot do it here.
    pub(super) fn run(self, folder: &Path) -> Result<Option<f64>> {
        match self {
            Self::PgTestFsync => pg_test_fsync(folder),
            Self::Ioping => ioping(folder),
            // Its file is written again and again once it has 22 MiB.
            Self::FioEtcd => synced(folder, &["--bs=2300", "--size=22m"], "99.000000"),
            Self::FioAppend => {
                let grows = ["--bs=4096", "--size=2g", "--fallocate=none"];
                synced(folder, &grows, "50.000000")
            }
            Self::FioRead(depth) => reads(folder, depth),
        }
    }
}

fn pg_test_fsync(folder: &Path) -> Result<Option<f64>> {
    let found = std::fs::read_dir("/usr/lib/postgresql").ok().and_then(|mut all| all.next());
    let Some(program) = found.and_then(Result::ok).map(|v| v.path().join("bin/pg_test_fsync"))
    else {
        return Ok(None);
    };
    let mut command = Command::new(program);
    let text = process::output(command.args(["-s", "1", "-f"]).arg(folder.join("pg_test_fsync")))?;
    // The first of its tables has one write of 8 kB for each sync.
    let line = text.lines().find(|line| line.trim_start().starts_with("fdatasync"));
    let words = line.and_then(|line| line.split_whitespace().rev().nth(1));
    Ok(words.and_then(|micros| micros.parse::<f64>().ok()).map(|micros| 1e3 * micros))
}

fn ioping(folder: &Path) -> Result<Option<f64>> {
    if process::find_program("ioping").is_none() {
        return Ok(None);
    }
    let mut command = Command::new("ioping");
    command.args(["-D", "-B", "-i", "0", "-s", "4k", "-S", "64m", "-w", &SECONDS.to_string()]);
    let output = command.arg(folder).output().context("running ioping")?;
    let text = String::from_utf8_lossy(&output.stdout);
    // Requests, the time they took in nanoseconds, and figures of both.
    let words: Vec<f64> = text.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    Ok(words.first().zip(words.get(1)).map(|(requests, took)| took / requests))
}

fn fio(folder: &Path, flags: &[&str]) -> Result<Option<Value>> {
    if process::find_program("fio").is_none() {
        return Ok(None);
    }
    let mut command = Command::new("fio");
    command.args(["--name=other", "--output-format=json", "--time_based"]);
    command.arg(format!("--runtime={SECONDS}")).args(flags).current_dir(folder);
    let output = command.output().context("running fio")?;
    std::fs::remove_file(folder.join("other.0.0")).ok();
    Ok(output.status.success().then(|| serde_json::from_slice(&output.stdout)).transpose()?)
}

fn synced(folder: &Path, file: &[&str], percentile: &str) -> Result<Option<f64>> {
    let flags = [&["--rw=write", "--ioengine=sync", "--fdatasync=1"], file].concat();
    let report = fio(folder, &flags)?;
    let sync = report.map(|report| report["jobs"][0]["sync"]["lat_ns"]["percentile"].clone());
    Ok(sync.and_then(|percentiles| percentiles[percentile].as_f64()))
}

fn reads(folder: &Path, at_a_time: u64) -> Result<Option<f64>> {
    let depth = format!("--iodepth={at_a_time}");
    let engine = if at_a_time == 1 { "--ioengine=psync" } else { "--ioengine=io_uring" };
    let flags = ["--rw=randread", "--bs=4k", "--direct=1", "--size=64m", engine, &depth];
    let report = fio(folder, &flags)?;
    Ok(report.and_then(|report| report["jobs"][0]["read"]["iops"].as_f64()).map(|iops| 1e9 / iops))
}
