//! `iotoll share`: a saved result as one file to post, without what tells whose it is.

use std::ffi::OsStr;

use model::anonymous;

use crate::analysed::Analysed;
use crate::cli::ShareArgs;
use crate::destination::Destination;
use crate::exit::Exit;
use crate::output;
use crate::show::Saved;

pub(crate) fn run(args: &ShareArgs) -> anyhow::Result<Exit> {
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

fn without_names(saved: Saved) -> Saved {
    match saved {
        Saved::Comparison(run) => Saved::Comparison(Box::new(anonymous::without_names(*run))),
        Saved::Load(run) => Saved::Load(Box::new(anonymous::load_without_names(*run))),
        selftest @ Saved::Selftest(_) => selftest,
    }
}
