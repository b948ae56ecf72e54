//! `iotoll show`: a saved result, printed as it was then.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use ::load::analyse_load;
use analysis::analyse;
use anyhow::{anyhow, ensure};
use model::document;
use model::load::{self, LoadRun};
use model::run::Run;
use model::selftest::{self, SelftestResult};
use report::load::Layout;

use crate::cli::ShowArgs;
use crate::exit::{Exit, UsageError};
use crate::load::layout_of;
use crate::output;

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let printed = read(&args.file)
        .and_then(|text| printed(&text, args))
        .map_err(|why| UsageError(format!("cannot show {}: {why:#}", args.file.display())))?;
    output::result(&printed)?;
    Ok(Exit::Done)
}

/// The report of a result file of any kind.
fn printed(text: &str, args: &ShowArgs) -> anyhow::Result<String> {
    let width = output::width();
    let schema = document::schema_of(text)?;
    ensure!(
        schema != load::SCHEMA && schema != selftest::SCHEMA
            || args.worth.is_none() && args.error_rate.is_none(),
        "it is no comparison, and --worth and --error-rate are for comparisons alone"
    );
    ensure!(
        schema == load::SCHEMA || args.layout.is_none(),
        "it is no load, and --layout is for loads alone"
    );
    match schema.as_str() {
        load::SCHEMA => {
            let run: LoadRun = document::read(text, load::SCHEMA)?;
            Ok(report::load::render(
                args.layout.map_or(Layout::Plain, layout_of),
                &run,
                &analyse_load(&run),
            ))
        }
        selftest::SCHEMA => {
            let result: SelftestResult = document::read(text, selftest::SCHEMA)?;
            Ok(report::selftest::report(&result, width))
        }
        _ => {
            let run = Run::read(text)?;
            let run = match args.worth {
                Some(worth) => run.with_worth(worth),
                None => run,
            };
            let run = match args.error_rate {
                Some(error_rate) => run.with_error_rate(error_rate),
                None => run,
            };
            Ok(report::terminal::report(&run, &analyse(&run), width))
        }
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => anyhow!("it is not a result of iotoll: it is not UTF-8 text"),
        _ => error.into(),
    })
}
