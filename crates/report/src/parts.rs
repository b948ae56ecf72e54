//! The parts of an operation's time that a study accounts for itself, arm beside arm: bars
//! of letters in a terminal, a chart on a page ([`crate::html`]).

use anstyle::{AnsiColor, Style};
use model::analysis::ArmResult;
use model::description::StudyDescription;
use model::printable::{printable, shortened};
use unicode_width::UnicodeWidthStr as _;
use units::time;

use crate::names;
use crate::text::{Width, heading, paragraph};

/// The longest bar, where there is room for it.
const BAR_MAX: Width = 60;
const BAR_MIN: Width = 10;
const INDENT: &str = "    ";
/// Between a name and its figure, and between two entries of the legend.
const GAP: &str = "  ";
/// Behind the letters; neighbours differ in brightness too.
const COLOURS: [AnsiColor; 7] = [
    AnsiColor::Cyan,
    AnsiColor::Yellow,
    AnsiColor::Blue,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::White,
    AnsiColor::Red,
];

/// A study's parts, and what its arms spent on them.
pub(crate) struct Parts<'a> {
    /// The parts that took any arm any time, in the study's order.
    pub(crate) kinds: Vec<Kind>,
    /// The arms that account for their time.
    pub(crate) arms: Vec<OfArm<'a>>,
}

/// A part of an operation's time.
pub(crate) struct Kind {
    /// What stands for it where there is no room for more.
    pub(crate) letter: char,
    pub(crate) title: String,
}

/// What an arm spent on the parts.
pub(crate) struct OfArm<'a> {
    pub(crate) arm: &'a ArmResult,
    /// Nanoseconds per operation, part by part; none where the arm does not have the part.
    pub(crate) ns: Vec<Option<f64>>,
    /// All of them together.
    pub(crate) whole_ns: f64,
}

impl<'a> Parts<'a> {
    /// Those of a study's arms; none where the study names no parts, or they took no time.
    pub(crate) fn of(study: &StudyDescription, arms: &[&'a ArmResult]) -> Option<Self> {
        let takes_time = |name: &&String| arms.iter().any(|arm| spent_ns(arm, name) > Some(0.0));
        let names: Vec<&String> = study.parts.iter().filter(takes_time).collect();
        let is_told = |arm: &ArmResult| study.parts.iter().any(|p| spent_ns(arm, p).is_some());
        let of_arm = |&arm: &&'a ArmResult| {
            let ns: Vec<Option<f64>> = names.iter().map(|name| spent_ns(arm, name)).collect();
            let whole_ns: f64 = ns.iter().flatten().sum();
            (is_told(arm) && whole_ns.is_finite()).then_some(OfArm { arm, ns, whole_ns })
        };
        let arms: Vec<OfArm> = arms.iter().filter_map(of_arm).collect();
        let titles = names.iter().map(|name| title(study, name)).collect();
        let parts = Self { kinds: kinds(titles), arms };
        (parts.longest_ns() > 0.0).then_some(parts)
    }

    /// The time of the arm that takes longest.
    pub(crate) fn longest_ns(&self) -> f64 {
        self.arms.iter().map(|arm| arm.whole_ns).fold(0.0, f64::max)
    }
}

impl OfArm<'_> {
    /// The part that took most of its time, by its position.
    pub(crate) fn largest(&self) -> Option<(usize, f64)> {
        let parts = self.ns.iter().enumerate().filter_map(|(part, ns)| Some((part, (*ns)?)));
        parts.filter(|(_, ns)| *ns > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// What an arm spent on a part, in nanoseconds per operation.
fn spent_ns(arm: &ArmResult, part: &str) -> Option<f64> {
    arm.metrics.get(part).copied().filter(|ns| *ns >= 0.0)
}

fn title(study: &StudyDescription, part: &str) -> String {
    let title = study.figure(part).map_or("", |figure| figure.title.as_str());
    let part = part.strip_suffix("_ns").unwrap_or(part);
    if title.is_empty() { part.replace('_', " ") } else { title.to_owned() }
}

/// Gives each title a letter: the first of its own that is free.
fn kinds(titles: Vec<String>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for title in titles {
        let own = title.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_uppercase());
        let mut letters = own.chain('A'..='Z').chain('0'..='9');
        let letter = letters.find(|letter| kinds.iter().all(|kind| kind.letter != *letter));
        kinds.push(Kind { letter: letter.unwrap_or('#'), title });
    }
    kinds
}

/// The arms' bars, the longest as long as there is room for; nothing where there are none.
pub(crate) fn section(study: &StudyDescription, arms: &[&ArmResult], width: Width) -> String {
    let Some(parts) = Parts::of(study, arms) else { return String::new() };
    let room = width.saturating_sub(INDENT.len()).clamp(BAR_MIN, BAR_MAX);
    let ns_per_letter = parts.longest_ns() / room as f64;
    let title = format!("  Time per {}, part by part", study.operation);
    let mut out = format!("\n{}{}", heading(&title), legend(&parts.kinds, width));
    for arm in &parts.arms {
        out += &line(arm, width);
        out += &bar(&parts.kinds, &arm.ns, ns_per_letter);
    }
    let about = format!(
        "One letter is {}. These are means over all slices; those per operation are of a typical one.",
        time(ns_per_letter)
    );
    out + &paragraph(INDENT, INDENT, &about, width)
}

fn style(part: usize) -> Style {
    AnsiColor::Black.on(COLOURS[part % COLOURS.len()])
}

fn legend(kinds: &[Kind], width: Width) -> String {
    let mut out = String::new();
    let mut taken = width;
    for (part, Kind { letter, title }) in kinds.iter().enumerate() {
        let (style, title) = (style(part), printable(title));
        let columns = GAP.len() + 2 + title.width();
        if taken + columns > width {
            out += if out.is_empty() { INDENT } else { "\n    " };
            taken = INDENT.len() + columns - GAP.len();
        } else {
            out += GAP;
            taken += columns;
        }
        out += &format!("{style}{letter}{style:#} {title}");
    }
    out + "\n"
}

/// An arm's name, and what an operation takes.
fn line(arm: &OfArm, width: Width) -> String {
    let whole = time(arm.whole_ns);
    let taken = INDENT.len() + GAP.len() + whole.chars().count();
    let name = names::of_arm(arm.arm);
    let name = printable(&name);
    let name = shortened(&name, width.saturating_sub(taken).max(BAR_MIN));
    let bold = Style::new().bold();
    format!("{INDENT}{name}{GAP}{bold}{whole}{bold:#}\n")
}

/// Ends of parts are rounded to letters, not the parts: so a bar is as long as its time,
/// and what takes less than half a letter may have none.
fn bar(kinds: &[Kind], ns: &[Option<f64>], ns_per_letter: f64) -> String {
    let (mut sum_ns, mut last) = (0.0, 0);
    let mut out = String::new();
    for (part, (kind, ns)) in kinds.iter().zip(ns).enumerate() {
        sum_ns += ns.unwrap_or(0.0);
        let end = (sum_ns / ns_per_letter).round() as usize;
        let letters = end - std::mem::replace(&mut last, end);
        if letters > 0 {
            let (style, letters) = (style(part), kind.letter.to_string().repeat(letters));
            out += &format!("{style}{letters}{style:#}");
        }
    }
    if out.is_empty() { out } else { format!("{INDENT}{out}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(titles: &[&str]) -> String {
        let titles = titles.iter().map(ToString::to_string).collect();
        kinds(titles).iter().map(|kind| kind.letter).collect()
    }

    fn drawn(ns: &[Option<f64>], ns_per_letter: f64) -> String {
        let titles = ["write", "sync", "wait"].map(str::to_owned).into();
        anstream::adapter::strip_str(&bar(&kinds(titles), ns, ns_per_letter)).to_string()
    }

    #[test]
    fn each_part_has_a_letter_of_its_own() {
        assert_eq!(letters(&["copy", "compression", "checksum", "CPU"]), "COHP");
        assert_eq!(letters(&["", "µ 7", "a", "a"]), "ABCD");
        let many = ["x"; 40];
        assert_eq!(letters(&many)[30..], *"456789####");
    }

    #[test]
    fn a_bar_is_as_long_as_its_time_however_its_parts_are_rounded() {
        assert_eq!(drawn(&[Some(14.0), Some(14.0), Some(12.0)], 10.0), "    WSSA\n");
        assert_eq!(drawn(&[Some(4.0), Some(4.0), Some(4.0)], 10.0), "    S\n");
        assert_eq!(drawn(&[None, Some(20.0), Some(0.0)], 10.0), "    SS\n");
        assert_eq!(drawn(&[Some(0.0), None, Some(4.0)], 10.0), "");
    }
}
