//! Threads that only sleep: the process then has more than one, and the kernel treats its files
//! as shared.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

/// They sleep until this is dropped.
#[derive(Default)]
pub(super) struct SleepingThreads {
    awake: Vec<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl SleepingThreads {
    /// So many.
    pub(super) fn start(threads: u64) -> io::Result<Self> {
        let mut sleeping = Self::default();
        for _ in 0..threads {
            let (awake, asleep) = channel();
            let thread = Builder::new().name("asleep".to_owned()).spawn(move || {
                // Nothing is ever sent: the wait ends with the other end.
                let _ = asleep.recv();
            })?;
            sleeping.awake.push(awake);
            sleeping.threads.push(thread);
        }
        Ok(sleeping)
    }
}

impl Drop for SleepingThreads {
    fn drop(&mut self) {
        self.awake.clear();
        for thread in self.threads.drain(..) {
            // It does not panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn they_are_there_until_they_are_dropped() {
        let asleep = || {
            let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
            let names =
                tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
            names.filter(|name| name.trim() == "asleep").count()
        };
        // A thread gives itself its name, and is listed until the kernel has taken it away.
        let become_so_many = |threads: usize| {
            while asleep() != threads {
                std::thread::yield_now();
            }
        };
        let sleeping = SleepingThreads::start(2).unwrap();
        become_so_many(2);
        drop(sleeping);
        become_so_many(0);
    }
}
