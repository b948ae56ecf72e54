//! What one must know besides before acting on the answer: what was rewritten and what
//! that promises, causes, what is open, what disturbed the run, and what is risked.

use anstyle::{AnsiColor, Style};
use model::analysis::{Advice, ArmResult, Verdict};
use model::arm::Axis;
use model::place::PlaceFacts;
use units::{count, percent};

use super::row::{Change, Row};
use super::table;
use super::{labelled, lines_at};
use crate::risk;
use crate::subject::Subject;
use crate::text::{Width, push_new};

/// The word before what is wrong with data, which is red.
pub(super) const BROKEN: &str = "Broken";
/// The words before what is not to be trusted, and what disturbed the run.
const DOUBT: &str = "Doubt";
const NOISE: &str = "Noise";
/// Longer notes than so many lines are cut, with a word on where the rest is.
const NAMES_MAX: usize = 5;
const REWRITTEN_LINES: usize = 4;
const DATA_LINES: usize = 3;
const WHY_LINES: usize = 3;
const AGE_LINES: usize = 2;
const OPEN_LINES: usize = 3;
const NOISE_LINES: usize = 3;
const RISK_LINES: usize = 2;

/// All of them, each of no more lines of 80 columns than that.
pub(super) fn all(
    subject: Subject,
    rows: &[Row<'_>],
    full: bool,
    width: Width,
    lines_max: usize,
) -> String {
    whole(subject, rows, full).into_iter().map(|note| shown(&note, lines_max, width)).collect()
}

/// Those on whether what was measured can be relied on.
pub(super) fn cautions(subject: Subject, rows: &[Row<'_>], width: Width) -> String {
    let notes = whole(subject, rows, false).into_iter();
    let cautions = notes.filter(|note| [BROKEN, DOUBT, NOISE].contains(&note.label));
    cautions.map(|note| shown(&note, usize::MAX, width)).collect()
}

/// A note, of no more lines of 80 columns than that.
fn shown(Note { label, parts, lines }: &Note, lines_max: usize, width: Width) -> String {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let style = if *label == BROKEN { red } else { Style::new().bold() };
    fitting(label, style, parts, (*lines).min(lines_max), width)
}

/// A note, all of it.
pub(super) struct Note {
    /// Its word.
    pub(super) label: &'static str,
    /// What it says, in parts that may be left out.
    pub(super) parts: Vec<String>,
    /// How many lines it may take of a screen.
    lines: usize,
}

/// All of them, however long.
pub(super) fn whole(subject: Subject, rows: &[Row<'_>], full: bool) -> Vec<Note> {
    let note = |label, parts, lines| Note { label, parts, lines };
    let mut notes = vec![
        note(BROKEN, broken(subject), OPEN_LINES),
        note("Moved", moved(rows), REWRITTEN_LINES),
        note("Ways", ways(rows), REWRITTEN_LINES),
        note("Data", data(subject), DATA_LINES),
        note("Why", why(rows), WHY_LINES),
        note("Age", ages(subject), AGE_LINES),
        note("Open", open(rows), OPEN_LINES),
        note(DOUBT, doubts(subject), OPEN_LINES),
        note(NOISE, noise(subject), NOISE_LINES),
        note("Risk", risks(subject), RISK_LINES),
        note("More", more(subject, full), 3),
    ];
    notes.retain(|note| !note.parts.is_empty());
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

/// As many of the parts as there is room for.
fn fitting(label: &str, style: Style, parts: &[String], lines: usize, width: Width) -> String {
    let whole = |told: usize| match parts.len() - told {
        0 => parts.join(" "),
        untold => {
            let told = parts[..told].join(" ");
            format!("{}. And {untold} more: --full.", told.trim_end_matches([',', '.']))
        }
    };
    let text = |told: usize| labelled(label, style, &whole(told), width);
    let fits = |text: &String| text.lines().count() <= lines_at(lines, width);
    (1..=parts.len()).rev().map(text).find(fits).unwrap_or_else(|| text(1))
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

/// Where each row is best moved to, where that is not the same place for all.
fn moved(rows: &[Row]) -> Vec<String> {
    let told = rows.iter().filter_map(|row| {
        let [moved, ..] = row.changes();
        Some((moved?.other.place.clone(), row))
    });
    let places = together(told);
    if places.len() < 2 {
        return Vec::new();
    }
    let told = places.into_iter().map(|(place, names)| format!("to {place}: {}.", some_of(&names)));
    told.collect()
}

/// What rewriting means for each row, with the promise where that is another one.
fn ways(rows: &[Row]) -> Vec<String> {
    let promise = |change: &Change| {
        change.other_promise().map_or_else(String::new, |promise| format!(" ({promise})"))
    };
    let told = rows.iter().filter_map(|row| {
        let [_, rewritten, both] = row.changes();
        let rewritten = rewritten?;
        let (way, now) = (rewritten.way(), rewritten.way_now());
        let both = both.filter(|both| both.way() != way);
        let both = both.map_or_else(String::new, |both| {
            format!("; on {} {}{}", both.other.place, both.way(), promise(&both))
        });
        Some((format!("{way} instead of {now}{}{both}", promise(&rewritten)), row))
    });
    let told = together(told).into_iter();
    told.map(|(text, names)| format!("{}: {text}.", some_of(&names))).collect()
}

/// Texts with the names of the rows that each is said of.
fn together<'a>(told: impl Iterator<Item = (String, &'a Row<'a>)>) -> Vec<(String, Vec<&'a str>)> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (text, row) in told {
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(&row.name),
            None => groups.push((text, vec![&row.name])),
        }
    }
    groups
}

/// Which studies worked on the user's own, and which on what was invented.
fn data(subject: Subject) -> Vec<String> {
    let mut own: Vec<(String, Vec<&str>)> = Vec::new();
    let (mut invented, mut params) = (Vec::new(), Vec::new());
    for arm in &subject.analysis.arms {
        let Some(material) = subject.material(arm) else { continue };
        if material.own {
            let text = material.to_string();
            match own.iter_mut().find(|(known, _)| *known == text) {
                Some((_, studies)) => push_new(studies, arm.study.as_str()),
                None => own.push((text, vec![arm.study.as_str()])),
            }
        } else {
            push_new(&mut invented, arm.study.clone());
            let param = material.own_by.iter().map(|param| format!("{}.{param}", arm.study));
            param.for_each(|param| push_new(&mut params, param));
        }
    }
    let own = own.iter().map(|(text, studies)| format!("{}: {text}.", studies.join(", ")));
    let mut told: Vec<String> = own.collect();
    if !invented.is_empty() {
        let yours = match params.as_slice() {
            [] => String::new(),
            params => format!(" For your own: --set {}.", params.join(", ")),
        };
        told.push(format!("invented: {}.{yours}", invented.join(", ")));
    }
    told
}

/// The causes in a few words, each with the rows that share it.
fn why(rows: &[Row]) -> Vec<String> {
    let told = rows.iter().map(|row| (table::cause(row), row));
    let causes = together(told.filter(|(cause, _)| !cause.is_empty()));
    let last = causes.len().saturating_sub(1);
    let told = causes.into_iter().enumerate().map(|(position, (cause, names))| {
        let end = if position == last { "." } else { "," };
        format!("{cause} ({}){end}", some_of(&names))
    });
    told.collect()
}

/// The names, or the first of them where there are many.
fn some_of(names: &[&str]) -> String {
    match names.len().saturating_sub(NAMES_MAX) {
        0 => names.join(", "),
        1 => format!("{} and another", names[..NAMES_MAX].join(", ")),
        others => format!("{} and {others} others", names[..NAMES_MAX].join(", ")),
    }
}

/// What is not decided: where it lies so far, and how much longer it would take.
fn open(rows: &[Row]) -> Vec<String> {
    let open = rows.iter().filter(|row| row.answer.advice == Advice::Undecided);
    let told = open.flat_map(|row| {
        let changes = row.changes().into_iter().flatten();
        let changes = changes.filter(|change| change.comparison.verdict == Verdict::Unclear);
        changes.map(|change| {
            let what = match change.comparison.axis {
                Axis::Place => format!("on {}", change.other.place),
                Axis::Strategy => change.way(),
                Axis::Both => format!("{} on {}", change.way(), change.other.place),
            };
            let factor = change.factor();
            let more = match change.comparison.more_seconds {
                Some(seconds) => format!(", {}", longer(seconds)),
                None if change.comparison.ratio_low.is_none() => String::new(),
                None => ", too close to call".to_owned(),
            };
            let factor = if factor.is_empty() { "no bound".to_owned() } else { factor };
            format!("{} {what}: {factor} so far{more}.", row.name)
        })
    });
    told.collect()
}

fn longer(seconds: f64) -> String {
    match seconds / 60.0 {
        minutes if minutes < 1.0 => "another minute may decide it".to_owned(),
        minutes if minutes < 120.0 => {
            format!("about {:.0} more minutes may decide it", minutes.ceil())
        }
        minutes => format!("about {:.0} more hours may decide it", (minutes / 60.0).ceil()),
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

/// What disturbed the run, and what that means for what was found.
fn noise(subject: Subject) -> Vec<String> {
    let sources = subject.analysis.noise.sources.iter().map(|source| source.text.clone());
    let mut told: Vec<String> = sources.collect();
    if let Some(first) = told.first_mut() {
        *first = format!("{first} Intervals are wider for it; verdicts hold.");
    }
    told
}

/// What a way of doing it relies on and its place does not keep, and what moving would risk,
/// place by place.
fn risks(subject: Subject) -> Vec<String> {
    let name = |arm: &ArmResult| format!("{}/{}", arm.study, arm.strategy);
    let unkept = risk::unkept(&subject.analysis.arms, name);
    let places = subject.run.places.iter().skip(1);
    let places = places.filter_map(|place| risk::risks(place).into_iter().next());
    unkept.into_iter().chain(places).collect()
}

/// How sure it is, and where the rest is.
fn more(subject: Subject, full: bool) -> Vec<String> {
    let open = subject.analysis.comparisons.iter().any(|c| c.verdict == Verdict::Unclear);
    let open = open.then(|| "`?`: not decided.".to_owned());
    let sure = subject.analysis.comparisons.first().map(|c| {
        let (confidence, threshold) = (percent(c.confidence), percent(c.threshold));
        format!("Factors are times over those of now, with {confidence} confidence; a difference under {threshold} counts as none.")
    });
    let rest = (!full).then(|| "`iotoll show --full` shows all figures and causes.".to_owned());
    sure.into_iter().chain(open).chain(rest).collect()
}
