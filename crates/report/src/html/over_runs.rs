//! How long each combination took over all saved runs, and when that changed.

use model::trend::{ArmTrend, LevelChange, Trend};
use units::{counted, time};

use super::chart::{Chart, Ids, Rows, Tick, dots, line, path, plot, upright};
use super::markup::{Element, Markup, classed, el};
use super::opening::day;
use super::table::Table;
use crate::difference::Difference;

const HEIGHT: f64 = 48.0;

/// All of the page but its head.
pub(super) fn main(trend: &Trend, ids: &mut Ids) -> Element {
    let mut section = classed("section", "run").child(el("h1").text("Times over all saved runs"));
    if trend.arms.is_empty() {
        let text =
            format!("Nothing has {} saved runs yet. Add some with `iotoll rerun`.", trend.runs_min);
        return el("main").child(section.child(el("p").text(&text)));
    }
    let more = match trend.too_few {
        0 => String::new(),
        few => format!(
            " {} with fewer than {} runs: not shown.",
            counted(few, "combination"),
            trend.runs_min
        ),
    };
    let about = format!(
        "An upright line marks the first run of a new level. Of combinations that did not change, \
         one in 70 shows a change by chance.{more}"
    );
    section = section.child(el("p").text(&about)).child(chart(trend).figure(ids));
    section =
        section.children(trend.arms.iter().filter(|arm| !arm.changes.is_empty()).map(changes));
    el("main").child(section)
}

fn chart(trend: &Trend) -> Chart {
    let mut rows = Rows::new(vec![
        Tick { at: 0.0, label: "first run".to_owned(), is_kept: true },
        Tick { at: 1.0, label: "last run".to_owned(), is_kept: true },
    ]);
    let mut table = Table::new(3, ["", "run", "began (UTC)", "time per operation"]);
    for arm in &trend.arms {
        let [least, most] = arm.ends_ns().map(time);
        let figures = vec![
            ("strong", format!("{least} to {most}")),
            ("dim wide", counted(arm.runs.len() as u64, "run")),
        ];
        rows.row(&arm.id, &figures, HEIGHT, |y| draw(arm, y));
        for run in &arm.runs {
            let name: String = run.run.chars().take(8).collect();
            table.add_row([arm.id.clone(), name, day(&run.started), time(run.typical_ns)]);
        }
    }
    let about = "Each dot is the time per operation in one run, from the first on the left to the \
                 last on the right. A row reaches from its shortest time at the bottom to its \
                 longest at the top. The line is the level, or the median where none changed.";
    let chart = Chart::new("history", "Each combination, run by run", rows.finish(), table);
    chart.about(about.to_owned())
}

/// The middle of a combination's times.
fn middle(arm: &ArmTrend) -> f64 {
    let mut times: Vec<f64> = arm.runs.iter().map(|run| run.typical_ns).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn draw(arm: &ArmTrend, y: f64) -> Markup {
    let [least, most] = arm.ends_ns();
    let end = arm.runs.len().saturating_sub(1).max(1) as f64;
    let across = |run: usize| run as f64 / end;
    // A margin keeps dots from the edges.
    let down = |ns: f64| {
        let share = if most > least { (ns / least).ln() / (most / least).ln() } else { 0.5 };
        0.9 - 0.8 * share.clamp(0.0, 1.0)
    };
    let points = arm.runs.iter().enumerate().map(|(at, run)| [across(at), down(run.typical_ns)]);
    let mut marks = Markup::default();
    let mut from = 0;
    let mut levels: Vec<[f64; 2]> = Vec::new();
    for change in arm.changes.iter().filter(|change| (1..arm.runs.len()).contains(&change.at)) {
        let before = down(change.before_ns);
        levels.extend([[across(from), before], [across(change.at - 1), before]]);
        marks.push(upright(across(change.at), y, y + HEIGHT, "one"));
        from = change.at;
    }
    let level = arm.changes.last().map_or_else(|| middle(arm), |change| change.after_ns);
    levels.extend([[across(from), down(level)], [1.0, down(level)]]);
    let mut drawn = Markup::from(path("median", line(levels)));
    drawn.push(path("points c1", dots(points)));
    marks.push(plot(y, HEIGHT, drawn));
    marks
}

/// When a combination changed, by how much, and what else did then.
fn changes(arm: &ArmTrend) -> Element {
    let item = |change: &LevelChange| {
        let first = arm.runs.get(change.at);
        let (began, name) = first.map_or((String::new(), String::new()), |run| {
            (day(&run.started), run.run.chars().take(8).collect())
        });
        let Difference { ratio, .. } = Difference::new(Some(change.ratio), None, None);
        let [before, after] = [change.before_ns, change.after_ns].map(time);
        let facts = change.facts.iter();
        let facts = facts.map(|fact| format!("{}: {} → {}", fact.what, fact.before, fact.after));
        let facts: Vec<String> = facts.collect();
        let facts = if facts.is_empty() {
            "the machine and the places were the same".to_owned()
        } else {
            facts.join("; ")
        };
        el("li").text(format!("{began}, {name}: {ratio}, {before} → {after}. Then: {facts}."))
    };
    let list = el("ul").children(arm.changes.iter().map(item));
    el("div").child(el("h2").text(&arm.id)).child(list)
}
