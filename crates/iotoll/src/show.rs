//! `iotoll show`: a saved result, printed as it was then.

use std::io::Read as _;
use std::path::Path;

use ::load::analyse_load;
use analysis::analyse;
use anyhow::{anyhow, ensure};
use host::input::Input;
use model::document::{self, Document};
use model::load::{self, LoadRun};
use model::run::Run;
use model::selftest::{self, SelftestResult};
use report::load::Layout;

use crate::cli::ShowArgs;
use crate::delivery::deliver;
use crate::exit::{Exit, UsageError};
use crate::json_target::JsonTarget;
use crate::load::layout_of;

/// A run of a day with many arms is smaller.
const RESULT_BYTES_MAX: u64 = 1 << 30;
/// What is looked at before the rest is read.
const BEGINNING_BYTES: u64 = 64 << 10;
/// What other programs wrote anew may name its schema further down, up to this size.
const UNNAMED_BYTES_MAX: u64 = 16 << 20;

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let json = args.json.as_deref().map(JsonTarget::open).transpose()?;
    let saved = read(&args.file)
        .and_then(|text| Saved::read(&text, args))
        .map_err(|why| UsageError(format!("cannot show {}: {why:#}", args.file.display())))?;
    saved.deliver(args, json)?;
    Ok(Exit::Done)
}

/// A result of any kind.
enum Saved {
    Comparison(Box<Run>),
    Load(Box<LoadRun>),
    Selftest(Box<SelftestResult>),
}

impl Saved {
    /// Reads a result file, to be decided anew where that is asked for.
    fn read(text: &str, args: &ShowArgs) -> anyhow::Result<Self> {
        let saved = match document::schema_of(text)?.as_str() {
            load::SCHEMA => Self::Load(LoadRun::read(text)?),
            selftest::SCHEMA => Self::Selftest(SelftestResult::read(text)?),
            _ => Self::Comparison(Run::read(text)?.into()),
        };
        ensure!(
            matches!(saved, Self::Comparison(_))
                || args.worth.is_none() && args.error_rate.is_none(),
            "it is no comparison, and --worth and --error-rate are for comparisons alone"
        );
        ensure!(
            matches!(saved, Self::Load(_)) || args.layout.is_none(),
            "it is no load, and --layout is for loads alone"
        );
        Ok(saved)
    }

    fn deliver(self, args: &ShowArgs, json: Option<JsonTarget>) -> anyhow::Result<()> {
        match self {
            Self::Comparison(run) => {
                let run = args.worth.into_iter().fold(*run, Run::with_worth);
                let run = args.error_rate.into_iter().fold(run, Run::with_error_rate);
                let analysis = analyse(&run);
                deliver(json, &Document::new(&run, &analysis), |width| {
                    report::terminal::report(&run, &analysis, width)
                })
            }
            Self::Load(run) => {
                let (analysis, layout) =
                    (analyse_load(&run), args.layout.map_or(Layout::Plain, layout_of));
                deliver(json, &run.with_analysis(&analysis), |_| {
                    report::load::render(layout, &run, &analysis)
                })
            }
            Self::Selftest(result) => {
                deliver(json, &result, |width| report::selftest::report(&result, width))
            }
        }
    }
}

/// The text of a file that may be a result. One that cannot be is not read to its end.
fn read(file: &Path) -> anyhow::Result<String> {
    let mut input = Input::open(file, RESULT_BYTES_MAX)?;
    let mut bytes = Vec::new();
    input.by_ref().take(BEGINNING_BYTES).read_to_end(&mut bytes)?;
    document::check_beginning(&bytes)?;
    if !document::names_schema(&bytes) {
        input.by_ref().take(UNNAMED_BYTES_MAX).read_to_end(&mut bytes)?;
        ensure!(
            bytes.len() as u64 <= UNNAMED_BYTES_MAX,
            "it is not a result of iotoll: it has no `schema` at its beginning"
        );
    }
    input.read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes);
    text.map_err(|_| anyhow!("it is not a result of iotoll: it is not UTF-8 text"))
}
