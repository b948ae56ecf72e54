//! The real rig: runs slices on real places, with probes around each.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use host::clock::{Clock, Moment};
use host::page_cache::residency;
use host::probes::{Probes, Reading};
use host::root::Root;
use model::arm::Arm;
use model::counters::Counters as _;
use model::probes::Residency;
use model::run::Floor;
use model::slice::{Deferred, Latencies, Outcome, Slice};
use model::spent::{DeviceTraffic, Spent};

use crate::floor;
use crate::recorder::{Recorder, StopFlag};
use crate::runner::SliceRunner;
use crate::study::{Doing, Operations, Study, StudyError};

/// A place as slices use it.
pub trait Site {
    /// A fresh and empty folder for one slice.
    fn fresh_folder(&mut self) -> std::io::Result<OwnedFd>;

    /// Removes the slice's folder and waits, within reason, until what this
    /// left to be written back has been.
    fn settle(&mut self) -> std::io::Result<()>;

    /// The counters of the devices behind the place, where they can be read.
    fn device_bytes(&mut self) -> Option<DeviceTraffic>;
}

/// Runs slices on this machine.
pub struct Machine<'a> {
    began: Instant,
    stop: StopFlag,
    clock: Clock,
    clock_began: Moment,
    recorder: Recorder,
    probes: Probes,
    /// Why the page cache cannot be asked, once that is known.
    residency_unread: Option<String>,
    sites: Vec<Box<dyn Site + 'a>>,
    jobs: Vec<ArmJob>,
}

struct ArmJob {
    arm: Arm,
    study: &'static dyn Study,
    operations: Operations,
}

impl<'a> Machine<'a> {
    /// A rig for arms, each with the study that runs it; `began` is when the
    /// budget started to count.
    ///
    /// # Errors
    /// In words, where an arm's parameters do not go together.
    pub fn new(
        arms: &[Arm],
        study_of: impl Fn(&Arm) -> &'static dyn Study,
        sites: Vec<Box<dyn Site + 'a>>,
        stop: StopFlag,
        began: Instant,
    ) -> Result<Self, String> {
        let jobs = arms
            .iter()
            .map(|arm| {
                let study = study_of(arm);
                let operations =
                    study.operations(&arm.params).map_err(|why| format!("{}: {why}", arm.id))?;
                Ok(ArmJob { arm: arm.clone(), study, operations })
            })
            .collect::<Result<_, String>>()?;
        let clock = Clock::new();
        let recorder = Recorder::new(clock.clone(), StopFlag::clone(&stop));
        Ok(Self {
            began,
            stop,
            clock_began: clock.moment(),
            clock,
            recorder,
            probes: Probes::new(&Root::real(), &[]),
            residency_unread: None,
            sites,
            jobs,
        })
    }

    fn timed_slice(&mut self, arm: usize, operations: u64) -> Result<Slice, StudyError> {
        let job = &self.jobs[arm];
        let site = &mut self.sites[job.arm.place];
        let recorder = &mut self.recorder;
        let folder = site.fresh_folder().doing("making a folder for a slice")?;
        let mut task = job.study.prepare(job.arm.strategy.name, &job.arm.params, folder.as_fd())?;
        task.ready(operations, recorder)?;

        let cached_before = residency_of(folder.as_fd(), &mut self.residency_unread);
        let device_before = site.device_bytes();
        let before = self.probes.before();
        recorder.start();
        let outcome = task.run(operations, recorder);
        recorder.finish();
        let after = self.probes.after();
        let device_after = site.device_bytes();
        let cached = residency_of(folder.as_fd(), &mut self.residency_unread);
        outcome?;

        let flush_began = self.clock.ticks();
        task.flush()?;
        let deferred = self.clock.between(flush_began, self.clock.ticks());
        let device_flushed = site.device_bytes();

        let Reading { spent: mut used, surroundings } = after.since(before);
        if let Some(elsewhere) = recorder.elsewhere() {
            // This process did nothing but wait for its workers, unless they are
            // threads of it, which leave their share of its figures to it.
            used.run_queue_ns = elsewhere.run_queue_ns;
            if elsewhere.user_ns + elsewhere.system_ns > 0 {
                (used.user_ns, used.system_ns) = (elsewhere.user_ns, elsewhere.system_ns);
                used.calls = elsewhere.calls;
            }
        }
        let during = device_after.since(device_before);
        let flushed = device_flushed.since(device_after);
        let residency = cached.map(|cached| Residency {
            cached_before_bytes: cached_before.unwrap_or_default().cached_bytes,
            ..cached
        });
        Ok(Slice {
            operations,
            spent: Spent {
                elapsed_ns: recorder.elapsed_ns(),
                requested_bytes: task.requested_bytes(),
                sync_calls: recorder.sync_calls(),
                sync_ns: recorder.sync_ns(),
                lock_calls: recorder.lock_calls(),
                lock_ns: recorder.lock_ns(),
                clock_backward_steps: recorder.backward_steps(),
                device: during,
                ..used
            },
            latencies: Latencies::from(recorder.latencies()),
            deferred: Deferred { sync_ns: deferred.as_nanos() as u64, device: flushed },
            surroundings: model::probes::Surroundings { residency, ..surroundings },
            outcome: Outcome {
                integrity: task.check()?,
                figures: task.figures().into_iter().map(|(n, v)| (n.to_owned(), v)).collect(),
                evidence: task.evidence(),
                score_ns: task.judged_ns(),
                failed: task.failed(),
                tail_untrusted: task.tail_untrusted(),
                untrusted: task.untrusted(),
            },
            ..Slice::default()
        })
    }
}

/// What the page cache holds of a folder, unless it has refused to tell.
fn residency_of(folder: BorrowedFd<'_>, unread: &mut Option<String>) -> Option<Residency> {
    if unread.is_some() {
        return None;
    }
    residency(folder).unwrap_or_else(|error| {
        *unread = Some(format!(
            "how much of a file had reached the device: cachestat(2) does not answer ({error})"
        ));
        None
    })
}

impl SliceRunner for Machine<'_> {
    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn floor(&mut self) -> Floor {
        floor::measure(&self.clock, &mut self.recorder)
    }

    fn clock_off_by(&self) -> Option<f64> {
        self.clock.off_by(self.clock_began)
    }

    fn unread(&self) -> Vec<String> {
        self.probes.unread().iter().chain(&self.residency_unread).cloned().collect()
    }

    fn warms_up(&self, arm: usize) -> bool {
        self.jobs[arm].study.warms_up()
    }

    fn operations(&self, arm: usize) -> Operations {
        self.jobs[arm].operations
    }

    fn slice(&mut self, arm: usize, operations: u64) -> Result<Slice, StudyError> {
        let outcome = self.timed_slice(arm, operations);
        // Whatever became of the slice, its files go.
        let settled = self.sites[self.jobs[arm].arm.place].settle();
        let slice = outcome?;
        settled.doing("removing the slice's files")?;
        Ok(slice)
    }
}
