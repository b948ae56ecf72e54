//! How a load goes, on one line of a terminal, while it goes.

use std::io::{self, IsTerminal, Write};
use std::{sync::mpsc, thread};

use anstream::eprint;
use load::{Event, Progress};
use model::units::time;

/// What the live view is told.
enum Line {
    Step(String),
    Now(Progress),
}

/// Runs `work`, showing its progress where there is a terminal to show it on.
///
/// The terminal may be slow and the load must not wait for it, so that a
/// thread of its own draws, and what it has no time for is left out.
pub(super) fn with_live_view<T>(work: impl FnOnce(&mut dyn FnMut(Event<'_>)) -> T) -> T {
    if !io::stderr().is_terminal() {
        return work(&mut |_| ());
    }
    let (sender, receiver) = mpsc::sync_channel(2);
    let drawing = thread::spawn(move || draw(&receiver));
    let result = work(&mut |event| {
        let line = match event {
            Event::StepBegins { number, of, rate, goal } => {
                Some(Line::Step(step_title(number, of, rate, goal)))
            }
            Event::Progress(progress) => Some(Line::Now(progress)),
            _ => None,
        };
        if let Some(line) = line {
            // A full channel means that the terminal is behind.
            let _ = sender.try_send(line);
        }
    });
    drop(sender);
    let _ = drawing.join();
    result
}

fn step_title(number: usize, of: Option<usize>, rate: Option<f64>, goal: u64) -> String {
    let step = of.map_or_else(|| format!("try {number}"), |of| format!("{number}/{of}"));
    match rate {
        Some(rate) => format!("{step}, {goal} at {rate:.0}/s,"),
        None => format!("{goal} requests,"),
    }
}

/// Keeps one line up to date, and clears it at the end.
fn draw(lines: &mpsc::Receiver<Line>) {
    let mut title = String::new();
    for line in lines {
        match line {
            Line::Step(new) => title = new,
            Line::Now(now) => {
                let text = format!(
                    "{title} {:.0} s: {:.0} replies/s, {} errors, p50 {} p99 {}, lag {}",
                    now.seconds,
                    now.replies as f64 / now.seconds.max(1e-3),
                    now.errors,
                    time(now.latency_p50_ms * 1e6),
                    time(now.latency_p99_ms * 1e6),
                    time(now.lag_p99_us * 1e3)
                );
                let shown: String = text.chars().take(79).collect();
                eprint!("\r{shown}\x1b[K");
                let _ = io::stderr().flush();
            }
        }
    }
    eprint!("\r\x1b[K");
    let _ = io::stderr().flush();
}
