//! Files that a program named, opened to read a little of them.

use std::fs::File;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Opens a regular file to read it. A pipe or device that took its name is neither waited for nor
/// read. If the device and inode are `known`, the path must lead to that file, and not by a link.
pub(crate) fn open(path: &Path, known: Option<(u64, u64)>) -> Option<File> {
    let follow = if known.is_some() { libc::O_NOFOLLOW } else { 0 };
    let flags = follow | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let found = file.metadata().ok()?;
    let is_it = known.is_none_or(|known| (found.dev(), found.ino()) == known);
    (found.is_file() && is_it).then_some(file)
}
