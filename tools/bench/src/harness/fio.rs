//! fio doing the same: appending to one file from one job, buffered.
//!
//! Its psync engine calls pwrite(2) at the end of the file, which is as near
//! as it comes to a log. It is spared what the others do not do either:
//! preallocating, and making each buffer differ from the one before.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use rustix::fs::{Mode, OFlags, fdatasync, open};

use super::record::{RECORD_BYTES, bytes};
use xtask::process;

/// Nanoseconds per operation over the job's own run time, which fio tells to
/// the millisecond.
pub(super) fn run(folder: &Path, operations: u64, more: &[&str]) -> Result<f64> {
    let file = folder.join("app.log");
    let report = process::json(
        Command::new("fio")
            .args(["--name=append", "--ioengine=psync", "--rw=write", "--file_append=1"])
            .args(["--numjobs=1", "--direct=0", "--fallocate=none", "--scramble_buffers=0"])
            .args(["--thread", "--output-format=json"])
            .arg(format!("--bs={RECORD_BYTES}"))
            .arg(format!("--size={}", bytes(operations)))
            .arg(format!("--filename={}", file.display()))
            .args(more)
            .current_dir(folder),
    )?;
    fdatasync(open(&file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?)?;
    let written = &report["jobs"][0]["write"];
    let (done, runtime_ms) = (written["total_ios"].as_u64(), written["runtime"].as_f64());
    ensure!(done == Some(operations), "fio did {done:?} operations instead of {operations}");
    let runtime_ms = runtime_ms.context("fio's report has no run time")?;
    Ok(runtime_ms * 1e6 / operations as f64)
}
