//! The time of combinations round by round, from the run's beginning to its end.

use model::analysis::{ArmResult, Comparison, Verdict};
use units::{count, three_digits, time};

use super::block_times::{BlockTimes, OfBlock, quantile, sorted};
use super::chart::{Chart, Figures, Reading, Rows, Tick, dots, level, line, path, plot};
use super::markup::Markup;
use super::scale::Scale;
use super::table::Table;
use crate::names;
use crate::subject::Subject;
use crate::words;

const HEIGHT: f64 = 36.0;
/// A row's height stands for this share of all blocks, and what is beyond it at its rim.
const SHOWN: f64 = 0.96;
/// … but for no less than ×1.1 and no more than ×4 on either side.
const REACH: [f64; 2] = [1.1, 4.0];
/// A median of so many blocks, or of a twelfth of them, runs through the dots.
const MEDIAN_OF_MIN: usize = 5;

struct Row<'a> {
    arm: &'a ArmResult,
    typical_ns: f64,
    blocks: Vec<OfBlock>,
}

impl Row<'_> {
    /// How far the blocks are from the typical time, as ratios.
    fn ratios(&self) -> Vec<OfBlock> {
        self.blocks.iter().map(|of| OfBlock { value: of.value / self.typical_ns, ..*of }).collect()
    }
}

static READING: Reading = Reading {
    id: "reading-rounds",
    title: "Every round",
    text: "Each dot is the time per operation in one round, from the first to the last. The \
           straight line is the time in a typical round, the other one a running median, which \
           slopes where the time drifted.",
};

/// Which combinations have their rounds drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// Those that drifted, had two speeds, or are not to be trusted.
    Drifting,
    /// All of them.
    All,
}

impl Rounds {
    fn has(self, subject: Subject, arm: &ArmResult) -> bool {
        let is_of = |c: &&Comparison| c.base == arm.id || c.other == arm.id;
        let mut own = subject.analysis.comparisons.iter().filter(is_of);
        self == Self::All
            || arm.drift.is_some()
            || arm.modes.is_some()
            || own.any(|c| c.drift.is_some() || c.verdict == Verdict::Invalid)
    }
}

/// The chart of a study; nothing where it has no rounds to be drawn.
pub(super) fn chart(
    subject: Subject,
    study: &str,
    typical_times: &BlockTimes,
    rounds: Rounds,
) -> Option<Chart> {
    let arms = subject.arms_of(study).filter(|(_, arm)| rounds.has(subject, arm));
    let rows = arms.filter_map(|(index, arm)| {
        let blocks = typical_times.arm(index);
        (!blocks.is_empty()).then_some(Row { arm, typical_ns: arm.typical_ns?, blocks })
    });
    let rows: Vec<Row> = rows.collect();
    let reach = reach(&rows)?;
    let mut drawn = Rows::new(marks(typical_times.blocks()));
    let heads = [
        "combination",
        "time",
        "rounds",
        "lowest",
        "quarter",
        "median",
        "three quarters",
        "highest",
    ];
    let mut table = Table::new(1, heads);
    for row in &rows {
        let name = names::of_arm(row.arm);
        drawn.row(&name, &figures(subject, row), HEIGHT, |y| draw(row, reach, y));
        let sorted = sorted(&row.blocks);
        let spread = [0.0, 0.25, 0.5, 0.75, 1.0];
        let spread = spread.map(|share| quantile(&sorted, share).map_or_else(String::new, time));
        let typical = words::typical(subject, row.arm);
        table.add_row([name, typical, count(sorted.len() as u64)].into_iter().chain(spread));
    }
    let about = format!(
        "A row spans ×{} (bottom) to ×{} (top) of the combination's time; rounds beyond are drawn \
         at its edge.",
        three_digits(1.0 / reach),
        three_digits(reach)
    );
    let chart = Chart::new(study, READING.title, drawn.finish(), table);
    Some(chart.about(about).read_by(&READING))
}

/// How far from the typical time a row reaches, as a ratio.
fn reach(rows: &[Row]) -> Option<f64> {
    let all = rows.iter().flat_map(Row::ratios);
    let off: Vec<OfBlock> =
        all.map(|of| OfBlock { value: of.value.ln().abs().exp(), ..of }).collect();
    let [least, most] = REACH;
    quantile(&sorted(&off), SHOWN).map(|reach| reach.clamp(least, most))
}

/// Round numbers of blocks.
fn marks(blocks: usize) -> Vec<Tick> {
    let last = blocks.saturating_sub(1).max(1) as f64;
    let Some(scale) = Scale::from_zero([last]) else { return Vec::new() };
    let is_block = |block: &f64| block.fract() == 0.0 && *block < blocks as f64;
    let whole = scale.ticks().into_iter().filter(is_block);
    let tick = |block: f64| {
        let label = if block == 0.0 { "first round".to_owned() } else { count(block as u64 + 1) };
        Tick { at: block / last, label, is_kept: false }
    };
    whole.map(tick).collect()
}

fn figures(subject: Subject, row: &Row) -> Figures {
    let mut figures = vec![("strong", words::typical(subject, row.arm))];
    if let Some(drift) = &row.arm.drift {
        let [start, end] = [drift.start_ns, drift.end_ns].map(time);
        figures.push(("slower", format!("drifted {start} → {end}")));
    }
    if let Some(modes) = &row.arm.modes {
        let [fast, slow] = [modes.fast_ns, modes.slow_ns].map(time);
        figures.push(("slower wide", format!("two speeds: {fast} and {slow}")));
    }
    figures
}

fn draw(row: &Row, reach: f64, y: f64) -> Markup {
    let down = |ratio: f64| (0.5 - ratio.ln() / reach.ln() / 2.0).clamp(0.0, 1.0);
    let ratios = row.ratios();
    let points = ratios.iter().map(|of| [of.at, down(of.value)]);
    let smooth = running_median(&ratios).into_iter().map(|of| [of.at, down(of.value)]);
    let mut all = Markup::from(level(0.0, 1.0, y + HEIGHT / 2.0, "base"));
    let mut drawn = Markup::from(path("dots", dots(points)));
    drawn.push(path("median", line(smooth)));
    all.push(plot(y, HEIGHT, drawn));
    all
}

fn running_median(values: &[OfBlock]) -> Vec<OfBlock> {
    let window = MEDIAN_OF_MIN.max(values.len() / 12);
    let median = |window: &[OfBlock]| {
        let at = window.iter().map(|of| of.at).sum::<f64>() / window.len() as f64;
        quantile(&sorted(window), 0.5).map(|value| OfBlock { at, value })
    };
    values.windows(window).filter_map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_median_follows_a_drift_and_not_a_stall() {
        let value = |n: usize| if n == 20 { 90.0 } else { 1.0 + n as f64 / 100.0 };
        let blocks: Vec<OfBlock> =
            (0..60).map(|n| OfBlock { at: n as f64 / 59.0, value: value(n) }).collect();
        let medians = running_median(&blocks);
        assert!(medians.iter().all(|of| of.value < 2.0));
        assert!(medians.last().map(|of| of.value) > Some(1.5));
        assert!(running_median(&blocks[..2]).is_empty());
    }

    #[test]
    fn marks_are_numbers_of_blocks() {
        let labels = |blocks| marks(blocks).into_iter().map(|tick| tick.label).collect::<Vec<_>>();
        assert_eq!(labels(101), ["first round", "51", "101"]);
        assert_eq!(labels(1), ["first round"]);
    }
}
