//! `iotoll show`: a saved result, printed as it was then, or the bill of a trace.

use std::io::Read as _;
use std::path::Path;

use ::load::analyse_load;
use analysis::analyse;
use anyhow::{anyhow, ensure};
use host::input::Input;
use model::document;
use model::load::{self, LoadRun};
use model::run::Run;
use model::selftest::{self, SelftestResult};
use report::html::record;
use report::load::Layout;
use store::{Analysed, Content, Entry, State, Store};
use trace::Bill;

use crate::cli::{Form, ShowArgs};
use crate::delivery::{Targets, deliver_comparison, deliver_document};
use crate::exit::{Exit, UsageError};
use crate::identity::this_program;
use crate::load::layout_of;
use crate::{billed, output, saving};

/// What is looked at before the rest is read.
const BEGINNING_BYTES: u64 = 64 << 10;
/// What other programs wrote anew may name its schema further down, up to this size.
const UNNAMED_BYTES_MAX: u64 = 16 << 20;

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let targets = Targets::open(&args.output)?;
    let what = args.run.as_deref().map_or("the last run".into(), Path::to_string_lossy);
    if let Some(other) = &args.beside {
        return beside(args.run.as_deref(), other);
    }
    let shown = shown(args).map_err(|why| UsageError(format!("cannot show {what}: {why:#}")))?;
    match shown {
        Shown::Analysed(kept) => {
            deliver_comparison(targets, &kept.run, &kept.analysis, args.output.full)?;
        }
        Shown::Saved(saved) => saved.deliver(args, targets)?,
        Shown::Billed(bill) => {
            deliver_document(targets, &*bill, |width| {
                report::bill(&bill, args.output.full, width)
            })?;
        }
    }
    Ok(Exit::Done)
}

/// What is shown: what followed from a run when it was measured, a result to be looked at anew,
/// or what a trace comes to.
enum Shown {
    Analysed(Box<Analysed>),
    Saved(Saved),
    Billed(Box<Bill>),
}

fn shown(args: &ShowArgs) -> anyhow::Result<Shown> {
    let given = args.run.as_deref();
    if let Some(trace) = given.and_then(billed::trace_in) {
        trace_fits(args)?;
        return Ok(Shown::Billed(Box::new(billed::bill_in(trace)?)));
    }
    let saved = if given.is_some_and(is_file) {
        found(given)?
    } else {
        let (store, entry) = entry(given.and_then(Path::to_str))?;
        if let Some(program) = this_program().filter(|_| needs_no_slices(args))
            && let Some(kept) = store.load_analysed(&entry, &program)?
        {
            return Ok(Shown::Analysed(Box::new(kept)));
        }
        loaded(&store, &entry)?
    };
    saved.fits(args)?;
    Ok(Shown::Saved(saved))
}

/// Whether what is asked for is of a trace.
fn trace_fits(args: &ShowArgs) -> anyhow::Result<()> {
    ensure!(
        args.worth.or(args.error_rate).or(args.per_second).is_none()
            && args.layout.is_none()
            && args.output.files().all(|(form, _)| matches!(form, Form::Json)),
        "it is a trace: --full and --json apply to it, and no other option"
    );
    Ok(())
}

/// Whether nothing is decided anew and all is text, which needs no slices: they are most of a
/// record.
fn needs_no_slices(args: &ShowArgs) -> bool {
    args.worth.or(args.error_rate).or(args.per_second).is_none()
        && args.output.files().all(|(form, _)| matches!(form, Form::Markdown))
        && args.layout.is_none()
}

/// Shows two runs of one article.
fn beside(given: Option<&Path>, other: &Path) -> anyhow::Result<Exit> {
    let name = |given: &Path| given.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let names = [given.unwrap_or(Path::new("last")), other].map(name);
    let repeated = |given: &Path| {
        let analysis = comparison(given).map(|run| analyse(&run));
        let none = || anyhow!("it repeats no article");
        let found = analysis.and_then(|analysis| analysis.reproduction.ok_or_else(none));
        found.map_err(|why| UsageError(format!("cannot show {}: {why:#}", given.display())))
    };
    let runs = [repeated(given.unwrap_or(Path::new("last")))?, repeated(other)?];
    let both = [(names[0].as_str(), &runs[0]), (names[1].as_str(), &runs[1])];
    let text = report::beside(both, output::width()).ok_or_else(|| {
        UsageError(format!("{} repeats {}, not {}", names[1], runs[1].article, runs[0].article))
    })?;
    output::result(&text)?;
    Ok(Exit::Done)
}

/// What is in a file, or what the store has under a name, the last where none is given.
pub(crate) fn found(given: Option<&Path>) -> anyhow::Result<Saved> {
    match given {
        Some(path) if is_file(path) => {
            let (file, name) = file_and_name(path);
            Saved::read(&read(file, name)?)
        }
        name => {
            let (store, entry) = entry(name.and_then(Path::to_str))?;
            loaded(&store, &entry)
        }
    }
}

/// The comparison in a file or in the store.
pub(crate) fn comparison(given: &Path) -> anyhow::Result<Box<Run>> {
    match found(Some(given))? {
        Saved::Comparison(run) => Ok(run),
        Saved::Load(_) | Saved::Selftest(_) => Err(anyhow!("it is not a comparison")),
    }
}

/// A file, and which of the runs in it is meant: `report.html#3755cbf6`.
fn file_and_name(given: &Path) -> (&Path, Option<&str>) {
    let parts = given.to_str().filter(|_| !given.exists()).and_then(|text| text.rsplit_once('#'));
    parts.map_or((given, None), |(file, name)| (Path::new(file), Some(name)))
}

/// Whether it means a file: what cannot be a run's name, or is there.
pub(crate) fn is_file(given: &Path) -> bool {
    !given.to_str().is_some_and(store::is_name) || given.exists()
}

/// A run of the store, with all of its slices.
fn loaded(store: &Store, entry: &Entry) -> anyhow::Result<Saved> {
    if entry.state == State::Running {
        output::note(&format!(
            "{} is still running; these are its results so far",
            entry.short_id()
        ));
    }
    Saved::load(store, entry)
}

/// The run of that name in the store, the last where none is given.
fn entry(name: Option<&str>) -> anyhow::Result<(Store, Entry)> {
    let mut store = saving::existing()?;
    saving::tell_killed(&mut store);
    let entry = store.find(name.unwrap_or("last"))?;
    Ok((store, entry))
}

/// A result of any kind.
pub(crate) enum Saved {
    Comparison(Box<Run>),
    Load(Box<LoadRun>),
    Selftest(Box<SelftestResult>),
}

impl Saved {
    /// Loads one from the store.
    pub(crate) fn load(store: &Store, entry: &Entry) -> anyhow::Result<Self> {
        Ok(match store.load(entry)? {
            Content::Comparison(run) => Self::Comparison(run),
            Content::Document(text) => Self::read(&text)?,
        })
    }

    /// Reads a result file.
    fn read(text: &str) -> anyhow::Result<Self> {
        Ok(match document::schema_of(text)?.as_str() {
            load::SCHEMA => Self::Load(LoadRun::read(text)?.into()),
            selftest::SCHEMA => Self::Selftest(SelftestResult::read(text)?.into()),
            _ => Self::Comparison(Run::read(text)?.into()),
        })
    }

    /// Whether what is asked for is of its kind.
    fn fits(&self, args: &ShowArgs) -> anyhow::Result<()> {
        ensure!(
            matches!(self, Self::Comparison(_))
                || args.worth.or(args.error_rate).or(args.per_second).is_none()
                    && !args.output.full
                    && args.output.files().all(|(form, _)| matches!(form, Form::Json)),
            "it is not a comparison, and --worth, --error-rate, --per-second, --full, --csv, \
             --openmetrics, --html and --markdown apply only to comparisons"
        );
        ensure!(
            matches!(self, Self::Load(_)) || args.layout.is_none(),
            "it is not a result of `iotoll load`, and --layout applies only to those"
        );
        Ok(())
    }

    fn deliver(self, args: &ShowArgs, targets: Targets) -> anyhow::Result<()> {
        match self {
            Self::Comparison(run) => {
                let run = args.worth.into_iter().fold(*run, Run::with_worth);
                let run = args.error_rate.into_iter().fold(run, Run::with_error_rate);
                let run = args.per_second.into_iter().fold(run, Run::with_per_second);
                let analysis = analyse(&run);
                deliver_comparison(targets, &run, &analysis, args.output.full)
            }
            Self::Load(run) => {
                let (analysis, layout) =
                    (analyse_load(&run), args.layout.map_or(Layout::Plain, layout_of));
                let document = run.with_analysis(&analysis);
                deliver_document(targets, &document, |_| {
                    report::load::render(layout, &run, &analysis)
                })
            }
            Self::Selftest(result) => {
                deliver_document(targets, &result, |width| report::selftest::report(&result, width))
            }
        }
    }
}

/// The text of a file that may be a result. One that cannot be is not read to its end.
fn read(file: &Path, name: Option<&str>) -> anyhow::Result<String> {
    let mut input = Input::open(file, document::BYTES_MAX)?;
    let mut bytes = Vec::new();
    input.by_ref().take(BEGINNING_BYTES).read_to_end(&mut bytes)?;
    if record::is_page(&bytes) {
        input.read_to_end(&mut bytes)?;
        return as_text(record::read(&as_text(bytes)?, name, document::BYTES_MAX)?);
    }
    document::check_beginning(&bytes)?;
    if !document::names_schema(&bytes) {
        input.by_ref().take(UNNAMED_BYTES_MAX).read_to_end(&mut bytes)?;
        ensure!(
            bytes.len() as u64 <= UNNAMED_BYTES_MAX,
            "it is not a result of iotoll: it has no `schema` at its beginning"
        );
    }
    input.read_to_end(&mut bytes)?;
    as_text(bytes)
}

fn as_text(bytes: Vec<u8>) -> anyhow::Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| anyhow!("it is not a result of iotoll: it is not UTF-8 text"))
}
