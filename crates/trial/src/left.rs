//! What a run leaves: its exit status, its standard output and the files that it changed.
//!
//! What already differs between runs as now says nothing about another variant: it is not compared, and
//! the report names it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _, Seek as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::Ended;
use rustix::fs::{CWD, Mode, OFlags, openat};
use xxhash_rust::xxh3::Xxh3;

use crate::copy::data_from;

/// What is read at once.
const PIECE_BYTES: u64 = 1 << 16;
/// So many paths are named.
const NAMED_MAX: usize = 3;

/// What became of a path that a run changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It is gone.
    Gone,
    /// A folder.
    Folder,
    /// A file with such contents, which are nothing where they cannot be read.
    File(Option<u128>),
    /// A link that says this.
    Link(PathBuf),
    /// Anything else.
    Other,
}

impl Left {
    pub(crate) fn at(path: &Path) -> Self {
        match fs::symlink_metadata(path) {
            Err(_) => Self::Gone,
            Ok(facts) if facts.is_dir() => Self::Folder,
            Ok(facts) if facts.is_symlink() => fs::read_link(path).map_or(Self::Other, Self::Link),
            Ok(facts) if facts.is_file() => Self::File(hash(path).ok()),
            Ok(_) => Self::Other,
        }
    }
}

/// Of the length, and of all pieces in which there is anything but zeros: a hole is as good as
/// zeros, and is not read.
fn hash(path: &Path) -> io::Result<u128> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = fs::File::from(openat(CWD, path, flags, Mode::empty())?);
    let length = file.metadata()?.len();
    let mut hasher = Xxh3::new();
    hasher.update(&length.to_le_bytes());
    let (mut at, mut piece) = (0, Vec::with_capacity(PIECE_BYTES as usize));
    while at < length {
        let Some(begins) = data_from(&file, at) else { break };
        at = begins - begins % PIECE_BYTES;
        file.seek(io::SeekFrom::Start(at))?;
        piece.clear();
        (&file).take(PIECE_BYTES).read_to_end(&mut piece)?;
        if piece.iter().any(|byte| *byte != 0) {
            hasher.update(&at.to_le_bytes());
            hasher.update(&piece);
        }
        at += PIECE_BYTES;
    }
    Ok(hasher.digest128())
}

/// One run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ran {
    /// As a shell has it.
    pub(crate) status: i32,
    pub(crate) output: Vec<u8>,
    /// The last lines of standard error.
    pub(crate) stderr: Vec<String>,
    pub(crate) took: Duration,
    /// By the paths that the command sees.
    pub(crate) left: BTreeMap<PathBuf, Left>,
}

impl Ran {
    /// How a program ended; how long it took and what it left is filled in.
    pub(crate) fn of(Ended { status, output, stderr, .. }: Ended) -> Self {
        Self { status, output, stderr, ..Self::default() }
    }

    /// A server is stopped, and says nothing that is compared; what it leaves depends on its requests.
    pub(crate) fn of_a_server() -> Self {
        Self::default()
    }
}

/// What the user said need not be the same.
#[derive(Clone, Debug, Default)]
pub struct Ignored {
    /// Standard output.
    pub output: bool,
    /// Parts of the paths of files.
    pub paths: Vec<String>,
}

impl Ignored {
    fn has(&self, path: &Path) -> bool {
        let path = path.as_os_str().as_bytes();
        let is_in = |part: &String| {
            let part = part.as_bytes();
            path.windows(part.len().max(1)).any(|window| window == part)
        };
        self.paths.iter().any(is_in)
    }
}

/// What each run must come to.
#[derive(Debug)]
pub(crate) struct Reference {
    first: Ran,
    /// Whether the first run's files are known.
    knows_files: bool,
    output: Output,
    /// Paths whose contents differ between runs as now, or that are not in all of them.
    varying: BTreeSet<PathBuf>,
    /// Folders in which names differ: those of temporary files are drawn at random.
    drawn_in: BTreeSet<PathBuf>,
    ignored: Ignored,
}

/// How alike the standard outputs of runs as now are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    Same,
    /// But for numbers.
    Numbers,
    Different,
}

impl Reference {
    pub(crate) fn new(first: Ran, ignored: Ignored) -> Self {
        let output = if ignored.output { Output::Different } else { Output::Same };
        Self {
            first,
            knows_files: false,
            output,
            varying: BTreeSet::new(),
            drawn_in: BTreeSet::new(),
            ignored,
        }
    }

    /// Takes in another run as now; an error where it ended otherwise, so that the command cannot be
    /// tried.
    pub(crate) fn widen(&mut self, again: &Ran) -> Result<(), String> {
        if let Some(why) = self.ended_otherwise(again) {
            return Err(why);
        }
        self.widen_output(&again.output);
        for path in self.first.left.keys().chain(again.left.keys()) {
            let both = [self.first.left.get(path), again.left.get(path)];
            if both[0] != both[1] {
                self.varying.insert(path.clone());
            }
            if let ([None, Some(_)] | [Some(_), None], Some(folder)) = (both, path.parent()) {
                self.drawn_in.insert(folder.to_owned());
            }
        }
        Ok(())
    }

    /// Takes in a run on the usual storage. The first of them is what others are compared with.
    pub(crate) fn take_in(&mut self, ran: Ran) -> Result<(), String> {
        if self.knows_files {
            return self.widen(&ran);
        }
        if let Some(why) = self.ended_otherwise(&ran) {
            return Err(why);
        }
        // What it wrote over an overlay may have been about that.
        (self.knows_files, self.first) = (true, ran);
        Ok(())
    }

    /// The same of an output alone.
    fn widen_output(&mut self, again: &[u8]) {
        while !self.has_output(again) {
            self.output =
                if self.output == Output::Same { Output::Numbers } else { Output::Different };
        }
    }

    fn has_output(&self, other: &[u8]) -> bool {
        match self.output {
            Output::Same => self.first.output == other,
            Output::Numbers => without_numbers(&self.first.output) == without_numbers(other),
            Output::Different => true,
        }
    }

    fn ended_otherwise(&self, other: &Ran) -> Option<String> {
        let (first, now) = (self.first.status, other.status);
        let said = other.stderr.last().or(self.first.stderr.last());
        let said = said.map_or_else(String::new, |line| format!("; it wrote: {line}"));
        (first != now).then(|| format!("exit status {now} instead of {first}{said}"))
    }

    /// How a run of another variant differs; nothing where it is the same.
    pub(crate) fn difference(&self, other: &Ran) -> Option<String> {
        if let Some(why) = self.ended_otherwise(other) {
            return Some(why);
        }
        if !self.has_output(&other.output) {
            return Some(format!(
                "standard output differs: {}",
                first_difference(&self.first.output, &other.output)
            ));
        }
        let paths: BTreeSet<&PathBuf> = self.first.left.keys().chain(other.left.keys()).collect();
        let is_drawn = |path: &PathBuf| {
            let is_in_both = self.first.left.contains_key(path) && other.left.contains_key(path);
            !is_in_both && path.ancestors().any(|folder| self.drawn_in.contains(folder))
        };
        let differs = |path: &&PathBuf| {
            !is_drawn(path)
                && !self.varying.contains(*path)
                && !self.ignored.has(path)
                && self.first.left.get(*path) != other.left.get(*path)
        };
        let differing: Vec<&PathBuf> = paths.into_iter().filter(differs).collect();
        let path = differing.first()?;
        let what = match (self.first.left.get(*path), other.left.get(*path)) {
            (_, None | Some(Left::Gone)) => "is not left",
            (None | Some(Left::Gone), _) => "is left, and was not as now",
            _ => "has other contents",
        };
        Some(format!("{} {what}", path.display()))
    }

    /// What is not compared, each in a sentence.
    pub(crate) fn uncompared(&self) -> Vec<String> {
        let mut said = Vec::new();
        match self.output {
            Output::Different if !self.ignored.output => said.push(
                "Standard output differs from run to run, so it was not compared.".to_owned(),
            ),
            Output::Numbers => said.push(
                "Numbers in standard output differ from run to run, so they were not compared."
                    .to_owned(),
            ),
            _ => {}
        }
        let varying: Vec<_> = self.varying.iter().filter(|path| !self.ignored.has(path)).collect();
        if !varying.is_empty() {
            let shown = varying.iter().take(NAMED_MAX).map(|path| path.display().to_string());
            let shown = shown.collect::<Vec<_>>().join(", ");
            let more = varying.len().saturating_sub(NAMED_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            said.push(format!(
                "Files that differ from run to run were not compared: {shown}{more}."
            ));
        }
        said
    }

    /// The exit status of the first run.
    pub(crate) fn status(&self) -> i32 {
        self.first.status
    }
}

fn without_numbers(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut within = false;
    for byte in text {
        let is_number = byte.is_ascii_digit() || within && *byte == b'.';
        if !is_number {
            kept.push(*byte);
        } else if !within {
            kept.push(b'0');
        }
        within = is_number;
    }
    kept
}

fn first_difference(first: &[u8], other: &[u8]) -> String {
    const SHOWN_CHARS: usize = 60;
    let line = |text: &[u8], at: usize| {
        let line = text.split(|byte| *byte == b'\n').nth(at).unwrap_or_default();
        String::from_utf8_lossy(line).chars().take(SHOWN_CHARS).collect::<String>()
    };
    let lines = |text: &[u8]| text.split(|byte| *byte == b'\n').count();
    let most = lines(first).max(lines(other));
    let at = (0..most).find(|at| line(first, *at) != line(other, *at)).unwrap_or(0);
    format!("line {} is `{}` instead of `{}`", at + 1, line(other, at), line(first, at))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    fn ran(status: i32, output: &str, left: &[(&str, u128)]) -> Ran {
        let left = left.iter().map(|(path, hash)| (PathBuf::from(path), Left::File(Some(*hash))));
        Ran {
            status,
            output: output.into(),
            stderr: Vec::new(),
            took: Duration::ZERO,
            left: left.collect(),
        }
    }

    fn difference(reference: &Reference, other: &Ran) -> String {
        reference.difference(other).unwrap_or_default()
    }

    #[test]
    fn holes_are_zeros_and_take_no_time_and_each_byte_counts() {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let hash_of = |bytes: u64, parts: &[(u64, &[u8])]| {
            let path = folder.path().join("file");
            let made = fs::File::create(&path).and_then(|file| {
                file.set_len(bytes)?;
                parts.iter().try_for_each(|(at, part)| file.write_all_at(part, *at))
            });
            made.and_then(|()| hash(&path)).unwrap_or_default()
        };
        let large = 1 << 40;
        let sparse = hash_of(large, &[(1 << 39, b"a")]);
        assert_ne!(sparse, hash_of(large, &[]));
        assert_ne!(sparse, hash_of(large, &[((1 << 39) + PIECE_BYTES, b"a")]));
        assert_ne!(sparse, hash_of(large + 1, &[(1 << 39, b"a")]));
        assert_eq!(sparse, hash_of(large, &[(1 << 39, b"a"), (1 << 20, &vec![0; 200_000])]));
        let end = 3 * PIECE_BYTES - 1;
        assert_ne!(hash_of(end + 1, &[(end, b"a")]), hash_of(end + 1, &[(end, b"b")]));
    }

    #[test]
    fn a_run_that_ends_writes_or_leaves_something_else_differs() {
        let reference = Reference::new(ran(0, "a\nb\n", &[("/p/x", 1)]), Ignored::default());
        assert_eq!(reference.difference(&ran(0, "a\nb\n", &[("/p/x", 1)])), None);
        assert!(difference(&reference, &ran(3, "a\nb\n", &[])).contains("exit status 3"));
        let told = difference(&reference, &ran(0, "a\nc\n", &[("/p/x", 1)]));
        assert!(told.contains("line 2 is `c` instead of `b`"), "{told}");
        assert!(
            difference(&reference, &ran(0, "a\nb\n", &[("/p/x", 2)])).contains("other contents")
        );
        assert!(difference(&reference, &ran(0, "a\nb\n", &[])).contains("/p/x is not left"));
        let more = ran(0, "a\nb\n", &[("/p/x", 1), ("/p/y", 1)]);
        assert!(difference(&reference, &more).contains("/p/y is left"));
    }

    #[test]
    fn what_differs_between_runs_as_now_is_not_compared() {
        let ignored = Ignored { output: false, paths: vec![".log".to_owned()] };
        let mut reference = Reference::new(ran(0, "took 1.25 s\n", &[("/p/x", 1)]), ignored);
        reference.widen(&ran(0, "took 0.9 s\n", &[("/p/x", 2), ("/p/7", 1)])).unwrap_or_default();
        let others = ran(0, "took 3 s\n", &[("/p/x", 3), ("/p/8", 1), ("/q/a.log", 1)]);
        assert_eq!(reference.difference(&others), None);
        assert!(difference(&reference, &ran(0, "failed\n", &[])).contains("standard output"));
        assert_eq!(reference.uncompared().len(), 2);
        assert!(reference.widen(&ran(1, "", &[])).is_err());
    }
}
