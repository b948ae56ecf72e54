//! A run as comma-separated values, a row for each arm, for charts and spreadsheets.
//!
//! Times are in nanoseconds. What is not known is empty. A text that begins like a formula
//! of a spreadsheet keeps its letters: labels and strategies cannot, and values of
//! parameters stand behind their names.

use csv::Writer;
use model::analysis::{Analysis, ArmResult, Comparison};
use model::run::Run;

/// The heads of the columns.
const HEADS: [&str; 19] = [
    "study",
    "strategy",
    "place",
    "parameters",
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

/// A row for each arm, in the order of the plan, with how it compares with what is done now.
pub fn arms(run: &Run, analysis: &Analysis) -> Vec<u8> {
    let mut table = Writer::from_writer(Vec::new());
    // Memory takes all that is written to it.
    let _ = table.write_record(HEADS);
    for (index, arm) in analysis.arms.iter().enumerate() {
        let against_now = analysis.comparisons.iter().zip(&run.plan.pairs).find(|(c, pair)| {
            pair.other == index && analysis.answers.iter().any(|answer| answer.now == c.base)
        });
        let _ = table.write_record(row(arm, against_now.map(|(comparison, _)| comparison)));
    }
    table.into_inner().unwrap_or_default()
}

fn row(arm: &ArmResult, comparison: Option<&Comparison>) -> [String; HEADS.len()] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let latency = arm.time_per_op_ns;
    let of = |pick: fn(model::analysis::Latency) -> f64| number(latency.map(pick));
    let params: Vec<String> =
        arm.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let cpu = arm.cpu_ns_per_op;
    [
        arm.study.clone(),
        arm.strategy.clone(),
        arm.place.clone(),
        params.join("; "),
        arm.slices.to_string(),
        arm.operations.to_string(),
        number(arm.toll_ns),
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
