//! A published measurement beside the same here, and whether its conclusions hold: as text
//! for a terminal, and as Markdown. A page has it as charts (`html/reproduction.rs`).

mod articles;
mod beside;
mod markdown;
pub(crate) mod words;

use anstyle::{AnsiColor, Style};
use model::analysis::Analysis;
use model::reproduction::{ConclusionHere, Decision, FigureHere, Reproduction};
use model::run::Run;
use units::counted;

pub use self::articles::articles;
pub use self::beside::beside;
pub(crate) use self::markdown::markdown;
use self::words::Column;
use crate::columns::GAP;
use crate::rest::Rest;
use crate::subject::Subject;
use crate::text::{Width, heading, paragraph, styled_paragraph};
use crate::{answer, manners};

/// Names of figures are wrapped to this, however narrow the terminal.
const NAME_MIN: usize = 16;

/// What holds of the article that a run repeats; nothing where it repeats none, or nothing
/// was measured.
pub(crate) fn text(run: &Run, analysis: &Analysis, rest: Rest<'_>, width: Width) -> Option<String> {
    let reproduction = analysis.reproduction.as_ref()?;
    if analysis.blocks == 0 {
        return None;
    }
    let Reproduction { article, year, original, question, .. } = reproduction;
    let extent = answer::extent(Subject { run, analysis });
    let mut out = heading(&format!("{article} ({year}, {original})"));
    out += &paragraph("", "", question, width);
    out += &paragraph("", "", &words::how_measured(reproduction, &extent), width);
    for sentence in words::manner(reproduction) {
        out += &paragraph("", "", &sentence, width);
    }
    out += &manners::ended_early(&run.run, width);
    out += &manners::left_out(&run.run, width);
    for group in words::groups(reproduction) {
        out += &format!("\n{}", heading(&group[0].group));
        out += &table(&words::columns(reproduction, group), group, width);
        for note in words::notes(group) {
            out += &paragraph("  ", "  ", note, width);
        }
    }
    out += &format!("\n{}", heading("Its conclusions"));
    for conclusion in &reproduction.conclusions {
        out += &told(conclusion, width);
    }
    if !rest.is_below() {
        let cautions = answer::cautions(run, analysis, width);
        out += &if cautions.is_empty() { cautions } else { format!("\n{cautions}") };
    }
    if let Some((show, draw)) = rest.command("show", "--full").zip(rest.command("report", "")) {
        let more =
            format!("`{show}` prints every combination, comparison and cause; `{draw}` draws it.");
        let dim = Style::new().dimmed();
        out += &format!("\n{dim}{}{dim:#}", paragraph("", "", &more, width));
    }
    Some(out)
}

/// How many conclusions hold, for a list of many runs.
pub(crate) fn in_short(reproduction: &Reproduction) -> String {
    let Reproduction { article, conclusions, .. } = reproduction;
    let all = counted(conclusions.len() as u64, "conclusion");
    let [holds, does_not, _, not_comparable] = Decision::ALL.map(|d| reproduction.count(d));
    let told = format!("{article}: of {all}, {holds} hold here and {does_not} do not");
    if not_comparable == 0 {
        return told;
    }
    format!("{told}; {not_comparable} cannot be compared")
}

/// A group's figures, one below the other.
fn table(columns: &[Column], group: &[FigureHere], width: Width) -> String {
    let taken: usize = columns.iter().map(|column| column.width() + GAP).sum();
    let room = width.saturating_sub(taken + GAP).max(NAME_MIN);
    let names: Vec<Vec<String>> = group.iter().map(|figure| wrapped(&figure.what, room)).collect();
    let longest = names.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let indent = " ".repeat(GAP);
    let dim = Style::new().dimmed();
    let heads: String = columns.iter().map(|column| indent.clone() + &column.head()).collect();
    let mut out = format!("{indent}{:longest$}{dim}{heads}{dim:#}\n", "");
    for (row, lines) in names.iter().enumerate() {
        let (last, before) = lines.split_last().map_or(("", &[][..]), |(l, b)| (l.as_str(), b));
        for line in before {
            out += &format!("{indent}{line}\n");
        }
        let cells: String =
            columns.iter().map(|column| indent.clone() + &column.cell(row)).collect();
        out += &(format!("{indent}{last:longest$}{cells}").trim_end().to_owned() + "\n");
    }
    out
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let text = model::printable::printable(text);
    textwrap::wrap(&text, width).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// A conclusion: whether it holds, what decided, and what the time went into.
fn told(conclusion: &ConclusionHere, width: Width) -> String {
    let style = style(conclusion.decision);
    let says = model::printable::printable(&conclusion.says);
    let text = format!("{style}{}{style:#}: {says}", conclusion.decision.as_str());
    let mut out = styled_paragraph("  ", "    ", &text, width);
    for text in words::reasons(conclusion) {
        out += &paragraph("      ", "      ", &text, width);
    }
    out
}

fn style(decision: Decision) -> Style {
    match decision {
        Decision::Holds => AnsiColor::Green.on_default().bold(),
        Decision::DoesNotHold => AnsiColor::Red.on_default().bold(),
        Decision::Unclear | Decision::NotComparable => Style::new().bold(),
    }
}
