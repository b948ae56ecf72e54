//! What a killed writer had been told was written, and is not there.
//!
//! After the timed part of a slice, processes write into another log and are all
//! killed at a random moment in the midst of it, so many times over. This is a
//! process's death: what it had handed to the kernel survives. It says nothing
//! about a power cut.
//!
//! A write that is cut short by the signal leaves a line without an end, and
//! whoever writes next, alive for a moment longer, finds its record on that
//! line: such a record is not lost, but mixed.

use std::fs::File;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use engine::recorder::StopFlag;
use engine::study::{Doing, StudyError};
use engine::worker::{Crew, Hands, Program};
use host::clock::ClockTold;
use model::integrity::Integrity;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};

use super::acks::Acks;
use super::append::{OPENING, log_name};
use super::task::Setting;
use super::verify::{Expected, account};
use super::work::Work;

const STEM: &str = "crash";
/// What a trial's writers would write between them if they were left alone.
const TRIAL_BYTES: f64 = 4e6;
/// Writers that acknowledge nothing for this long have failed.
const STALL_MAX: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Toll {
    kills: u64,
    acknowledged: u64,
    lost: u64,
    mixed: u64,
    broken_lines: u64,
}

/// Kills the writers so many times, and adds up what became of their records.
pub(super) fn trials(
    setting: &Setting,
    clock: ClockTold,
    stop: &StopFlag,
) -> Result<Vec<(&'static str, f64)>, StudyError> {
    let mut toll = Toll::default();
    for _ in 0..setting.kills {
        trial(setting, clock, stop, &mut toll)?;
    }
    Ok(vec![
        ("kills", toll.kills as f64),
        ("killed_acknowledged", toll.acknowledged as f64),
        ("killed_lost", toll.lost as f64),
        ("killed_mixed", toll.mixed as f64),
        ("killed_broken_lines", toll.broken_lines as f64),
    ])
}

fn trial(
    setting: &Setting,
    clock: ClockTold,
    stop: &StopFlag,
    toll: &mut Toll,
) -> Result<(), StudyError> {
    let acks = Acks::new().doing("counting acknowledged records")?;
    let work = Work {
        stem: STEM.to_owned(),
        run: rand::random(),
        records: records_per_writer(setting),
        acks: Some(acks.path()),
        ..setting.work.clone()
    };
    let (tickets, _kept) = setting.tickets(&work, clock)?;
    let hands = Hands::Processes(Program::OURSELVES);
    let mut crew = Crew::ready(hands, tickets, setting.pool, stop)?;
    crew.start();
    let target = (rand::random_range(0.02..0.9) * (work.records * setting.writers) as f64) as u64;
    let outcome = wait_for(target, &acks, setting.writers, stop);
    crew.kill();
    outcome?;
    let counts: Vec<u64> = (0..setting.writers as u32).map(|w| acks.count(w)).collect();
    toll.kills += 1;
    toll.acknowledged += counts.iter().sum::<u64>();
    for (log, expected) in logs(setting, &work, &counts) {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::CREATE;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = openat(&setting.folder, log_name(&log), flags, mode).doing(OPENING)?;
        let account = account(File::from(file), work.format(), &expected);
        let account = account.doing("reading a killed writer's log back")?;
        let Integrity { lost, torn, overwritten, interleaved, .. } = account.integrity;
        toll.lost += lost + torn + overwritten;
        toll.mixed += interleaved;
        toll.broken_lines += account.broken_lines;
    }
    remove(setting).doing("removing a killed writer's files")
}

/// The logs of a trial and what is expected in each.
fn logs(setting: &Setting, work: &Work, counts: &[u64]) -> Vec<(String, Vec<Expected>)> {
    let expected = |acknowledged: u64| Expected { acknowledged, begun: work.records };
    if setting.work.strategy != "per-writer" {
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

fn records_per_writer(setting: &Setting) -> u64 {
    let mean = setting.work.format().sizes().mean();
    ((TRIAL_BYTES / mean / setting.writers as f64) as u64).clamp(16, 20_000)
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

fn remove(setting: &Setting) -> rustix::io::Result<()> {
    for entry in Dir::read_from(&setting.folder)? {
        let name = entry?.file_name().to_owned();
        if name.to_bytes().starts_with(STEM.as_bytes()) {
            unlinkat(&setting.folder, &name, AtFlags::empty())?;
        }
    }
    Ok(())
}
