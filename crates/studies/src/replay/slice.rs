//! One replay: the files that were there, the calls, and what they came to.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use engine::slice_timer::SliceTimer;
use engine::study::{Ran, Ready, StudyError};
use model::slice::Outcome;

use super::act::Buffers;
use super::config::Config;
use super::plan::program::Kind;
use super::run::{Tally, Threads};
use super::shared_state::SharedState;
use super::spec;
use super::{deviations, prepare, unexplained};
use crate::drop_cache::{Cache, Residency};
use crate::figures_of;
use crate::file::keep_open;
use crate::tree::{each_file, sync_tree};

/// A replay that can begin.
pub(super) struct Filled<'a> {
    config: &'a Config,
    shared_state: Arc<SharedState>,
    threads: Threads,
}

/// One that has ended.
struct Done<'a> {
    config: &'a Config,
    shared_state: Arc<SharedState>,
    tally: Tally,
    elapsed: u64,
}

impl<'a> Filled<'a> {
    /// Fills a folder that is empty.
    pub(super) fn new(
        config: &'a Config,
        folder: BorrowedFd<'_>,
        timer: &SliceTimer,
    ) -> Result<Self, StudyError> {
        let folder = keep_open(folder)?;
        let Config { program, fills, copies, cache, .. } = config;
        prepare::make(program, &folder, fills, copies.as_deref())?;
        // What was there before has long been on the device.
        sync_tree(&folder)?;
        if *cache == Cache::Cold {
            let mut left = Residency::default();
            each_file(&folder, |file| left.evict(&file))?;
            left.check_cold(&folder)?;
        }
        let has_openat2 = prepare::has_openat2(&folder);
        let (clock, stop) = (timer.clock().clone(), Arc::clone(timer.stop_flag()));
        let shared_state =
            SharedState::new(Arc::clone(program), folder, has_openat2, fills.clone(), clock, stop);
        let mut none = Buffers::new(0, 0);
        for act in &program.opened {
            shared_state.act(act, &mut none);
        }
        let shared_state = Arc::new(shared_state);
        let threads = Threads::start(Arc::clone(&shared_state), config.thinking())?;
        Ok(Self { config, shared_state, threads })
    }
}

impl<'a> Ready<'a> for Filled<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { config, shared_state, threads } = *self;
        let began = timer.last_ticks();
        let tally = threads.run()?;
        timer.lap();
        let elapsed = timer.last_ticks().saturating_sub(began);
        let done = Done { config, shared_state, tally, elapsed };
        let took_ns = |kind: Kind| done.part(done.tally.in_calls[kind as usize]) as u64;
        let calls = |kind: Kind| done.tally.calls[kind as usize];
        timer.synced(calls(Kind::Sync), took_ns(Kind::Sync));
        timer.locked(calls(Kind::Lock), took_ns(Kind::Lock));
        timer.requested(done.tally.requested_bytes);
        (0..config.name_changes).for_each(|_| timer.changed_name());
        Ok(Box::new(done))
    }
}

impl Done<'_> {
    /// A part of the threads' time as a part of the replay's, in nanoseconds: where several
    /// threads ran at once, each of them counts in proportion.
    fn part(&self, ticks: u64) -> f64 {
        let Tally { in_calls, thought, .. } = &self.tally;
        let all: u64 = in_calls.iter().sum::<u64>() + thought;
        ticks as f64 / all.max(1) as f64 * self.ns(self.elapsed as f64)
    }

    fn ns(&self, ticks: f64) -> f64 {
        ticks * self.shared_state.clock.tick_ns()
    }
}

impl Ran for Done<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        sync_tree(&self.shared_state.folder)
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let program = &self.config.program;
        let Tally { in_calls, calls, thought, deviations, .. } = &self.tally;
        let [open, read, write, sync, metadata, lock] = in_calls.map(|ticks| self.part(ticks));
        let facts = program.facts;
        let bound = facts.files_ns as f64 / facts.stretch_ns.max(1) as f64;
        let left_out_ns = facts.recorded_ns.saturating_sub(facts.stretch_ns) as f64;
        let mut figures = figures_of([
            (spec::THINK, self.part(*thought)),
            (spec::SPARED, self.ns(self.tally.spared_of(self.elapsed))),
            (spec::OPEN, open),
            (spec::READ, read),
            (spec::WRITE, write),
            (spec::SYNC, sync),
            (spec::METADATA, metadata),
            (spec::LOCK, lock),
            (spec::CALLS, calls.iter().sum::<u64>() as f64),
            (spec::DEVIATIONS, *deviations as f64),
            (spec::RECORDED, facts.stretch_ns as f64),
            (spec::BOUND, bound),
        ]);
        if left_out_ns > 0.0 {
            figures.extend(figures_of([(spec::LEFT_OUT, left_out_ns)]));
        }
        let untrusted = unexplained::untrusted(&facts)
            .or_else(|| deviations::untrusted(program, &self.tally))
            .or_else(|| {
                let is_as_recorded = self.config.is_as_recorded(self.shared_state.folder.as_fd());
                let took_ns = is_as_recorded.then(|| self.ns(self.elapsed as f64))?;
                unexplained::too_short(&facts, took_ns, self.config.cache)
            });
        Ok(Outcome { figures, untrusted, ..Outcome::default() })
    }
}
