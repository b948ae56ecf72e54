//! The processes in which the engines run, a package of their own: `bench/engines`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::ended::Ended;
use xtask::process;

const MANIFEST: &str = "bench/engines/Cargo.toml";
/// Where it is built, below the folder of all that is built.
const TARGET: &str = "engines";

/// The program with the engines, as it was built.
pub(super) struct Program {
    path: PathBuf,
    pub(super) has_rocksdb: bool,
}

impl Program {
    /// Builds it, without `RocksDB` where that is not wanted or cannot be built.
    pub(super) fn build(with_rocksdb: bool) -> Result<Self> {
        if with_rocksdb {
            match built(&["--features", "rocksdb"]) {
                Ok(path) => return Ok(Self { path, has_rocksdb: true }),
                Err(error) => eprintln!(
                    "xtask: going on without RocksDB, which could not be linked: {error:#}. It \
                     takes the library of version 7.8 or later; on Debian and Ubuntu \
                     `apt-get install librocksdb-dev` installs it."
                ),
            }
        }
        Ok(Self { path: built(&[])?, has_rocksdb: false })
    }

    /// Starts an engine in a new folder below `place`.
    pub(super) fn start(&self, place: &Path, engine: &str, work: &Work) -> Result<Engine> {
        let folder = place.join(format!("{engine}-{}", work.keys));
        std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        let Work { keys, items, in_one, seed } = work;
        let numbers = [items, in_one, seed].map(u64::to_string);
        let mut command = Command::new(&self.path);
        command.arg(engine).arg(folder).arg(keys).args(numbers);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let asked = child.stdin.take().context("its standard input")?;
        let told = BufReader::new(child.stdout.take().context("its standard output")?);
        Ok(Engine { name: engine.to_owned(), child: Ended(child), asked, told })
    }
}

fn built(more: &[&str]) -> Result<PathBuf> {
    let format = "--message-format=json-render-diagnostics";
    let arguments =
        ["build", "--quiet", "--release", "--locked", "--manifest-path", MANIFEST, format];
    let mut build = process::cargo(&arguments);
    build.args(more).arg("--target-dir").arg(process::target_folder().join(TARGET));
    process::executable(&process::output_alone(&mut build)?)
}

/// What all engines are to do.
#[derive(Clone)]
pub(super) struct Work {
    /// `random` or `sequential`.
    pub(super) keys: &'static str,
    pub(super) items: u64,
    /// Items in a transaction.
    pub(super) in_one: u64,
    pub(super) seed: u64,
}

/// An engine in a process of its own, which ends with this.
pub(super) struct Engine {
    name: String,
    child: Ended,
    asked: ChildStdin,
    told: BufReader<ChildStdout>,
}

/// What a stretch of commits came to.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Stretch {
    pub(super) elapsed_ns: u64,
    /// All threads' processor time, what went on in the background included.
    pub(super) cpu_ns: u64,
    pub(super) device_bytes: u64,
    /// How many syncs each commit made.
    pub(super) syncs: Vec<u64>,
    /// Changed pages, whole, of an engine that is ours.
    pub(super) page_bytes: u64,
    /// What was written to the journal for them.
    pub(super) journal_bytes: u64,
}

/// What reading a journal back came to.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Recovery {
    pub(super) elapsed_ns: u64,
    pub(super) page_bytes: u64,
}

#[derive(Deserialize)]
struct Checked {
    items: u64,
}

impl Engine {
    /// Commits the next transactions.
    pub(super) fn commit(&mut self, transactions: u64) -> Result<Stretch> {
        self.ask(&format!("commit {transactions}"))
    }

    /// Reads the journal back, of an engine that is ours; it commits nothing after that.
    pub(super) fn recover(&mut self) -> Result<Recovery> {
        self.ask("recover")
    }

    /// Opens the engine again and compares all items; an error where one is not as it was put.
    pub(super) fn check(&mut self, items: u64) -> Result<()> {
        let found: Checked = self.ask("check")?;
        ensure!(found.items == items, "{}: {} items of {items} are there", self.name, found.items);
        Ok(())
    }

    fn ask<T: DeserializeOwned>(&mut self, line: &str) -> Result<T> {
        let asked = writeln!(self.asked, "{line}").and_then(|()| self.asked.flush());
        let mut told = String::new();
        self.told.read_line(&mut told).with_context(|| self.name.clone())?;
        if told.is_empty() {
            bail!("{} ended with {} at `{line}`", self.name, self.child.0.wait()?);
        }
        asked.with_context(|| self.name.clone())?;
        serde_json::from_str(&told).with_context(|| format!("{}: {told}", self.name))
    }
}
