//! The steps of a release or a check, and the summary of what each came to.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Error, Result};

/// What a step came to.
pub(crate) enum Outcome {
    /// A file was made.
    Made(PathBuf),
    /// A check passed, and this is what it saw.
    Passed(String),
    /// Something is missing on this machine.
    Skipped(String),
    /// A check found this.
    Failed(String),
}

/// Something is missing on this machine: the step that fails by it is skipped.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Skip(pub(crate) String);

pub(crate) fn skip(why: impl Into<String>) -> Skip {
    Skip(why.into())
}

/// The outcome of a step that fails by what is missing; any other failure stays one.
fn skipped(error: Error) -> Result<Outcome> {
    error.downcast().map(|Skip(why)| Outcome::Skipped(why))
}

/// What the steps so far came to.
#[derive(Default)]
pub(crate) struct Steps(Vec<(String, Outcome, Duration)>);

impl Steps {
    /// Takes a step. Its failure ends the release: a part of one is of no use.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Result<Outcome>) -> Result<()> {
        eprintln!("dist: {name}");
        let began = Instant::now();
        let outcome = step().or_else(skipped).with_context(|| name.to_owned())?;
        self.0.push((name.to_owned(), outcome, began.elapsed()));
        Ok(())
    }

    /// Takes a check. One that fails does not hide what the others see.
    pub(crate) fn check(&mut self, name: &str, check: impl FnOnce() -> Result<Outcome>) {
        let failed = |error| Ok(Outcome::Failed(format!("{error:#}")));
        let seen = || check().or_else(skipped).or_else(failed);
        // Its failure is an outcome.
        let _ = self.run(name, seen);
    }

    /// The checks that failed.
    pub(crate) fn failed(&self) -> Vec<&str> {
        let failed = self.0.iter().filter(|(_, outcome, _)| matches!(outcome, Outcome::Failed(_)));
        failed.map(|(name, ..)| name.as_str()).collect()
    }

    /// Prints a line for each.
    pub(crate) fn summary(&self) {
        println!();
        for (name, outcome, took) in &self.0 {
            let text = match outcome {
                Outcome::Made(path) => made(path),
                Outcome::Passed(seen) => seen.clone(),
                Outcome::Skipped(why) => format!("SKIPPED: {why}"),
                Outcome::Failed(why) => format!("FAILED: {why}"),
            };
            println!("{name:<28} {:>5.0} s  {text}", took.as_secs_f64());
        }
    }
}

fn made(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
    format!("{name}, {:.2} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use anyhow::ensure;

    use super::*;

    #[test]
    fn a_step_that_lacks_something_is_skipped_and_one_that_fails_is_not() {
        let mut steps = Steps::default();
        let lacks = || -> Result<Outcome> {
            ensure!(std::path::Path::new("/no/such").exists(), skip("there is no such"));
            Ok(Outcome::Passed(String::new()))
        };
        steps.run("made", lacks).expect("it is skipped");
        steps.check("checked", lacks);
        let skipped = |(_, outcome, _): &(_, Outcome, _)| match outcome {
            Outcome::Skipped(why) => why == "there is no such",
            _ => false,
        };
        assert!(steps.0.len() == 2 && steps.0.iter().all(skipped));
        assert!(steps.run("made", fails).is_err());
        steps.check("checked", fails);
        assert_eq!(steps.failed(), ["checked"]);
    }

    fn fails() -> Result<Outcome> {
        Err(anyhow::anyhow!("it fails"))
    }
}
