//! What one must know besides before acting on the answer: causes, how the first change is
//! made, what disturbed the run, and what is risked.

use anstyle::Style;
use model::analysis::{ArmResult, Verdict};
use model::grouped::{group_of, push_new};
use model::place::{PlaceFacts, StorageKind};
use units::{count, counted, percent};

use super::entry::Entry;
use super::{labelled, lines_at, opening};
use crate::rest::Rest;
use crate::subject::Subject;
use crate::text::{BOLD_RED, Width};
use crate::{how, risk};

/// The word before what is wrong with data, which is red.
pub(super) const BROKEN: &str = "Broken";
/// The words before what is not to be trusted, and what disturbed the run.
const DOUBT: &str = "Doubt";
const NOISE: &str = "Noise";
/// How the first change is made.
const TO_DO: &str = "To do";
/// A space at which no line ends; a plain one once lines are made.
const NO_BREAK: &str = "\u{a0}";
/// Longer notes than so many lines are cut, with a word on where the rest is.
const NAMES_MAX: usize = 5;
const WHY_LINES: usize = 3;
const TO_DO_LINES: usize = 3;
const AGE_LINES: usize = 2;
const OPEN_LINES: usize = 3;
const NOISE_LINES: usize = 3;
const RISK_LINES: usize = 2;

/// Notes, each of no more lines of 80 columns than that.
pub(super) fn text(notes: &[Note], width: Width, lines_max: usize) -> String {
    notes.iter().map(|note| shown(note, lines_max, width)).collect()
}

/// Those on whether what was measured can be relied on.
pub(super) fn cautions(subject: Subject, entries: &[Entry<'_>], width: Width) -> String {
    let notes = whole(subject, entries, Rest::Nowhere).into_iter();
    let cautions = notes.filter(|note| [BROKEN, DOUBT, NOISE].contains(&note.label));
    cautions.map(|note| shown(&note, usize::MAX, width)).collect()
}

/// A note, of no more lines of 80 columns than that: as many of its parts as there is room for,
/// and where the rest is.
fn shown(Note { label, parts, lines }: &Note, lines_max: usize, width: Width) -> String {
    let style = if *label == BROKEN { BOLD_RED } else { Style::new().bold() };
    let rest = if *label == TO_DO { "--how" } else { "--full" };
    let whole = |told: usize| match parts.len() - told {
        0 => parts.join(" "),
        untold => {
            let told = parts[..told].join(" ");
            format!("{}. {untold} more: {rest}.", told.trim_end_matches([',', '.']))
        }
    };
    let text = |told: usize| labelled(label, style, &whole(told), width).replace(NO_BREAK, " ");
    let lines_max = lines_at(lines_max.min(*lines), width);
    let fits = |text: &String| text.lines().count() <= lines_max;
    (1..=parts.len()).rev().map(text).find(fits).unwrap_or_else(|| text(1))
}

/// A note, all of it.
pub(crate) struct Note {
    /// Its word.
    pub(crate) label: &'static str,
    /// What it says, in parts that may be left out.
    pub(crate) parts: Vec<String>,
    /// How many lines it may take of a screen.
    lines: usize,
}

/// All of them, however long.
pub(super) fn whole(subject: Subject, entries: &[Entry<'_>], rest: Rest<'_>) -> Vec<Note> {
    let full = rest.is_below();
    let note =
        |label, parts, lines| Note { label, parts, lines: if full { usize::MAX } else { lines } };
    let mut notes = vec![
        note(BROKEN, broken(subject), OPEN_LINES),
        note("Rows", vec![opening::rows(subject)], usize::MAX),
        note("Causes", why(entries), WHY_LINES),
        note(TO_DO, how::first(subject), TO_DO_LINES),
        note("Age", ages(subject), AGE_LINES),
        note(DOUBT, doubts(subject), OPEN_LINES),
        note(NOISE, noise(subject), NOISE_LINES),
        note("Risk", risks(subject), RISK_LINES),
        note("More", vec![more(subject, rest).join(" ")], 3),
    ];
    notes.retain(|note| note.parts.iter().any(|part| !part.is_empty()));
    notes
}

/// How old the places' file systems are, where that differs: free space in pieces makes one
/// slower.
fn ages(subject: Subject) -> Vec<String> {
    let age = |place: &PlaceFacts| {
        let age = place.details.iter().find(|detail| detail.name == "age")?;
        Some((place.label.clone(), age.value.clone()))
    };
    let known: Vec<(String, String)> = subject.run.places.iter().filter_map(age).collect();
    if known.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        return Vec::new();
    }
    let each: Vec<String> = known.iter().map(|(label, age)| format!("{label}: {age}")).collect();
    vec![format!("{}.", each.join(", "))]
}

/// Arms that lost or mixed what they were given.
fn broken(subject: Subject) -> Vec<String> {
    let checked =
        subject.analysis.arms.iter().filter_map(|arm| Some((arm, arm.integrity.as_ref()?)));
    let broken = checked.filter(|(_, integrity)| !integrity.is_intact());
    let told = broken.map(|(arm, integrity)| {
        format!(
            "{} corrupted {} of {}.",
            arm.id,
            count(integrity.broken()),
            count(integrity.records)
        )
    });
    told.collect()
}

/// The causes in a few words, each with the rows that share it.
fn why(entries: &[Entry]) -> Vec<String> {
    let mut causes = Vec::new();
    for entry in entries {
        push_new(group_of(&mut causes, entry.cause()), entry.name.as_str());
    }
    causes.retain(|(cause, _)| !cause.is_empty());
    let last = causes.len().saturating_sub(1);
    let told = causes.into_iter().enumerate().map(|(position, (cause, names))| {
        let end = if position == last { "." } else { "," };
        format!("{cause} ({}){end}", some_of(&names))
    });
    told.collect()
}

/// The names, or the first of them where there are many.
pub(super) fn some_of(names: &[&str]) -> String {
    match names.len().saturating_sub(NAMES_MAX) {
        0 => names.join(", "),
        1 => format!("{} and another", names[..NAMES_MAX].join(", ")),
        others => format!("{} and {others} others", names[..NAMES_MAX].join(", ")),
    }
}

/// Comparisons that are not to be trusted, and why.
fn doubts(subject: Subject) -> Vec<String> {
    let invalid = subject.analysis.comparisons.iter().filter(|c| c.verdict == Verdict::Invalid);
    let mut told: Vec<String> = invalid
        .map(|c| format!("{}: {}.", c.other, c.why.as_deref().unwrap_or("not to be trusted")))
        .collect();
    let failed = subject.analysis.arms.iter().filter_map(|arm| Some((arm, arm.failure.as_ref()?)));
    told.extend(
        failed.map(|(arm, why)| format!("{} failed: {}.", arm.id, why.trim_end_matches('.'))),
    );
    told.dedup();
    told
}

/// What disturbed the run, and which comparisons that may have moved.
fn noise(subject: Subject) -> Vec<String> {
    subject.analysis.noise.sources.iter().map(|source| source.text.clone()).collect()
}

/// What a way of doing it relies on and its place does not keep, and what moving would risk,
/// place by place.
fn risks(subject: Subject) -> Vec<String> {
    let name = |arm: &ArmResult| format!("{}/{}", arm.study, arm.strategy);
    let unkept = risk::unkept(&subject.analysis.arms, name);
    let places = subject.run.places.iter().skip(1);
    // Of data in memory the condition says it.
    let places = places.filter(|place| place.kind != StorageKind::Memory);
    let places = places.filter_map(|place| risk::risks(place).into_iter().next());
    unkept.into_iter().chain(places).collect()
}

/// How sure it is, and where the rest is.
fn more(subject: Subject, rest: Rest<'_>) -> Vec<String> {
    let all = &subject.analysis.comparisons;
    let sure = all.first().map(|c| {
        let (confidence, threshold) = (percent(c.confidence), percent(c.threshold));
        let sure = opening::sure(subject.analysis);
        let compared = counted(all.len() as u64, "comparison");
        format!(
            "{sure} of {compared} sure, each at {confidence}; under {threshold} counts as same."
        )
    });
    let command = |name, flag| {
        let typed = rest.command(name, flag);
        typed.map(|typed| typed.replace(" --", &format!("{NO_BREAK}--")))
    };
    let how = command("show", "--how").map(|how| format!("{how} (recipes),"));
    let full = command("show", "--full").map(|full| format!("{full},"));
    let charts = command("report", "").map(|report| format!("{report} (charts)."));
    let unsaved = (rest == Rest::Nowhere)
        .then(|| "It is not saved: recipes, tables and charts need --json FILE.".to_owned());
    sure.into_iter().chain(how).chain(full).chain(charts).chain(unsaved).collect()
}
