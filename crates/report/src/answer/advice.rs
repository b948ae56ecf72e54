//! What to do, in no more than five lines of 80 columns.

use anstyle::{AnsiColor, Style};
use model::analysis::{Advice, USUAL_PER_S};
use model::arm::Axis;
use units::time;

use super::row::{Change, Row};
use super::{labelled, lines_at, unbroken};
use crate::text::Width;
use crate::words;

/// What is said of each, with how many lines it may take of 80 columns.
const KINDS: [(Advice, &str, usize); 3] =
    [(Advice::Do, "DO", 2), (Advice::Maybe, "MAYBE", 2), (Advice::Leave, "LEAVE", 1)];

/// The lines; nothing where nothing is compared, or nothing is known.
pub(super) fn lines(rows: &[Row<'_>], width: Width) -> String {
    let mut out = String::new();
    // What one kind leaves is for the next.
    let mut spare = 0;
    for (advice, label, lines) in KINDS {
        let rows = of_kind(rows, advice);
        let room = lines_at(lines, width) + spare;
        let text = fitting(&rows, advice, room, |text| lines_of(label, text, width));
        let used = text.as_deref().map_or(0, |text| lines_of(label, text, width));
        spare = room.saturating_sub(used);
        out += &text.map_or_else(String::new, |text| labelled(label, style(advice), &text, width));
    }
    out
}

/// All of it, however long: each kind of advice with its word.
pub(super) fn whole(rows: &[Row<'_>]) -> Vec<(Advice, &'static str, String)> {
    let kinds = KINDS.into_iter().filter_map(|(advice, label, _)| {
        let rows = of_kind(rows, advice);
        (!rows.is_empty()).then(|| (advice, label, tell(advice, &rows, rows.len())))
    });
    kinds.collect()
}

/// The rows of which that is advised, with what saves most first.
fn of_kind<'a>(rows: &'a [Row<'a>], advice: Advice) -> Vec<&'a Row<'a>> {
    let is_advised = |row: &&Row| row.answer.advice == advice && row.best().is_some();
    let mut rows: Vec<&Row> = rows.iter().filter(is_advised).collect();
    rows.sort_by(|a, b| saves_ns(b).total_cmp(&saves_ns(a)));
    rows
}

/// What is advised of the first of the rows.
fn tell(advice: Advice, rows: &[&Row], told: usize) -> String {
    match advice {
        Advice::Leave => left(&rows[..told], rows),
        _ => changed(&rows[..told]),
    }
}

fn lines_of(label: &str, text: &str, width: Width) -> usize {
    labelled(label, Style::new(), text, width).lines().count()
}

fn style(advice: Advice) -> Style {
    match advice {
        Advice::Do => AnsiColor::Green.on_default().bold(),
        Advice::Maybe => AnsiColor::Yellow.on_default().bold(),
        Advice::Leave | Advice::Undecided => Style::new().bold(),
    }
}

/// As much of it as there is room for, beginning with what saves most.
fn fitting(
    rows: &[&Row],
    advice: Advice,
    room: usize,
    lines_of: impl Fn(&str) -> usize,
) -> Option<String> {
    let whole = |told: usize| match rows.len() - told {
        0 => tell(advice, rows, told),
        untold => format!("{} And {untold} more: see the table.", tell(advice, rows, told)),
    };
    let most = (1..=rows.len()).rev().map(whole).find(|text| lines_of(text) <= room);
    most.or_else(|| (!rows.is_empty()).then(|| whole(1)))
}

/// The changes, each with what it is done to and what that then takes.
fn changed(rows: &[&Row]) -> String {
    let mut changes: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let Some(change) = row.by() else { continue };
        let what = format!("{}{}", what(row, &change), condition(row, &change));
        let saved =
            row.saved_at_rate().map_or_else(String::new, |saved| format!(", saves {saved}"));
        let (name, now, then) = (&row.name, row.typical(), change.typical());
        let alone = moved_alone(row, &change);
        let times = unbroken(&format!("{now} → {then}"));
        let told = format!("{name} {times}{saved}{alone}");
        match changes.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) => names.push(told),
            None => changes.push((what, vec![told])),
        }
    }
    let told = changes.iter().map(|(what, names)| format!("{what}: {}.", names.join(", ")));
    told.collect::<Vec<_>>().join(" ")
}

/// What is changed.
pub(super) fn what(row: &Row, change: &Change) -> String {
    let (way, now) = (change.way(), change.way_now());
    match change.comparison.axis {
        Axis::Place => format!("move to {}", change.other.place),
        Axis::Strategy => format!("{way} instead of {now}, staying on {}", row.now.place),
        Axis::Both => format!("{way} instead of {now}, on {}", change.other.place),
    }
}

/// On what it depends whether the change is worth it.
fn condition(row: &Row, change: &Change) -> String {
    let volatile = change.is_volatile().then(|| "if a reboot may lose it".to_owned());
    let rare = row.answer.pays_from_per_s.filter(|_| row.answer.per_second.is_none());
    let rare = rare.filter(|from| *from > USUAL_PER_S);
    let rare = rare.map(|from| format!("from {} a second on", words::rate(from)));
    let conditions: Vec<String> = [volatile, rare].into_iter().flatten().collect();
    if conditions.is_empty() { String::new() } else { format!(", {}", conditions.join(" and ")) }
}

/// What it would be to move it as it is, where writing it another way was advised.
fn moved_alone(row: &Row, change: &Change) -> String {
    let [moved, ..] = row.changes();
    match moved.filter(|_| change.comparison.axis == Axis::Strategy) {
        Some(moved) if moved.comparison.verdict.is_sure() => {
            format!(" (if only moved to {}: {})", moved.other.place, unbroken(&moved.typical()))
        }
        _ => String::new(),
    }
}

/// What is left as it is, and what at best could be had.
fn left(told: &[&Row], all: &[&Row]) -> String {
    let names: Vec<&str> = told.iter().map(|row| row.name.as_str()).collect();
    let most_ns = all.iter().map(|row| saves_ns(row)).fold(0.0, f64::max);
    let at_best = if most_ns > 0.0 {
        format!("at best {} an operation", time(most_ns))
    } else {
        "nothing that was tried is faster".to_owned()
    };
    format!("{}: {at_best}.", names.join(", "))
}

/// What the best change surely or probably saves.
pub(super) fn saves_ns(row: &Row) -> f64 {
    row.best().and_then(|change| change.comparison.saves_ns_per_op).unwrap_or_default()
}
