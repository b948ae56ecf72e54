//! A run as comma-separated values, for charts and spreadsheets: a row for each arm, for each
//! arm in each block, for each bucket of the arms' latency histograms, or for each comparison.
//!
//! Every table begins with the columns that name the arm, and ends with one for each parameter
//! and the label that the user gave its study. Times are in nanoseconds, sizes in
//! bytes, and what is not known is empty. A text stands in one line, and has
//! an apostrophe before it where a spreadsheet would take it for a formula, or a build server
//! for a command.

use std::borrow::Cow;

use csv::Writer;
use model::analysis::{Analysis, ArmResult, Comparison, Latency};
use model::arm::Axis;
use model::printable::{printable, without_commands};
use model::run::Run;
use model::slice::Slice;

use super::parameters::Parameters;

/// What a row of the table is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// An arm, in the order of the plan, with how it compares with what is done now.
    #[default]
    Arms,
    /// An arm in a block, block by block.
    Blocks,
    /// A bucket of an arm's latency histogram, the shortest latencies first.
    Buckets,
    /// Two arms that were compared, in the order of the plan; the row is of the second.
    Comparisons,
}

/// The columns that name an arm.
const ARM: [&str; 4] = ["study", "strategy", "place", "parameters"];
/// The last column of every table: what the user calls the study.
const LABEL: &str = "label";
/// The columns of the three tables that follow.
const OF_ARM: [&str; 15] = [
    "slices",
    "operations",
    "toll_ns",
    "mean_ns",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "cpu_ns",
    "now",
    "ratio_to_now",
    "ratio_low",
    "ratio_high",
    "verdict",
];
const OF_BLOCK: [&str; 16] = [
    "block",
    "operations",
    "elapsed_ns",
    "toll_ns",
    "p50_ns",
    "p99_ns",
    "max_ns",
    "user_ns",
    "system_ns",
    "sync_ns",
    "sync_calls",
    "requested_bytes",
    "device_read_bytes",
    "device_written_bytes",
    "failed",
    "untrusted",
];
const OF_COMPARISON: [&str; 18] = [
    "name",
    "compared_with",
    "differs_in",
    "toll_ns",
    "compared_toll_ns",
    "ratio",
    "ratio_low",
    "ratio_high",
    "confidence",
    "threshold",
    "verdict",
    "saves_ns_per_op",
    "rounds",
    "p99_ratio",
    "p99_ratio_low",
    "p99_ratio_high",
    "p99_verdict",
    "why",
];
const OF_BUCKET: [&str; 3] = ["latency_ns", "operations", "share_at_most"];

/// The table, with a line of heads.
pub fn table(run: &Run, analysis: &Analysis, rows: Rows) -> Vec<u8> {
    let parameters = Parameters::of(run, analysis);
    let of = |arm: &ArmResult| parameters.cells(run, arm);
    match rows {
        Rows::Arms => written(&OF_ARM, &parameters, of, arms(run, analysis)),
        Rows::Blocks => written(&OF_BLOCK, &parameters, of, blocks(run, analysis)),
        Rows::Buckets => written(&OF_BUCKET, &parameters, of, buckets(run, analysis)),
        Rows::Comparisons => written(&OF_COMPARISON, &parameters, of, comparisons(run, analysis)),
    }
}

/// What a row has behind the arm's name.
type Cells = Vec<String>;

fn written<'a>(
    heads: &[&str],
    parameters: &Parameters,
    of_parameters: impl Fn(&ArmResult) -> Cells,
    rows: impl Iterator<Item = (&'a ArmResult, Cells)>,
) -> Vec<u8> {
    let mut table = Writer::from_writer(Vec::new());
    // Memory takes all that is written to it.
    let all = ARM.into_iter().chain(heads.iter().copied()).chain(parameters.heads());
    let _ = table.write_record(all.chain([LABEL]).map(|head| plain(head).into_owned()));
    for (arm, cells) in rows {
        let label = [arm.label.clone().unwrap_or_default()];
        let cells = name(arm).into_iter().chain(cells).chain(of_parameters(arm)).chain(label);
        let _ = table.write_record(cells.map(|text| plain(&text).into_owned()));
    }
    table.into_inner().unwrap_or_default()
}

fn name(arm: &ArmResult) -> [String; ARM.len()] {
    let params: Vec<String> =
        arm.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    [arm.study.clone(), arm.strategy.clone(), arm.place.clone(), params.join("; ")]
}

/// A text that no spreadsheet takes for a formula, and no build server for a command.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let may_be_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let is_formula = may_be_formula && text.parse::<f64>().is_err();
    let text = printable(text);
    if is_formula || without_commands(&text) != text {
        return Cow::Owned(format!("'{text}"));
    }
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn whole(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn arms<'a>(run: &Run, analysis: &'a Analysis) -> impl Iterator<Item = (&'a ArmResult, Cells)> {
    analysis.arms.iter().enumerate().map(|(index, arm)| {
        let against_now = analysis
            .comparisons
            .iter()
            .zip(&run.plan.pairs)
            .find(|(c, pair)| pair.other == index && analysis.is_now(&c.base));
        (arm, of_arm(arm, against_now.map(|(comparison, _)| comparison)))
    })
}

fn of_arm(arm: &ArmResult, comparison: Option<&Comparison>) -> Cells {
    let of = |pick: fn(Latency) -> f64| number(arm.time_per_op_ns.map(pick));
    let cpu = arm.cpu_ns_per_op;
    vec![
        arm.slices.to_string(),
        arm.operations.to_string(),
        number(arm.typical_ns),
        of(|l| l.mean),
        of(|l| l.p50),
        of(|l| l.p90),
        of(|l| l.p99),
        of(|l| l.p999),
        of(|l| l.max),
        number(Some(cpu.user + cpu.system)),
        comparison.map_or_else(String::new, |c| c.base.clone()),
        number(comparison.and_then(|c| c.ratio)),
        number(comparison.and_then(|c| c.ratio_low)),
        number(comparison.and_then(|c| c.ratio_high)),
        comparison.map_or_else(String::new, |c| c.verdict.as_str().to_owned()),
    ]
}

fn comparisons<'a>(
    run: &'a Run,
    analysis: &'a Analysis,
) -> impl Iterator<Item = (&'a ArmResult, Cells)> {
    analysis.comparisons.iter().zip(&run.plan.pairs).filter_map(|(comparison, pair)| {
        let [base, other] = [pair.base, pair.other].map(|arm| analysis.arms.get(arm));
        Some((other?, of_comparison(comparison, base?, other?)))
    })
}

fn of_comparison(comparison: &Comparison, base: &ArmResult, other: &ArmResult) -> Cells {
    let Comparison { ratio, ratio_low, ratio_high, p99, .. } = comparison;
    let axis = match comparison.axis {
        Axis::Place => "place",
        Axis::Strategy => "strategy",
        Axis::Both => "both",
    };
    vec![
        other.id.clone(),
        base.id.clone(),
        axis.to_owned(),
        number(other.typical_ns),
        number(base.typical_ns),
        number(*ratio),
        number(*ratio_low),
        number(*ratio_high),
        comparison.confidence.to_string(),
        comparison.threshold.to_string(),
        comparison.verdict.as_str().to_owned(),
        number(comparison.saves_ns_per_op),
        comparison.blocks.to_string(),
        number(p99.ratio),
        number(p99.ratio_low),
        number(p99.ratio_high),
        p99.verdict.as_str().to_owned(),
        comparison.why.clone().unwrap_or_default(),
    ]
}

fn blocks<'a>(
    run: &'a Run,
    analysis: &'a Analysis,
) -> impl Iterator<Item = (&'a ArmResult, Cells)> {
    let tick_ns = run.floor.tick_ns;
    run.blocks().flat_map(move |block| {
        let number = block.first().and_then(Slice::block).unwrap_or_default();
        let cells = move |slice: &Slice| of_block(slice, number, tick_ns);
        Slice::by_arm(block)
            .into_iter()
            .filter_map(move |(arm, slice)| Some((analysis.arms.get(arm)?, cells(&slice))))
    })
}

fn of_block(slice: &Slice, block: usize, tick_ns: f64) -> Cells {
    let Slice { spent, outcome, latencies, .. } = slice;
    // Where nothing was timed, a quantile would be 0.
    let is_timed = latencies.count() > 0;
    let time = |ticks: f64| number(is_timed.then_some(ticks * tick_ns));
    vec![
        block.to_string(),
        slice.operations.to_string(),
        spent.elapsed_ns.to_string(),
        number(Some(slice.score_ns())),
        time(latencies.quantile(0.5)),
        time(latencies.quantile(0.99)),
        time(latencies.max as f64),
        spent.user_ns.to_string(),
        spent.system_ns.to_string(),
        spent.sync_ns.to_string(),
        spent.sync_calls.to_string(),
        spent.requested_bytes.to_string(),
        whole(spent.device.map(|device| device.read_bytes)),
        whole(spent.device.map(|device| device.written_bytes)),
        whole(outcome.failed),
        outcome.untrusted.clone().unwrap_or_default(),
    ]
}

fn buckets<'a>(
    run: &'a Run,
    analysis: &'a Analysis,
) -> impl Iterator<Item = (&'a ArmResult, Cells)> {
    analysis.arms.iter().zip(run.latencies_by_arm()).flat_map(move |(arm, all)| {
        let (count, tick_ns) = (all.count() as f64, run.floor.tick_ns);
        let cumulated = all.buckets.into_iter().scan(0, |seen, (ticks, times)| {
            *seen += times;
            Some((ticks, times, *seen))
        });
        cumulated.map(move |(ticks, times, seen)| {
            let latency = number(Some(ticks as f64 * tick_ns));
            (arm, vec![latency, times.to_string(), number(Some(seen as f64 / count))])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_looks_like_a_formula_is_no_formula() {
        for text in ["=1+1", "+cmd", "-cmd", "@SUM(A1)", " ::error::x"] {
            assert_eq!(plain(text), format!("'{text}"));
        }
        assert_eq!([plain("\tx"), plain("\rx"), plain("a\nb")], ["'\\tx", "'\\rx", "a\\nb"]);
        for text in ["held", "-1.5", "a=b", ""] {
            assert_eq!(plain(text), text);
        }
    }
}
