//! A server that is tried: started, awaited, loaded in an open loop, and stopped.

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use engine::slice_timer::{SliceTimer, WorkersAre};
use load::{Address, Phases, Plan, Step, Steps, analyse_slice};
use model::slice::Outcome;
use model::spent::Spent;
use process::{Server, StopFlag};

use crate::error::Error;

/// The usual connection may be begun late by this share of what it takes.
const LATE_SHARE_MAX: f64 = 0.1;

/// How a server is loaded.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Where it listens once it is ready.
    pub ready: Address,
    /// How long that may take.
    pub patience: Duration,
    /// The load: one rate, and so many connections.
    pub plan: Plan,
}

impl Serving {
    /// How many connections a run has.
    pub(crate) fn connections(&self) -> u64 {
        match &self.plan.steps {
            Steps::Rates { connections, .. } => connections.unwrap_or(1),
            _ => 1,
        }
    }

    /// Starts a server, and waits until it listens.
    pub(crate) fn start(
        &self,
        mut command: Command,
        shown: &str,
        stop: &StopFlag,
    ) -> Result<Server, Error> {
        let port = match &self.ready {
            Address::Tcp(_, port) => *port,
            Address::Unix(_) => 0,
        };
        // What is sent to this process is not for the server.
        command.process_group(0);
        let mut server = Server::launch(command, shown, port)?;
        server.await_ready(&self.ready, self.patience, stop)?;
        Ok(server)
    }

    /// Loads what listens there, which `server` started if that is known.
    ///
    /// # Errors
    /// Where it cannot be loaded, or answers nothing.
    pub fn load(&self, server: Option<&Server>, halt: &StopFlag) -> Result<Step, Error> {
        let watch = server.map(Server::watch);
        let meter = watch.as_ref().map(|watch| watch as &dyn load::ServerMeter);
        let failed = |why: String| Error::View(format!("loading the server: {why}"));
        let measured = load::run(&self.plan, meter, &mut |_| (), halt);
        let step = measured.map_err(|error| failed(error.to_string()))?.steps.pop();
        let step = step.ok_or(Error::Stopped)?;
        if step.phases.answered.count() == 0 {
            let first = step.first_error.as_deref().unwrap_or("no reason was given");
            return Err(failed(format!("nothing was answered: {first}")));
        }
        Ok(step)
    }

    /// What a load came to: judged by the median of its connections, those that failed having taken
    /// the whole timeout.
    pub(crate) fn outcome(&self, step: &Step, recorder: &mut SliceTimer) -> Outcome {
        let failed = step.attempted.saturating_sub(step.phases.answered.count());
        let mut times = step.phases.answered.histogram();
        times.record_many(self.plan.timeout.as_nanos() as u64, failed);
        let used = step.server.as_ref();
        let ns = |ms: f64| (ms * 1e6) as u64;
        let spent = Spent {
            elapsed_ns: (times.mean() * step.attempted as f64) as u64,
            user_ns: used.map_or(0, |used| ns(used.cpu_user_ms)),
            system_ns: used.map_or(0, |used| ns(used.cpu_system_ms)),
            sync_calls: used.and_then(|used| used.sync_calls).unwrap_or(0),
            ..Spent::default()
        };
        let tick_ns = recorder.clock().tick_ns();
        let ticks = |(ns, times)| ((ns as f64 / tick_ns) as u64, times);
        recorder.absorb(WorkersAre::Processes, spent, times.buckets().into_iter().map(ticks));
        Outcome {
            score_ns: Some(times.quantile(0.5)),
            failed: Some(failed),
            untrusted: untrusted(step),
            ..Outcome::default()
        }
    }
}

/// Why the figures are not the server's, if so.
fn untrusted(step: &Step) -> Option<String> {
    let seen = analyse_slice(step);
    let Phases { lag, connection, .. } = &step.phases;
    let is_usual = lag.quantile(0.5) <= connection.quantile(0.5) * LATE_SHARE_MAX;
    if seen.is_merely_late() && is_usual { None } else { seen.why_invalid }
}
