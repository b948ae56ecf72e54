//! What arms took over many runs: a picture of each, and a line for each change.

use anstyle::Style;
use model::diff::Fact;
use model::printable::printable;
use model::trend::{ArmTrend, LevelChange, Trend};
use units::{counted, time};

use crate::difference::Difference;
use crate::history::minute;
use crate::text::{PROSE, Width, paragraph};

/// From the lowest time to the highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// More columns than this are no easier to read.
const COLUMNS_MAX: usize = 72;
const INDENT: &str = "  ";
/// Letters of a run's name.
const NAME_CHARS: usize = 8;

/// Each arm, with its picture and its changes.
pub fn trend(trend: &Trend, width: Width) -> String {
    let prose = width.min(PROSE);
    if trend.arms.is_empty() {
        let text = format!(
            "No combination has {} saved runs yet. Add some with `iotoll rerun`.",
            trend.runs_min
        );
        return paragraph("", "", &text, prose);
    }
    let mut out = String::new();
    for arm in &trend.arms {
        out += &of_arm(arm, prose);
        out.push('\n');
    }
    let mut text = "In each picture time goes from left to right, and a higher bar is a longer \
                    time; ^ marks the first run of a new level. Of combinations that did not change, one in \
                    70 shows a change by chance."
        .to_owned();
    if trend.too_few > 0 {
        text += &format!(
            " {} with fewer than {} runs: not shown.",
            counted(trend.too_few, "combination"),
            trend.runs_min
        );
    }
    out + &paragraph("", "", &text, prose)
}

fn of_arm(arm: &ArmTrend, width: Width) -> String {
    let bold = Style::new().bold();
    let times: Vec<f64> = arm.runs.iter().map(|run| run.typical_ns).collect();
    let [least, most] = arm.ends_ns().map(time);
    let id = paragraph("", INDENT, &arm.id, width);
    let mut out = format!("{bold}{}{bold:#}\n", id.trim_end());
    let text = format!(
        "{} since {} (UTC), {least} to {most}",
        counted(arm.runs.len() as u64, "run"),
        arm.runs
            .first()
            .map_or_else(String::new, |run| printable(&minute(&run.started)).into_owned())
    );
    out += &paragraph(INDENT, INDENT, &text, width);
    let columns = width.saturating_sub(INDENT.len()).clamp(1, COLUMNS_MAX);
    out += &format!("{INDENT}{}\n", picture(&times, columns));
    if arm.changes.is_empty() {
        return out + INDENT + "no change\n";
    }
    out += &format!("{INDENT}{}\n", marks(arm, columns));
    arm.changes.iter().fold(out, |out, change| out + &line(arm, change, width))
}

/// A bar for each run, or for as many runs as share a column: their median.
fn picture(times: &[f64], columns: usize) -> String {
    let logs: Vec<f64> = times.iter().map(|time| time.ln()).collect();
    let shown = logs.len().min(columns);
    let column = |column: usize| {
        let mut runs =
            logs[column * logs.len() / shown..(column + 1) * logs.len() / shown].to_vec();
        runs.sort_unstable_by(f64::total_cmp);
        runs[runs.len() / 2]
    };
    let bars: Vec<f64> = (0..shown).map(column).collect();
    let least = bars.iter().copied().fold(f64::INFINITY, f64::min);
    let most = bars.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let top = (BARS.len() - 1) as f64;
    let bar = |log: &f64| {
        let share = if most > least { (log - least) / (most - least) } else { 0.0 };
        BARS[((share * top).round() as usize).min(BARS.len() - 1)]
    };
    bars.iter().map(bar).collect()
}

/// A mark below the column of each change.
fn marks(arm: &ArmTrend, columns: usize) -> String {
    let runs = arm.runs.len();
    let shown = runs.min(columns);
    // The column whose runs have that one.
    let column = |at: usize| (((at + 1) * shown).div_ceil(runs) - 1).min(shown - 1);
    let marked: Vec<usize> = arm.changes.iter().map(|change| column(change.at)).collect();
    let last = marked.iter().max().copied().unwrap_or_default();
    (0..=last).map(|at| if marked.contains(&at) { '^' } else { ' ' }).collect()
}

/// `2026-11-12 10:00  1a2b3c4d  +10%: 1.20 µs → 1.32 µs`, and what changed there.
fn line(arm: &ArmTrend, change: &LevelChange, width: Width) -> String {
    let Some(first) = arm.runs.get(change.at) else { return String::new() };
    let name: String = first.run.chars().take(NAME_CHARS).collect();
    let Difference { ratio, .. } = Difference::new(Some(change.ratio), None, None);
    let text = format!(
        "{} {name}: {ratio}, {} → {}",
        minute(&first.started),
        time(change.before_ns),
        time(change.after_ns)
    );
    let mut out = paragraph(INDENT, "    ", &text, width);
    for Fact { what, before, after } in &change.facts {
        out += &paragraph("    • ", "      ", &format!("{what}: {before} → {after}"), width);
    }
    if change.facts.is_empty() {
        let text = "the machine and the places were the same";
        out += &paragraph("    • ", "      ", text, width);
    }
    out
}

#[cfg(test)]
mod tests {
    use model::trend::TrendRun;

    use super::*;

    fn made(runs: usize, at: usize) -> Trend {
        let run = |n: usize| TrendRun {
            run: format!("{n:08x}\u{1b}[2J"),
            started: "2026-11-22T21:59:55Z".to_owned(),
            typical_ns: if n < at { 1000.0 } else { 1100.0 },
        };
        let fact =
            |what: &str| Fact { what: what.into(), before: "6.1".into(), after: "6.18".into() };
        let change = LevelChange {
            at,
            before_ns: 1000.0,
            after_ns: 1100.0,
            ratio: 1.1,
            p: 0.001,
            facts: vec![fact("kernel")],
        };
        let arm = ArmTrend {
            id: format!("log/held@disk {}", "record=70 ".repeat(12)),
            runs: (0..runs).map(run).collect(),
            changes: vec![change],
        };
        Trend { schema: String::new(), arms: vec![arm], too_few: 2, runs_min: 8 }
    }

    fn plain(trend: &Trend) -> String {
        super::trend(trend, 80).replace("\u{1b}[1m", "").replace("\u{1b}[0m", "")
    }

    #[test]
    fn an_arm_has_a_picture_a_mark_and_what_changed_within_80_columns() {
        for runs in [20, 60, 300] {
            let text = plain(&made(runs, runs / 2));
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
            let lines: Vec<&str> = text.lines().collect();
            let picture = lines.iter().position(|line| line.contains('▁')).unwrap_or_default();
            let before = lines[picture].chars().position(|c| c == '█');
            let mark = lines[picture + 1].chars().position(|c| c == '^');
            assert_eq!(before, mark, "{text}");
            assert!(text.contains("10% more, 1.00 µs → 1.10 µs"), "{text}");
            assert!(text.contains("• kernel: 6.1 → 6.18"), "{text}");
            assert!(text.contains("2 combinations with fewer than 8 runs"), "{text}");
        }
    }

    #[test]
    fn without_runs_it_says_what_to_do() {
        let none = Trend { arms: Vec::new(), ..made(8, 4) };
        assert!(super::trend(&none, 80).contains("No combination has 8 saved runs yet"));
    }
}
