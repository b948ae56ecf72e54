//! A server that listens: loading it, and asking it for what it has to say.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use engine::slice_timer::SliceTimer;
use engine::study::StudyError;
use load::{Effort, MaxRate, Plan, RateBounds, Search, Step, Steps, Target};
use process::{Server, ServerWatch, StopFlag};

use super::built_in::{ACCOUNT_PATH, Account};
use super::fetch::{Reply, fetch};
use super::outcome::refused;
use super::request::Secret;

/// How long a server may take to answer a first request.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take over what an overload has left in its queue.
const PATIENCE_FOR_QUEUES: Duration = Duration::from_secs(60);
/// How much of a refusal is passed on.
const REFUSAL_CHARS_MAX: usize = 300;
/// How often, at most, a server is asked whether it is done with what it was asked.
const ASKED_MAX: u32 = 15_000;
/// So many looks in a row that find the same are believed.
const LOOKS_ALIKE: usize = 3;
/// Between two times.
const ASKED_EVERY: Duration = Duration::from_millis(4);

/// A server that listens.
pub(super) struct Running {
    server: Server,
    watch: ServerWatch,
    port: u16,
    /// What a server that is built in answers to.
    secret: Option<Secret>,
    timeout: Duration,
    stop: StopFlag,
}

impl Running {
    /// Waits until a server listens on its port.
    pub(super) fn await_ready(
        mut server: Server,
        port: u16,
        secret: Option<Secret>,
        (patience, timeout): (Duration, Duration),
        stop: &StopFlag,
    ) -> Result<Self, StudyError> {
        server.await_ready(&target(port, "/")?.address, patience, stop)?;
        let watch = server.watch();
        Ok(Self { server, watch, port, secret, timeout, stop: StopFlag::clone(stop) })
    }

    /// Its port, and the path by which it is asked for `path`. No message says that.
    pub(super) fn address_of(&self, path: &str) -> (u16, String) {
        let with_secret = self.secret.as_ref().map(|secret| secret.before(path));
        (self.port, with_secret.unwrap_or_else(|| path.to_owned()))
    }

    fn plan(&self, path: &str, steps: Steps) -> Result<Plan, StudyError> {
        let (port, path) = self.address_of(path);
        let mut plan = Plan::new(target(port, &path)?, steps);
        plan.timeout = self.timeout;
        Ok(plan)
    }

    /// One step of a load.
    pub(super) fn load(
        &self,
        path: &str,
        steps: Steps,
        timer: &SliceTimer,
    ) -> Result<Step, StudyError> {
        let plan = self.plan(path, steps)?;
        let result = load::run(&plan, Some(&self.watch), &mut |_| (), timer.stop_flag());
        timer.check_stop()?;
        let step = result.map_err(|e| failed(&e))?.steps.pop();
        step.ok_or_else(|| refused("no step was run".to_owned()))
    }

    /// Looks for the highest rate that is held, and says how long a connection could
    /// take meanwhile: whoever waits for ten times the bound has shown that it is not
    /// kept.
    pub(super) fn max_rate(
        &self,
        path: &str,
        bounds: RateBounds,
        guess: Option<f64>,
        timer: &SliceTimer,
    ) -> Result<(MaxRate, Duration), StudyError> {
        let mut plan = self.plan(path, Steps::MaxRate { connections: None })?;
        plan.seed = rand::random();
        plan.timeout = bounds.p99.map_or(plan.timeout, |p99| plan.timeout.min(p99 * 10));
        let search = Search { bounds, effort: Effort::Quick };
        let found = load::max_rate(&plan, &search, guess, Some(&self.watch), timer.stop_flag());
        timer.check_stop()?;
        Ok((found.map_err(|e| failed(&e))?, plan.timeout))
    }

    /// Sees to it that the server answers what it will be loaded with.
    pub(super) fn try_out(&self, path: &str) -> Result<(), StudyError> {
        let reply = self.ask(path, PATIENCE)?;
        if (200..300).contains(&reply.status) {
            return Ok(());
        }
        let said: String = text_of(&reply.body).chars().take(REFUSAL_CHARS_MAX).collect();
        Err(refused(format!("it answers {path} with status {}: {said}", reply.status)))
    }

    fn ask(&self, path: &str, patience: Duration) -> Result<Reply, StudyError> {
        let (port, asked) = self.address_of(path);
        fetch(port, &asked, patience, &self.stop).map_err(|error| {
            if self.stop.load(Ordering::Relaxed) {
                return StudyError::Stopped;
            }
            refused(format!("it does not answer {path}: {error}"))
        })
    }

    /// Asks a server of ours what it did, once it is done with all that it was asked.
    pub(super) fn settled_account(&self) -> Result<Account, StudyError> {
        let mut seen = Vec::new();
        for _ in 0..ASKED_MAX {
            let reply = self.ask(ACCOUNT_PATH, PATIENCE_FOR_QUEUES)?;
            let account: Account = serde_json::from_str(&reply.body).map_err(|e| {
                refused(format!("the server's report of its own work cannot be parsed: {e}"))
            })?;
            if account.open > 0 || seen.last() != Some(&account) {
                seen.clear();
            }
            seen.push(account);
            // One look could fall between taking a connection and counting it.
            if seen.len() >= LOOKS_ALIKE && account.open == 0 {
                return Ok(account);
            }
            thread::sleep(ASKED_EVERY);
        }
        Err(refused("it did not finish answering the requests sent to it".to_owned()))
    }

    /// Asks a server of the user's for its evidence.
    pub(super) fn evidence(&self, path: &str) -> Result<BTreeMap<String, f64>, StudyError> {
        let reply = self.ask(path, PATIENCE_FOR_QUEUES)?;
        serde_json::from_str(reply.body.trim()).map_err(|e| {
            refused(format!("its evidence at {path} is not a JSON object of numbers: {e}"))
        })
    }

    /// Stops it, with all that it started. One that cannot be stopped would take part in
    /// every slice to come.
    pub(super) fn stop(self) -> Result<(), StudyError> {
        Ok(self.server.stop()?)
    }

    /// The last lines that a server printed which has exited; nothing while it runs.
    pub(super) fn output_if_exited(&mut self) -> Option<String> {
        (!self.server.is_running()).then(|| self.server.stderr_tail().join("\n  "))
    }
}

fn target(port: u16, path: &str) -> Result<Target, StudyError> {
    Target::parse(&format!("http://127.0.0.1:{port}{path}")).map_err(|e| failed(&e))
}

/// What `load` could not do, in its words.
fn failed(error: &load::Error) -> StudyError {
    StudyError::Worker(error.to_string())
}

/// A page's text, without its tags and the space between them.
fn text_of(body: &str) -> String {
    let mut within_tag = false;
    let text: String = body
        .chars()
        .map(|c| {
            let shown = !within_tag && c != '<';
            within_tag = c == '<' || within_tag && c != '>';
            if shown { c } else { ' ' }
        })
        .collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pages_text_is_left_of_it() {
        assert_eq!(text_of("<h1>Not\n found</h1> <p class='a'>1 > 0"), "Not found 1 > 0");
        assert_eq!(text_of(""), "");
    }
}
