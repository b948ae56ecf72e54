//! `iotoll history`: the saved runs, the latest first.

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::ensure;
use clap::Args;
use model::plan::find_study;
use report::Listed;
use serde::Serialize;
use store::{Entry, Kind, State};
use units::counted;

use crate::cli::{Offered, ago, parse_age};
use crate::exit::{Exit, UsageError};
use crate::results::{Destination, deliver_list, saving, summaries, trend};

/// The version of the list's format.
const SCHEMA: &str = "iotoll.history/1";
/// How many are listed for people where nothing else is said.
const LISTED: usize = 20;

/// List the saved runs, the latest first
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    iotoll history --since 7d\n  \
    iotoll history --study log --limit 5\n  \
    iotoll show last~1                    the run before the last\n\n\
    Other commands take a run by the beginning of its name, or as `last`, `last~1`, …")]
pub(crate) struct HistoryArgs {
    /// List only runs of this study
    #[arg(long, value_name = "NAME", value_parser = Offered::studies())]
    #[arg(hide_possible_values = true)]
    study: Option<String>,

    /// List only runs with a place of this label
    #[arg(long, value_name = "LABEL")]
    place: Option<String>,

    /// List only runs that began since then
    ///
    /// Give a date, as in 2026-11-22, or an age, as in 7d.
    #[arg(long, value_name = "DATE|AGE", value_parser = parse_since)]
    since: Option<SystemTime>,

    /// List at most N runs [default: 20]
    ///
    /// With --json, the default is all.
    #[arg(long, value_name = "N", value_parser = parse_limit)]
    limit: Option<usize>,

    /// Show when combinations became slower or faster
    ///
    /// Draw how long each took over all runs, and say when that changed and what else did.
    #[arg(long)]
    trend: bool,

    /// Write the list as JSON
    ///
    /// With - as FILE, print it in place of the list.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Draw the times over all runs as a page
    ///
    /// Draw each combination run by run, with the runs at which it changed.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn run(args: &HistoryArgs) -> anyhow::Result<Exit> {
    let json = args.json.as_deref().map(Destination::open).transpose()?;
    let html = args.html.as_deref().map(Destination::open).transpose()?;
    if let (Some(list), Some(page)) = (&json, &html) {
        let is_one = list.file() == page.file();
        let why = "--html draws what --trend has: with --json, add --trend, and name two files";
        ensure!(args.trend && !is_one, UsageError(why.to_owned()));
    }
    let Some(mut store) = saving::if_any()? else {
        let none = |_| "no runs are saved yet; `iotoll compare` saves one\n".to_owned();
        if let Some(page) = html {
            page.write(report::html::page_of_trend(&analysis::trend(&[])).as_bytes())?;
        }
        if args.trend {
            deliver_list(json, &analysis::trend(&[]), none)?;
        } else {
            deliver_list(json, &Document { schema: SCHEMA, runs: Vec::new() }, none)?;
        }
        return Ok(Exit::Done);
    };
    saving::tell_killed(&mut store);
    let since = args.since.map(|since| humantime::format_rfc3339_seconds(since).to_string());
    let is_wanted = |entry: &Entry| {
        args.study.as_ref().is_none_or(|study| entry.studies.contains(study))
            && args.place.as_ref().is_none_or(|place| entry.places.contains(place))
            // Moments of this form are in the order of their texts.
            && since.as_ref().is_none_or(|since| entry.started >= *since)
    };
    let mut entries = store.list()?;
    if let Some(study) = &args.study
        && entries.iter().all(|entry| !entry.studies.contains(study))
    {
        // A study of another version may be among those that are saved.
        find_study(study, &studies::specs())?;
    }
    entries.retain(is_wanted);
    if args.trend || html.is_some() {
        entries.truncate(args.limit.unwrap_or(usize::MAX));
        let trend = trend::of(&mut store, entries);
        if let Some(page) = html {
            let drawn = report::html::page_of_trend(&trend);
            page.write_and_tell(drawn.as_bytes(), |file| format!("the page is in {file}"))?;
            if !args.trend {
                return Ok(Exit::Done);
            }
        }
        deliver_list(json, &trend, |width| report::trend(&trend, width))?;
        return Ok(Exit::Done);
    }
    let all = if json.is_some() { usize::MAX } else { LISTED };
    let unlisted = entries.len().saturating_sub(args.limit.unwrap_or(all));
    entries.truncate(args.limit.unwrap_or(all));
    summaries::complete(&mut store, &mut entries);
    let document = Document { schema: SCHEMA, runs: entries.iter().map(Line::of).collect() };
    deliver_list(json, &document, |width| {
        if entries.is_empty() {
            return "no saved run matches\n".to_owned();
        }
        let listed: Vec<Listed> = entries.iter().zip(&document.runs).map(listed).collect();
        report::history(&listed, unlisted, width)
    })?;
    Ok(Exit::Done)
}

/// The list as JSON.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// The latest first.
    runs: Vec<Line<'a>>,
}

/// A run in the list.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    /// The beginning of its name, for people to type.
    name: &'a str,
    kind: &'static str,
    /// RFC 3339.
    started: &'a str,
    seconds: f64,
    blocks: u32,
    studies: &'a [String],
    /// Their labels.
    places: &'a [String],
    /// `finished`, `interrupted`, `ended early`, `killed` or `running`.
    ended: &'a str,
    /// In a few words.
    answer: String,
}

impl<'a> Line<'a> {
    fn of(entry: &'a Entry) -> Self {
        let so_far = || match entry.kind {
            Kind::Comparison => format!("{} so far", counted(entry.blocks.into(), "round")),
            Kind::Load | Kind::Selftest => String::new(),
        };
        let summary = entry.summary.as_ref().filter(|_| entry.state != State::Running);
        Self {
            id: &entry.id,
            name: entry.short_id(),
            kind: entry.kind.name(),
            started: &entry.started,
            seconds: entry.seconds,
            blocks: entry.blocks,
            studies: &entry.studies,
            places: &entry.places,
            ended: summary.map_or(entry.state.name(), |summary| &summary.ended),
            answer: summary.map_or_else(so_far, |summary| summary.answer.clone()),
        }
    }
}

fn listed<'a>((entry, line): (&'a Entry, &'a Line<'a>)) -> Listed<'a> {
    Listed {
        name: line.name,
        started: line.started,
        seconds: line.seconds,
        ended: line.ended,
        what: &entry.subject,
        answer: &line.answer,
    }
}

/// Reads how many runs are listed.
fn parse_limit(text: &str) -> Result<usize, &'static str> {
    let limit = text.parse().ok().filter(|limit| *limit > 0);
    limit.ok_or("a list has a whole number of runs, at least 1")
}

/// Reads a date, as the moment at which it begins, or an age, as that long ago.
fn parse_since(text: &str) -> Result<SystemTime, String> {
    let date = humantime::parse_rfc3339_weak(text)
        .or_else(|_| humantime::parse_rfc3339_weak(&format!("{text}T00:00:00Z")));
    let long_ago = || parse_age(text).ok().map(ago);
    date.ok().or_else(long_ago).ok_or_else(|| {
        format!("`{text}` is neither a date nor an age: write it as 2026-11-22 or 7d")
    })
}
