//! Doing several things at once, each of which waits as much as it works.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Result;

/// What is left undone, a line each.
pub type Skipped = Vec<String>;

/// Something to be done beside others.
pub struct Job<'a, T> {
    /// What it is called in what is printed.
    pub name: String,
    /// The work.
    pub run: Box<dyn FnOnce() -> Result<T> + Send + 'a>,
}

/// What became of a job.
pub struct Done<T> {
    /// What it is called in what is printed.
    pub name: String,
    /// How long it took.
    pub took: Duration,
    /// What it gave, or how it failed.
    pub result: Result<T>,
}

/// Does the jobs, so many at once, begun in their order; `tell` is called after each.
pub fn run<T: Send>(
    jobs: Vec<Job<'_, T>>,
    at_once: usize,
    tell: impl Fn(&Done<T>) + Sync,
) -> Vec<Done<T>> {
    let waiting = Mutex::new(jobs.into_iter());
    let done = Mutex::new(Vec::new());
    let next = || waiting.lock().ok().and_then(|mut jobs| jobs.next());
    let work = || {
        while let Some(Job { name, run }) = next() {
            let began = Instant::now();
            let result = run();
            let one = Done { name, took: began.elapsed(), result };
            let Ok(mut done) = done.lock() else { return };
            tell(&one);
            done.push(one);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(work);
        }
    });
    done.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use anyhow::bail;

    use super::*;

    fn job<'a>(name: &str, run: impl FnOnce() -> Result<()> + Send + 'a) -> Job<'a, ()> {
        Job { name: name.to_owned(), run: Box::new(run) }
    }

    #[test]
    fn all_are_done_and_told_whatever_becomes_of_others() {
        let told = AtomicUsize::new(0);
        let jobs = vec![job("fails", || bail!("it must")), job("passes", || Ok(()))];
        let done = run(jobs, 1, |_| _ = told.fetch_add(1, Ordering::Relaxed));
        assert_eq!(told.into_inner(), 2);
        assert!(done.iter().map(|d| d.name.as_str()).eq(["fails", "passes"]));
        assert!(done[0].result.is_err() && done[1].result.is_ok());
    }

    #[test]
    fn so_many_are_done_at_once() {
        // Each waits for the other: one after the other they would wait for ever.
        let both = Barrier::new(2);
        let wait = || {
            both.wait();
            Ok(())
        };
        assert_eq!(run(vec![job("a", wait), job("b", wait)], 2, |_| ()).len(), 2);
    }
}
