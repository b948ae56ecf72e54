//! `iotoll share`: a saved result as one file to post, without what tells whose it is.

use std::ffi::OsStr;
use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::Args;
use model::anonymous;
use report::formats::JSON;
use trace::{TraceReader, anonymise};
use units::exact_size;

use crate::exit::Exit;
use crate::results::{
    Analysed, Destination, Rendered, Saved, Source, cannot, confined, open, usual_file,
};

/// What is done with a result, for a sentence about what keeps it from that.
const SHARE: &str = "share";

/// A trace is copied in memory.
const TRACE_BYTES_MAX: u64 = 1 << 30;

const SHARE_EXAMPLES: &str = "\
Examples:
  iotoll share                      the last run, as iotoll-RUN.json
  iotoll share -o report.html       as a report with charts
  iotoll share clone.trace          the trace of a recording";

const SHARE_NOTES: &str = "\
Kept: all figures, the studies and strategies, processor and disk models, the
kernel version, file systems and their mount options, and when it ran. Removed:
paths, labels that do not merely name a kind of storage, names of hosts, servers
and programs, addresses, commands and other text that was given, and error
messages. The file gives the same verdicts as the run: `iotoll show`, `diff` and
`report` read it.

A trace of a recording keeps its calls with their times and sizes, and the
structure of folders. Names become numbers, but for those that every machine has
and endings such as .log.";

/// Write a saved run as a file without paths and names
#[derive(Args)]
#[command(after_help = SHARE_EXAMPLES)]
#[command(after_long_help = format!("{SHARE_EXAMPLES}\n\n{SHARE_NOTES}"))]
pub(crate) struct ShareArgs {
    /// Share this run [default: last]
    ///
    /// Give a file written by --json, a saved run, or the trace of a recording.
    #[arg(value_name = "FILE|RUN")]
    run: Option<PathBuf>,

    /// Write it here
    ///
    /// The file has the result as JSON, or a report where its name ends in .html. With - as FILE,
    /// print the result. [default: iotoll-RUN.json, and iotoll-shared.trace for a trace]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ShareArgs) -> anyhow::Result<Exit> {
    let given = args.run.as_deref();
    let open_named = |file| Destination::open_named(file, &["json", "html", "trace"]);
    let destination = args.output.as_deref().map(open_named).transpose()?;
    let is_page = args.output.as_ref().is_some_and(|f| f.extension() == Some(OsStr::new("html")));
    let source = open(given, SHARE)?;
    let is_trace = matches!(source, Source::Trace(_));
    let rendered = confined::rendered([source], |[source]| {
        shared(source, is_page).map_err(|why| cannot(given, SHARE, &why).into())
    })?;
    let usual = || {
        if is_trace { "iotoll-shared.trace".into() } else { usual_file(&rendered.id, "json") }
    };
    let destination = destination.map_or_else(|| Destination::open(&usual()), Ok)?;
    let without = if is_trace {
        "names of files, folders and the program are numbers"
    } else {
        "it contains no names of hosts, users or programs, and none of your paths, commands or labels"
    };
    destination.write_and_tell(&rendered.into_file()?, |file| {
        format!("{file} can be posted: {without}; check it with `iotoll show {file}`")
    })?;
    Ok(Exit::Done)
}

/// The file to post.
fn shared(source: Source, is_page: bool) -> anyhow::Result<Rendered> {
    let saved = match source {
        Source::Trace(trace) => {
            return Ok(Rendered { files: vec![anonymous(trace)?], ..Rendered::default() });
        }
        source => source.read()?,
    };
    let analysed = Analysed::of(without_names(saved))?;
    let bytes = if is_page {
        report::html::page(&[analysed.sheet()]).into_bytes()
    } else {
        JSON.write(analysed.content()).context("it cannot be written as JSON")??
    };
    let id = analysed.id().to_owned();
    Ok(Rendered { id, files: vec![bytes], ..Rendered::default() })
}

fn anonymous(trace: File) -> anyhow::Result<Vec<u8>> {
    let bytes = trace.metadata()?.len();
    ensure!(bytes <= TRACE_BYTES_MAX, "it is larger than {}", exact_size(TRACE_BYTES_MAX));
    Ok(anonymise(&mut TraceReader::new(trace)?, Vec::new())?)
}

fn without_names(saved: Saved) -> Saved {
    match saved {
        Saved::Comparison(run) => Saved::Comparison(Box::new(anonymous::without_names(*run))),
        Saved::Load(run) => Saved::Load(Box::new(anonymous::load_without_names(*run))),
        selftest @ Saved::Selftest(_) => selftest,
    }
}
