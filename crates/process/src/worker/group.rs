//! The workers of one slice: made ready, started together, and their reports
//! received. Each step consumes the one before.

use host::clock::Clock;

use super::kind::WorkerKind;
use super::pipe::PipeTransport;
use super::pool::WorkerPool;
use super::protocol::{Assignment, FromWorker, Report};
use super::transport::Transport;
use crate::{Error, StopFlag};

/// Workers that are ready for their assignments.
#[must_use = "workers that are not started are ended"]
pub struct WorkerGroup {
    transport: Box<dyn Transport>,
    stop: StopFlag,
}

/// Workers at work.
#[must_use = "workers that nobody waits for are ended"]
pub struct RunningGroup(WorkerGroup);

impl WorkerGroup {
    /// Takes a worker from the pool for each assignment, and waits until all are
    /// ready. `clock` is what workers on this machine time with.
    pub fn ready(
        kind: WorkerKind,
        assignments: &[Assignment],
        pool: &WorkerPool,
        clock: &Clock,
        stop: &StopFlag,
    ) -> Result<Self, Error> {
        let workers = assignments.len();
        let transport = PipeTransport::connect(pool, kind, workers, clock, stop)?;
        Self::over(Box::new(transport), assignments, stop)
    }

    /// The same with workers that a transport has already.
    pub fn over(
        mut transport: Box<dyn Transport>,
        assignments: &[Assignment],
        stop: &StopFlag,
    ) -> Result<Self, Error> {
        for (worker, assignment) in assignments.iter().enumerate() {
            transport.assign(worker, assignment)?;
        }
        for worker in 0..transport.workers() {
            match transport.receive(worker, stop)? {
                FromWorker::Ready => {}
                FromWorker::Failed(why) => return Err(Error::WorkerFailed(why)),
                FromWorker::Done(_) => return Err(out_of_turn("reported before it was started")),
            }
        }
        Ok(Self { transport, stop: StopFlag::clone(stop) })
    }

    /// Starts all at one moment.
    pub fn start(mut self) -> Result<RunningGroup, Error> {
        self.transport.start_together()?;
        Ok(RunningGroup(self))
    }

    /// Has all go on that were paused, each as soon as it hears of it.
    pub fn go_on(mut self) -> Result<RunningGroup, Error> {
        self.transport.go_on()?;
        Ok(RunningGroup(self))
    }
}

impl RunningGroup {
    /// Waits for all, and returns what each did; the first failure where one failed.
    pub fn reports(mut self) -> Result<Vec<Report>, Error> {
        let received = self.received()?;
        self.0.transport.release();
        received.map_err(Error::WorkerFailed)
    }

    /// The same of a part of their work, of which there is more: they wait to
    /// [go on](WorkerGroup::go_on).
    pub fn pause(mut self) -> Result<(Vec<Report>, WorkerGroup), Error> {
        let reports = self.received()?.map_err(Error::WorkerFailed)?;
        Ok((reports, self.0))
    }

    /// A report of each, or why the first could not do its work that could not.
    fn received(&mut self) -> Result<Result<Vec<Report>, String>, Error> {
        let mut reports = Vec::new();
        let mut failure = None;
        let WorkerGroup { transport, stop } = &mut self.0;
        for worker in 0..transport.workers() {
            match transport.receive(worker, stop)? {
                FromWorker::Done(report) => reports.push(*report),
                FromWorker::Failed(why) => failure = failure.or(Some(why)),
                FromWorker::Ready => return Err(out_of_turn("said twice that it was ready")),
            }
        }
        Ok(failure.map_or(Ok(reports), Err))
    }

    /// Kills all, in the middle of what they do.
    pub fn kill(mut self) {
        self.0.transport.kill();
    }
}

fn out_of_turn(what: &str) -> Error {
    Error::protocol("a worker", format_args!("it {what}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;

    use serde_json::Value;

    use super::*;

    /// Workers without clock, memory or pipe: what they will send, and what was done
    /// with them.
    struct Scripted {
        messages: Vec<VecDeque<FromWorker>>,
        seen: Rc<RefCell<Vec<String>>>,
    }

    impl Transport for Scripted {
        fn workers(&self) -> usize {
            self.messages.len()
        }

        fn assign(&mut self, worker: usize, assignment: &Assignment) -> Result<(), Error> {
            self.seen.borrow_mut().push(format!("assign {worker} {}", assignment.work));
            Ok(())
        }

        fn start_together(&mut self) -> Result<(), Error> {
            self.seen.borrow_mut().push("start".to_owned());
            Ok(())
        }

        fn go_on(&mut self) -> Result<(), Error> {
            self.seen.borrow_mut().push("go on".to_owned());
            Ok(())
        }

        fn receive(&mut self, worker: usize, _stop: &StopFlag) -> Result<FromWorker, Error> {
            self.seen.borrow_mut().push(format!("receive {worker}"));
            self.messages[worker].pop_front().ok_or(Error::Stopped)
        }

        fn kill(&mut self) {
            self.seen.borrow_mut().push("kill".to_owned());
        }

        fn release(self: Box<Self>) {
            self.seen.borrow_mut().push("release".to_owned());
        }
    }

    fn done(acknowledged: u64) -> FromWorker {
        FromWorker::Done(Box::new(Report { acknowledged, ..Report::default() }))
    }

    fn group(
        messages: Vec<Vec<FromWorker>>,
    ) -> (Result<WorkerGroup, Error>, Rc<RefCell<Vec<String>>>) {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let assignment = |work: usize| Assignment::of("s", &work).unwrap();
        let assignments: Vec<_> = (0..messages.len()).map(assignment).collect();
        let messages = messages.into_iter().map(VecDeque::from).collect();
        let transport = Box::new(Scripted { messages, seen: Rc::clone(&seen) });
        (WorkerGroup::over(transport, &assignments, &StopFlag::default()), seen)
    }

    #[test]
    fn all_are_ready_before_any_is_started_and_are_released_after_the_last_report() {
        let (group, seen) =
            group(vec![vec![FromWorker::Ready, done(3)], vec![FromWorker::Ready, done(4)]]);
        let reports = group.unwrap().start().unwrap().reports().unwrap();
        assert_eq!(reports.iter().map(|r| r.acknowledged).collect::<Vec<_>>(), [3, 4]);
        let order = [
            "assign 0 0",
            "assign 1 1",
            "receive 0",
            "receive 1",
            "start",
            "receive 0",
            "receive 1",
            "release",
        ];
        assert_eq!(*seen.borrow(), order);
    }

    #[test]
    fn one_that_fails_is_the_groups_failure_and_the_others_are_still_released() {
        let failed = FromWorker::Failed("disk full".to_owned());
        let (ready, seen) =
            group(vec![vec![FromWorker::Ready, failed], vec![FromWorker::Ready, done(4)]]);
        let error = ready.unwrap().start().unwrap().reports().unwrap_err();
        assert_eq!(error.to_string(), "disk full");
        assert_eq!(seen.borrow().last().unwrap(), "release");
        let (early, _) = group(vec![vec![FromWorker::Failed("no such folder".to_owned())]]);
        assert_eq!(early.err().unwrap().to_string(), "no such folder");
    }

    #[test]
    fn work_in_parts_is_reported_part_by_part_and_released_at_the_end() {
        let parts = || vec![FromWorker::Ready, done(3), done(5)];
        let (group, seen) = group(vec![parts(), parts()]);
        let (first, group) = group.unwrap().start().unwrap().pause().unwrap();
        assert!(!seen.borrow().contains(&"release".to_owned()));
        let second = group.go_on().unwrap().reports().unwrap();
        let acknowledged = |of: &[Report]| of.iter().map(|r| r.acknowledged).collect::<Vec<_>>();
        assert_eq!((acknowledged(&first), acknowledged(&second)), (vec![3, 3], vec![5, 5]));
        let rest =
            ["start", "receive 0", "receive 1", "go on", "receive 0", "receive 1", "release"];
        assert!(seen.borrow().ends_with(&rest.map(str::to_owned)), "{:?}", seen.borrow());
    }

    #[test]
    fn messages_out_of_turn_are_errors() {
        let (group_, _) = group(vec![vec![done(1)]]);
        let error = group_.err().unwrap().to_string();
        assert!(error.contains("protocol: it reported before"), "{error}");
        let (group_, seen) = group(vec![vec![FromWorker::Ready, FromWorker::Ready]]);
        let error = group_.unwrap().start().unwrap().reports().unwrap_err();
        assert!(error.to_string().contains("twice"), "{error}");
        assert!(!seen.borrow().contains(&"release".to_owned()));
    }

    #[test]
    fn a_group_can_be_killed_and_not_released() {
        let (group, seen) = group(vec![vec![FromWorker::Ready]]);
        group.unwrap().start().unwrap().kill();
        assert_eq!(seen.borrow().last().unwrap(), "kill");
        assert_eq!(serde_json::to_value(FromWorker::Ready).unwrap(), Value::from("ready"));
    }
}
