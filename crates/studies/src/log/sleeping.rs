//! Threads that only sleep: the process then has more than one, and the kernel treats its files
//! as shared.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// They sleep until this is dropped.
#[derive(Default)]
pub(super) struct SleepingThreads(Vec<(Option<Sender<()>>, Option<JoinHandle<()>>)>);

impl SleepingThreads {
    /// So many.
    pub(super) fn start(threads: u64) -> io::Result<Self> {
        let mut sleeping = Self::default();
        for _ in 0..threads {
            let (awake, asleep): (_, Receiver<()>) = channel();
            // Nothing is ever sent: the wait ends with the other end.
            let sleep = move || {
                let _ = asleep.recv();
            };
            let thread = Builder::new().name("asleep".to_owned()).spawn(sleep)?;
            sleeping.0.push((Some(awake), Some(thread)));
        }
        Ok(sleeping)
    }
}

impl Drop for SleepingThreads {
    fn drop(&mut self) {
        for (awake, thread) in &mut self.0 {
            drop(awake.take());
            // It does not panic.
            let _ = thread.take().map(JoinHandle::join);
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
        let sleeping = SleepingThreads::start(2).unwrap();
        assert_eq!(asleep(), 2);
        drop(sleeping);
        assert_eq!(asleep(), 0);
    }
}
