//! What a selftest found, for a person to read.

use anstyle::{AnsiColor, Style};
use model::analysis::Verdict;
use model::selftest::{
    AgainstItself, ClockCheck, PlaceSelftest, Planted, Rate, Resolution, SelftestResult,
};
use model::units::{count, counted, percent, time};

use crate::text::{Width, heading, paragraph};
use crate::words::Difference;
use crate::{noise, place};

/// The whole report.
pub fn report(result: &SelftestResult, width: Width) -> String {
    let state = if result.run.interrupted { "interrupted after" } else { "took" };
    let mut out = heading(&format!("iotoll {} selftest", result.run.version));
    out += &format!("{state} {:.0} s; seed {}\n\n", result.run.seconds, result.run.seed);
    let facts: Vec<_> = result.places.iter().map(|tested| tested.place.clone()).collect();
    out += &place::places(&facts, &result.machine, width);
    for tested in &result.places {
        out += "\n";
        out += &of_place(tested, width);
    }
    out += &format!("\n{}", heading("Timing"));
    out += &paragraph("  ", "  ", &clock(&result.clock), width);
    out += &format!("\n{}", heading("Sources of noise"));
    out += &noise::with_remedies(&result.noise, width);
    out += "\n";
    out + &conclusion(result, width)
}

fn of_place(tested: &PlaceSelftest, width: Width) -> String {
    let toll = tested.toll_ns.map_or_else(String::new, |ns| format!(", {} each", time(ns)));
    let mut out = heading(&format!("{}: {}{toll}", tested.place.label, tested.workload));
    if let Some(found) = &tested.against_itself {
        let right = found.false_verdicts.at_least <= found.worth;
        out += &row(Some(right), "false verdicts", &against_itself(found), width);
        out += &row(None, "intervals", &intervals(found), width);
    }
    if let Some(planted) = &tested.planted {
        out += &row(Some(planted.found), "planted", &self::planted(planted), width);
    }
    if let Some(resolution) = &tested.resolution {
        out += &row(None, "resolves", &self::resolution(resolution), width);
    }
    if let Some(why) = &tested.failure {
        out += &row(Some(false), "failed", &format!("{why}."), width);
    }
    out
}

/// A mark, what it is about, and what was found.
fn row(right: Option<bool>, name: &str, text: &str, width: Width) -> String {
    const INDENT: &str = "                    ";
    let (mark, color) = match right {
        Some(true) => ("✓", Some(AnsiColor::Green)),
        Some(false) => ("✗", Some(AnsiColor::Red)),
        None => (" ", None),
    };
    let style = color.map_or_else(Style::new, |color| color.on_default().bold());
    let text = paragraph(INDENT, INDENT, text, width);
    // The name takes the place of the first line's indent; styles have no width.
    let rest = text.strip_prefix(INDENT).unwrap_or(&text);
    format!("  {style}{mark}{style:#} {name:<15} {rest}")
}

fn against_itself(found: &AgainstItself) -> String {
    let Rate { count: wrong, of, at_most, .. } = found.false_verdicts;
    let wrong = match wrong {
        0 => "none".to_owned(),
        some => format!("{} ({})", count(some), percent(found.false_verdicts.rate)),
    };
    format!(
        "{wrong} in {} comparisons of the place with itself ({} same, {} unclear): the true rate \
         is under {} (95%), and at most 5% is promised",
        count(of),
        count(found.same),
        count(found.unclear),
        percent(at_most)
    )
}

fn intervals(found: &AgainstItself) -> String {
    let Rate { count: missed, of, rate, at_most, .. } = found.missed_by_interval;
    format!(
        "{} of {} excluded \"no difference\" at some point ({}; the true rate is under {}, 95%)",
        count(missed),
        count(of),
        percent(rate),
        percent(at_most)
    )
}

fn planted(planted: &Planted) -> String {
    let comparison = &planted.comparison;
    let found = if planted.found { "found" } else { "not found" };
    let difference = Difference::of(comparison);
    let (ratio, interval) = (&difference.ratio, difference.in_brackets());
    let why = match (comparison.verdict, &comparison.why) {
        (Verdict::Unclear | Verdict::Invalid, Some(why)) => format!(": {why}"),
        _ => format!(" after {} blocks", comparison.blocks),
    };
    format!(
        "a slowdown of {} ({} per operation) was {found}: {} {ratio}{interval}{why}",
        percent(planted.added),
        time(planted.added_ns),
        comparison.verdict.as_str()
    )
}

fn resolution(resolution: &Resolution) -> String {
    let Resolution { noise_per_block, blocks_in_60_s, worth, same_share, .. } = *resolution;
    let smallest = match (resolution.smallest_difference, resolution.smallest_slower) {
        (Some(any), Some(slower)) => format!(
            "in 60 s, differences of {} and more are distinguished from none; with a worth of {}, \
             those of {} and more get a verdict",
            percent(any),
            percent(worth),
            percent(slower)
        ),
        _ => "no difference reliably in 60 s".to_owned(),
    };
    let same = resolution.same_blocks_median.map_or_else(String::new, |blocks| {
        format!(
            "; {} of runs without a difference end as same, after about {blocks:.0} blocks",
            percent(same_share)
        )
    });
    format!(
        "{smallest}{same}. Blocks vary by {} here, and {} fit into 60 s",
        percent(noise_per_block),
        count(blocks_in_60_s)
    )
}

fn clock(clock: &ClockCheck) -> String {
    format!(
        "Timing an operation costs {}, which every toll includes; {} of that is reading the clock \
         ({}), whose resolution is {}. Over the whole run it agreed with the system clock to {} \
         per million.",
        time(clock.record_ns),
        time(clock.read_ns),
        clock.source,
        time(clock.resolution_ns),
        counted(clock.ahead_of_monotonic_ppm.abs().ceil().max(1.0) as u64, "part")
    )
}

fn conclusion(result: &SelftestResult, width: Width) -> String {
    if result.run.interrupted {
        return paragraph("", "", "Interrupted: whatever is missing above was not tested.", width);
    }
    if result.objections.is_empty() {
        let mut out = heading("Verdicts from this machine, as it is now, can be trusted.");
        let mut compared = result.places.iter().filter_map(|tested| tested.against_itself.as_ref());
        if compared.any(|found| found.unclear > found.same) {
            let text = "Many will be unclear, though, because blocks vary too much; see the sources \
                        of noise above.";
            out += &paragraph("", "", text, width);
        }
        return out;
    }
    let mut out = heading("Verdicts from this machine, as it is now, should not be trusted:");
    for objection in &result.objections {
        out += &paragraph("  • ", "    ", objection, width);
    }
    out
}
