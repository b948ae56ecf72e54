//! The steps of a release or a check, and the summary of what each came to.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// What a step came to; a failure is an error.
pub(crate) enum Outcome {
    /// A file was made.
    Made(PathBuf),
    /// A check passed, and this is what it saw.
    Passed(String),
    /// Something is missing on this machine.
    Skipped(String),
}

/// What the steps so far came to.
#[derive(Default)]
pub(crate) struct Steps(Vec<(String, Outcome, Duration)>);

impl Steps {
    /// Takes a step. Its failure ends the release: a part of one is of no use.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Result<Outcome>) -> Result<()> {
        eprintln!("dist: {name}");
        let began = Instant::now();
        let outcome = step().with_context(|| name.to_owned())?;
        self.0.push((name.to_owned(), outcome, began.elapsed()));
        Ok(())
    }

    /// Prints a line for each.
    pub(crate) fn summary(&self) {
        println!();
        for (name, outcome, took) in &self.0 {
            let text = match outcome {
                Outcome::Made(path) => made(path),
                Outcome::Passed(seen) => seen.clone(),
                Outcome::Skipped(why) => format!("SKIPPED: {why}"),
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
