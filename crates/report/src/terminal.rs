//! The report that a person reads in a terminal, 80 columns wide unless said otherwise.

use std::fmt::Write as _;

use anstyle::Style;
use model::arm::Axis;
use model::result::{ArmResult, Comparison, RunResult, Verdict};
use model::study::{ParamKind, StudySpec};
use model::units::{count, percent, time};

use crate::{figures, integrity, noise, place, risk, table, why, words};

/// How many columns there are.
pub type Width = usize;

/// The width to write for where no terminal says otherwise.
pub const WIDTH: Width = 80;
/// More comparisons than this are not each put in a sentence.
const SENTENCES_MAX: usize = 12;

/// The whole report.
pub fn report(result: &RunResult, studies: &[&'static StudySpec], width: Width) -> String {
    let mut out = title(result);
    out += "\n";
    out += &place::places(&result.places, &result.machine, width);
    for arms in by_study_and_params(result) {
        out += "\n";
        out += &study(result, &arms, studies, width);
    }
    for spec in studies {
        out += &integrity::promises(spec, &result.arms, width);
    }
    out += &meaning(result, studies, width);
    out += &why::run(result, width);
    out += &risks(result, width);
    out += &small_print(result, width);
    out
}

/// A bold line.
pub(crate) fn heading(text: &str) -> String {
    let bold = Style::new().bold();
    format!("{bold}{text}{bold:#}\n")
}

/// Wrapped text with its indents.
pub(crate) fn paragraph(first: &str, rest: &str, text: &str, width: Width) -> String {
    let options = textwrap::Options::new(width.max(30))
        .initial_indent(first)
        .subsequent_indent(rest)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let mut out = textwrap::fill(text, options);
    out.push('\n');
    out
}

fn title(result: &RunResult) -> String {
    let blocks = result.arms.iter().map(|arm| arm.slices).max().unwrap_or_default();
    let state = if result.run.interrupted { "interrupted after" } else { "took" };
    heading(&format!("iotoll {}", result.run.version))
        + &format!(
            "{} arms, {} blocks, {state} {:.0} s; seed {}\n",
            result.arms.len(),
            count(blocks),
            result.run.seconds,
            result.run.seed
        )
}

/// The arms in groups that share a study and its parameters.
fn by_study_and_params(result: &RunResult) -> Vec<Vec<&ArmResult>> {
    let mut groups: Vec<Vec<&ArmResult>> = Vec::new();
    for arm in &result.arms {
        let same = |g: &&mut Vec<&ArmResult>| {
            g.first().is_some_and(|a| a.study == arm.study && a.params == arm.params)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(arm),
            None => groups.push(vec![arm]),
        }
    }
    groups
}

fn study(
    result: &RunResult,
    arms: &[&ArmResult],
    studies: &[&'static StudySpec],
    width: Width,
) -> String {
    let Some(first) = arms.first() else { return String::new() };
    let spec = studies.iter().find(|s| s.name == first.study);
    let about = spec.map_or("", |s| s.about);
    let params = telling_params(first, spec.copied());
    let mut out = heading(&format!("{}: {about}", first.study));
    out += &paragraph("  ", "  ", &params.join(", "), width);
    out += &table::by_place(result, arms, width);
    let strategies_compared = arms.iter().any(|arm| {
        result.comparisons.iter().any(|c| c.other == arm.id && c.axis == Axis::Strategy)
    });
    if strategies_compared {
        out += "\n";
        out += &table::by_strategy(result, arms, width);
    }
    if let Some(spec) = spec {
        let figures = figures::tables(spec, arms, width);
        out += if figures.is_empty() { "" } else { "\n" };
        out += &figures;
        out += &figures::evidence(arms, width);
        out += &integrity::section(arms, width);
    }
    out + &why::study(result, arms, width)
}

/// The parameters that are not at their defaults, and always the first.
fn telling_params(arm: &ArmResult, spec: Option<&StudySpec>) -> Vec<String> {
    let is_default = |name: &str, value: &str| {
        spec.and_then(|s| s.params.iter().skip(1).find(|p| p.name == name))
            .is_some_and(|p| p.default_value().to_string() == value)
    };
    // A variant is a name for what its commands do.
    let named = arm.params.get("variant").is_some_and(|variant| !variant.is_empty());
    let is_command = |name: &str| {
        let param = spec.and_then(|s| s.param(name));
        param.is_some_and(|p| matches!(p.kind, ParamKind::Shell(_)))
    };
    let telling = arm
        .params
        .iter()
        .filter(|(name, value)| !(is_default(name, value) || named && is_command(name)));
    telling.map(|(name, value)| format!("{name} {}", shortened(value))).collect()
}

/// A value as far as it tells arms apart: a command may be as long as it likes.
fn shortened(value: &str) -> String {
    const CHARS_MAX: usize = 40;
    if value.chars().count() <= CHARS_MAX {
        return value.to_owned();
    }
    value.chars().take(CHARS_MAX - 1).chain(['…']).collect()
}

fn meaning(result: &RunResult, studies: &[&'static StudySpec], width: Width) -> String {
    let operation = |c: &Comparison| {
        let arm = result.arm(&c.other);
        let spec = arm.and_then(|arm| studies.iter().find(|s| s.name == arm.study));
        spec.map_or("operation", |s| s.operation)
    };
    let by_place = words::along(result, Axis::Place);
    let mut sentences: Vec<(f64, String)> = by_place
        .concat()
        .into_iter()
        .filter_map(|c| Some((weight(&[c]), words::place_sentence(result, c, operation(c))?)))
        .collect();
    sentences.extend(words::along(result, Axis::Strategy).iter().filter_map(|group| {
        let text = words::strategies_sentence(result, group, operation(group[0]))?;
        Some((weight(group), text))
    }));
    if sentences.is_empty() {
        return String::new();
    }
    let untold = sentences.len().saturating_sub(SENTENCES_MAX);
    if untold > 0 {
        sentences.sort_by(|a, b| b.0.total_cmp(&a.0));
        sentences.truncate(SENTENCES_MAX);
        sentences
            .push((0.0, format!("The tables above and --json have {untold} more like these.")));
    }
    let bullets = sentences.iter().map(|(_, text)| paragraph("  • ", "    ", text, width));
    format!("\n{}{}", heading("What it means"), bullets.collect::<String>())
}

/// What deserves a sentence most: what could not be measured, then what differs most.
fn weight(comparisons: &[&Comparison]) -> f64 {
    let weights = comparisons.iter().map(|comparison| match comparison.verdict {
        Verdict::Invalid => f64::INFINITY,
        _ => comparison.ratio.map_or(0.0, |ratio| ratio.ln().abs()),
    });
    weights.fold(0.0, f64::max)
}

fn risks(result: &RunResult, width: Width) -> String {
    let mut out = String::new();
    for place in result.places.iter().skip(1) {
        let risks = risk::risks(place);
        if !risks.is_empty() {
            out += &format!("\n{}", heading(&format!("What moving to {} would risk", place.label)));
        }
        for text in risks {
            out += &paragraph("  • ", "    ", &text, width);
        }
    }
    out
}

fn small_print(result: &RunResult, width: Width) -> String {
    let mut text = format!(
        "Timing each operation costs {} here (clock: {}) and is part of every toll.",
        time(result.floor.record_ns),
        result.floor.clock
    );
    if let Some(first) = result.comparisons.first() {
        let _ = write!(
            text,
            " Intervals hold at {} for each comparison by itself, whenever it stopped; \
             a difference under {} counts as none.",
            percent(first.confidence),
            percent(first.worth)
        );
    }
    if !result.unread.is_empty() {
        let _ = write!(text, " Not known here: {}.", result.unread.join("; "));
    }
    let mut text = paragraph("", "", &text, width);
    let unclear = result.comparisons.iter().any(|c| c.verdict == Verdict::Unclear);
    if unclear && !result.machine.noise.sources.is_empty() {
        text += "What made it noisy:\n";
        text += &noise::in_short(&result.machine.noise, width);
    }
    let dim = Style::new().dimmed();
    format!("\n{dim}{text}{dim:#}")
}
