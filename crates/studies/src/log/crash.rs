//! What a killed writer had been told was written, and is not there.
//!
//! After the timed part of a slice, processes write into another log and are all
//! killed at a random moment in the midst of it, so many times over. This is a
//! process crash: what it had handed to the kernel survives. It says nothing
//! about a power failure.
//!
//! A write that is cut short by the signal leaves a line without an end, and
//! whoever writes next, alive for a moment longer, finds its record on that
//! line: such a record is not lost, but mixed.

use std::fs::File;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use engine::study::{Doing, StudyError};
use host::clock::Clock;
use model::integrity::Integrity;
use process::StopFlag;
use process::worker::{Program, WorkerGroup, WorkerKind};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};

use super::acks::Acks;
use super::append::{OPENING, log_name};
use super::crew::Crew;
use super::slice::Slice;
use super::verify::{Expected, account};
use super::work::Work;

const STEM: &str = "crash";
/// What a trial's writers would write between them if they were left alone.
const TRIAL_BYTES: f64 = 4e6;
/// Writers that acknowledge nothing for this long have failed.
const STALL_MAX: Duration = Duration::from_secs(2);

/// What became of the records of all that were killed.
#[derive(Default)]
struct Losses {
    kills: u64,
    acknowledged: u64,
    lost: u64,
    mixed: u64,
    broken_lines: u64,
}

/// Kills the writers so many times, and adds up what became of their records.
pub(super) fn trials(
    slice: &Slice<'_>,
    clock: &Clock,
    stop: &StopFlag,
) -> Result<Vec<(&'static str, f64)>, StudyError> {
    let mut losses = Losses::default();
    for _ in 0..slice.config.kills {
        trial(slice, clock, stop, &mut losses)?;
    }
    Ok(vec![
        ("kills", losses.kills as f64),
        ("killed_acknowledged", losses.acknowledged as f64),
        ("killed_lost", losses.lost as f64),
        ("killed_mixed", losses.mixed as f64),
        ("killed_broken_lines", losses.broken_lines as f64),
    ])
}

fn trial(
    slice: &Slice<'_>,
    clock: &Clock,
    stop: &StopFlag,
    losses: &mut Losses,
) -> Result<(), StudyError> {
    let kind = WorkerKind::Processes(Program::OURSELVES);
    let acks = Acks::new().doing("counting acknowledged records")?;
    let work = Work {
        stem: STEM.to_owned(),
        run: rand::random(),
        records: records_per_writer(slice),
        acks: Some(kind.path_to(acks.file())),
        ..slice.work.clone()
    };
    let (assignments, _kept) = slice.assignments(&Crew::Here(kind), &work)?;
    let group = WorkerGroup::ready(kind, &assignments, slice.pool, clock, stop)?.start()?;
    let target =
        (rand::random_range(0.02..0.9) * (work.records * slice.config.writers) as f64) as u64;
    let outcome = wait_for(target, &acks, slice.config.writers, stop);
    group.kill();
    outcome?;
    let counts: Vec<u64> = (0..slice.config.writers as u32).map(|w| acks.count(w)).collect();
    losses.kills += 1;
    losses.acknowledged += counts.iter().sum::<u64>();
    for (log, expected) in logs(slice, &work, &counts) {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::CREATE;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = openat(&slice.folder, log_name(&log), flags, mode).doing(OPENING)?;
        let account = account(File::from(file), work.format(), &expected);
        let account = account.doing("reading a killed writer's log back")?;
        let Integrity { lost, torn, overwritten, interleaved, .. } = account.integrity;
        losses.lost += lost + torn + overwritten;
        losses.mixed += interleaved;
        losses.broken_lines += account.broken_lines;
    }
    remove(slice).doing("removing a killed writer's files")
}

/// The logs of a trial and what is expected in each.
fn logs(slice: &Slice<'_>, work: &Work, counts: &[u64]) -> Vec<(String, Vec<Expected>)> {
    let expected = |acknowledged: u64| Expected { acknowledged, begun: work.records };
    if !slice.is_per_writer() {
        return vec![(STEM.to_owned(), counts.iter().map(|n| expected(*n)).collect())];
    }
    let alone = |writer: usize| {
        let nothing = Expected { acknowledged: 0, begun: 0 };
        let mut all = vec![nothing; counts.len()];
        all[writer] = expected(counts[writer]);
        (format!("{STEM}.{writer}"), all)
    };
    (0..counts.len()).map(alone).collect()
}

fn records_per_writer(slice: &Slice<'_>) -> u64 {
    let mean = slice.config.mean_bytes();
    ((TRIAL_BYTES / mean / slice.config.writers as f64) as u64).clamp(16, 20_000)
}

/// Waits until the writers have been told of so many records between them.
fn wait_for(target: u64, acks: &Acks, writers: u64, stop: &StopFlag) -> Result<(), StudyError> {
    let (mut seen, mut since) = (0, Instant::now());
    while seen < target {
        std::thread::sleep(Duration::from_micros(20));
        let now = (0..writers as u32).map(|writer| acks.count(writer)).sum();
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
        if stop.load(Ordering::Relaxed) {
            return Err(StudyError::Stopped);
        }
        if since.elapsed() > STALL_MAX {
            let text = format!("writers that were to be killed got stuck after {seen} records");
            return Err(StudyError::Worker(text));
        }
    }
    Ok(())
}

fn remove(slice: &Slice<'_>) -> rustix::io::Result<()> {
    for entry in Dir::read_from(&slice.folder)? {
        let name = entry?.file_name().to_owned();
        if name.to_bytes().starts_with(STEM.as_bytes()) {
            unlinkat(&slice.folder, &name, AtFlags::empty())?;
        }
    }
    Ok(())
}
