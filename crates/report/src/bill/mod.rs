//! The bill of a recording: what a program's file calls cost, what no move can beat, and what it
//! does that may pay to be done another way.

mod advice;
mod beside;
mod command;
mod names;
mod needless;
pub(crate) mod opening;
mod patterns;
mod tables;
#[cfg(test)]
mod tests;

use trace::Bill;

pub use self::command::command_of;
pub(crate) use self::names::{doing, folder};
use crate::text::{Width, heading, paragraph};

/// A screen, of which patterns take what the rest leaves.
const LINES: usize = 40;

/// The whole of it on a screen; with `full`, every row and pattern that there is.
pub fn bill(bill: &Bill, full: bool, width: Width) -> String {
    let opening = heading_of(&opening::sentence(bill), width);
    if bill.too_coarse {
        let counts = paragraph("", "", &opening::counts(bill), width);
        return [opening, counts, beside::all(bill, true, width)].concat();
    }
    let facts = paragraph("", "", &opening::facts(bill), width);
    let tables = tables::all(bill, full, width);
    let needless = needless::all(bill, full, width);
    let beside = beside::all(bill, full, width);
    let taken: usize = [&opening, &facts, &tables, &needless, &beside]
        .map(|text| text.lines().count())
        .iter()
        .sum();
    let room = if full { usize::MAX } else { LINES.saturating_sub(taken) };
    // Patterns and advice share what is left; each has its first in any case.
    let patterns = patterns::all(bill, room, width);
    let room = room.saturating_sub(patterns.lines().count());
    [opening, facts, tables, needless, patterns, advice::all(bill, room, width), beside].concat()
}

/// The opening sentence, which wraps.
fn heading_of(text: &str, width: Width) -> String {
    let wrapped = paragraph("", "", text, width);
    wrapped.lines().map(heading).collect()
}
