//! A slice of several clients, from folders to outcome: each step is one of all of them.

use engine::slice_timer::{SliceTimer, WorkersAre};
use engine::study::{Doing as _, Ran, Ready, StudyError};
use model::scaling::CLIENTS_PER_S;
use model::slice::Outcome;
use model::study::StudyDescription;
use process::worker::{Assignment, Report, RunningGroup, Transport, WorkerGroup, span_ns};

use super::client::{ASSIGNMENT, Task};
use super::joined::joined;
use crate::worker_stats::{FAIRNESS, jain, of_clients};
use crate::workers;

/// Clients that have everything ready.
pub(super) struct Waiting {
    study: &'static StudyDescription,
    /// The figure of what all of them get done.
    rate: &'static str,
    workers: WorkerGroup,
}

/// Clients whose operations are done.
struct Worked {
    study: &'static StudyDescription,
    rate: &'static str,
    reports: Vec<Report>,
    /// Nobody once one of them failed.
    workers: Option<WorkerGroup>,
}

impl Waiting {
    /// Has each client make ready for so many operations.
    pub(super) fn new(
        study: &'static StudyDescription,
        rate: &'static str,
        group: Box<dyn Transport>,
        tasks: Vec<Task>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Self, StudyError> {
        let assignment = |task: Task| {
            let task = Task { operations, ..task };
            Assignment::of(ASSIGNMENT, &task).doing("writing down a client's work")
        };
        let assignments: Result<Vec<_>, StudyError> = tasks.into_iter().map(assignment).collect();
        let workers = WorkerGroup::over(group, &assignments?, timer.stop_flag())?;
        Ok(Self { study, rate, workers })
    }
}

impl<'a> Ready<'a> for Waiting {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { study, rate, workers } = *self;
        let worked = workers.start().and_then(RunningGroup::pause);
        timer.check_stop()?;
        let (reports, workers) = worked?;
        workers::absorb(WorkersAre::Processes, &reports, timer);
        Ok(Box::new(Worked { study, rate, reports, workers: Some(workers) }))
    }
}

impl Ran for Worked {
    fn flush(&mut self) -> Result<(), StudyError> {
        if let Some(workers) = self.workers.take() {
            let (_, workers) = workers.go_on()?.pause()?;
            self.workers = Some(workers);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { study, rate, reports, workers } = *self;
        let last = workers.map_or(Ok(Vec::new()), |workers| workers.go_on()?.reports())?;
        let outcomes: Vec<Outcome> = last.into_iter().filter_map(|report| report.outcome).collect();
        let mut outcome = joined(study, &outcomes);
        let done: u64 = reports.iter().map(|report| report.acknowledged).sum();
        let per_s = done as f64 * 1e9 / span_ns(&reports).max(1) as f64;
        let together = [(CLIENTS_PER_S, per_s), (rate, per_s), (FAIRNESS, jain(&reports))];
        let together = together.into_iter().chain(of_clients(&reports));
        outcome.figures.extend(together.map(|(name, figure)| (name.to_owned(), figure)));
        Ok(outcome)
    }
}
