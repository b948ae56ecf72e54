//! The answer on one screen: what to do, a row for each thing that an application does
//! with files, and what else one must know before acting on it.
//!
//! However many arms there were, it has no more than 40 lines of 80 columns: each part
//! has its share of them, and says what it leaves out.

mod advice;
mod notes;
mod row;
mod screen;
mod short;
mod table;

pub(crate) use screen::{Screen, ScreenRow, TypicalTime};

use model::analysis::Analysis;
use model::run::Run;
use units::counted;

pub(crate) use short::in_short;

use crate::subject::Subject;
use crate::text::{PROSE, Width, heading};
use crate::{clients, manners, text};

/// The most lines of 80 columns.
const LINES_MAX: usize = 40;
/// How many rows, and lines of each note, are shown where that fits; the first that does is
/// taken …
const SHORTER: [(usize, usize); 4] = [(16, 4), (12, 3), (10, 3), (10, 2)];
/// … or else this.
const SHORTEST: (usize, usize) = (9, 1);

/// The whole screen; it says where the detail is unless that follows (`full`).
pub(crate) fn answer(run: &Run, analysis: &Analysis, full: bool, width: Width) -> String {
    let subject = Subject { run, analysis };
    let rows = row::all(subject);
    let mut out = title(subject);
    out += &manners::ended_early(&run.run, width);
    out += &manners::left_out(&run.run, width);
    if analysis.blocks == 0 {
        return out + &nothing_known(run, width);
    }
    let advice = advice::lines(&rows, width);
    let screen = |&(rows_max, note_lines): &(usize, usize)| {
        let table = table::of(subject, &rows, width, rows_max);
        let notes = notes::all(subject, &rows, full, width, note_lines);
        let parts = [&advice, &table, &notes].into_iter().filter(|part| !part.is_empty());
        parts.fold(out.clone(), |screen, part| format!("{screen}\n{part}"))
    };
    let fits = |screen: &String| screen.lines().count() <= lines_at(LINES_MAX, width);
    let shorter = SHORTER.iter().map(screen).find(fits);
    shorter.unwrap_or_else(|| screen(&SHORTEST))
}

/// What one must know of a run before relying on what it says, whatever that is.
pub(crate) fn cautions(run: &Run, analysis: &Analysis, width: Width) -> String {
    let subject = Subject { run, analysis };
    notes::cautions(subject, &row::all(subject), width)
}

/// What is said where no block is complete.
fn nothing_known(run: &Run, width: Width) -> String {
    let failures: String =
        failures(run).map(|text| text::paragraph("", "  ", &text, width.min(PROSE))).collect();
    format!("\n{}{failures}", text::paragraph("", "", NOTHING_KNOWN, width.min(PROSE)))
}

const NOTHING_KNOWN: &str = "Nothing is known yet: no block was complete. A longer --budget, or \
                             fewer studies and places, would change that.";

/// A sentence for each arm that could not be timed.
fn failures(run: &Run) -> impl Iterator<Item = String> {
    run.failures.iter().map(|failure| {
        let id = &run.plan.arms[failure.arm].id;
        format!("{id} failed: {}.", failure.why.trim_end_matches('.'))
    })
}

/// The table alone, of no more rows than that, for whoever watches a run that goes on.
pub fn so_far(run: &Run, analysis: &Analysis, width: Width, rows_max: usize) -> String {
    let subject = Subject { run, analysis };
    table::of(subject, &row::all(subject), width, rows_max)
}

fn title(subject: Subject) -> String {
    let head = heading(&format!("iotoll {}", subject.run.run.version));
    format!("{}: {}\n", head.trim_end(), extent(subject))
}

/// `28 arms, 109 blocks, took 60 s`.
pub(crate) fn extent(Subject { run, analysis }: Subject) -> String {
    let state = if run.run.interrupted { "interrupted after" } else { "took" };
    let arms = counted(analysis.arms.len() as u64, "arm");
    let blocks = counted(analysis.blocks, "block");
    let clients = clients::count(&run.clients).map_or_else(String::new, |all| format!("{all}, "));
    let cut = if analysis.cut_afterwards { ", cut into stretches afterwards" } else { "" };
    format!("{arms}, {blocks}, {clients}{state} {:.0} s{cut}", run.run.seconds)
}

/// A paragraph with a word before it, in a column of its own.
pub(crate) fn labelled(label: &str, style: anstyle::Style, text: &str, width: Width) -> String {
    let indent = " ".repeat(LABEL);
    let width = width.min(PROSE);
    let text = text::paragraph(&format!("{label:<LABEL$}"), &indent, text, width);
    let text = text.replace(UNBROKEN, " ");
    text.replacen(label, &format!("{style}{label}{style:#}"), 1)
}

/// A space at which no line is broken, printed as any other.
const UNBROKEN: char = '\u{a0}';

/// Text of which no line is broken: `14.2 ms → 1.73 ms`.
fn unbroken(text: &str) -> String {
    text.replace(' ', &UNBROKEN.to_string())
}

/// How many lines of this width what takes so many of 80 columns may take.
fn lines_at(lines: usize, width: Width) -> usize {
    (lines * text::WIDTH).div_ceil(width.clamp(30, text::WIDTH))
}

/// The width of the column of words before paragraphs.
const LABEL: usize = 8;
