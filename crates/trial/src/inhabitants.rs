//! The processes in a view: what a recorded command leaves behind, which nobody keeps.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::{At as _, Error};

/// So long they may take to end by themselves, …
const STRAGGLING: Duration = Duration::from_millis(200);
/// … so long to do so when they are asked to, and so long once they are killed.
const ENDING: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);

/// The processes in a mount namespace but for the one that holds it.
#[derive(Clone, Copy, Debug)]
pub struct Inhabitants {
    holder: u32,
    /// Its device and inode.
    namespace: (u64, u64),
}

impl Inhabitants {
    /// Those with the process that holds it. An error where it is this process's own: they would be
    /// all that run here.
    pub(crate) fn of(holder: u32) -> Result<Self, Error> {
        let [namespace, own] = [holder.to_string(), "self".to_owned()].map(|process| {
            let path = PathBuf::from(format!("/proc/{process}/ns/mnt"));
            fs::metadata(&path).map(|facts| (facts.dev(), facts.ino())).at("looking at", &path)
        });
        let namespace = namespace?;
        if namespace == own? {
            return Err(Error::View("it has no mounts of its own".to_owned()));
        }
        Ok(Self { holder, namespace })
    }

    /// Ends them; whether there were any that did not end by themselves.
    pub fn end(&self) -> bool {
        if self.are_gone_after(STRAGGLING) {
            return false;
        }
        for signal in [Signal::TERM, Signal::KILL] {
            for process in self.now() {
                // Who may not be signalled, or has ended, is no obstacle.
                let _ = kill_process(process, signal);
            }
            if self.are_gone_after(ENDING) {
                break;
            }
        }
        true
    }

    fn are_gone_after(&self, patience: Duration) -> bool {
        let began = Instant::now();
        loop {
            if self.now().next().is_none() {
                return true;
            }
            if began.elapsed() >= patience {
                return false;
            }
            sleep(LOOK);
        }
    }

    fn now(&self) -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        // A zombie is in none.
        let is_in = |number: &u32| {
            let namespace = fs::metadata(format!("/proc/{number}/ns/mnt"));
            *number != self.holder
                && namespace.is_ok_and(|facts| (facts.dev(), facts.ino()) == self.namespace)
        };
        numbers.filter(is_in).filter_map(|number| Pid::from_raw(number.cast_signed()))
    }
}
