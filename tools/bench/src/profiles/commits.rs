//! A trace, cut into commits: the calls on the files that one waits for, as words of a profile.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result};
use trace::{Entry, Followed, Follower, Op, Place, TraceReader};

use super::programs::{Ends, Offsets, Recipe};

/// From one of these files on, calls count; until the other.
pub(super) const BEGIN: &str = "commits-begin";
pub(super) const END: &str = "commits-end";

/// The most commits that are kept of a program.
const KEPT_MAX: usize = 200;
/// Fewer are kept where these are within so much of all.
const ALIKE: f64 = 0.01;

/// What was recorded, each commit as its words.
pub(super) struct Commits {
    pub(super) commits: Vec<Vec<String>>,
}

/// Calls and bytes of a commit, on average.
pub(super) struct Counts {
    calls: f64,
    bytes: f64,
    syncs: f64,
}

impl Commits {
    /// Those of a recording.
    pub(super) fn read(trace: &Path, recipe: &Recipe) -> Result<Self> {
        let file = File::open(trace).with_context(|| trace.display().to_string())?;
        let mut reader = TraceReader::new(std::io::BufReader::new(file))?;
        let (mut follower, mut cutter) = (Follower::default(), Cutter::new(recipe));
        while let Some(entry) = reader.next_entry()? {
            let files = follower.follow(&entry);
            if let (Entry::Call(call), Some(files)) = (&entry, files) {
                cutter.take(call.op, call, &files);
            }
        }
        Ok(Self { commits: cutter.commits })
    }

    pub(super) fn counts(&self) -> Counts {
        Counts::of(&self.commits)
    }

    /// The fewest, one after the other, that have the calls and bytes of all.
    pub(super) fn representative(&self) -> &[Vec<String>] {
        let all = self.counts();
        let most = self.commits.len().min(KEPT_MAX);
        let alike = |some: &&[Vec<String>]| Counts::of(some).is_within(&all, ALIKE);
        let sizes = [1, 16, 32, 64, 128].into_iter().filter(|size| *size <= most);
        let mut alike = sizes.filter_map(|size| self.commits.windows(size).find(alike));
        alike.next().unwrap_or(&self.commits[..most])
    }
}

impl Counts {
    fn of(commits: &[Vec<String>]) -> Self {
        let number = commits.len().max(1) as f64;
        let words = || commits.iter().flatten();
        let bytes = |word: &String| word.split_once(':').and_then(|(_, b)| b.parse::<f64>().ok());
        let is_sync = |word: &&String| matches!(word.as_bytes().first(), Some(b'f' | b'd' | b'F'));
        Self {
            calls: words().count() as f64 / number,
            bytes: words().filter_map(bytes).sum::<f64>() / number,
            syncs: words().filter(is_sync).count() as f64 / number,
        }
    }

    /// Those of a file that is kept.
    pub(super) fn of_file(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let table: toml::Table = text.parse()?;
        let commits = table["commits"].as_array().context("it has no commits")?;
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let commits: Vec<Vec<String>> =
            commits.iter().filter_map(|commit| commit.as_str().map(words)).collect();
        Ok(Self::of(&commits))
    }

    pub(super) fn is_within(&self, other: &Self, share: f64) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= share * b.abs();
        near(self.calls, other.calls)
            && near(self.bytes, other.bytes)
            && near(self.syncs, other.syncs)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, bytes, syncs } = self;
        write!(f, "{calls:.2} calls of a commit, {syncs:.2} of them syncs, {bytes:.0} bytes")
    }
}

/// Gathers the words of one commit after the other.
struct Cutter<'a> {
    recipe: &'a Recipe,
    counts: bool,
    /// Where the last write to each file ended.
    ends: HashMap<usize, u64>,
    current: Vec<String>,
    commits: Vec<Vec<String>>,
}

impl<'a> Cutter<'a> {
    fn new(recipe: &'a Recipe) -> Self {
        let (ends, current, commits) = Default::default();
        Self { recipe, counts: false, ends, current, commits }
    }

    fn take(&mut self, op: Op, call: &trace::Call, followed: &Followed) {
        let about = followed.about.as_ref().map(|path| String::from_utf8_lossy(path).into_owned());
        let Some(path) = about else { return };
        if path.ends_with(BEGIN) || path.ends_with(END) {
            self.counts = path.ends_with(BEGIN);
            self.current.clear();
            return;
        }
        if call.result < 0 {
            return;
        }
        let folder = self.recipe.folder.is_some_and(|folder| path.ends_with(folder));
        let word = match (self.recipe.file_of(&path), op) {
            (None, Op::Fsync) if folder => "F".to_owned(),
            (Some(file), Op::Write) => match self.write(file, call, followed) {
                Some(word) => word,
                None => return,
            },
            (Some(file), Op::Fsync) => format!("f{file}"),
            (Some(file), Op::Fdatasync) => format!("d{file}"),
            (Some(file), Op::Truncate) => format!("t{file}@{}", call.length),
            (Some(file), Op::Unlink) => format!("u{file}"),
            (Some(file), Op::Open) if call.flags & CREATES != 0 && file > 0 => {
                format!("c{file}")
            }
            _ => return,
        };
        if !self.counts {
            return;
        }
        let ends = match self.recipe.ends {
            Ends::Sync => word.starts_with(['f', 'd']),
            Ends::Remove => word.starts_with('u'),
        };
        self.current.push(word);
        if ends {
            self.commits.push(std::mem::take(&mut self.current));
        }
    }

    fn write(&mut self, file: usize, call: &trace::Call, followed: &Followed) -> Option<String> {
        let bytes = u64::try_from(call.result).ok().filter(|bytes| *bytes > 0)?;
        let end = self.ends.get(&file).copied();
        let offset = match followed.place {
            Place::At(offset) => offset,
            _ => end.unwrap_or(0),
        };
        self.ends.insert(file, offset + bytes);
        Some(match self.recipe.offsets {
            Offsets::Behind => {
                let by = end.map_or(0, |end| offset as i64 - end as i64);
                format!("w{file}{by:+}:{bytes}")
            }
            Offsets::Absolute => format!("w{file}@{offset}:{bytes}"),
        })
    }
}

/// `O_CREAT`.
const CREATES: u64 = 0o100;
