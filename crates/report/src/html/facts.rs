//! What a run ran on, what disturbed it, and how to have it again.

use model::run::Run;
use units::percent;

use super::command;
use super::markup::{Markup, classed, el};
use super::of_study::{command_line, list};
use super::opening::day;
use super::record;
use super::table::Table;
use crate::subject::Subject;
use crate::{clients, manners, place, risk, steadiness, why};

/// What was not the same throughout, and what came from outside.
pub(super) fn disturbances(subject: Subject) -> Markup {
    let noise = &subject.analysis.noise;
    let sources: Vec<String> =
        noise.sources.iter().map(|source| format!("{} {}", source.text, source.remedy)).collect();
    let unread: Vec<String> = noise.unread.iter().map(|what| format!("{what}.")).collect();
    let parts = [
        list("Changes during the run", &steadiness::sentences(subject)),
        list("Interference", &why::interference(subject)),
        list("Sources of noise", &sources),
        list("Not available", &unread),
    ];
    let is_known = parts.iter().any(|part| !part.is_empty());
    let none = el("p").text("Nothing was found that disturbed the run or changed during it.");
    if is_known { parts.into_iter().collect() } else { none.into() }
}

/// The machine and the places.
pub(super) fn machine_and_places(run: &Run) -> Markup {
    let mut table = Table::new(3, ["place", "path", "file system and devices"]);
    for facts in &run.places {
        table.add_row([facts.label.clone(), place::where_it_is(facts), place::facts(facts)]);
    }
    let changes = (0..run.places.len()).filter_map(|place| run.place_change(place));
    let unknown = run.places.iter().flat_map(|facts| {
        facts.unread.iter().map(|unread| format!("{}: unknown: {unread}", facts.label))
    });
    let doubts: Vec<String> = changes.chain(unknown).collect();
    let risks: Vec<String> = run.places.iter().skip(1).flat_map(risk::risks).collect();
    let floor = place::timing_sentence(&run.floor);
    let touch = place::first_touch_sentence(&run.floor).map(|text| format!("Here {text}."));
    let gentle = run.plan.gentle.then(|| manners::GENTLE.to_owned());
    let unread =
        (!run.unread.is_empty()).then(|| format!("Not available here: {}.", run.unread.join("; ")));
    let clients = clients::sentence(&run.clients, &run.places);
    let more = [Some(floor), touch, manners::writes_sentence(run), gentle, unread];
    let more = more.into_iter().flatten().map(|text| el("p").text(text));
    let clients = clients.map(|text| el("p").text(format!("{text}.")));
    let mut out = Markup::from(el("p").text(format!("{}.", place::machine_facts(&run.machine))));
    out.push(clients.into_iter().collect::<Markup>());
    out.push(table.scrolling("The places"));
    out.push(list("What is unknown about them or changed during the run", &doubts));
    out.push(list("Risks of moving", &risks));
    out.push(more.collect::<Markup>());
    out
}

/// How to have the run again.
pub(super) fn repeating(run: &Run) -> Markup {
    let facts = [
        ("run", run.run.id.clone()),
        ("began", day(&run.run.started)),
        ("took", format!("{:.1} s", run.run.seconds)),
        ("version", format!("iotoll {}", run.run.version)),
        ("random seed", run.run.seed.to_string()),
        ("budget", command::budget(run)),
        ("smallest difference that matters", percent(run.plan.threshold)),
        ("error rate per verdict", percent(run.plan.error_rate)),
    ];
    let entries =
        facts.iter().flat_map(|(name, value)| [el("dt").text(name), el("dd").text(value)]);
    let mut out = Markup::from(classed("dl", "pairs").children(entries));
    if let Some(command) = command::of(run) {
        out.push(el("p").text("The same plan in the same random order:"));
        out.push(command_line(&command));
    }
    out.push(kept(record::is_whole(run)));
    out
}

fn kept(is_whole: bool) -> Markup {
    let record = if is_whole {
        "This file contains the run's complete record."
    } else {
        "This file contains the run's record: each slice with its own time and, to keep the file small, \
         the means of its stretch for all else. The same verdicts and intervals follow."
    };
    let text = format!(
        "{record} If it is saved as report.html, these commands print the report in a terminal, write \
         the record as JSON, and repeat the run, on this machine or another:"
    );
    let command = "iotoll show report.html --full\niotoll show report.html --json run.json\n\
                   iotoll rerun report.html";
    let lines = command.lines().map(command_line);
    std::iter::once(el("p").text(text)).chain(lines).collect()
}
