//! `iotoll studies`: what can be timed.

use std::fmt::Write as _;

use clap::Args;
use model::plan::find_study;
use model::strategy::Recipe;
use model::study::{StrategyDescription, StudyDescription, nearest};
use report::paragraph;

use crate::cli::Offered;
use crate::exit::{Exit, UsageError};
use crate::terminal::output;

const STUDIES_EXAMPLES: &str = "\
Examples:
  iotoll studies                    one line for each study
  iotoll studies log                its strategies, parameters and figures
  iotoll studies log held           how to adopt a strategy, check and undo it";

/// What stands for a promise where nothing depends on it.
const NO_PROMISE: &str = "nothing is written, or nothing depends on the strategy";

/// List the studies, or describe one
#[derive(Args)]
#[command(after_help = STUDIES_EXAMPLES)]
pub(crate) struct StudiesArgs {
    /// Describe this study
    #[arg(value_parser = Offered::studies(), hide_possible_values = true)]
    study: Option<String>,

    /// Describe this strategy alone
    #[arg(value_parser = Offered::strategies(), hide_possible_values = true)]
    strategy: Option<String>,
}

pub(crate) fn run(args: &StudiesArgs) -> anyhow::Result<Exit> {
    let registry = studies::specs();
    let width = output::width();
    let text = match (&args.study, &args.strategy) {
        (None, _) => list(&registry, width),
        (Some(study), None) => described(find_study(study, &registry)?, width),
        (Some(study), Some(strategy)) => {
            let study = find_study(study, &registry)?;
            adopted(study, found(study, strategy)?, width)
        }
    };
    output::result(&text)?;
    Ok(Exit::Done)
}

fn found<'a>(
    study: &'a StudyDescription,
    name: &str,
) -> Result<&'a StrategyDescription, UsageError> {
    study.strategy(name).ok_or_else(|| {
        let near = nearest(name, study.strategies.iter().map(|known| known.name.as_str()));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        UsageError(format!(
            "the study {study} has no strategy `{name}`{near} (`iotoll studies {study}` lists them)",
            study = study.name
        ))
    })
}

/// A line for each.
fn list(registry: &[&StudyDescription], width: usize) -> String {
    let lines = |by_default: bool| -> String {
        let listed = registry.iter().filter(|study| study.by_default == by_default);
        let line = |study: &&StudyDescription| {
            paragraph(&format!("{:<8} ", study.name), "         ", &study.about, width)
        };
        listed.map(line).collect()
    };
    format!(
        "Measured by `iotoll compare`:\n{}\nMeasured where --study names them:\n{}\n\
         `iotoll studies NAME` describes a study.\n",
        lines(true),
        lines(false)
    )
}

/// All that there is to know of one.
fn described(study: &StudyDescription, width: usize) -> String {
    let bold = anstyle::Style::new().bold();
    let mut out = format!("{bold}{}{bold:#}  {}\n", study.name, study.about);
    let groups = by_promise(study);
    let promises_differ = groups.iter().any(|(promise, ..)| !promise.is_empty());
    let order = if promises_differ { ", by what they promise" } else { "" };
    let _ = writeln!(out, "\nstrategies{order}");
    for (promise, strategies, conditions) in groups {
        if promises_differ {
            let shown = if promise.is_empty() { NO_PROMISE } else { promise };
            out += &paragraph("  ", "  ", shown, width);
        }
        for strategy in strategies {
            let named = if strategy.by_default { "" } else { " [only with --strategy]" };
            let title = format!("    {}  ", strategy.name);
            out += &paragraph(&title, "      ", &format!("{}{named}", strategy.shown()), width);
            if strategy.about != strategy.shown() {
                out += &paragraph("      ", "      ", &strategy.about, width);
            }
            if let Recipe::Change { adopt, .. } = &strategy.facts.recipe {
                out += &paragraph("      to adopt it: ", "        ", adopt, width);
            }
        }
        for condition in conditions {
            out += &paragraph("    also with ", "      ", &condition, width);
        }
    }
    let mut section = |title: &str, lines: Vec<(&str, String)>| {
        if lines.is_empty() {
            return;
        }
        let _ = write!(out, "\n{title}\n");
        for (name, text) in lines {
            out += &paragraph(&format!("  {name}  "), "      ", &text, width);
        }
    };
    let relied = study.relies_on.iter().map(|rule| (rule.on.shown(), rule.when.to_string()));
    section("relied on where several processes share the files", relied.collect());
    let params = study.params.iter().map(|param| {
        let default = match param.default.join(", ") {
            none if none.is_empty() => String::new(),
            default => format!(" [default: {default}]"),
        };
        (&*param.name, format!("{}: {}{default}", param.about, param.accepts))
    });
    section("parameters, for --set", params.collect());
    let figures = study.figures.iter().map(|figure| (&*figure.name, figure.about.clone()));
    section("additional figures", figures.collect());
    out
}

/// A promise, the strategies that keep it, and the conditions under which others do.
type Kept<'a> = (&'a str, Vec<&'a StrategyDescription>, Vec<String>);

/// Each promise once.
fn by_promise(study: &StudyDescription) -> Vec<Kept<'_>> {
    let mut all: Vec<Kept<'_>> = Vec::new();
    for strategy in &study.strategies {
        kept(&mut all, &strategy.promise).1.push(strategy);
    }
    for rule in &study.promise_when {
        kept(&mut all, &rule.promise).2.push(rule.when.to_string());
    }
    all
}

/// What is known of that promise so far.
fn kept<'a, 'b>(all: &'b mut Vec<Kept<'a>>, promise: &'a str) -> &'b mut Kept<'a> {
    let known = all.iter().position(|(known, ..)| *known == promise);
    let at = known.unwrap_or_else(|| {
        all.push((promise, Vec::new(), Vec::new()));
        all.len() - 1
    });
    &mut all[at]
}

/// A strategy, and how to adopt it.
fn adopted(study: &StudyDescription, strategy: &StrategyDescription, width: usize) -> String {
    let bold = anstyle::Style::new().bold();
    let mut out = format!("{bold}{} {}{bold:#}  ", study.name, strategy.name);
    let _ = writeln!(out, "{}", strategy.shown());
    let mut line = |title: &str, text: &str| {
        if !text.is_empty() {
            out += &paragraph(&format!("  {title:<9}"), "           ", text, width);
        }
    };
    line("does", &strategy.about);
    line("promises", &strategy.promise);
    match &strategy.facts.recipe {
        Recipe::Change { adopt, check, undo } => {
            line("to do", adopt);
            line("check", check);
            line("undo", undo);
        }
        Recipe::AsItIs => line("to do", "nothing: it stands for your application as it is"),
        Recipe::Control => line("to do", "nothing: it is there to be compared with"),
    }
    out
}
