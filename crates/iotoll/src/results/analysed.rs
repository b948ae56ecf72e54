//! A saved result that has charts, with what follows from it.

use std::path::PathBuf;

use ::load::analyse_load;
use analysis::analyse;
use anyhow::anyhow;
use model::analysis::Analysis;
use model::load::{LoadAnalysis, LoadRun};
use model::run::Run;
use report::formats::Content;
use report::html::Sheet;

use crate::results::source::Saved;

/// Letters of a run's name that a file is called by.
const NAME_CHARS: usize = 8;

/// A result that can be a page.
pub(crate) enum Analysed {
    Comparison(Box<(Run, Analysis)>),
    Load(Box<(LoadRun, LoadAnalysis)>),
}

impl Analysed {
    /// What follows from a result.
    pub(crate) fn of(saved: Saved) -> anyhow::Result<Self> {
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
                "it is a selftest, and this works only for comparisons and loads; use `iotoll \
                 show` to print it"
            )),
        }
    }

    pub(crate) fn sheet(&self) -> Sheet<'_> {
        match self {
            Self::Comparison(both) => Sheet::Comparison { run: &both.0, analysis: &both.1 },
            Self::Load(both) => Sheet::Load { run: &both.0, analysis: &both.1 },
        }
    }

    /// The run, where it is a comparison.
    pub(crate) fn comparison(&self) -> Option<(&Run, &Analysis)> {
        match self {
            Self::Comparison(both) => Some((&both.0, &both.1)),
            Self::Load(_) => None,
        }
    }

    /// What formats write.
    pub(crate) fn content(&self) -> Content<'_> {
        match self {
            Self::Comparison(both) => Content::Comparison { run: &both.0, analysis: &both.1 },
            Self::Load(both) => Content::Load { run: &both.0, analysis: &both.1 },
        }
    }

    /// The run's name.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Comparison(both) => &both.0.run.id,
            Self::Load(both) => &both.0.run.id,
        }
    }
}

/// What a file is called that is made of a run, by the run's name, which may be anything in a
/// file of others'.
pub(crate) fn usual_file(id: &str, extension: &str) -> PathBuf {
    let name: String = id.chars().filter(char::is_ascii_alphanumeric).take(NAME_CHARS).collect();
    let divider = if name.is_empty() { "" } else { "-" };
    PathBuf::from(format!("iotoll{divider}{name}.{extension}"))
}
