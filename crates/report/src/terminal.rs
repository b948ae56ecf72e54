//! The report that a person reads in a terminal, 80 columns wide unless said otherwise:
//! the answer on one screen, and the detail where it is asked for.

use std::fmt::Write as _;

use anstyle::Style;
use model::analysis::{Analysis, ArmResult, Comparison, Verdict};
use model::arm::Axis;
use model::description::{ParamForm, StudyDescription};
use model::run::Run;
use model::units::{percent, time};

use crate::answer::answer;
use crate::subject::Subject;
use crate::text::{PROSE, heading, paragraph};
pub use crate::text::{WIDTH, Width};
use crate::{figures, integrity, manners, noise, place, risk, steadiness, table, why, words};

/// More comparisons than this are not each put in a sentence.
const SENTENCES_MAX: usize = 12;

/// The answer and, where it is asked for, all the detail.
pub fn report(run: &Run, analysis: &Analysis, full: bool, width: Width) -> String {
    let answer = answer(run, analysis, full, width);
    if full { format!("{answer}\n{}", detail(run, analysis, width.min(PROSE))) } else { answer }
}

/// Every table, cause and check.
fn detail(run: &Run, analysis: &Analysis, width: Width) -> String {
    let subject = Subject { run, analysis };
    let mut out = String::new();
    out += &place::places(&run.places, &run.machine, width);
    out += &place::first_touch(&run.floor, width);
    for arms in by_study_and_params(analysis) {
        out += "\n";
        out += &study(subject, &arms, width);
    }
    out += &integrity::promises(subject, width);
    out += &meaning(subject, width);
    out += &steadiness::section(subject, width);
    out += &why::run(subject, width);
    out += &risks(run, width);
    out += &small_print(subject, width);
    out
}

/// The arms in groups that share a study and its parameters.
fn by_study_and_params(analysis: &Analysis) -> Vec<Vec<&ArmResult>> {
    let mut groups: Vec<Vec<&ArmResult>> = Vec::new();
    for arm in &analysis.arms {
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

fn study(subject: Subject, arms: &[&ArmResult], width: Width) -> String {
    let Some(first) = arms.first() else { return String::new() };
    let Some(study) = subject.study_of(first) else { return String::new() };
    let mut out = heading(&format!("{}: {}", study.name, study.about));
    out += &paragraph("  ", "  ", &telling_params(arms, study).join(", "), width);
    out += &table::by_place(subject, arms, width);
    let strategies_compared = arms.iter().any(|arm| {
        let of_arm = |c: &Comparison| c.other == arm.id && c.axis == Axis::Strategy;
        subject.analysis.comparisons.iter().any(of_arm)
    });
    if strategies_compared {
        out += "\n";
        out += &table::by_strategy(subject, arms, width);
    }
    let figures = figures::tables(study, arms, width);
    out += if figures.is_empty() { "" } else { "\n" };
    out += &figures;
    out += &figures::evidence(arms, width);
    out += &integrity::section(study, arms, width);
    out + &why::study(subject, arms, width)
}

/// The parameters that are not at their defaults, and always the first, of those that mean
/// something to any of these arms, which have the same.
fn telling_params(arms: &[&ArmResult], study: &StudyDescription) -> Vec<String> {
    let Some(arm) = arms.first() else { return Vec::new() };
    let applies =
        |name: &str| arms.iter().any(|arm| study.applies(name, &arm.strategy, &arm.params));
    // What a name stands for need not be said beside it.
    let named = study.params.iter().any(|param| {
        let given = arm.params.get(&param.name).is_some_and(|value| !value.is_empty());
        param.kind == ParamForm::Name && given
    });
    let first = study.params.iter().map(|param| &param.name).find(|name| applies(name));
    let telling = arm.params.iter().filter(|(name, value)| {
        if !applies(name) {
            return false;
        }
        let Some(param) = study.param(name) else { return true };
        let is_default = param.is_default(value) && Some(*name) != first;
        !(is_default || named && param.kind == ParamForm::Shell)
    });
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

fn meaning(subject: Subject, width: Width) -> String {
    let by_place = words::along(subject, Axis::Place).concat();
    let mut sentences: Vec<(f64, String)> = by_place
        .into_iter()
        .filter_map(|c| Some((weight(&[c]), words::place_sentence(subject, c)?)))
        .collect();
    sentences.extend(
        words::along(subject, Axis::Strategy)
            .iter()
            .filter_map(|group| Some((weight(group), words::strategies_sentence(subject, group)?))),
    );
    if sentences.is_empty() {
        return String::new();
    }
    let untold = sentences.len().saturating_sub(SENTENCES_MAX);
    if untold > 0 {
        sentences.sort_by(|a, b| b.0.total_cmp(&a.0));
        sentences.truncate(SENTENCES_MAX);
        sentences
            .push((0.0, "The other comparisons are in the tables above and in --json.".to_owned()));
    }
    let picks = words::picks_sentence(subject);
    let texts = picks.iter().chain(sentences.iter().map(|(_, text)| text));
    let bullets = texts.map(|text| paragraph("  • ", "    ", text, width));
    format!("\n{}{}", heading("What it means"), bullets.collect::<String>())
}

/// What deserves a sentence most: what could not be measured, then what differs most.
fn weight(comparisons: &[&Comparison]) -> f64 {
    let weights = comparisons.iter().map(|comparison| match comparison.verdict {
        Verdict::Invalid => f64::INFINITY,
        // What a table does not show.
        _ if comparison.totals.is_some() || comparison.drift.is_some() => f64::INFINITY,
        _ => comparison.ratio.map_or(0.0, |ratio| ratio.ln().abs()),
    });
    weights.fold(0.0, f64::max)
}

fn risks(run: &Run, width: Width) -> String {
    let mut out = String::new();
    for place in run.places.iter().skip(1) {
        let risks = risk::risks(place);
        if !risks.is_empty() {
            out += &format!("\n{}", heading(&format!("Risks of moving to {}", place.label)));
        }
        for text in risks {
            out += &paragraph("  • ", "    ", &text, width);
        }
    }
    out
}

fn small_print(Subject { run, analysis }: Subject, width: Width) -> String {
    let mut text = format!(
        "Every toll includes the cost of timing an operation, {} here (clock: {}).",
        time(run.floor.record_ns),
        run.floor.clock
    );
    if let Some(first) = analysis.comparisons.first() {
        let _ = write!(
            text,
            " Each interval has {} confidence by itself, whenever measuring stopped; a difference \
             under {} counts as none.",
            percent(first.confidence),
            percent(first.worth)
        );
    }
    if !run.unread.is_empty() {
        let _ = write!(text, " Not available here: {}.", run.unread.join("; "));
    }
    let mut text = paragraph("", "", &text, width);
    text += &manners::writes(run, width);
    text += &manners::gentle(&run.plan, width);
    let unclear = analysis.comparisons.iter().any(|c| c.verdict == Verdict::Unclear);
    if unclear && !analysis.noise.sources.is_empty() {
        text += "Sources of noise:\n";
        text += &noise::in_short(&analysis.noise, width);
    }
    let dim = Style::new().dimmed();
    format!("\n{dim}{text}{dim:#}")
}
