//! The file that a trace is written to.
//!
//! It takes its name when the recording begins, for a recording that is killed can be read, and
//! belongs to its user alone (mode 0600): a trace has the names of files. Nothing but another
//! trace is replaced.

use std::fs::{File, TryLockError};
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use places::{Output, OutputError, Readers};

use crate::exit::UsageError;
use crate::recording::billed;

/// Where a trace goes.
pub(crate) struct TraceFile {
    path: PathBuf,
    output: Output,
    /// Whether another name will do, because nobody asked for this one.
    may_be_renamed: bool,
}

/// A trace that has been begun.
pub(crate) struct BegunTrace {
    path: PathBuf,
    /// For reading it back, where it is a file.
    file: Option<File>,
}

impl TraceFile {
    /// Finds out whether the trace may be written there, and changes nothing yet.
    pub(crate) fn at(path: PathBuf) -> anyhow::Result<Self> {
        let output = find(&path).map_err(|error| {
            UsageError(format!("cannot write a trace to {}: {error}", path.display()))
        })?;
        Ok(Self { path, output, may_be_renamed: false })
    }

    /// The same, but with the process's number in its name where another recording has that name.
    pub(crate) fn at_or_beside(path: PathBuf) -> anyhow::Result<Self> {
        Ok(Self { may_be_renamed: true, ..Self::at(path)? })
    }

    /// Takes its name. Gives the file to write to, and the trace to read afterwards.
    pub(crate) fn begin(self) -> anyhow::Result<(File, BegunTrace)> {
        // Looked at only now: it may have been begun meanwhile.
        if let Some(Ok(old)) = self.output.file().map(File::open)
            && matches!(old.try_lock_shared(), Err(TryLockError::WouldBlock))
        {
            return self.begin_beside();
        }
        let Self { path, output, .. } = self;
        let is_file = output.file().is_some();
        let begun = output.begin().and_then(|file| {
            let again = if is_file { Some(file.try_clone()?) } else { None };
            if is_file {
                // Until it is closed. Where a file system has no locks, nobody looks for any.
                let _ = file.try_lock();
            }
            Ok((file, again))
        });
        let (file, again) =
            begun.with_context(|| format!("cannot write a trace to {}", path.display()))?;
        Ok((file, BegunTrace { path, file: again }))
    }
}

impl TraceFile {
    /// Another recording writes to the file of that name.
    fn begin_beside(self) -> anyhow::Result<(File, BegunTrace)> {
        if !self.may_be_renamed {
            return Err(UsageError(format!(
                "another recording is writing to {}; choose another name with -o",
                self.path.display()
            ))
            .into());
        }
        let path = self.path.with_extension(format!("{}.trace", std::process::id()));
        Self::at(path)?.begin()
    }
}

impl BegunTrace {
    /// The trace from its beginning; none where it was written to a device or a pipe.
    pub(crate) fn read(&self) -> Option<io::Result<File>> {
        let begun = self.file.as_ref()?;
        Some(begun.try_clone().and_then(|mut file| {
            file.rewind()?;
            Ok(file)
        }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn find(path: &Path) -> Result<Output, OutputError> {
    let output = Output::find(path, Readers::Owner)?;
    if let Some(mut old) = output.old()?
        && old.metadata()?.len() > 0
        && !billed::is_trace_in(&mut old)?
    {
        return Err(io::Error::other("there is a file that is no trace").into());
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_no_trace_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("notes");
        fs::write(&notes, "of mine, and longer than the head of a trace is").unwrap();
        let refused = TraceFile::at(notes.clone()).err().unwrap().to_string();
        assert!(refused.contains("no trace"), "{refused}");
        assert!(TraceFile::at(folder.path().to_owned()).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Fails where two recordings at once write to one name.
    #[test]
    fn a_trace_that_is_being_written_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.trace");
        let [second, asked] = [TraceFile::at_or_beside, TraceFile::at].map(|at| at(path.clone()));
        let first = TraceFile::at(path.clone()).unwrap().begin().unwrap();
        let beside = second.unwrap().begin().unwrap();
        assert_eq!(beside.1.path(), folder.path().join(format!("x.{}.trace", std::process::id())));
        let refused = asked.unwrap().begin().err().unwrap().to_string();
        assert!(refused.contains("another recording"), "{refused}");
        drop(first);
        TraceFile::at(path.clone()).unwrap().begin().unwrap();
    }

    #[test]
    fn a_new_file_is_its_users_alone_and_has_its_name_from_the_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.trace");
        let file = TraceFile::at(path.clone()).unwrap();
        assert!(!path.exists());
        file.begin().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(TraceFile::at(path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
