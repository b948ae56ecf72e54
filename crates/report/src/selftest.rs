//! What a selftest found, for a person to read.

use anstyle::{AnsiColor, Style};
use model::selftest::{
    AgainstItself, ClockCheck, Missed, PlaceSelftest, Planted, PlantedFound, PlantedKind, Rate,
    Resolution, SelftestResult,
};
use units::{count, counted, percent, time};

use crate::difference::Difference;
use crate::text::{Width, bullet, heading, paragraph};
use crate::{noise, place};

/// More intervals than this are promised not to miss the truth.
const MISSED_MAX: f64 = 0.05;

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
    let typical = tested.typical_ns.map_or_else(String::new, |ns| format!(", {} each", time(ns)));
    let mut out = heading(&format!("{}: {}{typical}", tested.place.label, tested.workload));
    if let Some(found) = &tested.against_itself {
        let right = found.false_verdicts.at_least <= found.threshold;
        out += &row(Some(right), "false verdicts", &against_itself(found), width);
        out += &row(None, "intervals", &intervals(found), width);
    }
    for planted in &tested.planted {
        out += &self::planted(planted, width);
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

/// A slow-down that was added, and how many intervals held it.
fn planted(planted: &Planted, width: Width) -> String {
    let what = match planted.kind {
        PlantedKind::Writing => "writing",
        PlantedKind::Syncing => "syncing",
        PlantedKind::ColdReading => "cold read",
        PlantedKind::Stalls => "stalls",
    };
    let name = format!("+{} {what}", percent(planted.added));
    let untested = planted.untested.as_ref().map(|why| format!("not tested: {why}"));
    let found = planted.found.as_ref();
    let texts = found.map(|found| planted_found(planted.kind, found)).into_iter().chain(untested);
    let right = found.and_then(is_right);
    row(right, &name, &texts.collect::<Vec<_>>().join("; "), width)
}

/// Whether every interval held what was added; nothing where there was none.
fn is_right(found: &PlantedFound) -> Option<bool> {
    let hidden = found.hidden_in_totals.is_some_and(|hidden| hidden.count > 0);
    let Rate { count, of, .. } = found.missed;
    (of > 0 || hidden).then_some(count == 0 && !hidden)
}

fn planted_found(kind: PlantedKind, found: &PlantedFound) -> String {
    let Rate { count: missed, of, at_most, .. } = found.missed;
    let (truth, verdict) = match kind {
        PlantedKind::Stalls => ("that the typical slice was not slowed down", "right"),
        _ => ("it", "slower"),
    };
    let held = (of > 0).then(|| {
        format!(
            "{} of {} intervals held {truth}: the true rate of misses is under {} (95%)",
            count(of - missed),
            count(of),
            percent(at_most)
        )
    });
    let open = (found.unbounded > 0)
        .then(|| format!("{} too short for an interval", counted(found.unbounded, "comparison")));
    let totals = found.hidden_in_totals.map(|Rate { count: hidden, of, .. }| {
        format!("{} of {} totals show the stalls that were added", count(of - hidden), count(of))
    });
    let verdicts = format!("{} {verdict}, {} unclear", count(found.right), count(found.unclear));
    let width = found.log_width_median.map(|log| format!("median width ±{}", percent(log / 2.0)));
    let texts = [held, open, totals, width, Some(verdicts)].into_iter().flatten();
    texts.chain(found.misses.iter().map(miss)).collect::<Vec<_>>().join("; ")
}

fn miss(missed: &Missed) -> String {
    let [ratio, low, high] = [missed.ratio, missed.ratio_low, missed.ratio_high].map(Some);
    let difference = Difference::new(ratio, low, high);
    format!("missed by {}{}", difference.ratio, difference.in_brackets())
}

fn resolution(resolution: &Resolution) -> String {
    let Resolution { noise_per_block, blocks_in_60_s, threshold, same_share, .. } = *resolution;
    let smallest = match (resolution.smallest_difference, resolution.smallest_slower) {
        (Some(any), Some(slower)) => format!(
            "in 60 s, differences of at least {} can be told from none; with --threshold {}, \
             differences of at least {} get a verdict",
            percent(any),
            percent(threshold),
            percent(slower)
        ),
        _ => "no difference reliably in 60 s".to_owned(),
    };
    let same = resolution.same_blocks_median.map_or_else(String::new, |blocks| {
        format!(
            "; {} of runs without a difference end as same, after about {blocks:.0} rounds",
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
        "Timing an operation costs {}, which every time includes; {} of that is reading the clock \
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
    if let Some(why) = &result.run.ended_early {
        let text = format!("Ended early, so that whatever is missing above was not tested: {why}.");
        return paragraph("", "", &text, width);
    }
    if result.run.interrupted {
        return paragraph("", "", "Interrupted: whatever is missing above was not tested.", width);
    }
    if result.objections.is_empty() {
        let mut out = heading("Verdicts from this machine, as it is now, can be trusted.");
        let mut compared = result.places.iter().filter_map(|tested| tested.against_itself.as_ref());
        if compared.any(|found| found.unclear > found.same) {
            let text = "Many will be unclear, though, because rounds vary too much; see the sources \
                        of noise above.";
            out += &paragraph("", "", text, width);
        }
        let text = intervals_tested(&result.places);
        out += &text.map_or_else(String::new, |text| paragraph("", "", &text, width));
        return out;
    }
    let mut out = heading("Verdicts from this machine, as it is now, should not be trusted:");
    out.extend(result.objections.iter().map(|objection| bullet(objection, width)));
    out
}

/// Says so where the intervals that were held against slow-downs are too few to show that
/// at most 5% miss.
fn intervals_tested(places: &[PlaceSelftest]) -> Option<String> {
    let planted = places.iter().flat_map(|tested| &tested.planted);
    let missed = || planted.clone().filter_map(|planted| Some(planted.found.as_ref()?.missed));
    let sum = |of: &dyn Fn(Rate) -> u64| missed().map(of).sum();
    let all = Rate::new(sum(&|rate| rate.count), sum(&|rate| rate.of));
    (all.at_most > MISSED_MAX).then(|| {
        format!(
            "In all, {} of {} intervals held what was added: too few to show that at most {} \
             miss. A longer --budget tests more of them.",
            count(all.of - all.count),
            count(all.of),
            percent(MISSED_MAX)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::WIDTH;

    fn found(misses: Vec<Missed>) -> PlantedFound {
        PlantedFound {
            right: 20,
            unclear: 6,
            wrong: 0,
            unbounded: 1,
            missed: Rate::new(misses.len() as u64, 25),
            misses,
            hidden_in_totals: None,
            log_width_median: Some(0.05),
            blocks_median: 14.0,
            slice_ns: 4e6,
            seconds: 7.0,
        }
    }

    fn printed(kind: PlantedKind, found: Option<PlantedFound>, untested: Option<&str>) -> String {
        let untested = untested.map(str::to_owned);
        let workload = "log/held".to_owned();
        let planted = Planted { kind, workload, added: 0.1, truth: 1.1, found, untested };
        unstyled(&super::planted(&planted, WIDTH))
    }

    /// Text without its escape sequences, each of which ends with an `m`.
    fn unstyled(text: &str) -> String {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().map(str::to_owned);
        let rest = parts.filter_map(|part| part.split_once('m')).map(|(_, rest)| rest);
        first.into_iter().chain(rest.map(str::to_owned)).collect()
    }

    #[test]
    fn a_slow_down_is_marked_by_whether_every_interval_held_it() {
        assert_eq!(
            printed(PlantedKind::Writing, Some(found(Vec::new())), None),
            "  ✓ +10% writing    25 of 25 intervals held it: the true rate of misses is under
                    11% (95%); 1 comparison too short for an interval; median
                    width ±2.5%; 20 slower, 6 unclear\n"
        );
        let verdict = model::analysis::Verdict::Slower;
        let missed = Missed { ratio: 1.07, ratio_low: 1.06, ratio_high: 1.08, verdict, blocks: 14 };
        let text = |misses| printed(PlantedKind::Writing, Some(found(vec![missed; misses])), None);
        assert!(text(1).starts_with("  ✗") && text(1).contains("24 of 25"), "{}", text(1));
        assert!(text(1).contains("missed by 7% more (6–8%)"), "{}", text(1));
        assert!(text(5).starts_with("  ✗") && text(5).contains("20 of 25"), "{}", text(5));
    }

    #[test]
    fn hidden_stalls_are_no_success_and_what_was_not_tested_is_neither() {
        let stalls = |hidden| {
            let hidden_in_totals = Some(Rate::new(hidden, 26));
            let found = PlantedFound { hidden_in_totals, ..found(Vec::new()) };
            printed(PlantedKind::Stalls, Some(found), None)
        };
        assert!(stalls(0).starts_with("  ✓") && stalls(2).starts_with("  ✗"));
        assert!(stalls(2).contains("24 of 26 totals show"), "{}", stalls(2));
        assert_eq!(
            printed(PlantedKind::ColdReading, None, Some("the place is in memory")),
            "    +10% cold read  not tested: the place is in memory\n"
        );
    }
}
