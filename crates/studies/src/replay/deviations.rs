//! Tells of calls that went otherwise than they were recorded.

use model::printable::printable;
use rustix::io::Errno;
use units::{count, exact_size, percent};

use super::plan::program::{Act, PathNumber, Program, Slot, Target};
use super::run::{Deviation, Tally};

/// With more of its calls going otherwise, a replay is not what was recorded.
const DEVIATIONS_MAX: f64 = 0.01;

/// Why a replay's time is not the program's, if so.
pub(super) fn untrusted(program: &Program, tally: &Tally) -> Option<String> {
    let calls: u64 = tally.calls.iter().sum();
    let share = tally.deviations as f64 / calls.max(1) as f64;
    (share > DEVIATIONS_MAX).then(|| {
        let examples: Vec<String> =
            tally.examples.iter().map(|example| told(program, example)).collect();
        format!(
            "{} of {} calls went otherwise than they were recorded ({}), the first: {}",
            count(tally.deviations),
            count(calls),
            percent(share),
            examples.join("; ")
        )
    })
}

fn told(program: &Program, deviation: &Deviation) -> String {
    let Deviation { act, expected, found } = deviation;
    let (name, path) = what(program, act);
    let path = path.map_or_else(String::new, |path| {
        let path = program.paths[path as usize].to_string_lossy();
        format!(" of {}", printable(&path))
    });
    format!("{name}{path} gave {} instead of {}", answer(act, *found), answer(act, *expected))
}

/// What a call is named, and what it is of.
fn what(program: &Program, act: &Act) -> (&'static str, Option<PathNumber>) {
    let of_slot = |slot: &Slot| opened_at(program, *slot);
    let of = |target: &Target| match target {
        Target::At(path) => Some(*path),
        Target::Held(slot) => of_slot(slot),
    };
    match act {
        Act::Begin { .. } | Act::Pass => ("nothing", None),
        Act::Open { path, .. } => ("open", Some(*path)),
        Act::Close { slot } => ("close", of_slot(slot)),
        Act::Read { slot, .. } => ("read", of_slot(slot)),
        Act::Write { slot, .. } => ("write", of_slot(slot)),
        Act::Seek { slot, .. } => ("seek", of_slot(slot)),
        Act::Sync { slot, .. } | Act::SyncRange { slot, .. } => ("sync", of_slot(slot)),
        Act::Truncate { target, .. } => ("truncate", of(target)),
        Act::Allocate { slot, .. } => ("fallocate", of_slot(slot)),
        Act::Advise { slot, .. } => ("fadvise", of_slot(slot)),
        Act::Stat { target, .. } => ("stat", of(target)),
        Act::Access { path, .. } => ("access", Some(*path)),
        Act::Readlink { path, .. } => ("readlink", Some(*path)),
        Act::List { slot, .. } => ("listing", of_slot(slot)),
        Act::Mkdir { path, .. } => ("mkdir", Some(*path)),
        Act::Mknod { path, .. } => ("mknod", Some(*path)),
        Act::Rmdir { path } => ("rmdir", Some(*path)),
        Act::Unlink { path } => ("unlink", Some(*path)),
        Act::Rename { path, .. } => ("rename", Some(*path)),
        Act::Link { path, .. } => ("link", Some(*path)),
        Act::Symlink { at, .. } => ("symlink", Some(*at)),
        Act::Chmod { target, .. } => ("chmod", of(target)),
        Act::Chown { target } => ("chown", of(target)),
        Act::Utime { target } => ("utime", of(target)),
        Act::Lock { slot, .. } => ("lock", of_slot(slot)),
        Act::Flock { slot, .. } => ("flock", of_slot(slot)),
        Act::Copy { from, .. } | Act::Clone { from, .. } => ("copy", of_slot(from)),
    }
}

/// Where an open file was opened.
fn opened_at(program: &Program, slot: Slot) -> Option<PathNumber> {
    let steps = program.replay_threads.iter().flat_map(|replay_thread| &replay_thread.steps);
    let steps = steps.map(|step| &step.act);
    program.opened.iter().chain(steps).find_map(|act| match act {
        Act::Open { path, slot: opened, .. } if *opened == slot => Some(*path),
        _ => None,
    })
}

/// What the kernel answered: an error by its name, or a number of bytes.
fn answer(act: &Act, answer: i64) -> String {
    match act {
        _ if answer < 0 => {
            let error = Errno::from_raw_os_error(-answer as i32);
            std::io::Error::from(error).to_string()
        }
        Act::Seek { .. } => format!("position {answer}"),
        Act::Read { .. } | Act::Write { .. } | Act::Copy { .. } | Act::Readlink { .. } => {
            exact_size(answer as u64)
        }
        _ => "success".to_owned(),
    }
}
