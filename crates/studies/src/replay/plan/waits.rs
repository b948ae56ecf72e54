//! What ends the waits of threads that are no part of what is replayed: another thread of the
//! recording, as far as that is known. Such a wait is as long in a replay as it takes the other
//! thread to get there. All other waiting is thinking.

use trace::Op;

use super::make::PlanBuilder;
use super::order::{Object, StepOf, ThreadNumber, Use};
use super::recording::{OpenNumber, Recorded};

impl PlanBuilder<'_> {
    /// A thread that slept was woken by another one.
    pub(super) fn woken(&mut self, thread: u32, by: u32, [since_ns, at_ns]: [u64; 2]) {
        let is_replayed =
            |thread: u32| self.under_way.get(&thread).is_some_and(|planned| planned.act.is_some());
        // A call that is replayed waits again, for whatever it waited for.
        if thread == by || is_replayed(thread) {
            return;
        }
        let (Some(sleeper), Some(waker)) = (self.threads.find(thread), self.threads.find(by))
        else {
            return;
        };
        let step = if is_replayed(by) {
            self.threads.latest(waker)
        } else {
            self.threads.pass(waker, at_ns)
        };
        self.order.only_new(sleeper, &mut vec![step]);
        let before = self.threads.pass(sleeper, since_ns);
        self.threads.get_mut(sleeper).before_waits.push(before.step);
        self.threads.woken(sleeper, at_ns, &[step]);
    }

    /// A call that is not replayed may have waited for another thread.
    pub(super) fn waited(&mut self, recorded: &Recorded, thread: ThreadNumber) {
        let call = &recorded.call;
        if !self.is_ordered {
            return;
        }
        let mut after: Vec<StepOf> = Vec::new();
        if let Some(pipe) = self.pipe(recorded, false) {
            self.order.before(thread, &[(Object::Pipe(pipe), Use::Shared)], &mut after);
        } else if let Some(pipe) = self.pipe(recorded, true) {
            // It was full where another thread took something out meanwhile.
            let emptied = self.emptied.get(&pipe).filter(|(at_ns, _)| *at_ns > call.began_ns);
            after.extend(emptied.map(|(_, step)| *step).filter(|step| step.thread != thread));
            self.order.only_new(thread, &mut after);
        } else if call.op == Op::Wait && call.result > 0 {
            let child = self.threads.find(call.result as u32);
            after.extend(child.map(|child| self.threads.latest(child)));
            self.order.only_new(thread, &mut after);
            self.threads.forget(call.result as u32);
        }
        if !after.is_empty() {
            self.threads.pass(thread, call.began_ns);
            self.threads.woken(thread, call.ended_ns(), &after);
        }
        if let Some(pipe) = self.pipe(recorded, false) {
            let step = self.threads.pass(thread, call.ended_ns());
            self.emptied.insert(pipe, (call.ended_ns(), step));
        }
    }

    /// The pipe that a call writes to or reads from.
    pub(super) fn pipe(&self, recorded: &Recorded, writing: bool) -> Option<OpenNumber> {
        let open = match (recorded.call.op, writing) {
            (Op::Write, true) | (Op::Read | Op::Splice, false) => recorded.file?,
            (Op::Splice | Op::Sendfile, true) => recorded.other?,
            _ => return None,
        };
        let ends = self.recording.pipes.get(&open)?;
        if writing { ends.written } else { ends.read }
    }
}
