//! Runs programs under `iotoll record`, and reads what was recorded.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tempfile::TempDir;
use trace::{Call, Entry, FileFacts, FileKind, Op, PathId, Summary, TraceReader};

use crate::common::{copy_executable, iotoll, skip, stderr};

/// Those that can be used here; the others are skipped aloud.
pub(crate) fn mechanisms(test: &str) -> Vec<&'static str> {
    static PROBED: LazyLock<[(&str, Result<(), String>); 3]> =
        LazyLock::new(|| ["ebpf", "preload", "ptrace"].map(|name| (name, probe(name))));
    let usable = PROBED.iter().filter_map(|(mechanism, probed)| match probed {
        Ok(()) => Some(*mechanism),
        Err(why) => {
            skip(test, &format!("{mechanism}: {why}"));
            None
        }
    });
    usable.collect()
}

/// Whether a mechanism records here, or why not.
fn probe(mechanism: &str) -> Result<(), String> {
    let output = recording(mechanism, Path::new("/dev/null")).arg("true").output().unwrap();
    if output.status.code() == Some(1) {
        return Err(stderr(&output));
    }
    assert!(output.status.success(), "{mechanism}: {}", stderr(&output));
    Ok(())
}

/// A program that makes known calls, as the C compiler here makes it.
pub(crate) struct Program {
    pub(crate) folder: TempDir,
    pub(crate) file: PathBuf,
}

impl Program {
    pub(crate) fn built(test: &str, flags: &[&str]) -> Option<Self> {
        Self::built_of("program.c", test, flags)
    }

    pub(crate) fn built_of(source: &str, test: &str, flags: &[&str]) -> Option<Self> {
        let Some(built) = compiled(source, flags) else {
            skip(test, &format!("cc does not make a program with {flags:?}"));
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        copy_executable(&built, &file);
        Some(Self { folder, file })
    }

    /// What it is to do, how often and to which file.
    pub(crate) fn does(&self, what: &str, times: u32) -> Vec<String> {
        let log = self.folder.path().join("log");
        let words = [self.file.display().to_string(), what.into(), times.to_string()];
        [&words[..], &[log.display().to_string()]].concat()
    }
}

/// The program of a source. It is compiled once for all tests of this process.
fn compiled(source: &str, flags: &[&str]) -> Option<PathBuf> {
    static COMPILED: Mutex<BTreeMap<String, Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    let name = format!("recorded-{source}{}", flags.concat());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
    let compile = || {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let fresh = folder.path().join("program");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/record").join(source);
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-pthread", "-o"]).arg(&fresh).args(flags).arg(source).arg("-lm");
        if !compiler.output().is_ok_and(|output| output.status.success()) {
            return None;
        }
        // Other processes that test may be copying the old one.
        fs::rename(fresh, &file).unwrap();
        Some(file)
    };
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    compiled.entry(name).or_insert_with(compile).clone()
}

/// A recording that was read back.
pub(crate) struct Recorded {
    pub(crate) output: Output,
    pub(crate) entries: Vec<Entry>,
    pub(crate) summary: Option<Summary>,
    paths: Vec<Arc<[u8]>>,
}

pub(crate) fn record(mechanism: &str, command: &[String]) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("x.trace");
    let output = recording(mechanism, &trace).args(command).output().unwrap();
    Recorded { output, ..read(&trace) }
}

pub(crate) fn recording(mechanism: &str, trace: &Path) -> Command {
    let mut command = iotoll();
    command.args(["record", "--mechanism", mechanism, "-o"]).arg(trace).arg("--");
    command
}

/// What is in a trace.
pub(crate) fn read(trace: &Path) -> Recorded {
    let mut reader = TraceReader::new(File::open(trace).unwrap()).unwrap();
    let (mut entries, mut paths) = (Vec::new(), Vec::new());
    while let Some(entry) = reader.next_entry().unwrap() {
        if let Entry::Path { id, bytes } = &entry {
            assert_eq!(id.0 as usize, paths.len());
            paths.push(Arc::clone(bytes));
        }
        entries.push(entry);
    }
    let summary = reader.summary().copied();
    let output =
        Output { status: std::process::ExitStatus::default(), stdout: vec![], stderr: vec![] };
    Recorded { output, entries, summary, paths }
}

impl Recorded {
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Call(call) => Some(call),
            _ => None,
        })
    }

    /// How many calls of an operation are like that.
    pub(crate) fn count(&self, op: Op, like: impl Fn(&Call) -> bool) -> usize {
        self.calls().filter(|call| call.op == op && like(call)).count()
    }

    pub(crate) fn path(&self, id: PathId) -> &str {
        std::str::from_utf8(&self.paths[id.0 as usize]).unwrap()
    }

    /// How many calls of an operation name a path that ends so.
    pub(crate) fn count_of(&self, op: Op, end: &str) -> usize {
        self.count(op, |call| call.path.is_some_and(|path| self.path(path).ends_with(end)))
    }

    /// What a path was when it was first looked at.
    pub(crate) fn file(&self, end: &str) -> Option<&FileFacts> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::File(facts) if self.path(facts.path).ends_with(end) => Some(facts),
            _ => None,
        })
    }

    pub(crate) fn kind(&self, end: &str) -> Option<FileKind> {
        self.file(end).map(|facts| facts.kind)
    }

    pub(crate) fn lost(&self) -> u64 {
        let lost = |entry: &Entry| if let Entry::Lost { count } = entry { *count } else { 0 };
        self.entries.iter().map(lost).sum()
    }
}
