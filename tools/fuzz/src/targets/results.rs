//! Saved results: read, analysed, and printed in every form.

use std::sync::LazyLock;

use analysis::{Analysed, Judged, analyse};
use load::analyse_load;
use model::analysis::Analysis;
use model::document::{self, Document, json_schema_of};
use model::load::{AnalysedStep, LoadRun};
use model::matching::Matching;
use model::plan::Draft;
use model::run::Run;
use model::selftest::SelftestResult;
use model::{anonymous, diff::Diff};
use report::formats::csv::{Rows, table};
use report::html::{Sheet, page, record};
use report::load::{Layout, render};
use report::terminal::{Rest, report};
use serde_json::Value;

use super::{checks, seeds};
use crate::Target;
use crate::mutate::Form;
use crate::mutate::schema::Schema;

const WORDS: &[&str] = &[
    "log",
    "held",
    "reopen",
    "disk",
    "ram",
    "ext4",
    "tmpfs",
    "log/held@disk",
    "tsc",
    "iotoll.result/2",
    "uniform 50 B..500 B",
    "max",
    "sync_ns",
];
/// Of a terminal, from the narrowest to the widest that is written for.
const WIDTHS: [usize; 3] = [40, 80, 100];
/// Fields of a result file that nobody reads: they follow from the record.
const FOLLOWS: [&str; 5] = ["arms", "comparisons", "noise", "scaling", "reproduction"];
/// A page's record is no larger than this.
const RECORD_BYTES_MAX: u64 = 64 << 20;

pub(super) fn all() -> Vec<Target> {
    let target =
        |name, form, seeds, run| Target::new(name, 100, form, seeds, run).bytes_max(1 << 16);
    let of_documents = || Form::Json(Schema::new(of_record(json_schema_of::<Document>()), WORDS));
    let of_loads = || Form::Json(Schema::new(json_schema_of::<LoadRun<AnalysedStep>>(), WORDS));
    let of_selftests = || Form::Json(Schema::new(json_schema_of::<SelftestResult>(), WORDS));
    let selftests = || vec![include_bytes!("../../seeds/selftest.json").to_vec()];
    vec![
        target("page", of_documents, seeds::comparisons, page_of),
        target("diff", of_documents, seeds::comparisons, diff),
        target("result", of_documents, seeds::comparisons, result),
        target("load", of_loads, loads, load),
        target("selftest", of_selftests, selftests, selftest),
    ]
}

/// A schema without the fields that follow from the record.
fn of_record(mut schema: Value) -> Value {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, _| !FOLLOWS.contains(&name.as_str()));
    }
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| !FOLLOWS.iter().any(|follows| name == follows));
    }
    schema
}

fn read(bytes: &[u8]) -> Option<Run> {
    match Run::read(str::from_utf8(bytes).ok()?) {
        Ok(run) => Some(run),
        Err(error) => {
            checks::message(&error.to_string());
            None
        }
    }
}

/// The width to print an input for. Printing for one of them allows three times the inputs.
fn width(bytes: &[u8]) -> usize {
    WIDTHS[bytes.len() % WIDTHS.len()]
}

/// Prints a run in all forms but HTML.
fn result(bytes: &[u8]) -> bool {
    let Some(run) = read(bytes) else { return false };
    shown(&run, width(bytes));
    true
}

fn shown(run: &Run, width: usize) {
    let analysis = analyse(run);
    for rest in [Rest::LATEST, Rest::Nowhere, Rest::Below] {
        checks::printed("a report", &report(run, &analysis, rest, width));
    }
    checks::printed("a run in short", &report::so_far(run, &analysis, width, 20));
    checks::printed("places", &report::places(&run.places, &run.machine, width));
    checks::printed("a tree of places", &report::places_tree(&run.places, &run.machine, width));
    checks::plain("a line", &report::in_short(run, &analysis));
    checks::markdown("Markdown", &report::formats::markdown::text(run, &analysis));
    checks::metrics("OpenMetrics", &report::formats::openmetrics::text(run, &analysis));
    for rows in [Rows::Arms, Rows::Blocks, Rows::Buckets] {
        checks::table("a table", &String::from_utf8_lossy(&table(run, &analysis, rows)));
    }
    if let Some(text) = report::articles(&[(run, &analysis)]) {
        checks::printed("an article", &text);
    }
    let mut file = Vec::new();
    assert!(document::write(&Document::new(run, &analysis), &mut file).is_ok(), "a file: it fails");
}

/// Makes a page of a run, and reads its record back.
fn page_of(bytes: &[u8]) -> bool {
    let Some(run) = read(bytes) else { return false };
    let analysis = analyse(&run);
    let text = page(&[Sheet::Comparison { run: &run, analysis: &analysis }]);
    checks::markup("a page", &text);
    let again = record::read(&text, None, RECORD_BYTES_MAX);
    let again = again.ok().and_then(|bytes| Run::read(str::from_utf8(&bytes).ok()?).ok());
    assert!(again.is_some(), "a page: its record cannot be read");
    true
}

/// Compares a run with an intact one, plans it again, and shares it.
fn diff(bytes: &[u8]) -> bool {
    static WHOLE: LazyLock<Option<(Run, Analysis)>> = LazyLock::new(|| {
        let run = Run::read(seeds::LOG).ok()?;
        let analysis = analyse(&run);
        Some((run, analysis))
    });
    let Some((run, (whole, of_whole))) = read(bytes).zip(WHOLE.as_ref()) else { return false };
    let analysis = analyse(&run);
    let sides =
        [Analysed { run: whole, analysis: of_whole }, Analysed { run: &run, analysis: &analysis }];
    let judged = Judged { threshold: run.plan.threshold, error_rate: run.plan.error_rate };
    for [before, after] in [[sides[0], sides[1]], [sides[1], sides[0]]] {
        let diff = analysis::diff(before, after, &Matching::default(), judged, &mut |_| {
            vec![1.0, 2.0, 3.0, 4.0, 5.0]
        });
        compared(&diff, width(bytes));
    }
    if let Ok(plan) = Draft::of_run(&run, &studies::specs()).and_then(|draft| draft.finish(1)) {
        let _ = plan.check_against(&run);
    }
    shown(&anonymous::without_names(run.with_threshold(0.01).with_per_second(1e6)), width(bytes));
    true
}

fn compared(diff: &Diff, width: usize) {
    checks::printed("a difference", &report::diff(diff, width));
    let gate = report::ci::Gate { diff: Some(diff), ..report::ci::Gate::default() };
    checks::plain("annotations", &gate.github());
    let junit = gate.junit();
    checks::plain("JUnit", &junit);
    checks::markup("JUnit", &junit);
}

fn loads() -> Vec<Vec<u8>> {
    let saved: [&[u8]; 2] =
        [include_bytes!("../../seeds/load.json"), include_bytes!("../../seeds/max.json")];
    saved.map(<[u8]>::to_vec).to_vec()
}

fn load(bytes: &[u8]) -> bool {
    let Some(run) = str::from_utf8(bytes).ok().and_then(|text| LoadRun::read(text).ok()) else {
        return false;
    };
    loaded(&run);
    loaded(&anonymous::load_without_names(run));
    true
}

fn loaded(run: &LoadRun) {
    let analysis = analyse_load(run);
    for layout in [Layout::Plain, Layout::Httperf, Layout::Ab] {
        checks::printed("a load", &render(layout, run, &analysis));
    }
    checks::markup("a page of a load", &page(&[Sheet::Load { run, analysis: &analysis }]));
    assert!(serde_json::to_vec(&run.with_analysis(&analysis)).is_ok(), "a file: it fails");
}

fn selftest(bytes: &[u8]) -> bool {
    let text = str::from_utf8(bytes).ok();
    let Some(result) = text.and_then(|text| SelftestResult::read(text).ok()) else { return false };
    for width in WIDTHS {
        checks::printed("a selftest", &report::selftest::report(&result, width));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_that_no_machine_made_can_be_read() {
        let all = seeds::comparisons();
        assert_eq!(all.len(), 6);
        for seed in &all {
            let text = str::from_utf8(seed).expect("it is text");
            let run = Run::read(text);
            assert!(run.is_ok() && seed.len() < 40_000, "{} bytes: {:?}", seed.len(), run.err());
        }
    }
}
