//! SQLite's files, opened relative to the slice's folder and through no link.
//!
//! SQLite knows a file by its path, and derives from it those of the journal, of the
//! write-ahead log and of the folder. Whoever may rename a directory on that path could
//! lead it elsewhere. It lets the system calls that take a path be replaced, though
//! (`xSetSystemCall` in <https://www.sqlite.org/vfs.html>): a path of ours names an open
//! folder by its descriptor and a file within it, and the calls in this file make
//! openat(2) and its like of that. What they are given besides, they pass on.
#![expect(
    unsafe_code,
    reason = "SQLite calls these functions, and they call libc's for it, which set errno"
)]

use std::ffi::{CStr, c_char, c_int};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rusqlite::ffi;

/// What a path of ours begins with; the descriptor and the file's name follow.
const PREFIX: &str = "/iotoll-descriptor/";
/// The same of a database of the user's, of which nothing is opened for writing or made.
pub(crate) const SOURCE_PREFIX: &str = "/iotoll-source/";

/// A path by which SQLite opens a file in a folder, as long as the folder stays open
/// under the same descriptor.
pub(crate) fn path_in(folder: impl AsFd, name: &CStr) -> PathBuf {
    let folder = folder.as_fd().as_raw_fd();
    let name = name.to_string_lossy();
    PathBuf::from(format!("{PREFIX}{folder}/{name}"))
}

/// How long such a file is.
pub(super) fn file_bytes(path: &Path) -> io::Result<u64> {
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    let file = file_of(&path).ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: a stat of zeros is valid, and the pointers are to live values.
    unsafe {
        let mut stat = std::mem::zeroed::<libc::stat64>();
        match libc::fstatat64(file.folder, file.name.as_ptr(), &raw mut stat, NOFOLLOW) {
            0 => Ok(stat.st_size as u64),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Whether a path is one of ours.
///
/// # Safety
/// `path` is null or a string that ends with a zero.
pub(super) unsafe fn is_ours(path: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    !path.is_null() && file_of(unsafe { CStr::from_ptr(path) }).is_some()
}

/// Has SQLite make its system calls through this file; `false` where it does not let
/// itself.
///
/// # Safety
/// `vfs` is SQLite's own, and no file is open yet.
pub(super) unsafe fn replace_calls(vfs: *mut ffi::sqlite3_vfs) -> bool {
    // SAFETY: SQLite keeps each as a pointer to a function, and calls it as the type that
    // the function has here: these are the types of its own table, `aSyscall`.
    unsafe {
        let Some(set) = (*vfs).xSetSystemCall else { return false };
        let calls = [
            (c"open", std::mem::transmute::<Open, unsafe extern "C" fn()>(open)),
            (c"access", std::mem::transmute::<Test, unsafe extern "C" fn()>(access)),
            (c"stat", std::mem::transmute::<Stat, unsafe extern "C" fn()>(stat)),
            (c"unlink", std::mem::transmute::<Remove, unsafe extern "C" fn()>(unlink)),
            (c"fchown", std::mem::transmute::<Own, unsafe extern "C" fn()>(fchown)),
            (c"fchmod", std::mem::transmute::<Permit, unsafe extern "C" fn()>(fchmod)),
        ];
        calls.iter().all(|(name, call)| set(vfs, name.as_ptr(), Some(*call)) == ffi::SQLITE_OK)
    }
}

/// A file within an open folder; the folder itself is `.`.
#[derive(Debug, PartialEq, Eq)]
struct FileIn<'p> {
    folder: c_int,
    name: &'p CStr,
    is_source: bool,
}

fn file_of(path: &CStr) -> Option<FileIn<'_>> {
    let path = path.to_bytes_with_nul();
    let ours = path.strip_prefix(PREFIX.as_bytes()).map(|rest| (rest, false));
    let source = || path.strip_prefix(SOURCE_PREFIX.as_bytes()).map(|rest| (rest, true));
    let (rest, is_source) = ours.or_else(source)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let folder = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    let name = CStr::from_bytes_with_nul(&rest[digits..]).ok()?;
    let name = match name.to_bytes_with_nul() {
        [0] => c".",
        [b'/', within @ ..] => CStr::from_bytes_with_nul(within).ok()?,
        _ => return None,
    };
    // Only a plain name stays within the folder.
    let is_plain = !name.is_empty() && name != c".." && !name.to_bytes().contains(&b'/');
    is_plain.then_some(FileIn { folder, name, is_source })
}

const NOFOLLOW: c_int = libc::AT_SYMLINK_NOFOLLOW;

type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;
type Test = unsafe extern "C" fn(*const c_char, c_int) -> c_int;
type Stat = unsafe extern "C" fn(*const c_char, *mut libc::stat64) -> c_int;
type Remove = unsafe extern "C" fn(*const c_char) -> c_int;
type Own = unsafe extern "C" fn(c_int, libc::uid_t, libc::gid_t) -> c_int;
type Permit = unsafe extern "C" fn(c_int, libc::mode_t) -> c_int;

unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: SQLite's path is a string that ends with a zero.
    unsafe {
        match file_of(CStr::from_ptr(path)) {
            None => libc::open(path, flags, mode),
            Some(FileIn { folder, name, is_source: false }) => {
                libc::openat(folder, name.as_ptr(), flags | libc::O_NOFOLLOW, mode)
            }
            Some(FileIn { folder, name, is_source: true }) => open_source(folder, name),
        }
    }
}

/// Whatever it is to be opened for.
fn open_source(folder: c_int, name: &CStr) -> c_int {
    let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the name ends with a zero.
    unsafe {
        match libc::openat(folder, name.as_ptr(), flags | libc::O_NOATIME) {
            // Only a file's owner may leave the time of its last access as it is.
            -1 if *libc::__errno_location() == libc::EPERM => {
                libc::openat(folder, name.as_ptr(), flags)
            }
            opened => opened,
        }
    }
}

/// SQLite gives a journal or log to the owner of its database, and the same permissions, when
/// it opens one. Of a user's database it has them open for reading alone.
unsafe extern "C" fn fchown(file: c_int, user: libc::uid_t, group: libc::gid_t) -> c_int {
    if is_for_reading(file) {
        return 0;
    }
    // SAFETY: the arguments are numbers.
    unsafe { libc::fchown(file, user, group) }
}

unsafe extern "C" fn fchmod(file: c_int, mode: libc::mode_t) -> c_int {
    if is_for_reading(file) {
        return 0;
    }
    // SAFETY: the arguments are numbers.
    unsafe { libc::fchmod(file, mode) }
}

fn is_for_reading(file: c_int) -> bool {
    // SAFETY: the arguments are numbers.
    let flags = unsafe { libc::fcntl(file, libc::F_GETFL) };
    flags & libc::O_ACCMODE == libc::O_RDONLY
}

unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: as in `open`.
    unsafe {
        match file_of(CStr::from_ptr(path)) {
            None => libc::access(path, mode),
            Some(FileIn { folder, name, .. }) => libc::faccessat(folder, name.as_ptr(), mode, 0),
        }
    }
}

unsafe extern "C" fn stat(path: *const c_char, into: *mut libc::stat64) -> c_int {
    // SAFETY: as in `open`; the structure is SQLite's, which has it of this very type.
    unsafe {
        match file_of(CStr::from_ptr(path)) {
            None => libc::stat64(path, into),
            Some(FileIn { folder, name, .. }) => {
                libc::fstatat64(folder, name.as_ptr(), into, NOFOLLOW)
            }
        }
    }
}

unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: as in `open`.
    unsafe {
        match file_of(CStr::from_ptr(path)) {
            None => libc::unlink(path),
            Some(FileIn { is_source: true, .. }) => {
                *libc::__errno_location() = libc::EROFS;
                -1
            }
            Some(FileIn { folder, name, .. }) => libc::unlinkat(folder, name.as_ptr(), 0),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::ffi::CString;
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    use super::*;
    use crate::sqlite::database::{NAME, Template, connect};
    use crate::sqlite::spec::Strategy;
    use crate::testing::in_memory;

    #[test]
    fn a_path_of_ours_names_a_folder_and_a_plain_file_in_it() {
        let folder = in_memory();
        let folder = File::open(folder.path()).unwrap();
        let path = path_in(&folder, c"app.db");
        let path = CString::new(path.to_str().unwrap()).unwrap();
        assert_eq!(
            file_of(&path),
            Some(FileIn { folder: folder.as_raw_fd(), name: c"app.db", is_source: false })
        );
        let itself = c"/iotoll-descriptor/7";
        assert_eq!(file_of(itself), Some(FileIn { folder: 7, name: c".", is_source: false }));
        for other in [
            c"/iotoll-descriptor/7/..",
            c"/iotoll-descriptor/7/a/b",
            c"/iotoll-descriptor/7/",
            c"/iotoll-descriptor/7x",
            c"/iotoll-descriptor//a",
            c"/iotoll-descriptor/99999999999/a",
            c"/tmp/app.db",
        ] {
            assert_eq!(file_of(other), None, "{other:?}");
        }
    }

    fn connected(path: &Path) -> bool {
        let mode = Strategy::WalNormal.mode();
        connect(path, &mode, Duration::ZERO).is_ok()
    }

    #[test]
    fn a_database_is_reached_wherever_its_folder_has_gone() {
        let place = in_memory();
        let [there, moved] = ["there", "moved"].map(|name| place.path().join(name));
        fs::create_dir(&there).unwrap();
        let folder = File::open(&there).unwrap();
        fs::write(there.join("app.db"), Template::new(10).bytes().unwrap()).unwrap();
        let other = in_memory();
        fs::write(other.path().join("app.db"), Template::new(10).bytes().unwrap()).unwrap();
        let before = fs::read(other.path().join("app.db")).unwrap();
        fs::rename(&there, &moved).unwrap();
        symlink(other.path(), &there).unwrap();
        assert!(connected(&path_in(&folder, NAME)));
        // What it was told is in the file: a write-ahead log.
        assert_eq!(fs::read(moved.join("app.db")).unwrap()[18], 2);
        assert_eq!(fs::read(other.path().join("app.db")).unwrap(), before);
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    }

    #[test]
    fn no_link_is_followed_neither_for_the_database_nor_for_its_journal() {
        let (place, other) = (in_memory(), in_memory());
        let folder = File::open(place.path()).unwrap();
        let database = other.path().join("app.db");
        fs::write(&database, Template::new(10).bytes().unwrap()).unwrap();
        symlink(&database, place.path().join("app.db")).unwrap();
        assert!(!connected(&path_in(&folder, NAME)));
        fs::remove_file(place.path().join("app.db")).unwrap();
        fs::rename(&database, place.path().join("app.db")).unwrap();
        for name in ["app.db-wal", "app.db-shm"] {
            symlink(other.path().join(name), place.path().join(name)).unwrap();
        }
        assert!(!connected(&path_in(&folder, NAME)));
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }

    /// SQLite asks for that, too, of files that it knows by name.
    #[test]
    fn our_own_calls_follow_no_link() {
        let (place, other) = (in_memory(), in_memory());
        let target = other.path().join("file");
        fs::write(&target, "text").unwrap();
        symlink(&target, place.path().join("link")).unwrap();
        let folder = File::open(place.path()).unwrap();
        let path = path_in(&folder, c"link");
        assert_ne!(file_bytes(&path).unwrap(), 4);
        let path = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the path ends with a zero; what it leads to is not opened.
        unsafe {
            assert_eq!(open(path.as_ptr(), libc::O_RDWR, 0), -1);
            assert_eq!(unlink(path.as_ptr()), 0);
        }
        assert!(target.exists());
    }

    #[test]
    fn a_path_that_is_not_ours_is_refused() {
        let place = in_memory();
        let file = place.path().join("app.db");
        fs::write(&file, Template::new(10).bytes().unwrap()).unwrap();
        assert!(!connected(&file));
    }
}
