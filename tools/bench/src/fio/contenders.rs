//! One turn of either program or of a bare loop, and its time per operation.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use host::page_cache::evict;
use rand::RngCore as _;
use rand::seq::SliceRandom as _;
use rustix::fs::fdatasync;

use super::kinds::{DEPTH, Kind};
use xtask::process;

const BLOCK_BYTES: u64 = 4096;
const BLOCK_LEN: usize = BLOCK_BYTES as usize;
const CHUNK_BYTES: usize = 1 << 20;
/// fio tells its run time in milliseconds, and rounds it up.
const ROUNDED_UP_NS: f64 = 0.5e6;
/// A turn of ours is twenty blocks of a slice each, and ends by itself long before.
const BUDGET: &str = "60s";
/// A turn of the others has as many operations as so many slices.
const SLICES: u64 = 20;
/// A page that was used so often is where the kernel leaves it.
const USES: u32 = 3;
/// For what writing a file leaves to the system to end, and what removing the one before
/// does: a turn of ours has as much time before it measures.
const SETTLING: Duration = Duration::from_millis(800);

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
    /// How many operations a slice of ours had.
    pub(super) slice: u64,
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
        let result = process::json(&mut iotoll)?;
        let arm = &result["arms"][0];
        let broken = ["lost", "torn", "overwritten"].map(|what| &arm["integrity"][what]);
        ensure!(broken.iter().all(|broken| **broken == 0), "broken blocks: {}", arm["integrity"]);
        let op_ns = arm["time_per_op_ns"]["mean"].as_f64();
        let own_ns = result["floor"]["record_ns"].as_f64().context("our result has no floor")?;
        let operations = arm["operations"].as_u64().context("our result has no operations")?;
        let slices = arm["slices"].as_u64().filter(|slices| *slices > 0);
        let slice = operations / slices.context("our result has no slices")?;
        Ok(Turn { op_ns: op_ns.context("our result has no time")?, own_ns, slice })
    }

    /// fio with the same, on a file of its own.
    pub(super) fn fio(&self, kind: Kind, slice: u64) -> Result<Turn> {
        self.make_file(kind)?;
        let mut fio = self.fio_for(kind);
        let engine = if kind.queued { "io_uring" } else { "psync" };
        let direct = u8::from(kind.direct);
        fio.arg(format!("--ioengine={engine}")).arg(format!("--direct={direct}"));
        fio.arg(format!("--filename={}", self.file.display()));
        let turn = self.turn(&mut fio, kind, slice);
        fs::remove_file(&self.file)?;
        turn
    }

    /// fio with an engine that does nothing.
    pub(super) fn fio_alone(&self, kind: Kind, slice: u64) -> Result<Turn> {
        self.turn(self.fio_for(kind).arg("--ioengine=null"), kind, slice)
    }

    /// The system calls alone, in a loop that looks at the clock before and after each
    /// slice; for one block at a time through the page cache. One more slice, the first, is
    /// for getting warm.
    pub(super) fn bare_loop(&self, kind: Kind, slice: u64) -> Result<Turn> {
        self.make_file(kind)?;
        let took = self.loop_over(kind, slice);
        fs::remove_file(&self.file)?;
        let op_ns = took?.as_nanos() as f64 / (SLICES * slice) as f64;
        Ok(Turn { op_ns, own_ns: 0.0, slice })
    }

    fn loop_over(&self, kind: Kind, slice: u64) -> io::Result<Duration> {
        let file = OpenOptions::new().read(true).write(true).open(&self.file)?;
        let mut turns: Vec<u64> = (0..self.blocks()).collect();
        // Copying to or from memory that begins within a page takes longer.
        let mut memory = vec![0; 2 * BLOCK_LEN];
        let aligned = memory.as_ptr().align_offset(BLOCK_LEN);
        let bytes = &mut memory[aligned..][..BLOCK_LEN];
        bytes.copy_from_slice(&self.chunk[..BLOCK_LEN]);
        let (mut read_back, mut took) = (vec![0; BLOCK_LEN], Duration::ZERO);
        for number in 0..=SLICES {
            if kind.random {
                turns.shuffle(&mut rand::rng());
            } else {
                turns.rotate_left(slice.min(self.blocks()) as usize);
            }
            let turns = || turns.iter().cycle().take(slice as usize);
            let started = Instant::now();
            for block in turns() {
                if kind.writes {
                    // As ours, which has another mark in each.
                    bytes[..8].copy_from_slice(&block.to_le_bytes());
                    file.write_all_at(bytes, block * BLOCK_BYTES)?;
                } else {
                    file.read_exact_at(bytes, block * BLOCK_BYTES)?;
                }
            }
            if number > 0 {
                took += started.elapsed();
            }
            fdatasync(&file)?;
            if kind.writes {
                // As ours is, block by block.
                for block in turns() {
                    file.read_exact_at(&mut read_back, block * BLOCK_BYTES)?;
                }
            }
        }
        Ok(took)
    }

    fn blocks(&self) -> u64 {
        self.file_bytes / BLOCK_BYTES
    }

    /// Makes its file as the study makes its own in each run, for a device may treat what
    /// was just written otherwise than what was written long ago: in full and block by
    /// block, on the device, and in memory or evicted from it.
    fn make_file(&self, kind: Kind) -> Result<()> {
        let mut file = File::create_new(&self.file)?;
        let blocks = self.chunk.chunks_exact(BLOCK_LEN).cycle();
        for block in blocks.take(self.blocks() as usize) {
            file.write_all(block)?;
        }
        fdatasync(&file)?;
        if kind.direct {
            evict(&file)?;
        } else {
            self.read_often(&File::open(&self.file)?)?;
        }
        sleep(SETTLING);
        Ok(())
    }

    /// The first times that a page is used, the kernel moves it between its lists. Ours are past
    /// that when they are timed: what a slice wrote is read back, and slices before them were
    /// for getting warm.
    fn read_often(&self, file: &File) -> io::Result<()> {
        let mut bytes = vec![0; BLOCK_LEN];
        let mut blocks = (0..USES).flat_map(|_| 0..self.blocks());
        blocks.try_for_each(|block| file.read_exact_at(&mut bytes, block * BLOCK_BYTES))
    }

    fn fio_for(&self, kind: Kind) -> Command {
        let depth = if kind.queued { DEPTH } else { 1 };
        let mut fio = Command::new("fio");
        fio.args(["--output-format=json", "--name=global", "--thread", "--numjobs=1"])
            // The file is there in full, and its cache is brought to its state by us.
            .args(["--overwrite=1", "--fallocate=none", "--invalidate=0"])
            // Each block once, in an order that is new each time; random contents that are
            // drawn once.
            .args(["--norandommap=0", "--randrepeat=0", "--refill_buffers=0"])
            .arg(format!("--rw={}", kind.rw()))
            .arg(format!("--iodepth={depth}"))
            .arg(format!("--bs={BLOCK_BYTES}"))
            .current_dir(self.folder);
        if !kind.direct {
            // Beside an operation in memory, fio's two readings of the clock for each count.
            fio.arg("--gtod_reduce=1");
        }
        fio
    }

    /// One job, as people run it, of as many operations as ours: a block that was read once is
    /// cheaper to read again. What is written has one turn, for ours is brought to the device
    /// after each slice, and writing to what still waits for that is cheaper, too.
    fn turn(&self, fio: &mut Command, kind: Kind, slice: u64) -> Result<Turn> {
        let most = if kind.writes { self.blocks() } else { u64::MAX };
        let operations = (SLICES * slice).min(most);
        fio.arg("--name=job").arg(format!("--io_size={}", operations * BLOCK_BYTES));
        fio.arg(format!("--size={}", self.file_bytes));
        let report = process::json(fio)?;
        let what = if kind.writes { "write" } else { "read" };
        let of = |key: &str| report["jobs"][0][what][key].as_u64().unwrap_or(0);
        ensure!(
            of("total_ios") == operations,
            "fio did {} of {operations} operations",
            of("total_ios")
        );
        let runtime_ns = of("runtime") as f64 * 1e6 - ROUNDED_UP_NS;
        Ok(Turn { op_ns: runtime_ns / operations as f64, own_ns: 0.0, slice })
    }
}
