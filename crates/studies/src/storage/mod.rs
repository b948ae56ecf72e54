//! `storage`: what storage is asked for, one thing at a time: syncs of small appends, files that
//! are replaced durably, reads and writes in order and at random, and the commits of programs as
//! they were recorded. `iotoll check` is made of it.
//!
//! Reads are those of the study `blocks`, of one file for all arms of a place, and writes in
//! order those of `stream`. The rest is commits, step by step.

mod commits;
mod profile;
mod programs;
mod spec;

use engine::study::{StudyError, Workload};
use model::check::Program;
use model::study::Params;

use self::commits::{CommitsArm, Timed};
use self::profile::{FileAtStart, Profile};
use self::spec::Strategy;
use crate::blocks::{Reading, reading};
use crate::built_in_study::BuiltInStudy;
use crate::stream;

/// What the device is read from: longer than it takes to be read ahead, and quick to write.
const FILE: (&str, &str) = ("file", "64 MiB");
/// What the page cache is read from, which no other arm evicts.
const CACHED_FILE: (&str, &str) = ("file", "16 MiB");
const MIB: (&str, &str) = ("size", "1 MiB");
const IN_ORDER: (&str, &str) = ("order", "sequential");

/// The programs whose commits are known.
pub fn programs() -> Vec<&'static Program> {
    programs::all().iter().map(|known| &known.program).collect()
}

/// The study.
pub(crate) static STORAGE: BuiltInStudy = BuiltInStudy::new(&spec::SPEC, spec::CASES, workload);

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let bytes = params.size("bytes");
    let appends = |sync| own(1, &format!("w0+0:{bytes}{sync}"), Timed::Syncs);
    let depth = params.count("depth");
    match Strategy::of(strategy)? {
        Strategy::Fsync => appends(" f0"),
        Strategy::Fdatasync => appends(" d0"),
        Strategy::Append => own(1, &format!("w0+0:{bytes}"), Timed::Whole),
        Strategy::Replace => own(2, &format!("c1 w1@0:{bytes} f1 r1>0 F"), Timed::Whole),
        Strategy::ReplaceCached => own(2, &format!("c1 w1@0:{bytes} r1>0"), Timed::Whole),
        Strategy::Read => {
            let how = Reading { accounts: depth == 1, least: 16 * depth };
            // Programs hand in one read by a plain call; file systems in memory have io_uring
            // pass it to another thread.
            if depth == 1 {
                return reading("direct", &[FILE], how);
            }
            let depth = depth.to_string();
            reading("uring-direct", &[FILE, ("depth", &depth)], how)
        }
        Strategy::ReadCached => {
            reading("buffered", &[CACHED_FILE], Reading { accounts: true, least: 1000 })
        }
        Strategy::ReadSequential => {
            let set = [FILE, MIB, IN_ORDER, ("cache", "cold")];
            reading("buffered", &set, Reading { accounts: true, least: 1 })
        }
        Strategy::ReadSequentialCached => {
            let set = [CACHED_FILE, MIB, IN_ORDER];
            reading("buffered", &set, Reading { accounts: true, least: 8 })
        }
        Strategy::WriteSequential => Ok(stream::written(true)),
        Strategy::WriteSequentialCached => Ok(stream::written(false)),
        Strategy::Program => program(params.choice("program")),
    }
}

/// Commits of this study, in so many files that are empty at the start.
fn own(files: usize, commit: &str, timed: Timed) -> Result<Box<dyn Workload>, StudyError> {
    let files = vec![FileAtStart::default(); files];
    let profile = Profile::read(&files, &[commit.to_owned()])?;
    Ok(Box::new(CommitsArm::new(profile, timed)))
}

fn program(name: &str) -> Result<Box<dyn Workload>, StudyError> {
    let known = programs::all().iter().find(|known| known.program.name == name);
    let known = known.ok_or_else(|| StudyError::Unsuited(format!("no program `{name}`")))?;
    let profile = Profile::read(&known.files, &known.commits)?;
    let timed = if profile.is_synced() { Timed::Syncs } else { Timed::Whole };
    Ok(Box::new(CommitsArm::new(profile, timed)))
}

#[cfg(test)]
mod tests;
