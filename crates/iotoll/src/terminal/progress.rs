//! How far a run or a load is: on a terminal drawn at most four times a second, in a pipe
//! said every ten seconds.
//!
//! What is compared is shown between slices, by the thread that measures. A
//! load must not wait for the terminal, which may be slow or stopped (Ctrl-S):
//! a bar draws in the thread that changes it, under a lock that its own ticker
//! would share, so that a load's bar has a thread of its own, behind a channel
//! that drops what the terminal has no time for.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use engine::measure::{Event, STRETCHES, STRETCHES_MIN};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::arm::Arm;
use model::printable::shortened;
use model::slice::Phase;
use units::time;

use crate::terminal::live::{self, Live, Size, State};
use crate::terminal::output;

/// How often a second the line is drawn.
const DRAWN_PER_S: u8 = 4;
/// How often it is said where nothing can be drawn.
const SAID_EVERY: Duration = Duration::from_secs(10);
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
    budget: Duration,
    state: String,
    /// What is measured now.
    now: String,
    /// What is drawn, and the size that the terminal had then.
    drawn: (String, Size),
    live: Option<Live>,
    has_styles: bool,
    /// When the line was said last, where nothing can be drawn.
    said: Option<Instant>,
}

impl Progress {
    /// Shows the run's time against its budget.
    pub(crate) fn new(began: Instant, budget: Duration, shown: Shown) -> Self {
        let bar = line(None, "{msg}");
        let is_terminal = io::stderr().is_terminal();
        let live = (is_terminal && shown == Shown::Table).then(Live::default);
        let said = (!is_terminal && shown == Shown::Table).then_some(began);
        let drawn = (String::new(), live::size());
        let (state, now) = Default::default();
        let has_styles = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
        Self { bar, began, budget, state, now, drawn, live, has_styles, said }
    }

    /// Shows what happens.
    pub(crate) fn show(&mut self, event: &Event<'_>, arms: &[Arm]) {
        if let Some(live) = self.live.as_mut() {
            live.take(event);
        }
        match event {
            Event::Slice { phase, arm } => {
                if matches!(phase, Phase::Calibration | Phase::Warmup) {
                    "provisional, warming up".clone_into(&mut self.state);
                }
                self.now.clone_from(&arms[*arm].id);
                self.draw();
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
                    "the budget has room for {stretches} of the {STRETCHES_MIN} stretches that an \
                     answer takes; --budget {seconds}s would do"
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
        state.clone_into(&mut self.state);
        self.draw();
    }

    /// Draws all of it, for the terminal as it is now.
    fn draw(&mut self) {
        if self.bar.is_hidden() {
            return;
        }
        let size = live::size();
        if size != self.drawn.1 {
            self.erase(size);
        }
        let text = format!("{}, {}", self.time(), self.state);
        let text = match self.live.as_mut() {
            Some(live) => {
                let share = self.began.elapsed().as_secs_f64() / self.budget.as_secs_f64();
                live.text(State { share, text: &text, now: &self.now }, size)
            }
            None if self.now.is_empty() => shortened(&text, size.width - 1).into_owned(),
            None => shortened(&format!("{text}, {}", self.now), size.width - 1).into_owned(),
        };
        let text = if self.has_styles { text } else { live::plain(&text) };
        self.bar.set_message(text.clone());
        self.drawn = (text, size);
    }

    /// Takes away what was drawn for a terminal of another size. Terminals break lines that have
    /// become too long, which the bar does not know of.
    fn erase(&self, size: Size) {
        let broken = |line: &str| line.chars().count().saturating_sub(1) / size.width;
        let more: usize = live::plain(&self.drawn.0).lines().map(broken).sum();
        self.bar.suspend(|| {
            let up = if more > 0 { format!("\u{1b}[{more}A") } else { String::new() };
            // There is nowhere left to report that this failed.
            let _ = write!(io::stderr(), "{up}\r\u{1b}[J");
        });
    }

    /// `12 of 60 s`.
    fn time(&self) -> String {
        format!("{} of {} s", self.began.elapsed().as_secs(), self.budget.as_secs())
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
