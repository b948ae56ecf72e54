//! The files of programs, and those that run with more rights than whoever starts them.
//!
//! The kernel withholds these rights from a program that is traced by somebody without
//! `CAP_SYS_PTRACE` (execve(2)): traced, it would do something else.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, StatVfsMountFlags, access, getxattr, statvfs};
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, capabilities};

use crate::error::Error;

/// Whether the kernel lets this process trace such programs without taking their rights.
pub(crate) fn may_trace_them() -> bool {
    has_capability(CapabilitySet::SYS_PTRACE)
}

/// Whether this process has a capability, or all of several (capabilities(7)).
pub(crate) fn has_capability(wanted: CapabilitySet) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(wanted))
}

/// Whether a program's file gives it rights.
pub(crate) fn gives_rights(file: &Path) -> bool {
    const SET_USER_OR_GROUP: u32 = 0o6000;
    let Ok(facts) = fs::metadata(file) else { return false };
    let sets_id = facts.is_file() && facts.mode() & SET_USER_OR_GROUP != 0;
    let has_capabilities =
        || getxattr(file, "security.capability", &mut [0_u8; 64][..]).is_ok_and(|bytes| bytes > 0);
    let refuses = || statvfs(file).is_ok_and(|vfs| vfs.f_flag.contains(StatVfsMountFlags::NOSUID));
    (sets_id || has_capabilities()) && !refuses()
}

/// The file that a command's name stands for.
pub(crate) fn file_of(program: &OsStr) -> Option<PathBuf> {
    let program = Path::new(program);
    if program.components().count() > 1 {
        return Some(program.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The file of a command's program, where it can be run.
pub fn program_of(command: &Command) -> Result<PathBuf, Error> {
    let program = || command.get_program().to_string_lossy().into_owned();
    let missing = || Error::NoProgram { program: program() };
    let file = file_of(command.get_program()).ok_or_else(missing)?;
    if file.is_dir() {
        return Err(Error::IsDirectory { program: program() });
    }
    access(&file, Access::EXEC_OK).map_err(|error| match error {
        Errno::NOENT => missing(),
        error => Error::CannotRun { program: program(), error: error.into() },
    })?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_that_sets_the_user_gives_rights() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        fs::write(&file, "").unwrap();
        assert!(!gives_rights(&file));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o4755)).unwrap();
        let no_rights = statvfs(&file).unwrap().f_flag.contains(StatVfsMountFlags::NOSUID);
        assert_eq!(gives_rights(&file), !no_rights);
        assert!(!gives_rights(Path::new("/no/such/file")));
    }

    #[test]
    fn names_are_looked_for_as_the_kernel_is_asked_to() {
        assert!(file_of(OsStr::new("sh")).unwrap().is_absolute());
        assert_eq!(file_of(OsStr::new("./sh")), Some(PathBuf::from("./sh")));
        assert_eq!(file_of(OsStr::new("no-such-program-at-all")), None);
    }
}
