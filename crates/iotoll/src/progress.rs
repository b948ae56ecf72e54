//! How far the run is, shown on a terminal only, at most four times a second.

use std::time::{Duration, Instant};

use engine::measure::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::arm::Arm;
use model::slice::Phase;

/// A line on standard error; nothing where that is not a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
    state: String,
}

impl Progress {
    /// Shows the run's time against its budget.
    pub(crate) fn new(began: Instant, budget: Duration) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(4);
        let bar = ProgressBar::with_draw_target(Some(budget.as_millis() as u64), target);
        let style = ProgressStyle::with_template("{bar:20} {msg:.dim}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
        Self { bar, began, state: String::new() }
    }

    /// Shows what happens.
    pub(crate) fn show(&mut self, event: &Event, arms: &[Arm]) {
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
                let text = format!("iotoll: {} failed: {why}", arms[*arm].id);
                self.bar.suspend(|| anstream::eprintln!("{text}"));
            }
            Event::Calibrated { .. } => {}
        }
    }

    /// Shows what a test is at.
    pub(crate) fn tell(&mut self, state: &str) {
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
