//! The file that a trace is written to.
//!
//! It takes its name when the recording begins, for a recording that is killed can be read, and
//! belongs to its user alone (mode 0600): a trace has the names of files. Nothing but another
//! trace is replaced.

use std::fs::File;
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
        Ok(Self { path, output })
    }

    /// Takes its name. Gives the file to write to, and the trace to read afterwards.
    pub(crate) fn begin(self) -> anyhow::Result<(File, BegunTrace)> {
        let Self { path, output } = self;
        let is_file = output.file().is_some();
        let begun = output.begin().and_then(|file| {
            let again = if is_file { Some(file.try_clone()?) } else { None };
            Ok((file, again))
        });
        let (file, again) =
            begun.with_context(|| format!("cannot write a trace to {}", path.display()))?;
        Ok((file, BegunTrace { path, file: again }))
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
