//! `iotoll share`: a saved result as one file to post, without what tells whose it is.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

use anyhow::ensure;
use model::anonymous;
use model::units::exact_size;
use trace::{TraceReader, anonymise};

use crate::analysed::Analysed;
use crate::billed::trace_in;
use crate::cli::ShareArgs;
use crate::destination::Destination;
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::show::Saved;

/// A trace is copied in memory.
const TRACE_BYTES_MAX: u64 = 1 << 30;

pub(crate) fn run(args: &ShareArgs) -> anyhow::Result<Exit> {
    if let Some(trace) = args.run.as_deref().and_then(trace_in) {
        return share_trace(args, trace);
    }
    let analysed = Analysed::found(args.run.as_deref(), "share", without_names)?;
    let file = args.output.clone().unwrap_or_else(|| analysed.usual_file("json"));
    let destination = Destination::open(&file)?;
    let is_page = file.extension() == Some(OsStr::new("html"));
    let bytes = if is_page {
        report::html::page(&[analysed.sheet()]).into_bytes()
    } else {
        analysed.json()?
    };
    let is_file = !destination.is_stdout();
    destination.write(&bytes)?;
    if is_file {
        output::note(&format!(
            "{} can be posted: it contains no names of hosts, users or programs, and none of your \
             paths, commands or labels; check it with `iotoll show {}`",
            file.display(),
            file.display()
        ));
    }
    Ok(Exit::Done)
}

fn share_trace(args: &ShareArgs, trace: File) -> anyhow::Result<Exit> {
    let file = args.output.clone().unwrap_or_else(|| "iotoll-shared.trace".into());
    let destination = Destination::open(&file)?;
    let bytes = anonymous(trace).map_err(|why| {
        let name = args.run.as_deref().unwrap_or(Path::new("-")).display();
        UsageError(format!("cannot share {name}: {why:#}"))
    })?;
    let is_file = !destination.is_stdout();
    destination.write(&bytes)?;
    if is_file {
        output::note(&format!(
            "{} can be posted: names of files, folders and the program are numbers; check it with \
             `iotoll show {}`",
            file.display(),
            file.display()
        ));
    }
    Ok(Exit::Done)
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
