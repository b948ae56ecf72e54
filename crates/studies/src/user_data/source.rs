//! Opening what is the user's own so that nothing of it changes, and nobody waits.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use model::printable::printable;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;
use rustix::path::Arg;

/// Opens for reading. Not even the time of the last access changes, as far as the system
/// lets us (only the owner may ask for that), and a FIFO without a writer opens at once.
pub(crate) fn open_untouched(
    folder: impl AsFd,
    name: impl Arg + Copy,
    extra: OFlags,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK | extra;
    match openat(&folder, name, flags | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => openat(&folder, name, flags, Mode::empty()),
        opened => opened,
    }
}

/// Opens a file that the user named; the path may lead to it through links. What the
/// system says of it comes along.
pub(crate) fn open_file(path: &str) -> Result<(OwnedFd, Stat), String> {
    let wrong = |e: Errno| unreadable(Path::new(path), e);
    // Merely to open a device may do something.
    check_kind(path, &statat(CWD, path, AtFlags::empty()).map_err(wrong)?)?;
    let file = open_untouched(CWD, path, OFlags::empty()).map_err(wrong)?;
    let stat = fstat(&file).map_err(wrong)?;
    check_kind(path, &stat)?;
    Ok((file, stat))
}

fn check_kind(path: &str, stat: &Stat) -> Result<(), String> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        kind => Err(format!(
            "{} is {}, and a regular file is needed; name one",
            shown(Path::new(path)),
            what(kind)
        )),
    }
}

/// A file's kind, as in "is a FIFO".
pub(crate) fn what(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "not a regular file",
    }
}

/// So many bytes of a file at the most, from where it stands.
pub(crate) fn read_most(file: OwnedFd, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::from(file).take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// So many bytes of a file from there on, or as far as it goes: it may have been cut meanwhile, or
/// be a file of /proc.
pub(crate) fn read_part(file: &mut File, from: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut part = Vec::with_capacity(bytes as usize);
    file.seek(SeekFrom::Start(from))?;
    file.take(bytes).read_to_end(&mut part)?;
    Ok(part)
}

/// That something could not be read, and what to do.
pub(crate) fn unreadable(path: &Path, error: impl Into<std::io::Error>) -> String {
    let error = error.into();
    let advice = match error.kind() {
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            "its links lead in a circle: name the file itself"
        }
        std::io::ErrorKind::NotFound => "check the path",
        std::io::ErrorKind::PermissionDenied => {
            "give yourself permission to read it, or name a copy"
        }
        std::io::ErrorKind::NotADirectory => "name a directory",
        _ => "name a copy of it",
    };
    format!("{} cannot be read: {error}; {advice}", shown(path))
}

/// A path as it may be printed.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// A path below a folder that the user named, or that folder's.
pub(crate) fn below(folder: &str, path: &[u8]) -> PathBuf {
    let folder = PathBuf::from(folder);
    if path.is_empty() { folder } else { folder.join(OsStr::from_bytes(path)) }
}
