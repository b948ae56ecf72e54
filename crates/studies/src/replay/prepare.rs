//! Makes what is there before a replay: folders, and files of the sizes that they had, made up
//! or copied.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use engine::study::{Doing, StudyError};
use rustix::fs::{Mode, OFlags, ResolveFlags, fchmod, mkdirat, openat2, symlinkat};
use rustix::io::Errno;

use super::fill::Fills;
use super::plan::program::{Initial, InitialKind, Program};
use crate::file::{open_for_writing, write_whole};

const MAKING: &str = "making the files that the recorded program found";
const COPYING: &str = "copying the files that the recorded program found";
/// Files are written in pieces of this size.
pub(super) const PIECE: usize = 1 << 20;

/// Makes all of it in an empty folder.
pub(super) fn make(
    program: &Program,
    folder: &OwnedFd,
    fills: &Fills,
    copies: Option<&Path>,
) -> Result<(), StudyError> {
    let mut at = 0;
    for Initial { path, what } in &program.initial {
        let path = &program.paths[*path as usize];
        match what {
            InitialKind::Folder if path.as_bytes() == b"." => {}
            InitialKind::Folder => mkdirat(folder, path, Mode::RWXU).doing(MAKING)?,
            InitialKind::Link { says } => symlinkat(says, folder, path).doing(MAKING)?,
            InitialKind::File { bytes, fill, mode } => {
                let file = open_for_writing(folder, path, OFlags::EXCL).doing(MAKING)?;
                fchmod(&file, Mode::from_raw_mode((*mode).into())).doing(MAKING)?;
                match copies.map(|copies| original(copies, path)) {
                    Some(Ok(original)) => copy(original, &file)?,
                    // It came into being later, or another program made it.
                    None | Some(Err(_)) => write_filled(&file, *bytes, *fill, fills, &mut at)?,
                }
            }
        }
    }
    Ok(())
}

fn write_filled(
    to: &OwnedFd,
    bytes: u64,
    fill: u8,
    fills: &Fills,
    at: &mut usize,
) -> Result<(), StudyError> {
    let mut left = bytes;
    while left > 0 {
        let piece = left.min(PIECE as u64) as usize;
        write_whole(to, fills.next(fill, piece, at), MAKING)?;
        left -= piece as u64;
    }
    Ok(())
}

/// The user's own file of that path. What is no regular file is none.
fn original(copies: &Path, path: &CStr) -> std::io::Result<File> {
    let path = copies.join(OsStr::from_bytes(path.to_bytes()));
    if !std::fs::symlink_metadata(&path)?.is_file() {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    File::open(path)
}

/// How many bytes the user's own file of that path has.
pub(super) fn original_bytes(copies: &Path, path: &CStr) -> Option<u64> {
    Some(original(copies, path).ok()?.metadata().ok()?.len())
}

fn copy(mut original: File, file: &OwnedFd) -> Result<(), StudyError> {
    let mut piece = vec![0; PIECE];
    loop {
        match original.read(&mut piece).doing(COPYING)? {
            0 => return Ok(()),
            read => write_whole(file, &piece[..read], COPYING)?,
        }
    }
}

/// A folder of the user's, whose files are copied.
pub(super) fn copies(text: &str) -> Result<Option<PathBuf>, StudyError> {
    if text.is_empty() {
        return Ok(None);
    }
    let path = PathBuf::from(text);
    if path.is_dir() {
        return Ok(Some(path));
    }
    Err(StudyError::Unsuited(format!(
        "replay.with_files is {text}, which is no folder; name the folder that has the files as \
         they were before the recording"
    )))
}

/// Whether the kernel can be asked not to follow any path out of a folder. It has been able to
/// since Linux 5.6; what forbids system calls that it does not know may stand in the way.
pub(super) fn has_openat2(folder: impl AsFd) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat2(folder, c".", flags, Mode::empty(), ResolveFlags::BENEATH);
    !matches!(opened, Err(Errno::NOSYS | Errno::PERM))
}
