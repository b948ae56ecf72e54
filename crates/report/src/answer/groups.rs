//! The advice in groups, by what a change costs: to be done, only on a condition, to be left,
//! not decided.

use anstyle::{AnsiColor, Style};
use model::advice::{Advice, Group};
use model::grouped::push_new;
use model::printable::printable;
use textwrap::core::display_width;

use super::axis::Axis;
use super::entry::{Entry, is_move};
use super::notes::some_of;
use crate::text::{self, PROSE, Width};

/// Narrower than this there is no room for the axis.
const WIDTH_AXIS: Width = 76;
/// From this width on the axis is twice as wide, and there is room for causes.
const WIDTH_WIDE: Width = 110;
/// Columns of the axis.
const AXIS: usize = 20;
/// Columns of a figure such as `6.1×`. Longer ones are of small differences, and reach into
/// the axis where that is empty.
const FIGURE: usize = 4;
/// What stands above the entries, left of the axis.
const LEGEND: &str = "time per operation: now → after; ├●┤ 95%, left is faster";
/// Before each entry, and between its columns.
const GAP: usize = 2;

/// Entries under one heading.
pub(crate) struct Section<'a> {
    pub(crate) group: Group,
    pub(crate) heading: String,
    pub(crate) entries: &'a [Entry<'a>],
    /// The change that all of them are, which the heading names.
    shared: Option<&'a str>,
}

/// The sections, none of them empty.
pub(super) fn sections<'a>(entries: &'a [Entry<'a>]) -> Vec<Section<'a>> {
    let same = |a: &Entry, b: &Entry| {
        (a.advice.group, &a.advice.condition) == (b.advice.group, &b.advice.condition)
    };
    entries.chunk_by(same).map(section).collect()
}

fn section<'a>(entries: &'a [Entry<'a>]) -> Section<'a> {
    let advice = entries[0].advice;
    let shared = advice.change.as_deref().filter(|change| {
        let alike = entries.iter().all(|entry| entry.advice.change.as_deref() == Some(*change));
        alike && advice.is_a_change() && (is_move(change) || entries.len() > 1)
    });
    let condition = advice.condition.as_deref().unwrap_or_default();
    let heading = match advice.group {
        Group::Do => "DO THIS: faster, and data is as safe as now".to_owned(),
        Group::OnlyIf => format!("ONLY IF {condition}"),
        Group::Leave if entries.iter().all(|entry| entry.advice.change.is_none()) => {
            "MEASURED".to_owned()
        }
        Group::Leave => "LEAVE AS IT IS: these changes do not pay".to_owned(),
        Group::Undecided => "NOT DECIDED".to_owned(),
    };
    let shared_words = shared.map_or_else(String::new, |change| {
        if is_move(change) { format!(": put them {change}") } else { format!(": {change}") }
    });
    let heading = format!("{heading}{shared_words}");
    Section { group: advice.group, heading, entries, shared }
}

impl Section<'_> {
    pub(super) fn style(&self) -> Style {
        match self.group {
            Group::Do => AnsiColor::Green.on_default().bold(),
            Group::OnlyIf | Group::Undecided => AnsiColor::Yellow.on_default().bold(),
            Group::Leave => Style::new().bold(),
        }
    }

    /// What an entry changes, unless the heading names it.
    pub(crate) fn change(&self, entry: &Entry) -> String {
        if self.shared.is_some() { String::new() } else { entry.change() }
    }
}

/// How much of it is printed.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// The most entries.
    pub(super) entries: usize,
    /// Whether an empty line stands before each section, and what is to be left has rows of its
    /// own.
    pub(super) apart: bool,
}

/// All sections as text.
pub(super) fn text(sections: &[Section<'_>], width: Width, room: Room) -> String {
    let columns = Columns::of(sections, width);
    let mut out = columns.heads();
    let shown = shown(sections, room.entries);
    let mut untold: Vec<&str> = Vec::new();
    for (number, (section, &shown)) in sections.iter().zip(&shown).enumerate() {
        section.entries[shown..].iter().for_each(|entry| push_new(&mut untold, &entry.name));
        if shown == 0 {
            continue;
        }
        if room.apart && number > 0 {
            out.push('\n');
        }
        let style = section.style();
        let heading = textwrap::fill(&printable(&section.heading), width.max(30));
        out += &format!("{style}{heading}{style:#}\n");
        if section.group == Group::Leave && !room.apart {
            out += &in_prose(section, shown, width);
        } else {
            out += &columns.entries(section, shown);
        }
    }
    if untold.is_empty() {
        return out;
    }
    let untold = format!("Left out here, see --full: {}.", some_of(&untold));
    out + &text::paragraph("", "", &untold, width.min(PROSE))
}

/// The first entries of a section without columns of their own: `page warm in ram 29% more; …`.
fn in_prose(section: &Section<'_>, shown: usize, width: Width) -> String {
    let told = section.entries[..shown].iter().map(|entry| {
        let mut words = vec![entry.name.clone(), section.change(entry)];
        if !entry.is_prose() {
            words.push(entry.figure());
        }
        words.retain(|word| !word.is_empty());
        words.join(" ")
    });
    let told = told.collect::<Vec<_>>().join("; ") + ".";
    let indent = " ".repeat(GAP);
    text::paragraph(&indent, &indent, &told, width.min(PROSE))
}

/// How many entries of each section are shown where there is room for so many: changes to leave
/// alone are left out first.
fn shown(sections: &[Section<'_>], room: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = sections.iter().map(|section| section.entries.len()).collect();
    for group in [Group::Leave, Group::Undecided, Group::OnlyIf, Group::Do] {
        for number in (0..sections.len()).rev().filter(|n| sections[*n].group == group) {
            let excess = shown.iter().sum::<usize>().saturating_sub(room);
            shown[number] -= shown[number].min(excess);
        }
    }
    shown
}

/// How wide the parts of an entry are.
struct Columns {
    width: Width,
    now: usize,
    then: usize,
    axis: Option<Axis>,
    causes: bool,
}

impl Columns {
    fn of(sections: &[Section], width: Width) -> Self {
        let entries = || sections.iter().flat_map(|section| section.entries);
        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| display_width(&text)).max().unwrap_or_default()
        };
        let ratios = entries().flat_map(|entry| {
            let Advice { ratio, ratio_low, ratio_high, .. } = *entry.advice;
            let ends = if entry.is_sure() { [ratio_low, ratio_high] } else { [None; 2] };
            ends.into_iter().chain([ratio])
        });
        let ratios: Vec<f64> = ratios.flatten().collect();
        let columns = if width >= WIDTH_WIDE { 2 * AXIS } else { AXIS };
        let has_axis = width >= WIDTH_AXIS && !ratios.is_empty();
        Self {
            width,
            now: widest(&mut entries().map(Entry::now)),
            then: widest(&mut entries().map(Entry::then)),
            axis: has_axis.then(|| Axis::of(ratios.into_iter(), columns)),
            causes: width >= WIDTH_WIDE + 30,
        }
    }

    fn axis_columns(&self) -> usize {
        match &self.axis {
            Some(_) if self.width >= WIDTH_WIDE => 2 * AXIS + GAP,
            Some(_) => AXIS + 1,
            None => 0,
        }
    }

    /// Columns of `15.4 ms → 1.11 ms`.
    fn times(&self) -> usize {
        if self.then == 0 { self.now } else { self.now + 3 + self.then }
    }

    /// Where the times begin.
    fn left(&self) -> usize {
        let causes = if self.causes { 24 } else { 0 };
        let right = GAP + self.times() + GAP + FIGURE + self.axis_columns() + causes;
        self.width.saturating_sub(right).clamp(4, 44)
    }

    fn heads(&self) -> String {
        let Some(axis) = &self.axis else { return "\n".to_owned() };
        let dim = Style::new().dimmed();
        let from = self.left() + GAP + self.times() + GAP + FIGURE + 1;
        format!("{dim}{:from$}{}{dim:#}\n", LEGEND, axis.heads())
    }

    /// The first entries of a section, names and changes below each other.
    fn entries(&self, section: &Section, shown: usize) -> String {
        let shown = &section.entries[..shown];
        let name = shown.iter().map(|entry| display_width(&entry.name)).max().unwrap_or_default();
        shown.iter().map(|entry| self.entry(section, entry, name)).collect()
    }

    fn entry(&self, section: &Section, entry: &Entry, name: usize) -> String {
        let change = printable(&section.change(entry)).into_owned();
        let pad = name - display_width(&entry.name);
        let label = format!("{:GAP$}{}{:pad$}", "", printable(&entry.name), "");
        let below = " ".repeat(GAP + name + GAP);
        if entry.is_prose() {
            let first = format!("{label}{:GAP$}", "");
            return text::wrapped(&first, &below, &change, self.width).join("\n") + "\n";
        }
        let figures = self.times() + GAP + display_width(&entry.figure());
        let left = self.left().min(self.width.saturating_sub(GAP + figures)).max(GAP);
        let gap = if change.is_empty() { 0 } else { GAP };
        let label = format!("{label}{:gap$}{change}", "");
        let mut lines = if display_width(label.trim_end()) <= left {
            let pad = left + GAP - display_width(&label);
            vec![format!("{label}{:pad$}{}", "", self.figures(entry, section, left + GAP))]
        } else {
            let from = left + GAP;
            let mut lines = text::wrapped("", &below, &label, self.width);
            lines.push(format!("{:from$}{}", "", self.figures(entry, section, from)));
            lines
        };
        if let Some(remark) = entry.remark() {
            let below = if lines.len() > 1 { " ".repeat(2 * GAP) } else { below };
            lines.extend(text::wrapped(&below, &below, &printable(&remark), self.width));
        }
        lines.into_iter().map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    /// `15.4 ms → 1.11 ms  14×      ├●┤`, beginning at a column.
    fn figures(&self, entry: &Entry, section: &Section, from: usize) -> String {
        let (now, then, figure) = (entry.now(), entry.then(), entry.figure());
        let bold = Style::new().bold();
        let pad = self.now - display_width(&now);
        let mut out = format!("{:pad$}{now}", "");
        if then.is_empty() {
            return out;
        }
        let pad = self.then - display_width(&then);
        out += &format!(" → {bold}{then}{bold:#}{:pad$}{:GAP$}", "", "");
        let style = match section.group {
            Group::Do | Group::OnlyIf => AnsiColor::Green.on_default(),
            Group::Leave | Group::Undecided => Style::new(),
        };
        out += &format!("{style}{figure}{style:#}");
        if let (Some(axis), Some(ratio), true) = (&self.axis, entry.advice.ratio, entry.is_sure()) {
            let bar = axis.bar(ratio, entry.advice.ratio_low, entry.advice.ratio_high);
            let start = from + self.times() + GAP + FIGURE + 1;
            let at = from + self.times() + GAP + display_width(&figure);
            out += &beside(&bar, start, at);
            if self.causes {
                out += &format!("  {}", entry.cause());
            }
        }
        out
    }
}

/// A bar that starts at a column, after text that ends at another: as much of it as is not
/// hidden by the text, unless that hides a part of the interval.
fn beside(bar: &[char], start: usize, at: usize) -> String {
    let hidden = (at + 1).saturating_sub(start);
    let gap = start.saturating_sub(at);
    let is_free = bar.iter().take(hidden).all(|c| matches!(c, ' ' | '│'));
    if !is_free {
        return String::new();
    }
    let bar: String = bar.iter().skip(hidden).collect();
    format!("{:gap$}{bar}", "", gap = gap.max(1))
}
