//! What changed between two runs, in words and a table.

use model::analysis::Verdict;
use model::description::Score;
use model::diff::{ArmChange, Diff, Fact, Side};
use units::{percent, time};

use crate::columns::{Cell, Table};
use crate::difference::{self, Difference, SAME};
use crate::history::minute;
use crate::text::{PROSE, Width, list, paragraph};
use crate::{table, words};

/// So many names in a sentence; the table has them all.
const NAMES_MAX: usize = 4;
/// A bound that is farther out than this many times is none.
const FARTHEST: f64 = 1e3;

/// What differs besides, what changed, and each arm.
pub fn diff(diff: &Diff, width: Width) -> String {
    let prose = width.min(PROSE);
    let mut out = title(diff, prose);
    out += &facts(diff, prose);
    out.push('\n');
    out += &paragraph("", "", &summary(diff), prose);
    if !diff.arms.is_empty() {
        out.push('\n');
        out += &changes(diff, width);
    }
    let missing = diff.missing.iter().map(|missing| format!("{}: {}", missing.id, missing.why));
    out += &list("Not compared", &missing.collect::<Vec<_>>(), prose);
    if !diff.arms.is_empty() {
        out.push('\n');
        out += &paragraph("", "", &basis(diff), prose);
    }
    out
}

/// `Changes from 1a2b3c4d (2026-11-21 10:00) to 5e6f7a8b (2026-11-22 21:59) (UTC)`.
fn title(diff: &Diff, width: Width) -> String {
    let side = |side: &Side| {
        let name: String = side.id.chars().take(8).collect();
        format!("{name} ({})", minute(&side.started))
    };
    let text = format!("Changes from {} to {} (UTC)", side(&diff.before), side(&diff.after));
    paragraph("", "", &text, width)
}

fn facts(diff: &Diff, width: Width) -> String {
    if diff.facts.is_empty() {
        return paragraph("", "", "The machine and the places are the same.", width);
    }
    let told = |fact: &Fact| format!("{}: {} → {}", fact.what, fact.before, fact.after);
    let facts: Vec<String> = diff.facts.iter().map(told).collect();
    list("The machine and the places differ", &facts, width)
}

/// What surely changed, in a sentence for each direction.
fn summary(diff: &Diff) -> String {
    if diff.arms.is_empty() {
        return "No combination was measured in both runs.".to_owned();
    }
    let of = |verdict: Verdict| -> Vec<&ArmChange> {
        diff.arms.iter().filter(|arm| arm.verdict == verdict).collect()
    };
    let (slower, faster) = (of(Verdict::Slower), of(Verdict::Faster));
    let threshold = percent(diff.threshold);
    if slower.is_empty() && faster.is_empty() {
        let same = of(Verdict::Same).len();
        if same == diff.arms.len() {
            return format!("No change: every combination differs by less than {threshold}.");
        }
        return format!(
            "No change was found: no combination differs by more than {threshold} beyond the usual variation \
             between runs."
        );
    }
    let told = |which: &str, arms: &[&ArmChange]| {
        let names: Vec<String> = arms
            .iter()
            .take(NAMES_MAX)
            .map(|arm| format!("{} ({})", arm.id, difference(arm).ratio))
            .collect();
        match arms.len().saturating_sub(NAMES_MAX) {
            _ if arms.is_empty() => String::new(),
            0 => format!("{which}: {}. ", names.join(", ")),
            more => format!("{which}: {} and {more} more. ", names.join(", ")),
        }
    };
    let text = told("Slower", &slower) + &told("Faster", &faster);
    text.trim_end().to_owned()
}

/// A change in words: `log/held@disk takes 15% more time than before (9–22%)`.
pub(crate) fn sentence(arm: &ArmChange, than: &str) -> String {
    let within = difference(arm).in_brackets();
    let against = difference::against(arm.ratio);
    let typical_times = [arm.before_ns, arm.after_ns].map(|ns| typical(arm, ns));
    format!("{} {against} {than}{within}: {} → {}", arm.id, typical_times[0], typical_times[1])
}

fn difference(arm: &ArmChange) -> Difference {
    let bound = |bound: f64| Some(bound).filter(|bound| bound.ln().abs() < FARTHEST.ln());
    Difference::new(Some(arm.ratio), bound(arm.ratio_low), bound(arm.ratio_high))
}

fn typical(arm: &ArmChange, ns: f64) -> String {
    match arm.score {
        Score::HighestRate => format!("{}/s", words::rate(1e9 / ns)),
        Score::MeanTime | Score::MedianTime => time(ns),
    }
}

fn changes(diff: &Diff, width: Width) -> String {
    let rows = |named: bool| {
        let heads = ["", "before", "after", "change", "interval", ""];
        let mut table = Table::new(heads.map(Cell::dim));
        for arm in &diff.arms {
            let Difference { mut ratio, interval } = difference(arm);
            if ratio == SAME && arm.verdict != Verdict::Same {
                // An estimate, of which it is not known whether it is.
                "±0%".clone_into(&mut ratio);
            }
            let name = if named { arm.id.as_str() } else { "" };
            let [before, after] = [arm.before_ns, arm.after_ns].map(|ns| typical(arm, ns));
            let figures = [name, &before, &after, &ratio, &interval].map(Cell::new);
            table.add_row(figures.into_iter().chain([table::verdict(arm.verdict)]));
        }
        table.align_right(1..4);
        table
    };
    let beside = rows(true);
    if beside.width() <= width {
        return beside.flush();
    }
    // Names that leave no room for the figures have lines of their own.
    let below = rows(false).flush();
    let mut lines = below.lines();
    let mut out = lines.next().map_or_else(String::new, |head| format!("{head}\n"));
    for (line, arm) in lines.zip(&diff.arms) {
        out += &format!("{}{line}\n", paragraph("", "  ", &arm.id, width));
    }
    out
}

/// What the intervals allow for, and what would make them narrower.
fn basis(diff: &Diff) -> String {
    let assumed: Vec<&ArmChange> =
        diff.arms.iter().filter(|arm| arm.learned_from.is_none()).collect();
    let learned: Vec<&ArmChange> =
        diff.arms.iter().filter(|arm| arm.learned_from.is_some()).collect();
    let mut text = format!(
        "All intervals together have {} confidence. They allow for how much separate runs vary: ",
        percent(diff.confidence)
    );
    let range = |values: Vec<f64>| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        let [least, most] = [least, most].map(percent);
        if least == most { least } else { format!("{least} to {most}") }
    };
    if !learned.is_empty() {
        let runs = learned.iter().filter_map(|arm| arm.learned_from);
        let (fewest, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
        let runs = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
        let varies = range(learned.iter().map(|arm| arm.runs_vary_by).collect());
        text += &format!("{varies}, learned from {runs} other saved runs of the same combinations");
    }
    if !assumed.is_empty() {
        let varies = range(assumed.iter().map(|arm| arm.runs_vary_by).collect());
        let which = match learned.len() {
            0 => String::new(),
            _ => format!("; for {} of the combinations ", assumed.len()),
        };
        text += &format!(
            "{which}{varies}, which is assumed, because too few other runs of the same combinations are \
             saved here; use `iotoll rerun` to add more"
        );
    }
    text + "."
}

#[cfg(test)]
mod tests {
    use model::diff::{Fact, Missing};

    use super::*;
    use crate::made_diff::{self, arm};

    fn made() -> Diff {
        made_diff::diff(vec![
            arm("log/held@disk", 1.15, Verdict::Slower, Some(6)),
            arm("log/reopen@disk", 0.97, Verdict::Unclear, Some(6)),
        ])
    }

    fn plain(diff: &Diff) -> String {
        let text = super::diff(diff, 80);
        let styles = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[33m"];
        styles.iter().fold(text, |text, style| text.replace(style, ""))
    }

    #[test]
    fn what_changed_comes_after_what_else_differs() {
        let mut diff = made();
        diff.facts = vec![Fact {
            what: "kernel".to_owned(),
            before: "6.1".to_owned(),
            after: "6.2\u{1b}[2J".to_owned(),
        }];
        let text = plain(&diff);
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in\n{text}"));
        assert!(
            at("kernel: 6.1 → 6.2\\u{1b}[2J") < at("Slower: log/held@disk (15% more)."),
            "{text}"
        );
        assert!(at("Slower") < at("600 ns"), "{text}");
        assert!(text.contains("1.2%, learned from 6 other saved runs"), "{text}");
        diff.arms[1].learned_from = Some(9);
        assert!(plain(&diff).contains("learned from 6 to 9 other saved runs"), "{}", plain(&diff));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn where_nothing_changed_or_is_comparable_that_is_said() {
        let mut diff = made();
        diff.arms.remove(0);
        assert!(plain(&diff).contains("The machine and the places are the same."));
        assert!(plain(&diff).contains("No change was found"), "{}", plain(&diff));
        diff.arms = vec![arm("a", 1.0, Verdict::Same, None)];
        let text = plain(&diff);
        assert!(text.contains("No change: every combination differs by less than 5%."), "{text}");
        assert!(text.contains("5%, which is assumed, because"), "{text}");
        diff.arms.clear();
        diff.missing = vec![Missing {
            id: "a".to_owned(),
            why: "only in the earlier run".to_owned(),
            failed: false,
            lost: true,
        }];
        assert!(plain(&diff).contains("No combination was measured in both"), "{}", plain(&diff));
    }

    #[test]
    fn a_long_name_has_a_line_of_its_own() {
        let mut diff = made();
        diff.arms[0].id = format!("log/held(record={})@disk", "7000 B, ".repeat(8));
        let text = plain(&diff);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
