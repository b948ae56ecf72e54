//! Where a result comes from: a file that may be anybody's, or the user's saved runs.
//!
//! A file is opened first and read later, by a process or a thread that may do nothing else
//! (`confined.rs`).

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::Path;

use anyhow::{anyhow, ensure};
use host::input::Input;
use model::document;
use model::load::{self, LoadRun};
use model::run::Run;
use model::selftest::{self, SelftestResult};
use report::formats::Kind;
use report::html::record;
use rustix::fs::{MemfdFlags, memfd_create};
use store::{Content, Entry, State, Store};
use trace::Bill;
use units::{counted, exact_size};

use crate::exit::{UsageError, sentence};
use crate::recording::billed;
use crate::results::saving;
use crate::terminal::output;

/// What is looked at before the rest is read.
const BEGINNING_BYTES: u64 = 64 << 10;
/// How many runs are named where one is not found.
const NAMED_MAX: usize = 3;
/// What other programs wrote anew may name its schema further down, up to this size.
const UNNAMED_BYTES_MAX: u64 = 16 << 20;

/// A result that is open, and yet to be read where a file has it.
pub(crate) enum Source {
    /// The trace of a recording.
    Trace(File),
    /// A file, and which of the runs in it is meant.
    File(Input, Option<String>),
    /// A saved run.
    Stored(Box<Saved>),
}

impl Source {
    /// A file, or what the store has under a name, the last run where none is given.
    pub(crate) fn open(given: Option<&Path>) -> anyhow::Result<Self> {
        billed::remember_here();
        match given {
            Some(path) if path.as_os_str() == "-" => Self::standard_input(),
            Some(path) if is_file(path) => {
                if let Some(trace) = billed::trace_in(path) {
                    return Ok(Self::Trace(trace));
                }
                let (file, name) = file_and_name(path);
                let input = Input::open(file, document::BYTES_MAX).map_err(|error| {
                    if error.kind() == ErrorKind::NotFound { absent() } else { error.into() }
                })?;
                Ok(Self::File(input, name.map(str::to_owned)))
            }
            name => {
                let (store, entry) = entry(name.and_then(Path::to_str))?;
                Ok(Self::Stored(loaded(&store, &entry)?.into()))
            }
        }
    }

    /// What may be a result is read to its end, for traces and records are read from files.
    fn standard_input() -> anyhow::Result<Self> {
        // A recording may take its time.
        let mut input = io::stdin().lock().take(document::BYTES_MAX + 1);
        let mut beginning = Vec::new();
        input.by_ref().take(BEGINNING_BYTES).read_to_end(&mut beginning)?;
        let is_trace = trace::is_trace(&beginning);
        if !is_trace && !record::is_page(&beginning) {
            document::check_beginning(&beginning)?;
        }
        let mut file = File::from(memfd_create("iotoll-input", MemfdFlags::CLOEXEC)?);
        file.write_all(&beginning)?;
        io::copy(&mut input, &mut file)?;
        ensure!(input.limit() > 0, "it is larger than {}", exact_size(document::BYTES_MAX));
        file.rewind()?;
        if is_trace {
            return Ok(Self::Trace(file));
        }
        let again = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(Self::File(Input::open(Path::new(&again), document::BYTES_MAX)?, None))
    }

    /// Whether anybody may have written it.
    pub(crate) fn is_file(&self) -> bool {
        !matches!(self, Self::Stored(_))
    }

    /// An error where it is a file whose contents others control, for commands that do what it
    /// says.
    pub(crate) fn refuse_what_others_control(&self, given: &Path) -> anyhow::Result<()> {
        if let Self::File(input, _) = self {
            places::check_source(input.as_fd(), file_and_name(given).0)?;
        }
        Ok(())
    }

    /// Reads it.
    pub(crate) fn read(self) -> anyhow::Result<Saved> {
        match self {
            Self::Trace(_) => {
                Err(anyhow!("it is the trace of a recording, not a result; see `iotoll show`"))
            }
            Self::File(input, name) => Saved::read(&read(input, name.as_deref())?),
            Self::Stored(saved) => Ok(*saved),
        }
    }

    /// Whether it is a recording.
    pub(crate) fn is_trace(&self) -> bool {
        matches!(self, Self::Trace(_))
    }

    /// Reads a recording.
    pub(crate) fn bill(self) -> anyhow::Result<Bill> {
        match self {
            Self::Trace(trace) => billed::bill_in(trace),
            Self::File(..) | Self::Stored(_) => Err(UsageError(
                "recordings and other results cannot be compared; name results of one kind"
                    .to_owned(),
            )
            .into()),
        }
    }

    /// Reads a comparison.
    pub(crate) fn comparison(self) -> anyhow::Result<Box<Run>> {
        match self.read()? {
            Saved::Comparison(run) => Ok(run),
            Saved::Load(_) | Saved::Selftest(_) => Err(anyhow!("it is not a comparison")),
        }
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
pub(crate) fn loaded(store: &Store, entry: &Entry) -> anyhow::Result<Saved> {
    if entry.state == State::Running {
        output::note(&format!(
            "{} is still running; these are its results so far",
            entry.short_id()
        ));
    }
    Saved::load(store, entry)
}

/// The run of that name in the store, the last where none is given.
pub(crate) fn entry(name: Option<&str>) -> anyhow::Result<(Store, Entry)> {
    let mut store = saving::existing()?;
    saving::tell_killed(&mut store);
    let entry = match store.find(name.unwrap_or("last")) {
        Err(store::Error::NoSuchRun(_)) => return Err(absent()),
        found => found?,
    };
    Ok((store, entry))
}

/// There is neither a file nor a run of a name; which runs there are.
fn absent() -> anyhow::Error {
    let entries = saving::if_any().ok().flatten().and_then(|store| store.list().ok());
    let entries = entries.unwrap_or_default();
    if entries.is_empty() {
        return anyhow!("there is neither a file nor a saved run of that name; no runs are saved");
    }
    let latest = entries.iter().take(NAMED_MAX).map(Entry::short_id).collect::<Vec<_>>();
    let saved = counted(entries.len() as u64, "saved run");
    let saved =
        format!("{saved}, the latest first: {} (`iotoll history` lists them)", latest.join(", "));
    anyhow!("there is neither a file nor a saved run of that name; {saved}")
}

/// Opens a result that `what` is to be done with.
pub(crate) fn open(given: Option<&Path>, what: &str) -> Result<Source, UsageError> {
    Source::open(given).map_err(|why| cannot(given, what, &why))
}

/// Why that cannot be done.
pub(crate) fn cannot(given: Option<&Path>, what: &str, why: &anyhow::Error) -> UsageError {
    let name = given.map_or("the last run".into(), Path::to_string_lossy);
    UsageError(format!("cannot {what} {name}: {}", sentence(why)))
}

/// A result of any kind.
pub(crate) enum Saved {
    Comparison(Box<Run>),
    Load(Box<LoadRun>),
    Selftest(Box<SelftestResult>),
}

impl Saved {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Comparison(_) => Kind::Comparison,
            Self::Load(_) => Kind::Load,
            Self::Selftest(_) => Kind::Selftest,
        }
    }

    /// Loads one from the store.
    pub(crate) fn load(store: &Store, entry: &Entry) -> anyhow::Result<Self> {
        Ok(match store.load(entry)? {
            Content::Comparison(run) => Self::comparison(run),
            Content::Document(text) => Self::read(&text)?,
        })
    }

    /// Reads a result file.
    fn read(text: &str) -> anyhow::Result<Self> {
        Ok(match document::schema_of(text)?.as_str() {
            load::SCHEMA => Self::Load(LoadRun::read(text)?.into()),
            selftest::SCHEMA => Self::Selftest(SelftestResult::read(text)?.into()),
            _ => Self::comparison(Run::read(text)?.into()),
        })
    }

    fn comparison(mut run: Box<Run>) -> Self {
        studies::complete(&mut run.studies);
        Self::Comparison(run)
    }
}

/// The text of a file that may be a result. One that cannot be is not read to its end.
fn read(mut input: Input, name: Option<&str>) -> anyhow::Result<String> {
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
