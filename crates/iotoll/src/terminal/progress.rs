//! How far a run or a load is: on a terminal drawn at most four times a second, in a pipe
//! said every ten seconds.
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

use engine::measure::{Event, STRETCHES, STRETCHES_MIN};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::arm::Arm;
use model::printable::shortened;
use model::slice::Phase;
use units::time;

use crate::terminal::live::{self, Live};
use crate::terminal::output;

/// How often a second the line is drawn.
const DRAWN_PER_S: u8 = 4;
/// How often it is said where nothing can be drawn.
const SAID_EVERY: Duration = Duration::from_secs(10);
/// What the bar before the text takes, with what stands around it.
const BAR_COLUMNS: usize = 22;
/// What a load may be ahead of the terminal by, in lines.
const LINES_AHEAD: usize = 2;

/// What of a run is shown while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The table as far as it is known, and a line on what happens now.
    Table,
    /// The line alone.
    Line,
}

/// What happens, on standard error: on a terminal drawn in place, elsewhere a line every
/// ten seconds.
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
    state: String,
    live: Option<Live>,
    /// When the line was said last, where nothing can be drawn.
    said: Option<Instant>,
}

impl Progress {
    /// Shows the run's time against its budget.
    pub(crate) fn new(began: Instant, budget: Duration, shown: Shown) -> Self {
        let bar = line(Some(budget.as_millis() as u64), "{prefix}{bar:20} {msg:.dim}");
        let is_terminal = io::stderr().is_terminal();
        let live = (is_terminal && shown == Shown::Table).then(Live::default);
        let said = (!is_terminal && shown == Shown::Table).then_some(began);
        Self { bar, began, state: String::new(), live, said }
    }

    /// Shows what happens.
    pub(crate) fn show(&mut self, event: &Event<'_>, arms: &[Arm]) {
        if let Some(table) = self.live.as_mut().and_then(|live| live.table(event)) {
            self.bar.set_prefix(table);
        }
        match event {
            Event::Slice { phase, arm } => {
                if matches!(phase, Phase::Calibration | Phase::Warmup) {
                    "provisional, warming up".clone_into(&mut self.state);
                }
                let state = format!("{}, {}", self.state, arms[*arm].id);
                self.show_state(&state);
                self.say();
            }
            Event::Block { blocks, stretches, decided, comparisons, .. } => {
                self.state = if *stretches < STRETCHES_MIN {
                    format!("round {blocks}, provisional: {stretches} of {STRETCHES} stretches")
                } else {
                    format!("round {blocks}, {decided} of {comparisons} decided")
                };
            }
            Event::TooShort { stretches, enough } => {
                let seconds = enough.as_secs_f64().ceil();
                self.note(&format!(
                    "the budget has room for {stretches} of the {STRETCHES_MIN} stretches that a \
                     verdict takes; --budget {seconds}s would do"
                ));
            }
            Event::Failed { arm, why } => {
                self.note(&format!("{} failed: {why}", arms[*arm].id));
            }
            Event::Begun(_) | Event::Kept(_) | Event::Calibrated { .. } => {}
        }
    }

    /// Says now and then how far it is, where nothing can be drawn.
    fn say(&mut self) {
        let Some(said) = self.said.as_mut() else { return };
        if said.elapsed() >= SAID_EVERY {
            *said = Instant::now();
            output::note(&format!("{}, {}", self.time(), self.state));
        }
    }

    /// Prints a message above what is drawn.
    pub(crate) fn note(&self, text: &str) {
        self.bar.suspend(|| output::note(text));
    }

    /// Shows what a run is doing.
    pub(crate) fn show_state(&mut self, state: &str) {
        self.bar.set_position(self.began.elapsed().as_millis() as u64);
        let text = format!("{}, {state}", self.time());
        self.bar
            .set_message(shortened(&text, live::width().saturating_sub(BAR_COLUMNS)).into_owned());
    }

    /// `12 of 60 s`.
    fn time(&self) -> String {
        let budget_s = self.bar.length().unwrap_or_default() / 1000;
        format!("{} of {budget_s} s", self.began.elapsed().as_secs())
    }

    /// Takes what is drawn away.
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
