//! `iotoll show`: a saved result, printed as it was then.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use analysis::analyse;
use model::document::{self, DocumentError};
use model::run::Run;
use model::selftest::{self, SelftestResult};

use crate::cli::ShowArgs;
use crate::exit::{Exit, UsageError};
use crate::output;

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let printed = read(&args.file)
        .and_then(|text| printed(&text, args.worth).map_err(|error| error.to_string()))
        .map_err(|why| UsageError(format!("cannot show {}: {why}", args.file.display())))?;
    output::result(&printed)?;
    Ok(Exit::Done)
}

/// The report of a result file of any kind.
fn printed(text: &str, worth: Option<f64>) -> Result<String, DocumentError> {
    let width = output::width();
    let schema = document::schema_of(text)?;
    if schema == selftest::SCHEMA {
        let result: SelftestResult = document::read(text, selftest::SCHEMA)?;
        return Ok(report::selftest::report(&result, width));
    }
    let run = Run::read(text)?;
    let run = match worth {
        Some(worth) => run.with_worth(worth),
        None => run,
    };
    Ok(report::terminal::report(&run, &analyse(&run), width))
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => "it is not a result of iotoll: it is not text".to_owned(),
        _ => error.to_string(),
    })
}
