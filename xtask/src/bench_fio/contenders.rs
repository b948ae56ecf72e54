//! One turn of either program, and its time per operation.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use host::page_cache::evict;
use rand::RngCore as _;
use rustix::fs::fdatasync;
use serde_json::Value;

use super::kinds::{DEPTH, Kind};
use crate::process;

const BLOCK_BYTES: u64 = 4096;
const CHUNK_BYTES: usize = 1 << 20;
/// fio tells its run time in milliseconds, and rounds it up.
const ROUNDED_UP_NS: f64 = 0.5e6;
/// A turn of fio lasts about this long, if the file has as many blocks.
const TURN_S: f64 = 0.4;
/// A turn of ours is ten blocks of a slice each, and ends by itself long before.
const BUDGET: &str = "60s";

/// As `fio-3.33`.
pub(super) fn fio_version() -> Result<String> {
    Ok(process::output(Command::new("fio").arg("--version"))?.trim().to_owned())
}

/// What a turn came to.
pub(super) struct Turn {
    /// Time per operation.
    pub(super) op_ns: f64,
    /// What of it is the program's own, where it knows.
    pub(super) own_ns: f64,
}

/// Where both work.
pub(super) struct Stage<'a> {
    iotoll: &'a Path,
    folder: &'a Path,
    /// fio's file.
    file: PathBuf,
    file_bytes: u64,
    /// What it is made of.
    chunk: Vec<u8>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(iotoll: &'a Path, folder: &'a Path, file_bytes: u64) -> Result<Self> {
        ensure!(
            file_bytes >= BLOCK_BYTES && file_bytes.is_multiple_of(BLOCK_BYTES),
            "the files must be of whole blocks of {BLOCK_BYTES} bytes"
        );
        let mut chunk = vec![0; CHUNK_BYTES];
        rand::rng().fill_bytes(&mut chunk);
        Ok(Self { iotoll, folder, file: folder.join("fio.bin"), file_bytes, chunk })
    }

    /// The study, timed as users time it.
    pub(super) fn iotoll(&self, kind: Kind) -> Result<Turn> {
        let Kind { writes, random, .. } = kind;
        let set = |name: &str, value: &str| format!("--set=blocks.{name}={value}");
        let mut iotoll = Command::new(self.iotoll);
        iotoll
            .args(["compare", "--study=blocks", "--no-save", "--json=-", "--budget", BUDGET])
            .arg(format!("place={}", self.folder.display()))
            .arg(format!("--strategy={}", kind.strategy()))
            .arg(set("access", if writes { "write" } else { "read" }))
            .arg(set("order", if random { "random" } else { "sequential" }))
            .arg(set("size", &BLOCK_BYTES.to_string()))
            .arg(set("file", &self.file_bytes.to_string()));
        if kind.queued {
            iotoll.arg(set("depth", &DEPTH.to_string()));
        }
        let text = process::output(&mut iotoll)?;
        let result: Value = serde_json::from_str(&text).context("reading our result")?;
        let arm = &result["arms"][0];
        let broken = ["lost", "torn", "overwritten"].map(|what| &arm["integrity"][what]);
        ensure!(broken.iter().all(|broken| **broken == 0), "broken blocks: {}", arm["integrity"]);
        let op_ns = arm["time_per_op_ns"]["mean"].as_f64();
        let own_ns = result["floor"]["record_ns"].as_f64().context("our result has no floor")?;
        Ok(Turn { op_ns: op_ns.context("our result has no time")?, own_ns })
    }

    /// fio with the same, on a file of its own.
    pub(super) fn fio(&self, kind: Kind) -> Result<Turn> {
        self.make_file(kind)?;
        let mut fio = self.fio_for(kind);
        let engine = if kind.queued { "io_uring" } else { "psync" };
        let direct = u8::from(kind.direct);
        fio.arg(format!("--ioengine={engine}")).arg(format!("--direct={direct}"));
        fio.arg(format!("--filename={}", self.file.display()));
        let turn = self.turn(&mut fio, kind);
        fs::remove_file(&self.file)?;
        turn
    }

    /// fio with an engine that does nothing.
    pub(super) fn fio_alone(&self, kind: Kind) -> Result<Turn> {
        self.turn(self.fio_for(kind).arg("--ioengine=null"), kind)
    }

    /// Makes its file as the study makes its own in each run, for a device may treat what
    /// was just written otherwise than what was written long ago: in full, on the device,
    /// and in memory or evicted from it.
    fn make_file(&self, kind: Kind) -> Result<()> {
        let mut file = File::create_new(&self.file)?;
        let mut left = self.file_bytes as usize;
        while left > 0 {
            let some = left.min(CHUNK_BYTES);
            file.write_all(&self.chunk[..some])?;
            left -= some;
        }
        fdatasync(&file)?;
        if kind.direct {
            evict(&file)?;
        }
        Ok(())
    }

    fn fio_for(&self, kind: Kind) -> Command {
        let depth = if kind.queued { DEPTH } else { 1 };
        let mut fio = Command::new("fio");
        fio.args(["--name=blocks", "--thread", "--numjobs=1", "--output-format=json"])
            // The file is there in full, and its cache is brought to its state by us.
            .args(["--overwrite=1", "--fallocate=none", "--invalidate=0"])
            // Each block once, in an order that is new in each turn; random contents that
            // are drawn once.
            .args(["--norandommap=0", "--randrepeat=0", "--refill_buffers=0"])
            .arg(format!("--rw={}", kind.rw()))
            .arg(format!("--iodepth={depth}"))
            .arg(format!("--bs={BLOCK_BYTES}"))
            .arg(format!("--size={}", self.file_bytes))
            .arg(format!("--io_size={}", self.operations(kind) * BLOCK_BYTES))
            .current_dir(self.folder);
        fio
    }

    /// As many operations as there are blocks: those in memory are over before fio's clock
    /// has gone far; but a device that would take long for all has a few.
    fn operations(&self, kind: Kind) -> u64 {
        let blocks = self.file_bytes / BLOCK_BYTES;
        let per_second = match (kind.direct, kind.queued) {
            (false, _) => return blocks,
            (true, false) => 15_000.0,
            (true, true) => 50_000.0,
        };
        blocks.min((per_second * TURN_S) as u64)
    }

    fn turn(&self, fio: &mut Command, kind: Kind) -> Result<Turn> {
        let text = process::output(fio)?;
        let report: Value = serde_json::from_str(&text).context("reading fio's report")?;
        let done = &report["jobs"][0][if kind.writes { "write" } else { "read" }];
        let (operations, runtime_ms) = (done["total_ios"].as_u64(), done["runtime"].as_f64());
        let wanted = self.operations(kind);
        ensure!(operations == Some(wanted), "fio did {operations:?} of {wanted} operations");
        let runtime_ms = runtime_ms.context("fio's report has no run time")?;
        Ok(Turn { op_ns: (runtime_ms * 1e6 - ROUNDED_UP_NS) / wanted as f64, own_ns: 0.0 })
    }
}
