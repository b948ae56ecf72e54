//! The page of a load: what its users would have seen at each rate.

use model::load::{Bounds, LoadAnalysis, LoadRun, Sampled, Step, StepAnalysis, Summary};

use super::chart::Ids;
use super::curves::{Curve, Curves, TIMES, per_second};
use super::markup::{Element, classed, el};
use super::opening::day;
use super::table::Table;
use crate::load::{Layout, render};

/// The section of a load.
pub(super) fn section(run: &LoadRun, analysis: &LoadAnalysis, ids: &mut Ids, id: &str) -> Element {
    let began = el("time").attr("datetime", &run.run.started).text(day(&run.run.started));
    let software = run.server_software.as_deref().unwrap_or("unidentified server");
    let facts = format!("iotoll {}: {software}, took {:.0} s", run.run.version, run.run.seconds);
    let line = classed("p", "facts").text(facts).text(" · ").child(began);
    let head = el("header").child(el("h1").text(&run.plan.url)).child(line);
    let steps: Vec<(&Step, &StepAnalysis)> = run.steps.iter().zip(&analysis.steps).collect();
    let interrupted = run.run.interrupted.then(|| {
        classed("p", "warning").text("The load was interrupted: these are its results so far.")
    });
    let figure = curves(&steps).chart().map(|chart| chart.figure(ids));
    let text = render(Layout::Plain, run, analysis);
    let lines = text.lines().map(|line| el("span").text(line));
    let plain = el("pre").attr("tabindex", 0).attr("role", "region").attr("aria-label", "In words");
    classed("section", "run")
        .attr("id", id)
        .child(head)
        .children(interrupted)
        .child(table(&steps).scrolling("The steps"))
        .children(figure)
        .child(el("h2").text("In words"))
        .child(plain.children(lines))
}

/// A figure of a summary.
type PercentileOf = fn(&Summary) -> f64;

/// Percentiles of the time that a connection takes.
const PERCENTILES: [(&str, PercentileOf); 4] = [
    ("median", |s| s.p50),
    ("90th percentile", |s| s.p90),
    ("99th percentile", |s| s.p99),
    ("99.9th percentile", |s| s.p999),
];

fn curves(steps: &[(&Step, &StepAnalysis)]) -> Curves {
    let curve = |(name, of): (&str, PercentileOf)| Curve {
        name: name.to_owned(),
        ranges: Vec::new(),
        points: steps
            .iter()
            .filter_map(|(step, seen)| Some((step.rate?, of(&seen.connection_ms?) * 1e6)))
            .collect(),
    };
    Curves {
        subject: "load".to_owned(),
        title: "Connection time by rate".to_owned(),
        about: "From the scheduled start of a connection to the last byte of its reply, at each \
                rate."
            .to_owned(),
        against: "connections per second".to_owned(),
        written: per_second,
        measured: TIMES,
        all: PERCENTILES.into_iter().map(curve).collect(),
    }
}

fn table(steps: &[(&Step, &StepAnalysis)]) -> Table {
    let heads =
        ["step", "completed", "errors", "replies/s", "median", "90%", "99%", "99.9%", "longest"];
    let mut table = Table::new(1, heads);
    for (step, seen) in steps {
        let name = match (step.rate, step.concurrency) {
            (Some(rate), _) => per_second(rate),
            (None, clients) => format!("{} clients", clients.unwrap_or_default()),
        };
        let intervals = seen.percentile_intervals;
        let of_replies = intervals.is_some_and(|all| all.of == Sampled::Reply);
        let times = seen.connection_ms.or(seen.connection_from_connect_ms);
        let times = if of_replies { seen.reply_ms } else { times };
        let time = |of: PercentileOf| {
            times.as_ref().map_or_else(String::new, |s| units::time(of(s) * 1e6))
        };
        let bounds = intervals.map_or([None; 4], |all| all.all()).map(within);
        let percentiles = PERCENTILES.map(|(_, of)| time(of)).into_iter().zip(bounds);
        let counts = [step.completed, step.errors.total].map(units::count);
        let rate = crate::words::rate(seen.reply_rate.mean);
        let longest = [time(|s| s.max)];
        let times = percentiles.map(|(time, bounds)| time + &bounds).chain(longest);
        table.add_row([name].into_iter().chain(counts).chain([rate]).chain(times));
    }
    table
}

/// An interval after its percentile.
fn within(bounds: Option<Bounds>) -> String {
    let end = |ms: f64| units::time(ms * 1e6);
    bounds.map_or_else(String::new, |b| format!(" ({}–{})", end(b.low), end(b.high)))
}
