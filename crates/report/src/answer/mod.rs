//! The answer on one screen: what to do and what each change costs, and what else one must
//! know before acting on it.
//!
//! However many arms there were, it has no more than 40 lines of 80 columns: each part has its
//! share of them, and says what it leaves out.

mod axis;
mod entry;
mod grid;
mod groups;
mod headline;
mod notes;
mod opening;
mod screen;
mod short;

use model::analysis::Analysis;
use model::run::Run;

pub(crate) use axis::MARKS;
pub(crate) use entry::{Entry, all as entries};
pub(crate) use groups::Section;
pub(crate) use headline::headline;
pub(crate) use opening::extent;
pub use opening::title;
pub(crate) use screen::Screen;
pub(crate) use short::in_short;

use crate::rest::Rest;
use crate::subject::Subject;
use crate::text::{PROSE, Width};
use crate::{manners, text};
use groups::Room;

/// The most lines of 80 columns …
const LINES_MAX: usize = 40;
/// … and with a table of all places.
const LINES_WITH_GRID_MAX: usize = 45;
const ENTRIES_MAX: usize = 24;
/// So many entries are shown even where that is too long.
const ENTRIES_MIN: usize = 6;
/// The width of the column of words before paragraphs.
const LABEL: usize = 8;

/// What is shown where that fits, with the most lines of each note: all of it at first where
/// nothing may be left out, then the notes become shorter, then there are fewer entries.
fn rooms(full: bool) -> impl Iterator<Item = (Room, usize)> {
    let everything = full.then_some((Room { entries: usize::MAX, apart: true }, usize::MAX));
    let all = [(true, 5), (false, 5), (false, 3), (false, 2), (false, 1)];
    let all = all.map(|(apart, note_lines)| (Room { entries: ENTRIES_MAX, apart }, note_lines));
    let fewer = (ENTRIES_MIN..ENTRIES_MAX).rev();
    let fewer = fewer.map(|entries| (Room { entries, apart: false }, 1));
    everything.into_iter().chain(all).chain(fewer)
}

/// The whole screen, which says where the detail is.
pub(crate) fn answer(run: &Run, analysis: &Analysis, rest: Rest<'_>, width: Width) -> String {
    let subject = Subject { run, analysis };
    let entries = entry::all(subject);
    let mut out = opening::lines(subject, width);
    out += &manners::ended_early(&run.run, width);
    out += &manners::left_out(&run.run, width);
    if analysis.blocks == 0 {
        return out + &nothing_known(run, width);
    }
    let (sections, notes) = (groups::sections(&entries), notes::whole(subject, &entries, rest));
    let mut screen = String::new();
    let full = rest.is_below();
    for (room, note_lines) in rooms(full) {
        let advice = groups::text(&sections, width, room);
        let notes = notes::text(&notes, width, note_lines);
        let grid = grid::text(subject, width, room.entries);
        let lines_max = if grid.is_empty() { LINES_MAX } else { LINES_WITH_GRID_MAX };
        screen = format!("{out}{advice}{grid}\n{notes}");
        if full || screen.lines().count() <= lines_at(lines_max, width) {
            break;
        }
    }
    screen
}

/// What one must know of a run before relying on what it says, whatever that is.
pub(crate) fn cautions(run: &Run, analysis: &Analysis, width: Width) -> String {
    let subject = Subject { run, analysis };
    notes::cautions(subject, &entry::all(subject), width)
}

/// What is said where no block is complete.
fn nothing_known(run: &Run, width: Width) -> String {
    let failures: String =
        failures(run).map(|text| text::paragraph("", "  ", &text, width.min(PROSE))).collect();
    format!("\n{}{failures}", text::paragraph("", "", nothing_known_of(run), width.min(PROSE)))
}

/// Why nothing is known, and what would change that.
fn nothing_known_of(run: &Run) -> &'static str {
    if run.failures.len() == run.plan.arms.len() {
        return "Nothing could be measured: every combination failed.";
    }
    if run.run.interrupted {
        return "Nothing is known yet: it was interrupted before a round was complete. Let it run \
                longer.";
    }
    if run.run.ended_early.is_some() {
        return "Nothing is known yet: no round was complete. It ended early, for the reason above; a \
                longer --budget would not change that.";
    }
    "Nothing is known yet: no round was complete. A longer --budget, or fewer studies and places, \
     would change that."
}

/// A sentence for each arm that could not be timed.
fn failures(run: &Run) -> impl Iterator<Item = String> {
    run.failures.iter().map(|failure| {
        let id = &run.plan.arms[failure.arm].id;
        format!("{id} failed: {}.", failure.why.trim_end_matches('.'))
    })
}

/// The advice alone, of no more entries than that, for whoever watches a run that goes on.
pub fn so_far(run: &Run, analysis: &Analysis, width: Width, entries_max: usize) -> String {
    let entries = entry::all(Subject { run, analysis });
    let room = Room { entries: entries_max, apart: false };
    groups::text(&groups::sections(&entries), width, room)
}

/// A paragraph with a word before it, in a column of its own.
pub(crate) fn labelled(label: &str, style: anstyle::Style, text: &str, width: Width) -> String {
    let indent = " ".repeat(LABEL);
    let width = width.min(PROSE);
    let text = text::paragraph(&format!("{label:<LABEL$}"), &indent, text, width);
    text.replacen(label, &format!("{style}{label}{style:#}"), 1)
}

/// How many lines of this width what takes so many of 80 columns may take.
fn lines_at(lines: usize, width: Width) -> usize {
    lines.saturating_mul(text::WIDTH).div_ceil(width.clamp(30, text::WIDTH))
}
