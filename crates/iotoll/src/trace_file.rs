//! The file that a trace is written to.
//!
//! It takes its name when the recording begins, for a recording that is killed can be read, and
//! belongs to its user alone (mode 0600): a trace has the names of files. Nothing but another
//! trace is replaced.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::{Builder, NamedTempFile};

use crate::billed;
use crate::exit::UsageError;

/// Where a trace goes.
pub(crate) struct TraceFile {
    path: PathBuf,
    target: Target,
}

enum Target {
    /// A file that has its name as soon as it is wanted.
    New(NamedTempFile),
    /// A device or a pipe, which is written as it is.
    Stream(File),
}

impl TraceFile {
    /// Finds out whether the trace may be written there, and changes nothing yet.
    pub(crate) fn at(path: PathBuf) -> anyhow::Result<Self> {
        let target = Target::of(&path);
        let target = target.map_err(|error| {
            UsageError(format!("cannot write a trace to {}: {error}", path.display()))
        })?;
        Ok(Self { path, target })
    }

    /// Takes its name.
    pub(crate) fn begin(self) -> anyhow::Result<File> {
        match self.target {
            Target::Stream(file) => Ok(file),
            Target::New(new) => new
                .persist(&self.path)
                .map_err(|failed| failed.error)
                .with_context(|| format!("cannot write a trace to {}", self.path.display())),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Target {
    fn of(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(facts) if facts.is_file() => {
                if facts.len() > 0 && billed::trace_in(path).is_none() {
                    return Err(io::Error::other("there is a file that is no trace"));
                }
            }
            Ok(facts) if facts.file_type().is_char_device() || facts.file_type().is_fifo() => {
                return File::options().write(true).open(path).map(Self::Stream);
            }
            Ok(_) => return Err(io::Error::other("it is neither a file nor a pipe")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new("."));
        Builder::new().prefix(".iotoll-").suffix(".tmp").tempfile_in(folder).map(Self::New)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

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
