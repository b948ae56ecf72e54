//! `iotoll prune`: removes saved runs, those that it is told to and no others.

use std::time::Duration;

use anyhow::ensure;
use clap::Args;
use store::{Entry, State, Store};
use units::{counted, rough_size};

use crate::cli::{ago, parse_age};
use crate::exit::{Exit, UsageError, sentence};
use crate::results::saving;
use crate::terminal::output;

/// Remove saved runs
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    iotoll prune --keep 20 --dry-run      list what would be removed\n  \
    iotoll prune --older-than 30d\n  \
    iotoll prune last                     the last run\n\n\
    Without --dry-run, the runs are removed at once, without asking. This cannot be undone.")]
pub(crate) struct PruneArgs {
    /// Remove these runs
    ///
    /// Give the beginnings of their names, `last`, or `last~1` for the one before.
    #[arg(value_name = "RUN", conflicts_with_all = ["keep", "older_than"])]
    runs: Vec<String>,

    /// Remove all but the latest N runs
    #[arg(long, value_name = "N")]
    keep: Option<usize>,

    /// Remove runs older than this, as in 30d
    ///
    /// With --keep, the latest N runs stay.
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    older_than: Option<Duration>,

    /// List what would be removed; remove nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &PruneArgs) -> anyhow::Result<Exit> {
    let is_told = !args.runs.is_empty() || args.keep.is_some() || args.older_than.is_some();
    ensure!(
        is_told,
        UsageError(
            "no runs to remove were given: name some from `iotoll history`, or use --keep N or \
             --older-than AGE"
                .to_owned()
        )
    );
    let mut store = saving::existing().map_err(|why| UsageError(sentence(&why)))?;
    saving::tell_killed(&mut store);
    let chosen = if args.runs.is_empty() { by_age(args, &store)? } else { named(args, &store)? };
    let mut removed = 0;
    let mut outcome = Ok(());
    for entry in &chosen {
        if !args.dry_run {
            outcome = store.remove(entry);
            if outcome.is_err() {
                break;
            }
        }
        removed += 1;
        output::result(&line(entry, args.dry_run))?;
    }
    let runs = counted(removed, "run");
    if args.dry_run {
        output::result(&format!("{runs} would be removed (dry run)\n"))?;
    } else {
        let freed = if removed > 0 { shrink(&mut store) } else { String::new() };
        output::result(&format!("{runs} removed{freed}\n"))?;
    }
    outcome?;
    Ok(Exit::Done)
}

/// The runs that were named, each once.
fn named(args: &PruneArgs, store: &Store) -> anyhow::Result<Vec<Entry>> {
    let mut chosen: Vec<Entry> = Vec::new();
    for name in &args.runs {
        let entry = store.find(name).map_err(|why| {
            UsageError(format!("cannot remove {name}: {why}; nothing was removed"))
        })?;
        if chosen.iter().all(|other| other.id != entry.id) {
            chosen.push(entry);
        }
    }
    Ok(chosen)
}

/// Those that are neither among the latest nor young; one that goes on is never chosen.
fn by_age(args: &PruneArgs, store: &Store) -> anyhow::Result<Vec<Entry>> {
    let until = args.older_than.map(|age| humantime::format_rfc3339_seconds(ago(age)).to_string());
    let mut entries = store.list()?;
    let latest = args.keep.unwrap_or(0).min(entries.len());
    entries.drain(..latest);
    entries.retain(|entry| {
        // Moments of this form are in the order of their texts.
        entry.state != State::Running && until.as_ref().is_none_or(|until| entry.started < *until)
    });
    Ok(entries)
}

fn line(entry: &Entry, dry_run: bool) -> String {
    let done = if dry_run { "would remove" } else { "removed" };
    let Entry { started, subject, .. } = entry;
    let text = format!("{done} {}  {started}  {subject}", entry.short_id());
    model::printable::printable(&text).into_owned() + "\n"
}

fn shrink(store: &mut Store) -> String {
    match store.shrink() {
        Ok(0) => String::new(),
        Ok(bytes) => format!("; {} freed", rough_size(bytes)),
        Err(error) => {
            output::note(&format!(
                "new runs can reuse the space of the removed ones, but it was not returned to \
                 the file system: {error}"
            ));
            String::new()
        }
    }
}
