//! What `--mine` names, as studies of a plan, and what of a directory it could name.

use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, ensure};
use model::place::{PlaceRequest, Target};
use model::place_argument::{PlaceArgument, labelled};
use model::plan::{StudyPlan, find_study};
use model::study::{ParamDescription, ParamValue};
use studies::{Recognised, Suggestions};
use units::quoted;

use crate::exit::UsageError;

/// More paths than this are more studies than one run can tell about.
const PATHS_MAX: usize = 16;

/// The studies of the paths, each with a label of its own and with what the path was taken for.
pub(crate) fn studies(paths: &[PathBuf]) -> anyhow::Result<Vec<StudyPlan>> {
    ensure!(
        paths.len() <= PATHS_MAX,
        UsageError(format!("--mine was given {} times, and {PATHS_MAX} are the most", paths.len()))
    );
    let arguments: Vec<PlaceArgument> =
        paths.iter().map(|path| PlaceArgument::Bare(Target::Directory(path.clone()))).collect();
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let labels = labelled(&arguments, &here).into_iter().map(|place| place.label);
    let mut studies: Vec<StudyPlan> = Vec::new();
    for (path, label) in paths.iter().zip(labels) {
        let study = study(path, label)?;
        let is_again = studies.iter().any(|known| known.factors == study.factors);
        ensure!(!is_again, UsageError(format!("--mine {}: it is named twice", path.display())));
        studies.push(study);
    }
    Ok(studies)
}

fn study(path: &Path, label: String) -> anyhow::Result<StudyPlan> {
    let wrong = |why: &str| UsageError(format!("--mine: {why}"));
    let text = path.to_str().ok_or_else(|| {
        let shown = path.display();
        wrong(&format!("the name {shown} is not UTF-8; name it by a link that is"))
    })?;
    let Recognised { study, param, strategies, per_second, what } =
        studies::recognise(text).map_err(|why| wrong(&why))?;
    let spec = find_study(study, &studies::specs())?;
    let mut planned = StudyPlan::new(spec);
    planned.strategies = strategies.iter().filter_map(|name| spec.strategy(name)).collect();
    // The record of a run and a plan that is kept are read elsewhere.
    let from_root = absolute(path).with_context(|| format!("finding {}", path.display()))?;
    let from_root = from_root.to_str().ok_or_else(|| {
        wrong("the name of the current directory is not UTF-8; go there by a link that is")
    })?;
    let param = spec.param(param).map_or("", |param: &ParamDescription| param.name.as_str());
    planned.set(param, vec![ParamValue::text(from_root)]);
    planned.per_second = per_second;
    planned.label = Some(label);
    planned.taken_for = Some(what);
    Ok(planned)
}

/// A paragraph on each study of the user's own: its label, and what its path was taken for.
pub(crate) fn told(studies: &[StudyPlan], width: usize) -> String {
    let told = studies.iter().filter_map(|study| {
        let (label, what) = (study.label.as_ref()?, study.taken_for.as_ref()?);
        let text = format!("{label} (study {}) is taken for {what}.", study.spec.name);
        Some(report::paragraph("", "  ", &text, width))
    });
    told.collect()
}

/// That the files of a directory are not used by a run that generates its own, and the command
/// that uses them; nothing where there are none.
pub(crate) fn not_used(places: &[PlaceRequest], given: &[PlaceArgument]) -> Option<String> {
    let directory = places.first()?.target.directory()?.to_str()?;
    let Suggestions { has_files, paths } = studies::suggestions(directory);
    if !has_files {
        return None;
    }
    let unused = format!("the files in {directory} are not used: the data is generated");
    if paths.is_empty() {
        return Some(format!(
            "{unused}. To use yours: --mine with a folder of small files, a log or a SQLite database"
        ));
    }
    let mine = paths.iter().flat_map(|path| ["--mine".to_owned(), quoted(path)]);
    let given = given.iter().map(|place| match place {
        PlaceArgument::Labelled(place) => quoted(&format!("{}={}", place.label, place.target)),
        PlaceArgument::Bare(target) => quoted(&target.to_string()),
    });
    let words: Vec<String> = mine.chain(given).collect();
    Some(format!("{unused}. To use yours: iotoll compare {}", words.join(" ")))
}
