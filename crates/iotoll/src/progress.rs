//! How far a run or a load is, shown on a terminal only, at most four times a
//! second.
//!
//! What is compared is shown between slices, by the thread that measures. A
//! load must not wait for the terminal, which may be slow or stopped (Ctrl-S):
//! a bar draws in the thread that changes it, under a lock that its own ticker
//! would share, so that a load's bar has a thread of its own, behind a channel
//! that drops what the terminal has no time for.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use engine::measure::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::arm::Arm;
use model::slice::Phase;
use model::units::time;

use crate::output;

/// How often a second the line is drawn.
const DRAWN_PER_S: u8 = 4;
/// What a load may be ahead of the terminal by, in lines.
const LINES_AHEAD: usize = 2;

/// A line on standard error; nothing where that is not a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
    state: String,
}

impl Progress {
    /// Shows the run's time against its budget.
    pub(crate) fn new(began: Instant, budget: Duration) -> Self {
        let bar = line(Some(budget.as_millis() as u64), "{bar:20} {msg:.dim}");
        Self { bar, began, state: String::new() }
    }

    /// Shows what happens.
    pub(crate) fn show(&mut self, event: &Event<'_>, arms: &[Arm]) {
        match event {
            Event::Slice { phase, arm } => {
                if matches!(phase, Phase::Calibration | Phase::Warmup) {
                    "warming up".clone_into(&mut self.state);
                }
                let seconds = self.began.elapsed().as_secs();
                let budget_s = self.bar.length().unwrap_or_default() / 1000;
                let state = &self.state;
                self.bar.set_position(self.began.elapsed().as_millis() as u64);
                self.bar
                    .set_message(format!("{seconds} of {budget_s} s, {state}, {}", arms[*arm].id));
            }
            Event::Block { blocks, decided, comparisons } => {
                self.state = format!("block {blocks}, {decided} of {comparisons} decided");
            }
            Event::Failed { arm, why } => {
                self.note(&format!("{} failed: {why}", arms[*arm].id));
            }
            Event::Begun(_) | Event::Kept(_) | Event::Calibrated { .. } => {}
        }
    }

    /// Prints a message above the line.
    pub(crate) fn note(&self, text: &str) {
        self.bar.suspend(|| output::note(text));
    }

    /// Shows what a selftest is doing.
    pub(crate) fn show_state(&mut self, state: &str) {
        let elapsed = self.began.elapsed();
        let budget_s = self.bar.length().unwrap_or_default() / 1000;
        self.bar.set_position(elapsed.as_millis() as u64);
        self.bar.set_message(format!("{} of {budget_s} s, {state}", elapsed.as_secs()));
    }

    /// Takes the line away.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// A line on standard error, with its template.
fn line(length: Option<u64>, template: &str) -> ProgressBar {
    let bar =
        ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr_with_hz(DRAWN_PER_S));
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
    bar
}

/// Runs a load, showing its progress where there is a terminal to show it on.
pub(crate) fn of_load<T>(work: impl FnOnce(&mut dyn FnMut(load::Event<'_>)) -> T) -> T {
    if !io::stderr().is_terminal() {
        return work(&mut |_| ());
    }
    let (sender, receiver) = mpsc::sync_channel(LINES_AHEAD);
    // Without a thread to draw it there is no progress to see.
    let Ok(drawing) = thread::Builder::new().spawn(move || draw(&receiver)) else {
        return work(&mut |_| ());
    };
    let mut title = String::new();
    let result = work(&mut |event| match event {
        load::Event::StepBegins { number, of, rate, goal } => {
            title = step_title(number, of, rate, goal);
        }
        load::Event::Progress(now) => {
            // A full channel means that the terminal is behind.
            let _ = sender.try_send(format!("{title} {}", load_state(&now)));
        }
        _ => {}
    });
    drop(sender);
    // Drawing ends when there is nothing more to draw; it has no result.
    let _ = drawing.join();
    result
}

/// Draws lines as they come, and takes the last one away.
fn draw(lines: &Receiver<String>) {
    let bar = line(None, "{wide_msg:.dim}");
    for text in lines {
        bar.set_message(text);
    }
    bar.finish_and_clear();
}

fn step_title(number: usize, of: Option<usize>, rate: Option<f64>, goal: u64) -> String {
    let step = of.map_or_else(|| format!("try {number}"), |of| format!("{number}/{of}"));
    match rate {
        Some(rate) => format!("{step}, {goal} at {rate:.0}/s,"),
        None => format!("{goal} requests,"),
    }
}

fn load_state(now: &load::Progress) -> String {
    format!(
        "{:.0} s: {:.0} replies/s, {} errors, p50 {} p99 {}, lag {}",
        now.seconds,
        now.replies as f64 / now.seconds.max(1e-3),
        now.errors,
        time(now.latency_p50_ms * 1e6),
        time(now.latency_p99_ms * 1e6),
        time(now.lag_p99_us * 1e3)
    )
}
