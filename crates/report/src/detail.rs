//! Every table, cause and check, study by study, for whoever asks for it.

use std::fmt::Write as _;

use anstyle::Style;
use model::analysis::{Analysis, ArmResult, Comparison, Verdict};
use model::arm::Axis;
use model::place::PlaceFacts;
use model::run::Run;
use units::percent;

use crate::subject::Subject;
use crate::text::{Width, list, paragraph};
use crate::{
    clients, manners, noise, of_study, other_runs, place, risk, steadiness, table, why, words,
};

/// More comparisons than this are not each put in a sentence.
const SENTENCES_MAX: usize = 12;

/// All of it, in this order: where it was measured, each study, what it means, what
/// changed meanwhile, what moving would risk, and the small print.
pub(crate) fn detail(run: &Run, analysis: &Analysis, width: Width) -> String {
    let subject = Subject { run, analysis };
    let mut out = place::places(&run.places, &run.machine, width);
    out += &place::first_touch(&run.floor, width);
    if let Some(clients) = clients::sentence(&run.clients, &run.places) {
        out += &paragraph("  clients   ", "            ", &clients, width);
    }
    if width < table::WIDTH_FULL {
        let text = format!(
            "Percentiles and intervals are shown on a terminal at least {} columns wide.",
            table::WIDTH_FULL
        );
        out += &format!("\n{}", paragraph("", "", &text, width));
    }
    out += &of_study::all(subject, width);
    out += &meaning(subject, width);
    out += &other_runs::section(analysis, width);
    out += &steadiness::section(subject, width);
    out += &why::run(subject, width);
    out += &risks(run, width);
    out += &small_print(subject, width);
    out
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
    let texts = picks.into_iter().chain(sentences.into_iter().map(|(_, text)| text));
    list("What it means", &texts.collect::<Vec<_>>(), width)
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
    let of_place = |place: &PlaceFacts| {
        list(&format!("Risks of moving to {}", place.label), &risk::risks(place), width)
    };
    run.places.iter().skip(1).map(of_place).collect()
}

fn small_print(Subject { run, analysis }: Subject, width: Width) -> String {
    let mut text = place::timing_sentence(&run.floor);
    if let Some(first) = analysis.comparisons.first() {
        let _ = write!(
            text,
            " Each interval has {} confidence by itself; a difference under {} counts as none.",
            percent(first.confidence),
            percent(first.threshold)
        );
    }
    let learned = |c: &Comparison| c.other_runs.is_some() || c.p99.other_runs.is_some();
    if !analysis.comparisons.is_empty() && !analysis.comparisons.iter().any(learned) {
        text += " Intervals are of this run alone, because too few runs of the same are saved to \
                 show how much runs vary.";
    }
    let is_part = |arm: &ArmResult| {
        arm.time_per_op_ns.is_some_and(|single| arm.typical_ns.is_some_and(|all| single.p99 < all))
    };
    if analysis.arms.iter().any(is_part) {
        text += " A time is of all that an operation takes, a p99 of its single calls: where that is \
                 lower, the rest is around them, or in a few that take longest.";
    }
    if analysis.cut_afterwards {
        text += " The run was saved before runs had stretches, so its rounds were cut into ten \
                 afterwards; intervals may be too narrow.";
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
