//! What a file makes iotoll do, shown before any of it is done, and whether the user agrees.
//!
//! A plan or a run may come from a stranger. It can have commands run, files read and file
//! systems mounted. All of that is listed, with each command as it will run, and is asked for
//! once, before anything that the file names is opened.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::bail;
use model::demands::{Demand, Typed};
use model::plan::Plan;
use model::printable::printable;
use model::shell::{PLACE, PORT};
use units::counted;

use crate::exit::UsageError;
use crate::terminal::output;

/// Columns of what is done, and of what asks for it.
const VERB: usize = 8;
const SUBJECT: usize = 16;

/// The file that a plan is from, and what the user said of it.
pub(crate) struct Request<'a> {
    pub(crate) file: &'a Path,
    /// What is not the file's.
    pub(crate) typed: Typed,
    pub(crate) allowed: bool,
    pub(crate) dry_run: bool,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    Given,
    /// It was only to be shown, and going on would open what the file names.
    OnlyShown,
}

impl Request<'_> {
    /// Shows what the file makes iotoll do, and asks; an error where the user does not agree.
    pub(crate) fn ask(&self, plan: &Plan) -> anyhow::Result<Consent> {
        let demands = plan.demands(&self.typed);
        if demands.is_empty() {
            return Ok(Consent::Given);
        }
        if self.dry_run {
            return self.show(plan, &demands);
        }
        if self.allowed {
            return Ok(Consent::Given);
        }
        output::aside(|_| list(self.file, plan, &demands));
        let file = self.file.display();
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            bail!(UsageError(format!(
                "{file}: nothing was run or read; read the list above, and add --allow-commands if \
                 you agree to all of it"
            )));
        }
        if agrees()? {
            return Ok(Consent::Given);
        }
        Err(UsageError(format!("{file}: nothing was run or read, as you did not agree")).into())
    }

    /// Nothing is run for `--dry-run`, but files would be read and directories opened.
    fn show(&self, plan: &Plan, demands: &[Demand]) -> anyhow::Result<Consent> {
        output::result(&list(self.file, plan, demands))?;
        let is_opened =
            |demand: &Demand| matches!(demand, Demand::Read { .. } | Demand::Create { .. });
        if self.allowed || !demands.iter().any(is_opened) {
            output::result("\n")?;
            return Ok(Consent::Given);
        }
        output::result(&report::paragraph(
            "",
            "",
            "Nothing was run or read. Add --allow-commands to see what would be measured: the files \
             are read for that, and nothing is measured.",
            output::width(),
        ))?;
        Ok(Consent::OnlyShown)
    }
}

/// Asks at the terminal; anything but a yes is none.
fn agrees() -> io::Result<bool> {
    let mut terminal = io::stderr().lock();
    terminal.write_all(b"Run this? [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// All of it. Nothing is left out or cut off.
fn list(file: &Path, plan: &Plan, demands: &[Demand]) -> String {
    let mut out = format!("{} makes iotoll do this:\n\n", printable(&file.display().to_string()));
    for demand in demands {
        let (verb, subject, text) = match demand {
            Demand::Run { param, command } => ("run", param, command.as_str()),
            Demand::Set { param, text, .. } => ("set", param, text.as_str()),
            Demand::Read { param, path } => ("read", param, path.as_str()),
            Demand::Create { label, target } => ("create", label, target.as_str()),
        };
        add(&mut out, verb, subject, text);
    }
    for place in &plan.places {
        add(&mut out, "measure", &place.label, &place.target.to_string());
    }
    let _ = writeln!(out, "\n{}", summary(demands));
    if demands.iter().any(is_filled_in_later) {
        out += "{place} is the folder of a created place there, {port} a free port.\n";
    }
    out
}

fn is_filled_in_later(demand: &Demand) -> bool {
    let Demand::Run { command, .. } = demand else { return false };
    [PLACE, PORT].iter().any(|[name, _]| command.contains(name))
}

/// A line for each of a text's lines, so that none can be taken for an entry of the list.
fn add(out: &mut String, verb: &str, subject: &str, text: &str) {
    let mut lines = text.split('\n');
    let first = printable(lines.next().unwrap_or_default());
    let _ = writeln!(out, "  {verb:<VERB$} {subject:<SUBJECT$} {first}");
    for line in lines {
        let _ = writeln!(out, "  {:VERB$} {:SUBJECT$} | {}", "", "", printable(line));
    }
}

/// How much it is, for a reader whose terminal shows only the end.
fn summary(demands: &[Demand]) -> String {
    let count = |is_meant: fn(&Demand) -> bool| {
        demands.iter().filter(|demand| is_meant(demand)).count() as u64
    };
    let lines = demands.iter().map(|demand| match demand {
        Demand::Run { command: text, .. } | Demand::Set { text, .. } => text.lines().count(),
        Demand::Read { .. } | Demand::Create { .. } => 0,
    });
    let counts = [
        (count(|demand| matches!(demand, Demand::Run { .. })), "command"),
        (count(|demand| matches!(demand, Demand::Set { .. })), "variable"),
        (lines.sum::<usize>() as u64, "line for a shell"),
        (count(|demand| matches!(demand, Demand::Read { .. })), "path to read"),
        (count(|demand| matches!(demand, Demand::Create { .. })), "place to create"),
    ];
    let parts = counts.into_iter().filter(|(number, _)| *number > 0);
    let parts = parts.map(|(number, what)| {
        let (noun, rest) = what.split_once(' ').unwrap_or((what, ""));
        format!("{} {rest}", counted(number, noun)).trim_end().to_owned()
    });
    format!("Together: {}.", parts.collect::<Vec<_>>().join(", "))
}
