//! What is drawn of a run that goes on: a title, the table as it fills up, what is measured now,
//! and how busy the devices are.
//!
//! The table is made between two rounds, by the thread that measures, and seldom enough to take
//! no more than a fiftieth of the time. All else is made from what is known, for the size that
//! the terminal has at that moment: no line is ever as long as the terminal is wide.

use std::io;
use std::time::{Duration, Instant};

use analysis::{LiveSummary, PairStates};
use engine::measure::Event;
use model::analysis::Analysis;
use model::printable::{printable, shortened};
use terminal_size::{Height, Width, terminal_size_of};

use crate::terminal::busy::BusyDevices;

/// The table is made again no sooner than this …
const EVERY_MIN: Duration = Duration::from_secs(1);
/// … and than so many times as long as making it took.
const TIMES_ITS_COST: u32 = 50;
/// What a terminal has room for besides the table: the title, the three lines below, and one that
/// was there before.
const OTHER_LINES: usize = 5;
/// For a terminal that does not say how large it is.
const SIZE: Size = Size { width: 80, height: 24 };
/// What the user can do.
const HINT: &str = "Ctrl-C stops and reports";
/// The longest bar.
const BAR_MAX: usize = 20;

/// Times are shown after so long, with or without a round to compare them in.
const FIRST_AFTER: Duration = Duration::from_secs(3);

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State<'a> {
    /// Of its time.
    pub(crate) share: f64,
    /// `12 of 60 s, round 7, 3 of 35 decided`.
    pub(crate) text: &'a str,
    /// What is measured now.
    pub(crate) now: &'a str,
}

/// What is known so far.
#[derive(Default)]
pub(crate) struct Live {
    summary: Option<LiveSummary>,
    /// The comparisons before the first round, and when the run began.
    begun: Option<(PairStates, Instant)>,
    analysis: Option<Analysis>,
    /// What was made of that, for which size.
    table: Option<(Size, String)>,
    title: String,
    devices: BusyDevices,
    /// When the table is to be made next.
    due: Option<Instant>,
}

impl Live {
    /// Takes in what happened.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Begun(run) => {
                self.title = printable(&report::title(run)).into_owned();
                self.devices = BusyDevices::of(&run.places);
                self.summary = Some(LiveSummary::new(run));
                self.begun = Some((PairStates::of(run), Instant::now()));
            }
            Event::Kept(slices) => {
                if let Some(summary) = self.summary.as_mut() {
                    summary.take(slices);
                }
                let is_first = self.due.is_none();
                let is_due = |at: Instant| is_first && at.elapsed() >= FIRST_AFTER;
                if let Some((states, _)) = self.begun.take_if(|(_, at)| is_due(*at)) {
                    self.analyse(&states);
                }
            }
            Event::Block { states, .. } if self.due.is_none_or(|due| Instant::now() >= due) => {
                self.analyse(states);
            }
            _ => {}
        }
    }

    fn analyse(&mut self, states: &PairStates) {
        let began = Instant::now();
        self.table = None;
        self.analysis = self.summary.as_ref().map(|summary| summary.analysis(states));
        self.due = Some(began + (began.elapsed() * TIMES_ITS_COST).max(EVERY_MIN));
    }

    /// All that is drawn.
    pub(crate) fn text(&mut self, state: State<'_>, size: Size) -> String {
        let busy = self.devices.busy();
        if self.table.as_ref().is_none_or(|(made_for, _)| *made_for != size) {
            self.table = Some((size, self.table(size).unwrap_or_default()));
        }
        let table = self.table.as_ref().map_or("", |(_, table)| table);
        let mut lines = vec![shortened(&self.title, size.width - 1).into_owned()];
        lines.extend(table.lines().map(str::to_owned));
        lines.extend(below(state, &busy, size.width - 1));
        lines.join("\n")
    }

    /// The table with as many rows as the terminal has room for.
    fn table(&self, size: Size) -> Option<String> {
        let (summary, analysis) = (self.summary.as_ref()?, self.analysis.as_ref()?);
        let lines_max = size.height.checked_sub(OTHER_LINES)?;
        // One less than the terminal has: some break a line that is full. A row may take several.
        let of_rows = |rows| report::so_far(summary.run(), analysis, size.width - 1, rows);
        let fits = |table: &String| table.lines().count() <= lines_max;
        let mut table = (1..=lines_max).rev().map(of_rows).find(fits).unwrap_or_else(|| {
            let cut = of_rows(1);
            let mut lines: Vec<&str> = cut.lines().take(lines_max.saturating_sub(1)).collect();
            lines.push("…");
            lines.join("\n")
        });
        // What is too wide for the terminal would be wrapped and never taken away.
        let is_wide = |line: &str| plain(line).chars().count() >= size.width;
        if table.lines().any(is_wide) {
            table = table.lines().filter(|line| !is_wide(line)).collect::<Vec<_>>().join("\n");
        }
        Some(table)
    }
}

/// How far it is, what is measured, and what the user can do, each line of this width at most.
fn below(State { share, text, now }: State<'_>, busy: &str, width: usize) -> Vec<String> {
    let columns = BAR_MAX.min(width / 4);
    let done = ((share * columns as f64) as usize).min(columns);
    let bar = format!("{}{} ", "━".repeat(done), "─".repeat(columns - done));
    let how_far = bar + &shortened(text, width.saturating_sub(columns + 1));
    let busy = if busy.is_empty() { String::new() } else { format!("  {busy}") };
    // How busy the devices are is worth more than the end of a long name.
    let room = width.saturating_sub("now  ".len() + busy.chars().count());
    let now = if room >= now.chars().count().min(HINT.len()) {
        format!("now  {}{busy}", shortened(now, room))
    } else {
        format!("now  {}", shortened(now, width.saturating_sub("now  ".len())))
    };
    let mut lines = vec![how_far, now];
    match lines.iter_mut().find(|line| line.chars().count() + HINT.len() + 2 <= width) {
        Some(line) => {
            let gap = width - line.chars().count() - HINT.len();
            *line = format!("{line}{}{HINT}", " ".repeat(gap));
        }
        None => lines.push(HINT.to_owned()),
    }
    lines.iter().map(|line| shortened(line, width).into_owned()).collect()
}

/// The terminal's size as it is now.
pub(crate) fn size() -> Size {
    let found = terminal_size_of(io::stderr());
    found.map_or(SIZE, |(Width(width), Height(height))| Size {
        width: usize::from(width).max(2),
        height: height.into(),
    })
}

/// A text without its styles.
pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_it_may_be_and_the_hint_is_always_there() {
        let text = "12 of 60 s, provisional: 7 of 10 stretches";
        let now = "log/flock-nonblocking(sync=each)@disk";
        let busy = "busy: disk 43%, other 100%";
        for width in 2..220 {
            let lines = below(State { share: 0.4, text, now }, busy, width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:?}");
            assert!(width < HINT.len() || lines.concat().contains(HINT), "{width}: {lines:?}");
        }
        let lines = below(State { share: 2.0, text, now }, busy, 79);
        assert!(lines[0].starts_with(&"━".repeat(19)), "{lines:?}");
        assert!(lines[1].contains(now) && lines[1].contains(busy), "{lines:?}");
    }
}
