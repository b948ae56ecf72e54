//! From flags and plan file to a plan.

use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use host::input::Input;
use model::demands::Typed;
use model::place::{PlaceRequest, Target};
use model::place_argument::{PlaceArgument, labelled};
use model::plan::{Draft, GENTLE_BUDGET, Plan, StudyPlan};
use model::plan_file;
use model::study::StudyDescription;

use crate::cli::CompareArgs;
use crate::clients;
use crate::exit::UsageError;

/// A plan file larger than this is something else, and takes fifty times its size to read.
const PLAN_BYTES_MAX: u64 = 256 << 10;

/// Stands for the plan file's folder in its texts.
const PLAN_FOLDER: &str = "plan";

/// The places of a run that names none.
pub(crate) fn default_places() -> Vec<PlaceRequest> {
    vec![PlaceRequest::directory("disk", "."), PlaceRequest::directory("ram", "/dev/shm")]
}

/// The places that were named on the command line, each with its label.
pub(crate) fn named_places(arguments: &[PlaceArgument]) -> anyhow::Result<Vec<PlaceRequest>> {
    arguments.iter().try_for_each(refuse_study)?;
    // It is looked at for labels alone; a path that leads nowhere is answered by whoever opens it.
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    Ok(labelled(arguments, &here))
}

/// The same, or the default ones where none were named.
pub(crate) fn places_or_default(arguments: &[PlaceArgument]) -> anyhow::Result<Vec<PlaceRequest>> {
    if arguments.is_empty() { Ok(default_places()) } else { named_places(arguments) }
}

/// Refuses a study's name where a directory is wanted and there is none of that name.
fn refuse_study(argument: &PlaceArgument) -> anyhow::Result<()> {
    let PlaceArgument::Bare(Target::Directory(path)) = argument else { return Ok(()) };
    match path.to_str() {
        Some(name) if studies::find(name).is_some() && !path.exists() => Err(UsageError(format!(
            "`{name}` is a study, and there is no directory of that name here: write --study \
             {name} to run the study"
        ))
        .into()),
        _ => Ok(()),
    }
}

/// The plan that the flags describe, for so many clients, and what of it was typed.
pub(crate) fn from_args(args: &CompareArgs, clients: usize) -> anyhow::Result<(Plan, Typed)> {
    let mut typed = Typed::default();
    let registry = studies::specs();
    let mut draft = match &args.plan {
        Some(file) => {
            let text = read(file)?;
            let parse = || plan_file::parse(&text, &file.display().to_string(), &registry);
            let mut draft = process::in_confined_thread(parse)??;
            draft.fill_in(PLAN_FOLDER, &folder_of(file)?);
            draft
        }
        None => Draft::default(),
    };
    if !args.places.is_empty() {
        draft.places = named_places(&args.places)?;
        typed.places = draft.places.iter().map(|place| place.label.clone()).collect();
    }
    if draft.places.is_empty() {
        draft.places = default_places();
    }
    if !args.study.is_empty() {
        draft.select_studies(&args.study, &registry)?;
    }
    if draft.studies.is_empty() {
        let suits = |spec: &StudyDescription| clients == 1 || clients::suits(spec);
        let usual = registry.iter().filter(|spec| spec.by_default && suits(spec));
        draft.studies = usual.map(|spec| StudyPlan::new(spec)).collect();
    }
    if !args.strategy.is_empty() {
        draft.select_strategies(&args.strategy)?;
    }
    typed.params = draft.set_all(&args.set, &registry)?;
    if clients > 1 {
        clients::fill_in(&mut draft, clients)?;
    }
    for rate in &args.per_second {
        draft.set_per_second(rate, &registry)?;
    }
    draft.error_rate = args.error_rate.or(draft.error_rate);
    draft.threshold = args.threshold.or(draft.threshold);
    draft.budget = args.budget.or(draft.budget).or(args.gentle.then_some(GENTLE_BUDGET));
    draft.seed = args.seed.or(draft.seed);
    Ok((draft.finish(u64::from(rand::random::<u32>()))?, typed))
}

/// The folder that a plan file is in, from the root on: what a plan refers to is
/// found wherever the command is run. A pipe is in none, and stands in the current one.
fn folder_of(file: &Path) -> anyhow::Result<String> {
    let folder = match file.canonicalize() {
        Ok(file) => file.parent().unwrap_or(Path::new("/")).to_owned(),
        Err(_) => std::env::current_dir().context("finding the current directory")?,
    };
    Ok(folder.display().to_string())
}

fn read(file: &Path) -> anyhow::Result<String> {
    let wrong = |why: &dyn std::fmt::Display| {
        UsageError(format!("cannot read the plan file {}: {why}", file.display()))
    };
    let mut input = Input::open(file, PLAN_BYTES_MAX).map_err(|e| wrong(&e))?;
    places::check_source(input.as_fd(), file).map_err(|e| wrong(&e))?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|e| wrong(&e))?;
    Ok(String::from_utf8(bytes).map_err(|_| wrong(&"it is not text in UTF-8"))?)
}
