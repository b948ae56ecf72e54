//! Several saved reproductions as one page of Markdown, article by article, for a reader who
//! wants to know whether to move files. Runs of the same article stand beside each other.

use model::analysis::Analysis;
use model::grouped::each_once;
use model::place::PlaceFacts;
use model::printable::without_commands;
use model::reproduction::{Decision, Reproduction};
use model::run::Run;
use units::{count, rough_size};

use super::markdown::{ArticleReport, conclusions, tables};
use super::words;
use crate::answer::{self, Screen, Section};
use crate::manners;
use crate::markdown_text::escaped;
use crate::subject::Subject;

const INTRODUCTION: &str = "\
# Published measurements, repeated

Would your files be better off elsewhere, or written in another way? People move logs and caches to a \
RAM disk, lock around each write or compress a journal because of something that was measured once, \
on another machine. `iotoll reproduce` repeats such measurements: as they were, but with the arms \
interleaved in blocks of random order, and with verdicts.

Absolute times are a machine's own. What can be held against the published figures are ratios (×), \
each to the row of its table that has none. *Holds here* means that the whole 95% interval lies where \
the conclusion says, *does not hold here* that the whole of it lies elsewhere, and *unclear here* \
anything else. *Cannot be compared here* means that something the conclusion depends on is not as it \
was for the article: the reason and its figure follow. Decisions allow for another run, not for this \
one alone.

`iotoll reproduce all` answers for a machine of yours, and `iotoll report RUN... --output articles.md` \
makes this page of the runs that it saved.
";

/// A run that repeats an article.
struct Repeated<'a> {
    run: &'a Run,
    analysis: &'a Analysis,
    reproduction: &'a Reproduction,
}

/// The page; nothing where one of the runs repeats no article.
pub fn articles(runs: &[(&Run, &Analysis)]) -> Option<String> {
    let all: Option<Vec<Repeated>> = runs
        .iter()
        .map(|&(run, analysis)| {
            let reproduction = analysis.reproduction.as_ref()?;
            Some(Repeated { run, analysis, reproduction })
        })
        .collect();
    let all = all?;
    let mut out = format!("{INTRODUCTION}\n{}", overview(&all));
    for name in each_once(all.iter().map(|repeated| &repeated.reproduction.article)) {
        let of_article: Vec<&Repeated> =
            all.iter().filter(|repeated| repeated.reproduction.article == *name).collect();
        out += &section(&of_article);
    }
    Some(without_commands(&out).into_owned())
}

/// What each asks, and how many of its conclusions hold.
fn overview(all: &[Repeated]) -> String {
    let mut out = "| article | what it asks | holds | does not hold | unclear | not comparable |\n\
                   | --- | --- | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for Repeated { reproduction, .. } in all {
        let counts = Decision::ALL.map(|decision| reproduction.count(decision).to_string());
        let [name, question] =
            [&reproduction.article, &reproduction.question].map(|text| escaped(text));
        out += &format!("| {name} | {question} | {} |\n", counts.join(" | "));
    }
    out + "\n"
}

fn section(runs: &[&Repeated]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let Reproduction { article, title, year, original, question, .. } = first.reproduction;
    let heading = format!("## {}\n\n", escaped(article));
    let about = format!(
        "*{}*, {year}, measured with {}. {}\n\n",
        escaped(title),
        escaped(original),
        escaped(question)
    );
    let told: Vec<ArticleReport> = runs
        .iter()
        .zip(1..)
        .map(|(repeated, number)| {
            let name = if runs.len() > 1 { format!("run {number}") } else { String::new() };
            ArticleReport { name, reproduction: repeated.reproduction }
        })
        .collect();
    let measured: String =
        runs.iter().zip(&told).map(|(repeated, told)| measured(repeated, &told.name)).collect();
    let advice: String = runs.iter().map(|repeated| advice(repeated)).collect();
    format!(
        "{heading}{about}### What to do here\n\n{advice}### Its conclusions\n\n{}### Published \
         and measured\n\n{}{measured}",
        conclusions(&told),
        tables(&told)
    )
}

/// What the answer of the run advises.
fn advice(Repeated { run, analysis, .. }: &Repeated) -> String {
    let screen = Screen::of(run, analysis);
    let line = |section: &Section| {
        let entries = section.entries.iter().map(|entry| {
            let (name, change) = (&entry.name, section.change(entry));
            let change = if change.is_empty() { name.clone() } else { format!("{name}, {change}") };
            let figure = entry.difference().ratio;
            format!("{change}: {} → {}, {figure}", entry.now(), entry.then())
        });
        let entries = entries.collect::<Vec<_>>().join("; ");
        format!("- **{}.** {}.\n", escaped(&section.heading), escaped(&entries))
    };
    let lines: String = screen.sections().iter().map(line).collect();
    if lines.is_empty() {
        "- Nothing is sure enough to be advised.\n\n".to_owned()
    } else {
        lines + "\n"
    }
}

/// Where and when, and what was missing.
fn measured(Repeated { run, analysis, reproduction }: &Repeated, name: &str) -> String {
    let extent = answer::extent(Subject { run, analysis });
    let places: Vec<String> = run.places.iter().map(place).collect();
    let machine = &run.machine;
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let mut text = format!(
        "{name}{} Measured on {} with iotoll {} on {} processors ({}), {} of memory, Linux {}; {}.",
        words::how_measured(reproduction, &extent),
        run.run.started.get(..10).unwrap_or(&run.run.started),
        run.run.version,
        count(machine.cpus as u64),
        machine.cpu,
        rough_size(machine.memory_bytes),
        machine.kernel,
        places.join(", ")
    );
    let sentences = words::manner(reproduction);
    for missing in sentences.chain(manners::left_out_sentences(&run.run)) {
        text += &format!(" {missing}");
    }
    format!("{}\n\n", escaped(&text))
}

fn place(place: &PlaceFacts) -> String {
    format!("{} is {}", place.label, place.filesystem)
}
