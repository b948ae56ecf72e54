//! `iotoll report`: saved results as one HTML file with charts.

use std::path::{Path, PathBuf};

use ::load::analyse_load;
use analysis::analyse;
use anyhow::anyhow;
use model::analysis::Analysis;
use model::load::{LoadAnalysis, LoadRun};
use model::run::Run;
use report::html::Sheet;

use crate::cli::ReportArgs;
use crate::destination::Destination;
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::show::{Saved, found};

/// Letters of a run's name that a file is called by.
const NAME_CHARS: usize = 8;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Exit> {
    let given: Vec<Option<&Path>> = match args.runs.as_slice() {
        [] => vec![None],
        runs => runs.iter().map(|run| Some(run.as_path())).collect(),
    };
    let analysed = given.into_iter().map(|run| {
        let what = run.map_or("the last run".into(), Path::to_string_lossy);
        let analysed = found(run).and_then(Analysed::of);
        analysed.map_err(|why| UsageError(format!("cannot report {what}: {why:#}")))
    });
    let runs: Vec<Analysed> = analysed.collect::<Result<_, _>>()?;
    let sheets: Vec<Sheet> = runs.iter().map(Analysed::sheet).collect();
    let file = args.output.clone().unwrap_or_else(|| usual_file(&runs));
    let destination = Destination::open(&file)?;
    let is_file = !destination.is_stdout();
    destination.write(report::html::page(&sheets).as_bytes())?;
    if is_file {
        output::note(&format!("the report is in {}", file.display()));
    }
    Ok(Exit::Done)
}

/// A result that can be a page, with what follows from it.
enum Analysed {
    Comparison(Box<(Run, Analysis)>),
    Load(Box<(LoadRun, LoadAnalysis)>),
}

impl Analysed {
    fn of(saved: Saved) -> anyhow::Result<Self> {
        match saved {
            Saved::Comparison(run) => {
                let analysis = analyse(&run);
                Ok(Self::Comparison(Box::new((*run, analysis))))
            }
            Saved::Load(run) => {
                let analysis = analyse_load(&run);
                Ok(Self::Load(Box::new((*run, analysis))))
            }
            Saved::Selftest(_) => Err(anyhow!(
                "it is a selftest, and only comparisons and loads have charts; `iotoll show` \
                 prints it"
            )),
        }
    }

    fn sheet(&self) -> Sheet<'_> {
        match self {
            Self::Comparison(both) => Sheet::Comparison { run: &both.0, analysis: &both.1 },
            Self::Load(both) => Sheet::Load { run: &both.0, analysis: &both.1 },
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Comparison(both) => &both.0.run.id,
            Self::Load(both) => &both.0.run.id,
        }
    }
}

/// What the file is called after the run, whose name may be anything in a file of others'.
fn usual_file(runs: &[Analysed]) -> PathBuf {
    let id = runs.first().map_or("", Analysed::id);
    let letters = id.chars().filter(char::is_ascii_alphanumeric).take(NAME_CHARS);
    let name: String = letters.collect();
    PathBuf::from(if name.is_empty() {
        "iotoll.html".to_owned()
    } else {
        format!("iotoll-{name}.html")
    })
}
