//! What a program does to make one commit last: its writes, syncs and names, step by step, as
//! they were recorded.
//!
//! A commit is written in words, one for each step: `w0+0:256` writes 256 bytes to file 0 where
//! the last write to it ended, `w0-256:256` writes them over these again, `w1@4096:100` writes
//! 100 bytes from byte 4096 on. `d0` is fdatasync(2) of file 0 and `f0` fsync(2), `c1` creates
//! file 1 anew, `t1@0` cuts it to 0 bytes, `r1>2` renames it to file 2, `u1` removes it, and `F`
//! is fsync(2) of the folder.

use engine::study::{Footprint, StudyError};
use serde::Deserialize;

/// Files that a profile may have.
const FILES_MAX: usize = 8;

/// Commits of a program, and the files that they are made in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    /// What each file is before the first commit.
    pub(super) files: Vec<FileAtStart>,
    /// One after the other, and from the first again.
    pub(super) commits: Vec<Vec<Step>>,
}

/// A file before the first commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileAtStart {
    /// Its size. Writes that would go beyond it begin again at its front.
    pub(super) bytes: u64,
    /// Whether it was written in full, and not only given its space.
    #[serde(default)]
    pub(super) written: bool,
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Write { file: usize, at: At, bytes: usize },
    Fsync(usize),
    Fdatasync(usize),
    SyncFolder,
    Create(usize),
    Remove(usize),
    Rename { from: usize, to: usize },
    Truncate { file: usize, to: u64 },
}

/// Where a write begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// So far behind the end of the last write to the file.
    Behind(i64),
    /// So far behind the file's beginning.
    Offset(u64),
}

impl Profile {
    /// Reads commits of these files.
    pub(super) fn read(files: &[FileAtStart], commits: &[String]) -> Result<Self, StudyError> {
        let unreadable = |what: String| StudyError::Unsuited(format!("a profile: {what}"));
        if files.is_empty() || files.len() > FILES_MAX || commits.is_empty() {
            return Err(unreadable(format!("it needs 1 to {FILES_MAX} files, and a commit")));
        }
        let step = |word: &str| {
            let step = Step::read(word).filter(|step| step.files().all(|file| file < files.len()));
            step.ok_or_else(|| unreadable(format!("`{word}` is no step")))
        };
        let commit = |text: &String| text.split_whitespace().map(step).collect();
        let commits = commits.iter().map(commit).collect::<Result<_, _>>()?;
        Ok(Self { files: files.to_vec(), commits })
    }

    /// What a slice of so many commits comes to at the most.
    pub(super) fn footprint(&self, commits: u64) -> Footprint {
        let at_start: u64 = self.files.iter().map(|file| file.bytes).sum();
        let written: u64 = self.files.iter().filter(|f| f.written).map(|file| file.bytes).sum();
        let bytes = self.commit_bytes_max().saturating_mul(commits);
        Footprint {
            space_bytes: at_start.saturating_add(bytes),
            files: self.files.len() as u64,
            written_bytes: written.saturating_add(bytes),
        }
    }

    /// What the largest commit writes.
    fn commit_bytes_max(&self) -> u64 {
        let bytes = |commit: &Vec<Step>| commit.iter().map(|step| step.bytes() as u64).sum();
        self.commits.iter().map(bytes).max().unwrap_or(0)
    }

    /// The largest write.
    pub(super) fn write_bytes_max(&self) -> usize {
        self.commits.iter().flatten().map(Step::bytes).max().unwrap_or(0)
    }

    /// Whether any commit creates, renames or removes a file.
    pub(super) fn changes_names(&self) -> bool {
        let changes =
            |step: &Step| matches!(step, Step::Create(_) | Step::Remove(_) | Step::Rename { .. });
        self.commits.iter().flatten().any(changes)
    }

    /// Whether any commit waits for the device.
    pub(super) fn is_synced(&self) -> bool {
        let is_sync =
            |step: &Step| matches!(step, Step::Fsync(_) | Step::Fdatasync(_) | Step::SyncFolder);
        self.commits.iter().flatten().any(is_sync)
    }
}

impl Step {
    fn read(word: &str) -> Option<Self> {
        let (kind, rest) = word.split_at_checked(1)?;
        let file = |text: &str| text.parse::<usize>().ok();
        Some(match kind {
            "F" if rest.is_empty() => Self::SyncFolder,
            "f" => Self::Fsync(file(rest)?),
            "d" => Self::Fdatasync(file(rest)?),
            "c" => Self::Create(file(rest)?),
            "u" => Self::Remove(file(rest)?),
            "r" => {
                let (from, to) = rest.split_once('>')?;
                Self::Rename { from: file(from)?, to: file(to)? }
            }
            "t" => {
                let (of, to) = rest.split_once('@')?;
                Self::Truncate { file: file(of)?, to: to.parse().ok()? }
            }
            "w" => {
                let (place, bytes) = rest.split_once(':')?;
                let digits = place.find(|c: char| !c.is_ascii_digit())?;
                let (of, at) = place.split_at(digits);
                let at = match at.strip_prefix('@') {
                    Some(offset) => At::Offset(offset.parse().ok()?),
                    None => At::Behind(at.parse().ok()?),
                };
                Self::Write { file: file(of)?, at, bytes: bytes.parse().ok()? }
            }
            _ => return None,
        })
    }

    /// The files that it is done with.
    fn files(&self) -> impl Iterator<Item = usize> {
        let (one, other) = match *self {
            Self::Write { file, .. } | Self::Truncate { file, .. } => (Some(file), None),
            Self::Fsync(file) | Self::Fdatasync(file) | Self::Create(file) | Self::Remove(file) => {
                (Some(file), None)
            }
            Self::Rename { from, to } => (Some(from), Some(to)),
            Self::SyncFolder => (None, None),
        };
        one.into_iter().chain(other)
    }

    fn bytes(&self) -> usize {
        if let Self::Write { bytes, .. } = self { *bytes } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn commits_are_read_word_by_word() {
        let commits = ["c1 w1@0:4096 f1 r1>0 F".to_owned(), "w0+0:256 w0-256:300 d0".to_owned()];
        let read = Profile::read(&[FileAtStart::default(); 2], &commits).unwrap();
        let write = |file, at, bytes| Step::Write { file, at, bytes };
        let expected = vec![
            vec![
                Step::Create(1),
                write(1, At::Offset(0), 4096),
                Step::Fsync(1),
                Step::Rename { from: 1, to: 0 },
                Step::SyncFolder,
            ],
            vec![write(0, At::Behind(0), 256), write(0, At::Behind(-256), 300), Step::Fdatasync(0)],
        ];
        assert_eq!(read.commits, expected);
        assert_eq!((read.commit_bytes_max(), read.write_bytes_max()), (4096, 4096));
        assert!(read.is_synced());
    }

    #[test]
    fn what_is_no_step_is_named() {
        for word in ["x0", "w0:5", "w0+1", "d9", "r0", "t0", "w0+a:1", "é"] {
            let error = Profile::read(&[FileAtStart::default()], &[word.to_owned()])
                .unwrap_err()
                .to_string();
            assert!(error.contains(&format!("`{word}`")), "{error}");
        }
        assert!(Profile::read(&[], &["d0".to_owned()]).is_err());
    }
}
