//! Who appends, and how each is timed.

use std::fs::File;
use std::os::fd::AsFd;
use std::slice;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use ::process::StopFlag;
use anyhow::{Result, ensure};
use engine::local::LocalRunner;
use engine::runner::SliceRunner as _;
use engine::slice_process::SliceProcesses;
use engine::slice_timer::SliceTimer;
use host::clock::Clock;
use places::{Folder, WorkDir};
use rustix::fs::{Mode, OFlags, fdatasync, fsync, openat};
use stats::Histogram;

use super::fio;
use super::memory::{self, BenchPlace};
use super::record::{RECORD_BYTES, bytes};
use xtask::process;

/// The folder of one contender's turn.
const TURN: &str = "turn";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Contender {
    /// write(2) of one buffer in a loop, the clock read before the first and
    /// after the last.
    Bare,
    /// The same again, to see what the machine alone makes of it.
    BareAgain,
    /// The same in a process with a second thread, which sleeps.
    BareThreads,
    /// `log/held` as users get it: in a process of its own kind, every record another, every
    /// latency kept.
    Iotoll,
    /// The bare loop with one reading of the clock an operation.
    Clock,
    /// The same, into our histogram.
    Ours,
    /// The same into the crate `hdrhistogram`, with the same resolution.
    Hdr,
    /// fio's psync engine with its latency statistics.
    Fio,
    /// fio's psync engine without any.
    FioLean,
}

impl Contender {
    /// Those that can take part here.
    pub(super) fn all() -> Vec<Self> {
        let all = [
            Self::Bare,
            Self::BareAgain,
            Self::BareThreads,
            Self::Iotoll,
            Self::Clock,
            Self::Ours,
            Self::Hdr,
            Self::Fio,
            Self::FioLean,
        ];
        let has_fio = process::find_program("fio").is_some();
        all.into_iter().filter(|contender| has_fio || !contender.is_program()).collect()
    }

    /// Whether it is another program, which takes long to start.
    pub(super) fn is_program(self) -> bool {
        matches!(self, Self::Fio | Self::FioLean)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bare => "a bare loop of write(2)",
            Self::BareAgain => "the same again",
            Self::BareThreads => "the same beside a thread that sleeps",
            Self::Iotoll => "iotoll log/held",
            Self::Clock => "a bare loop, the clock read for each",
            Self::Ours => "a bare loop, each timed into our histogram",
            Self::Hdr => "a bare loop, each timed into hdrhistogram",
            Self::Fio => "fio psync",
            Self::FioLean => "fio psync, no latencies (gtod_reduce)",
        }
    }
}

/// What turns need.
pub(super) struct Stage<'a> {
    work: &'a WorkDir,
    clock: &'a Clock,
    runner: LocalRunner<'a>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(work: &'a WorkDir, clock: &'a Clock) -> Result<Self> {
        let (arm, workload) = memory::held()?;
        let facts = places::inspect("bench", work.path())?;
        let processes = SliceProcesses::new(slice::from_ref(&arm), &[facts], studies::user_data);
        let (place, stop) = (BenchPlace::boxed(work), StopFlag::default());
        let runner = LocalRunner::new(&[arm], vec![workload], vec![place], stop, Instant::now());
        Ok(Self { work, clock, runner: runner.in_processes(processes) })
    }

    /// Has iotoll's turns run in a new process, as in each stretch of a run.
    pub(super) fn begin_round(&mut self) {
        self.runner.begin_stretch();
    }

    /// One contender's turn on a fresh file, which is forced to the device and
    /// removed outside the clock. Nanoseconds per operation.
    pub(super) fn turn(&mut self, contender: Contender, operations: u64) -> Result<f64> {
        let folder = self.work.subdir(TURN)?;
        let time_ns = match contender {
            Contender::Bare | Contender::BareAgain => bare(&folder, operations),
            Contender::BareThreads => beside_a_thread(|| bare(&folder, operations)),
            Contender::Iotoll => self.iotoll(operations),
            Contender::Clock => self.timed(&folder, operations, |ticks| {
                std::hint::black_box(ticks);
            }),
            Contender::Ours => {
                let mut latencies = Histogram::new();
                self.timed(&folder, operations, |ticks| latencies.record(ticks))
            }
            Contender::Hdr => {
                let mut latencies = hdr_histogram()?;
                self.timed(&folder, operations, |ticks| latencies.saturating_record(ticks))
            }
            Contender::Fio => fio::run(folder.path(), operations, &[]),
            Contender::FioLean => fio::run(folder.path(), operations, &["--gtod_reduce=1"]),
        }?;
        self.work.remove_subdir(TURN)?;
        fsync(self.work.fd())?;
        Ok(time_ns)
    }

    /// The bare loop with every operation timed; compiled anew for what becomes of a latency.
    fn timed(&self, folder: &Folder, operations: u64, mut keep: impl FnMut(u64)) -> Result<f64> {
        let file = new_file(folder)?;
        let record = [b'x'; RECORD_BYTES];
        let mut written = 0;
        let began = Instant::now();
        let mut last = self.clock.ticks();
        for _ in 0..operations {
            written += rustix::io::write(&file, &record)?;
            let now = self.clock.ticks();
            keep(now.saturating_sub(last));
            last = now;
        }
        let elapsed = began.elapsed();
        end(&file, written, operations)?;
        Ok(elapsed.as_nanos() as f64 / operations as f64)
    }

    fn iotoll(&mut self, operations: u64) -> Result<f64> {
        let slice = self.runner.slice(0, operations)?;
        ensure!(slice.latencies.count() == operations, "operations went untimed");
        let written = slice.spent.requested_bytes;
        ensure!(written == bytes(operations), "log/held wrote {written} bytes: other records");
        Ok(slice.spent.elapsed_ns as f64 / operations as f64)
    }
}

/// Does it while this process has a second thread.
fn beside_a_thread(work: impl FnOnce() -> Result<f64>) -> Result<f64> {
    let (awake, asleep) = mpsc::channel::<()>();
    let thread = thread::Builder::new().spawn(move || {
        // Nothing is sent: it sleeps until the other end is gone.
        let _ = asleep.recv();
    })?;
    let outcome = work();
    drop(awake);
    thread.join().map_err(|_| anyhow::anyhow!("the thread that sleeps panicked"))?;
    outcome
}

fn bare(folder: &Folder, operations: u64) -> Result<f64> {
    let file = new_file(folder)?;
    let record = [b'x'; RECORD_BYTES];
    let mut written = 0;
    let began = Instant::now();
    for _ in 0..operations {
        written += rustix::io::write(&file, &record)?;
    }
    let elapsed = began.elapsed();
    end(&file, written, operations)?;
    Ok(elapsed.as_nanos() as f64 / operations as f64)
}

/// Ends a turn: everything was written, and goes to the device.
fn end(file: impl AsFd, written: usize, operations: u64) -> Result<()> {
    ensure!(written as u64 == bytes(operations), "some writes were short; the place may be full");
    Ok(fdatasync(file)?)
}

fn new_file(folder: &Folder) -> Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::APPEND | OFlags::CLOEXEC;
    Ok(openat(folder.fd(), c"app.log", flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// With the range and resolution of ours.
fn hdr_histogram() -> Result<hdrhistogram::Histogram<u64>> {
    Ok(hdrhistogram::Histogram::new_with_max(1 << 44, 2)?)
}

/// Ways of timing nothing at all.
#[derive(Clone, Copy)]
pub(super) enum Timer {
    Clock,
    Ours,
    Hdr,
}

impl Timer {
    pub(super) const ALL: [Self; 3] = [Self::Clock, Self::Ours, Self::Hdr];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Clock => "reading the clock",
            Self::Ours => "iotoll's slice timer",
            Self::Hdr => "the clock and hdrhistogram",
        }
    }

    /// Nanoseconds per operation.
    pub(super) fn time_ns(self, clock: &Clock, timer: &mut SliceTimer) -> Result<f64> {
        const LAPS: u64 = 100_000;
        let began = Instant::now();
        match self {
            Self::Clock => (0..LAPS).for_each(|_| {
                std::hint::black_box(clock.ticks());
            }),
            Self::Ours => {
                timer.start();
                (0..LAPS).for_each(|_| timer.lap());
            }
            Self::Hdr => {
                let mut latencies = hdr_histogram()?;
                let mut last = clock.ticks();
                for _ in 0..LAPS {
                    let now = clock.ticks();
                    latencies.saturating_record(now.saturating_sub(last));
                    last = now;
                }
            }
        }
        Ok(began.elapsed().as_nanos() as f64 / LAPS as f64)
    }
}
