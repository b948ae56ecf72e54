//! Results of each kind with something in every field, and everything that is made of them.

#![allow(dead_code, missing_docs)]

use analysis::{Analysed, Judged, analyse};
use load::analyse_load;
use model::analysis::Analysis;
use model::anonymous::{load_without_names, without_names};
use model::document::{self, Document};
use model::load::LoadRun;
use model::matching::Matching;
use model::plan::Draft;
use model::printable::without_commands;
use model::run::Run;
use model::selftest::SelftestResult;
use report::formats::{Content, FORMATS, Format, Variant};
use report::html::{Sheet, page};
use report::load::Layout;
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) mod records;

/// What an output is read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A person at a terminal.
    Terminal,
    Html,
    Markdown,
    Csv,
    OpenMetrics,
    Json,
    Xml,
    /// What else is text.
    Other,
    /// A build server, which obeys it.
    Commands,
}

/// An output of a result.
pub(crate) struct Output {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) text: String,
}

fn output(name: &'static str, form: Form, text: impl Into<String>) -> Output {
    Output { name, form, text: text.into() }
}

/// A report, as the program prints it.
fn printed(name: &'static str, report: &str) -> Output {
    output(name, Form::Terminal, without_commands(report))
}

fn json(name: &'static str, value: &impl Serialize) -> Output {
    let mut text = Vec::new();
    document::write(value, &mut text).unwrap();
    output(name, Form::Json, String::from_utf8(text).unwrap())
}

/// A result in a format, where that applies to it and is text.
fn file(variant: Variant, content: Content<'_>) -> Option<Output> {
    let name = variant.format.flag;
    let form = match name {
        "json" => Form::Json,
        "csv" => Form::Csv,
        "openmetrics" => Form::OpenMetrics,
        "html" => Form::Html,
        "markdown" => Form::Markdown,
        _ => Form::Other,
    };
    let text = String::from_utf8(variant.write(content)?.unwrap());
    assert!(text.is_ok() || form == Form::Other, "{name} is not UTF-8");
    Some(output(name, form, text.ok()?))
}

/// Which outputs are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// Without those that have no figures but such as another has.
    OfNumbers,
}

/// The run that another is compared with. It is analysed once, since it is always the same.
pub(crate) struct Other {
    run: Run,
    analysis: Analysis,
}

impl Other {
    pub(crate) fn measured() -> Self {
        let run = records::measured();
        Self { analysis: analyse(&run), run }
    }
}

/// Reads a result of any kind as `show` does, and makes everything of it; what is wrong with
/// it, where it is refused.
pub(crate) fn outputs(text: &str, other: &Other, which: Which) -> Result<Vec<Output>, String> {
    let schema = document::schema_of(text).map_err(|error| error.to_string())?;
    match schema.as_str() {
        model::load::SCHEMA => {
            LoadRun::read(text).map(|run| of_load(&run)).map_err(|error| error.to_string())
        }
        model::selftest::SCHEMA => SelftestResult::read(text)
            .map(|result| of_selftest(&result))
            .map_err(|error| error.to_string()),
        _ => {
            Run::read(text).map(|run| of_run(&run, other, which)).map_err(|error| error.to_string())
        }
    }
}

fn of_run(run: &Run, other: &Other, which: Which) -> Vec<Output> {
    let analysis = analyse(run);
    let one = Analysed { run, analysis: &analysis };
    let two = Analysed { run: &other.run, analysis: &other.analysis };
    let sheet = |Analysed { run, analysis }| Sheet::Comparison { run, analysis };
    let shared = without_names(run.clone());
    let mut all = vec![
        printed(
            "show --full",
            &report::terminal::report(run, &analysis, report::terminal::Rest::Below, 80),
        ),
        printed("while it runs", &report::so_far(run, &analysis, 80, 40)),
        printed("places as a tree", &report::places_tree(&run.places, &run.machine, 80)),
        json("share", &Document::new(&shared, &analyse(&shared))),
    ];
    let content = Content::Comparison { run, analysis: &analysis };
    // Such as have the same figures as a terminal come with the rest.
    let wanted = FORMATS.iter().filter(|format| which == Which::All || format.needs_slices);
    for variant in wanted.flat_map(Format::variants) {
        all.extend(file(variant, content));
    }
    all.extend(of_diff(one, two));
    all.extend(planned_again(run));
    if which == Which::OfNumbers {
        return all;
    }
    all.extend([
        printed(
            "show",
            &report::terminal::report(run, &analysis, report::terminal::Rest::LATEST, 80),
        ),
        printed(
            "show --full, narrow",
            &report::terminal::report(run, &analysis, report::terminal::Rest::Below, 40),
        ),
        printed("places", &report::places(&run.places, &run.machine, 80)),
        printed("summary", &report::in_short(run, &analysis)),
        printed("history", &history(run, &analysis)),
        output("html of two", Form::Html, page(&[sheet(one), sheet(two)])),
    ]);
    if let Some(text) = report::articles(&[(run, &analysis)]) {
        all.push(output("articles", Form::Markdown, text));
    }
    if let Some(reproduction) = &analysis.reproduction {
        let beside = report::beside([("a", reproduction), ("b", reproduction)], 80);
        all.extend(beside.map(|text| printed("show beside", &text)));
    }
    all.extend(of_diff(two, one));
    all.extend(of_diff(one, one));
    all
}

fn history(run: &Run, analysis: &Analysis) -> String {
    let answer = report::in_short(run, analysis);
    let what = run.places.iter().map(|place| place.label.as_str()).collect::<Vec<_>>().join(", ");
    let Run { run, .. } = run;
    let (name, started, ended) = (run.id.as_str(), run.started.as_str(), "finished");
    let seconds = run.seconds;
    let listed = report::Listed { name, started, seconds, ended, what: &what, answer: &answer };
    report::history(&[listed], 1, 80)
}

fn of_diff(before: Analysed<'_>, after: Analysed<'_>) -> Vec<Output> {
    let judged =
        Judged { threshold: after.run.plan.threshold, error_rate: after.run.plan.error_rate };
    let diff = analysis::diff(before, after, &Matching::default(), judged, &mut |_| {
        vec![1.0, 2.0, 3.0, 4.0, 5.0]
    });
    let gate = report::ci::Gate {
        diff: Some(&diff),
        started: &after.run.run.started,
        seconds: after.run.run.seconds,
        ..report::ci::Gate::default()
    };
    vec![
        printed("diff", &report::diff(&diff, 80)),
        output("github", Form::Commands, gate.github()),
        output("junit", Form::Xml, gate.junit()),
        json("diff as json", &diff),
    ]
}

/// What `rerun --dry-run` shows of a run.
fn planned_again(run: &Run) -> Option<Output> {
    let draft = Draft::of_run(run, &studies::specs()).ok()?;
    let plan = draft.finish(run.run.seed).ok()?;
    plan.check_against(run).ok()?;
    let arms = plan.arms();
    let (materials, pairs) = (vec![None; arms.len()], model::arm::pairs(&arms));
    let text = report::planned(&arms, &materials, &pairs, &run.places, 80);
    Some(printed("rerun --dry-run", &text))
}

fn of_load(run: &LoadRun) -> Vec<Output> {
    let analysis = analyse_load(run);
    let shared = load_without_names(run.clone());
    let render = |layout| report::load::render(layout, run, &analysis);
    vec![
        printed("load", &render(Layout::Plain)),
        printed("load as httperf", &render(Layout::Httperf)),
        printed("load as ab", &render(Layout::Ab)),
        output("html of a load", Form::Html, page(&[Sheet::Load { run, analysis: &analysis }])),
        json("json of a load", &run.with_analysis(&analysis)),
        json("share of a load", &shared.clone().with_analysis(&analyse_load(&shared))),
    ]
}

fn of_selftest(result: &SelftestResult) -> Vec<Output> {
    vec![
        printed("selftest", &report::selftest::report(result, 80)),
        printed("selftest, narrow", &report::selftest::report(result, 40)),
        json("json of a selftest", result),
    ]
}

/// The outputs of a trace's bill.
pub(crate) fn of_bill(bill: &trace::Bill) -> Vec<Output> {
    vec![
        printed("bill", &report::bill(bill, false, 80)),
        printed("bill --full", &report::bill(bill, true, 80)),
        json("json of a bill", bill),
    ]
}

/// The places of all values in a document that are wanted, as RFC 6901 has them, by kind: the
/// same place in each item of a list is one kind.
pub(crate) fn places_of(
    document: &Value,
    wanted: fn(&Value) -> bool,
) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    walk(document, "", "", wanted, &mut |kind, at| match found
        .iter_mut()
        .find(|(known, _)| known == kind)
    {
        Some((_, all)) => all.push(at.to_owned()),
        None => found.push((kind.to_owned(), vec![at.to_owned()])),
    });
    found
}

fn walk(
    value: &Value,
    kind: &str,
    at: &str,
    wanted: fn(&Value) -> bool,
    found: &mut dyn FnMut(&str, &str),
) {
    if wanted(value) {
        found(kind, at);
    }
    match value {
        Value::Array(values) => {
            for (number, value) in values.iter().enumerate() {
                walk(value, &format!("{kind}/*"), &format!("{at}/{number}"), wanted, found);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                walk(value, &format!("{kind}/{key}"), &format!("{at}/{key}"), wanted, found);
            }
        }
        _ => {}
    }
}

/// The document with something else in these places.
pub(crate) fn planted(document: &Value, places: &[String], value: &Value) -> Value {
    let mut changed = document.clone();
    for place in places {
        *changed.pointer_mut(place).unwrap() = value.clone();
    }
    changed
}

/// The document as a result file.
pub(crate) fn as_file(schema: &str, mut record: Value) -> Value {
    record["schema"] = json!(schema);
    record
}
