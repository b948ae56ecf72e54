//! The table of a run that goes on, as it fills up.
//!
//! It is made between two blocks, by the thread that measures, and seldom enough to take
//! no more than a fiftieth of the time.

use std::io;
use std::time::{Duration, Instant};

use analysis::{LiveSummary, PairStates};
use engine::measure::Event;
use terminal_size::{Height, Width, terminal_size_of};

/// It is made anew no sooner than this …
const EVERY_MIN: Duration = Duration::from_secs(1);
/// … and than so many times as long as making it took.
const TIMES_ITS_COST: u32 = 50;
/// Times are shown after so long, with or without a round to compare them in.
const FIRST_AFTER: Duration = Duration::from_secs(3);
/// What a terminal has room for besides the rows: the heads of the columns, how many rows
/// there are more, the line below, and the one that the cursor is in.
const OTHER_LINES: usize = 4;
/// For a terminal that does not say how large it is.
const SIZE: (usize, usize) = (80, 24);

/// A table of what is known so far.
#[derive(Default)]
pub(crate) struct Live {
    summary: Option<LiveSummary>,
    /// The comparisons before the first round, and when the run began.
    begun: Option<(PairStates, Instant)>,
    /// When it is to be made next.
    due: Option<Instant>,
}

impl Live {
    /// The table, where it is time for it.
    pub(crate) fn table(&mut self, event: &Event<'_>) -> Option<String> {
        match event {
            Event::Begun(run) => {
                self.summary = Some(LiveSummary::new(run));
                self.begun = Some((PairStates::of(run), Instant::now()));
                None
            }
            Event::Kept(slices) => {
                self.summary.as_mut()?.take(slices);
                let is_first = self.due.is_none();
                let (states, _) =
                    self.begun.take_if(|(_, at)| is_first && at.elapsed() >= FIRST_AFTER)?;
                self.drawn(&states)
            }
            Event::Block { states, .. } if self.due.is_none_or(|due| Instant::now() >= due) => {
                self.drawn(states)
            }
            _ => None,
        }
    }

    fn drawn(&mut self, states: &PairStates) -> Option<String> {
        let began = Instant::now();
        let summary = self.summary.as_ref()?;
        let analysis = summary.analysis(states);
        let (width, height) = size();
        let rows_max = height.saturating_sub(OTHER_LINES).max(1);
        // One less than the terminal has: some break a line that is full.
        let table = report::so_far(summary.run(), &analysis, width - 1, rows_max);
        self.due = Some(began + (began.elapsed() * TIMES_ITS_COST).max(EVERY_MIN));
        // What is too wide for the terminal would be wrapped and never taken away.
        let lines = table.lines().count();
        (lines + 2 <= height && is_within(&table, width)).then_some(table)
    }
}

/// How many columns there are.
pub(crate) fn width() -> usize {
    size().0
}

fn size() -> (usize, usize) {
    let size = terminal_size_of(io::stderr());
    size.map_or(SIZE, |(Width(width), Height(height))| (width.into(), height.into()))
}

fn is_within(table: &str, width: usize) -> bool {
    let plain = anstream::adapter::strip_str(table).to_string();
    plain.lines().all(|line| line.chars().count() < width)
}
