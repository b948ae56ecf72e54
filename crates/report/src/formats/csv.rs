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
use model::analysis::{Analysis, ArmResult, Comparison};
use model::arm::Axis;
use model::printable::{printable, without_commands};
use model::run::Run;
use model::slice::{Latencies, Slice};

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
/// A column of one of the tables: its head, and what it has of an arm's row.
type Column<R> = (&'static str, fn(&ArmResult, &R) -> String);

/// The table, with a line of heads.
pub fn table(run: &Run, analysis: &Analysis, rows: Rows) -> Vec<u8> {
    let parameters = Parameters::of(run, analysis);
    let of = |arm: &ArmResult| parameters.cells(run, arm);
    match rows {
        Rows::Arms => written(&of_arm(), &parameters, of, arms(analysis)),
        Rows::Blocks => written(&of_block(), &parameters, of, blocks(run, analysis)),
        Rows::Buckets => written(&OF_BUCKET, &parameters, of, buckets(run, analysis)),
        Rows::Comparisons => written(&of_comparison(), &parameters, of, comparisons(run, analysis)),
    }
}

fn written<'a, R>(
    columns: &[Column<R>],
    parameters: &Parameters,
    of_parameters: impl Fn(&ArmResult) -> Vec<String>,
    rows: impl Iterator<Item = (&'a ArmResult, R)>,
) -> Vec<u8> {
    let mut table = Writer::from_writer(Vec::new());
    // Memory takes all that is written to it.
    let all =
        ARM.into_iter().chain(columns.iter().map(|(head, _)| *head)).chain(parameters.heads());
    let _ = table.write_record(all.chain([LABEL]).map(|head| plain(head).into_owned()));
    for (arm, row) in rows {
        let cells = columns.iter().map(|(_, cell)| cell(arm, &row));
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

/// Nothing where nothing is known.
fn known<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Each with how it compares with what is done now.
fn arms(analysis: &Analysis) -> impl Iterator<Item = (&ArmResult, Option<&Comparison>)> {
    analysis.arms.iter().map(|arm| (arm, analysis.against_now(&arm.id)))
}

fn of_arm<'a>() -> [Column<Option<&'a Comparison>>; 15] {
    [
        ("slices", |arm, _| arm.slices.to_string()),
        ("operations", |arm, _| arm.operations.to_string()),
        ("toll_ns", |arm, _| known(arm.typical_ns)),
        ("mean_ns", |arm, _| known(arm.time_per_op_ns.map(|all| all.mean))),
        ("p50_ns", |arm, _| known(arm.time_per_op_ns.map(|all| all.p50))),
        ("p90_ns", |arm, _| known(arm.time_per_op_ns.map(|all| all.p90))),
        ("p99_ns", |arm, _| known(arm.time_per_op_ns.map(|all| all.p99))),
        ("p999_ns", |arm, _| known(arm.time_per_op_ns.map(|all| all.p999))),
        ("max_ns", |arm, _| known(arm.time_per_op_ns.map(|all| all.max))),
        ("cpu_ns", |arm, _| (arm.cpu_ns_per_op.user + arm.cpu_ns_per_op.system).to_string()),
        ("now", |_, against| known(against.map(|c| &c.base))),
        ("ratio_to_now", |_, against| known(against.and_then(|c| c.ratio))),
        ("ratio_low", |_, against| known(against.and_then(|c| c.ratio_low))),
        ("ratio_high", |_, against| known(against.and_then(|c| c.ratio_high))),
        ("verdict", |_, against| known(against.map(|c| c.verdict.as_str()))),
    ]
}

/// Each with the arm that the row's is compared with.
type Compared<'a> = (&'a Comparison, &'a ArmResult);

fn comparisons<'a>(
    run: &'a Run,
    analysis: &'a Analysis,
) -> impl Iterator<Item = (&'a ArmResult, Compared<'a>)> {
    analysis.comparisons.iter().zip(&run.plan.pairs).filter_map(|(comparison, pair)| {
        let [base, other] = [pair.base, pair.other].map(|arm| analysis.arms.get(arm));
        Some((other?, (comparison, base?)))
    })
}

fn of_comparison<'a>() -> [Column<Compared<'a>>; 18] {
    [
        ("name", |other, _| other.id.clone()),
        ("compared_with", |_, (_, base)| base.id.clone()),
        ("differs_in", |_, (c, _)| axis(c.axis).to_owned()),
        ("toll_ns", |other, _| known(other.typical_ns)),
        ("compared_toll_ns", |_, (_, base)| known(base.typical_ns)),
        ("ratio", |_, (c, _)| known(c.ratio)),
        ("ratio_low", |_, (c, _)| known(c.ratio_low)),
        ("ratio_high", |_, (c, _)| known(c.ratio_high)),
        ("confidence", |_, (c, _)| c.confidence.to_string()),
        ("threshold", |_, (c, _)| c.threshold.to_string()),
        ("verdict", |_, (c, _)| c.verdict.as_str().to_owned()),
        ("saves_ns_per_op", |_, (c, _)| known(c.saves_ns_per_op)),
        ("rounds", |_, (c, _)| c.blocks.to_string()),
        ("p99_ratio", |_, (c, _)| known(c.p99.ratio)),
        ("p99_ratio_low", |_, (c, _)| known(c.p99.ratio_low)),
        ("p99_ratio_high", |_, (c, _)| known(c.p99.ratio_high)),
        ("p99_verdict", |_, (c, _)| c.p99.verdict.as_str().to_owned()),
        ("why", |_, (c, _)| known(c.why.as_deref())),
    ]
}

fn axis(axis: Axis) -> &'static str {
    match axis {
        Axis::Place => "place",
        Axis::Strategy => "strategy",
        Axis::Both => "both",
    }
}

/// What an arm did in a block.
struct InBlock<'a> {
    number: usize,
    slice: Cow<'a, Slice>,
    tick_ns: f64,
}

impl InBlock<'_> {
    /// Nothing where nothing was timed: a quantile would be 0.
    fn time(&self, ticks: fn(&Latencies) -> f64) -> String {
        let latencies = &self.slice.latencies;
        known((latencies.count() > 0).then(|| ticks(latencies) * self.tick_ns))
    }
}

fn blocks<'a>(
    run: &'a Run,
    analysis: &'a Analysis,
) -> impl Iterator<Item = (&'a ArmResult, InBlock<'a>)> {
    let tick_ns = run.floor.tick_ns;
    run.blocks().flat_map(move |block| {
        let number = block.first().and_then(Slice::block).unwrap_or_default();
        Slice::by_arm(block).into_iter().filter_map(move |(arm, slice)| {
            Some((analysis.arms.get(arm)?, InBlock { number, slice, tick_ns }))
        })
    })
}

fn of_block<'a>() -> [Column<InBlock<'a>>; 16] {
    [
        ("block", |_, row| row.number.to_string()),
        ("operations", |_, row| row.slice.operations.to_string()),
        ("elapsed_ns", |_, row| row.slice.spent.elapsed_ns.to_string()),
        ("toll_ns", |_, row| row.slice.score_ns().to_string()),
        ("p50_ns", |_, row| row.time(|ticks| ticks.quantile(0.5))),
        ("p99_ns", |_, row| row.time(|ticks| ticks.quantile(0.99))),
        ("max_ns", |_, row| row.time(|ticks| ticks.max as f64)),
        ("user_ns", |_, row| row.slice.spent.user_ns.to_string()),
        ("system_ns", |_, row| row.slice.spent.system_ns.to_string()),
        ("sync_ns", |_, row| row.slice.spent.sync_ns.to_string()),
        ("sync_calls", |_, row| row.slice.spent.sync_calls.to_string()),
        ("requested_bytes", |_, row| row.slice.spent.requested_bytes.to_string()),
        ("device_read_bytes", |_, row| known(row.slice.spent.device.map(|it| it.read_bytes))),
        ("device_written_bytes", |_, row| known(row.slice.spent.device.map(|it| it.written_bytes))),
        ("failed", |_, row| known(row.slice.outcome.failed)),
        ("untrusted", |_, row| known(row.slice.outcome.untrusted.as_deref())),
    ]
}

/// A latency, how many operations took it, and the share of those that took no longer.
type Bucket = (f64, u64, f64);

const OF_BUCKET: [Column<Bucket>; 3] = [
    ("latency_ns", |_, (ns, _, _)| ns.to_string()),
    ("operations", |_, (_, times, _)| times.to_string()),
    ("share_at_most", |_, (_, _, share)| share.to_string()),
];

fn buckets<'a>(
    run: &'a Run,
    analysis: &'a Analysis,
) -> impl Iterator<Item = (&'a ArmResult, Bucket)> {
    analysis.arms.iter().zip(run.latencies_by_arm()).flat_map(move |(arm, all)| {
        let (count, tick_ns) = (all.count() as f64, run.floor.tick_ns);
        let cumulated = all.buckets.into_iter().scan(0, |seen, (ticks, times)| {
            *seen += times;
            Some((ticks, times, *seen))
        });
        cumulated.map(move |(ticks, times, seen)| {
            (arm, (ticks as f64 * tick_ns, times, seen as f64 / count))
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
