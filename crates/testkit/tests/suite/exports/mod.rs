//! Runs on a simulated machine as tables and metrics for other programs.

#![allow(clippy::unwrap_used, missing_docs)]

mod openmetrics;

use std::collections::BTreeMap;

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::printable::printable;
use model::run::Run;
use model::slice::Latencies;
use report::formats::csv::{Rows, table};

use openmetrics::{Sample, read};

const HOSTILE: &str = "=cmd|'/c calc'!A0\"},{evil=\"1\\\n# EOF\n,;\u{202e}";

/// Appending to a log in two places, with noise.
fn log_run() -> Run {
    log_run_at(&["disk=/var/lib/app", "ram=/dev/shm"])
}

/// The same in some places.
fn log_run_at(places: &[&str]) -> Run {
    let plan = iotoll_testkit::plan(&studies::specs(), &["log"], places, &[]).unwrap();
    let ns = |arm: usize| 4000.0 / (1 + arm % 3) as f64;
    let arms = (0..plan.arms().len()).map(|arm| ArmBehaviour::steady(ns(arm), 0.03)).collect();
    run(&plan, &mut SimulatedRunner::new(arms, 1))
}

/// The same run as somebody wrote it who wants another program to do something.
fn hostile_run() -> Run {
    let mut run = log_run();
    run.places.iter_mut().for_each(|place| HOSTILE.clone_into(&mut place.label));
    for arm in &mut run.plan.arms {
        // They have all of their names in common, too.
        HOSTILE.clone_into(&mut arm.id);
        HOSTILE.clone_into(&mut arm.strategy);
        arm.params = BTreeMap::from([(HOSTILE.to_owned(), HOSTILE.to_owned())]);
    }
    HOSTILE.clone_into(&mut run.run.id);
    HOSTILE.clone_into(&mut run.run.started);
    run.run.seconds = f64::INFINITY;
    run
}

/// The rows of a table by the heads of its columns.
fn rows(run: &Run, rows: Rows) -> Vec<BTreeMap<String, String>> {
    let text = table(run, &analyse(run), rows);
    let mut reader = csv::Reader::from_reader(text.as_slice());
    reader.deserialize().collect::<Result<_, _>>().unwrap()
}

fn figure(row: &BTreeMap<String, String>, head: &str) -> f64 {
    row[head].parse().unwrap()
}

/// The rows of an arm.
fn of_arm<'a>(
    rows: &'a [BTreeMap<String, String>],
    strategy: &str,
    place: &str,
) -> Vec<&'a BTreeMap<String, String>> {
    rows.iter().filter(|row| row["strategy"] == strategy && row["place"] == place).collect()
}

#[test]
fn a_row_for_each_arm_tells_how_it_compares_with_what_is_done_now() {
    let rows = rows(&log_run(), Rows::Arms);
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[0]["ratio_to_now"], "", "it is what is done now");
    for row in &rows[1..] {
        assert_eq!(row["now"], "log/reopen@disk");
        assert!(figure(row, "ratio_to_now") > 0.0);
    }
    let ratio = figure(&rows[1], "toll_ns") / figure(&rows[0], "toll_ns");
    assert!((ratio - figure(&rows[1], "ratio_to_now")).abs() < 1e-9);
}

#[test]
fn a_row_for_each_comparison_has_both_times_and_parameters_are_plain_numbers() {
    let run = log_run();
    let analysis = analyse(&run);
    let rows = rows(&run, Rows::Comparisons);
    assert_eq!(rows.len(), analysis.comparisons.len());
    for (row, comparison) in rows.iter().zip(&analysis.comparisons) {
        assert_eq!([&row["compared_with"], &row["name"]], [&comparison.base, &comparison.other]);
        assert_eq!(row["verdict"], comparison.verdict.as_str());
        assert_eq!(Some(figure(row, "ratio")), comparison.ratio);
        assert!(figure(row, "toll_ns") > 0.0 && figure(row, "compared_toll_ns") > 0.0);
        assert_eq!([&row["param_record_min_bytes"], &row["param_writers"]], ["70", "1"]);
        assert_eq!(row["param_rate_per_second"], "", "max is no number");
    }
}

#[test]
fn a_row_for_each_block_holds_what_its_slices_took() {
    let run = log_run_at(&["disk=/var/lib/app"]);
    let rows = rows(&run, Rows::Blocks);
    let held = run.plan.arms.iter().position(|arm| arm.id == "log/held@disk").unwrap();
    let of_held = of_arm(&rows, "held", "disk");
    // A block has each of three arms three times.
    let mut blocks: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for slice in run.slices_of(held) {
        let (operations, elapsed_ns) = blocks.entry(slice.block().unwrap()).or_default();
        *operations += slice.operations;
        *elapsed_ns += slice.spent.elapsed_ns;
    }
    assert!(blocks.len() > 5 && blocks.len() < run.slices_of(held).count());
    assert_eq!(of_held.len(), blocks.len());
    for (row, (block, (operations, elapsed_ns))) in of_held.iter().zip(blocks) {
        assert_eq!(row["block"], block.to_string());
        assert_eq!(row["operations"], operations.to_string());
        let typical_ns = elapsed_ns as f64 / operations as f64;
        assert!((figure(row, "toll_ns") - typical_ns).abs() < 1e-9);
        assert_eq!(row["untrusted"], "");
    }
}

#[test]
fn a_row_for_each_bucket_counts_every_operation_once() {
    let run = log_run();
    let rows = rows(&run, Rows::Buckets);
    for (index, arm) in run.plan.arms.iter().enumerate() {
        let place = &run.places[arm.place].label;
        let of_arm = of_arm(&rows, &arm.strategy, place);
        let all = Latencies::sum(run.slices_of(index).map(|slice| &slice.latencies));
        let counted: f64 = of_arm.iter().map(|row| figure(row, "operations")).sum();
        assert!((counted - all.count() as f64).abs() < 0.5, "{}", arm.id);
        assert!(of_arm.is_sorted_by_key(|row| figure(row, "latency_ns") as u64));
        let share = figure(of_arm.last().unwrap(), "share_at_most");
        assert!((share - 1.0).abs() < 1e-12, "{share}");
    }
}

#[test]
fn a_spreadsheet_finds_no_formula_and_no_further_cell_in_a_hostile_run() {
    let run = hostile_run();
    for kind in [Rows::Arms, Rows::Blocks, Rows::Buckets] {
        let rows = rows(&run, kind);
        assert!(!rows.is_empty());
        for row in &rows {
            assert_eq!(row["strategy"], format!("'{}", printable(HOSTILE)));
            let formula = row.values().find(|cell| cell.starts_with(['=', '@', '+']));
            assert_eq!(formula, None);
        }
    }
}

/// The value of the one sample that has these labels.
fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> f64 {
    let has = |sample: &&Sample| {
        sample.name == name && labels.iter().all(|(label, value)| sample.labels[*label] == *value)
    };
    let found: Vec<f64> = samples.iter().filter(has).map(|sample| sample.value).collect();
    assert_eq!(found.len(), 1, "{name} {labels:?}");
    found[0]
}

#[test]
fn metrics_are_those_of_the_run_in_base_units() {
    let run = log_run();
    let analysis = analyse(&run);
    let samples = read(&report::formats::openmetrics::text(&run, &analysis)).unwrap();
    let arm = analysis.arm("log/held@ram").unwrap();
    let held = [("strategy", "held"), ("place", "ram")];
    let typical = value(&samples, "iotoll_toll_seconds", &held);
    assert!((typical - arm.typical_ns.unwrap() / 1e9).abs() < 1e-15);
    let index = run.plan.arms.iter().position(|planned| planned.id == arm.id).unwrap();
    let latencies: u64 = run.slices_of(index).map(|slice| slice.latencies.count()).sum();
    let count = value(&samples, "iotoll_latency_seconds_count", &held);
    assert!((count - latencies as f64).abs() < 0.5);
    let longest = [held[0], held[1], ("q", "1.0")];
    let longest = value(&samples, "iotoll_latency_quantile_seconds", &longest);
    assert!((longest - arm.time_per_op_ns.unwrap().max / 1e9).abs() < 1e-15);
    let against = analysis.comparisons.iter().find(|c| c.other == arm.id).unwrap();
    let of = [held[0], held[1], ("base", against.base.as_str())];
    let ratio = value(&samples, "iotoll_toll_ratio", &of);
    assert!((ratio - against.ratio.unwrap()).abs() < 1e-12);
    let verdict = [of[0], of[1], of[2], ("verdict", against.verdict.as_str())];
    assert!((value(&samples, "iotoll_verdict", &verdict) - 1.0).abs() < 1e-12);
    let began = value(&samples, "iotoll_run_start_time_seconds", &[]);
    assert!((began - 1_767_225_600.0).abs() < 1e-6, "{began}");
}

#[test]
fn hostile_runs_and_empty_ones_are_valid_metrics_too() {
    let run = hostile_run();
    let text = report::formats::openmetrics::text(&run, &analyse(&run));
    let samples = read(&text).unwrap();
    let typical_times = samples.iter().filter(|sample| sample.name == "iotoll_toll_seconds");
    let strategies: Vec<&str> =
        typical_times.map(|sample| sample.labels["strategy"].as_str()).collect();
    assert_eq!(strategies.len(), 1, "arms of one name are one");
    assert!(strategies[0].starts_with("=cmd|"));
    assert!(samples.iter().all(|sample| !sample.labels.contains_key("evil")));
    let mut empty = log_run();
    empty.slices.clear();
    let text = report::formats::openmetrics::text(&empty, &analyse(&empty));
    assert!(text.contains("iotoll_run_blocks"));
    read(&text).unwrap();
}

#[test]
fn the_reader_of_metrics_is_strict() {
    let valid = "# HELP a_seconds x\n# TYPE a_seconds gauge\n# UNIT a_seconds seconds\n\
                 a_seconds{b=\"\\\\\\\"\\n\"} 1e-09\n# EOF\n";
    assert_eq!(read(valid).unwrap()[0].labels["b"], "\\\"\n");
    for (from, to) in [
        ("# EOF\n", ""),
        ("# EOF\n", "# EOF\n\n"),
        ("# UNIT a_seconds seconds", "# UNIT a_seconds bytes"),
        ("gauge", "info"),
        ("1e-09", "1e-09 1767225600"),
        ("1e-09", "one"),
        ("b=", "0b="),
        ("\\n\"", "\\t\""),
        ("# HELP a_seconds x\n", ""),
        ("# EOF", "# HELP a_seconds x\n# EOF"),
        ("# EOF", "a_seconds{b=\"\\\\\\\"\\n\"} 2\n# EOF"),
        ("a_seconds{", "a{"),
    ] {
        assert!(valid.contains(from), "{from}");
        assert!(read(&valid.replacen(from, to, 1)).is_err(), "{from:?} as {to:?}");
    }
}

#[test]
fn the_reader_of_metrics_wants_whole_histograms() {
    let buckets = "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"1.0\"} 2\n\
                   h_bucket{le=\"+Inf\"} 3\nh_count{a=\"\"} 3\nh_sum{a=\"\"} 4\n# EOF\n";
    assert!(read(buckets).is_err(), "the buckets are of another metric");
    let buckets = buckets.replace("{le=", "{a=\"\",le=");
    read(&buckets).unwrap();
    for (from, to) in
        [("1.0\"} 2", "1.0\"} 4"), ("+Inf", "2.0"), ("_count{a=\"\"} 3", "_count{a=\"\"} 4")]
    {
        assert!(read(&buckets.replacen(from, to, 1)).is_err(), "{from:?} as {to:?}");
    }
}
