//! The private folder that a run works in.
//!
//! Its lock file, `flock`ed for the life of the run, tells a live folder from what a
//! killed run left: the kernel drops the lock with the process, however it ends. One
//! rule makes that safe at all times: **whoever holds the lock of the lock file that is
//! linked in the folder owns the folder**, to work in it or to remove it. Where the lock
//! of another host cannot be seen, a cleaner goes by what the file says (`signature.rs`).
//!
//! The lock file gets its name once it is locked and signed, so that none is ever seen
//! without. Before that the folder has no owner. A cleaner may take it away, but only
//! while nothing else is in it; its maker then notices, and makes another.
//!
//! The lock's descriptor closes on `exec`. A worker that is forked without `exec` shares
//! it, and so keeps the folder for as long as it works there; it never removes it.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use host::owner::Owner;
use host::space::FileSystemSpace;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, fchmod, fstat};
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::rand::GetRandomFlags;

use crate::clean::{CleanReport, Foreign, sweep};
use crate::error::{PlaceError, PlaceName, WorkDirError};
use crate::folder::{DIGITS, Folder, LOCK, PREFIX, UNSIGNED, remove_folder};
use crate::open::OpenPlace;
use crate::removal::{self, Failure};
use crate::signature;
use crate::walk::names;

/// How often a folder is made anew that a cleaner took away before it was locked.
const ATTEMPTS_MAX: usize = 64;

/// A private folder within a place, removed when it is dropped.
#[derive(Debug)]
pub struct WorkDir {
    place: PlaceName,
    parent: OwnedFd,
    name: CString,
    folder: Folder,
    /// `None` once the folder is removed.
    lock: Option<OwnedFd>,
    maker: Pid,
    swept: CleanReport,
}

impl WorkDir {
    /// Makes one, and removes what killed runs left in the same place.
    pub fn create(label: &str, path: &Path) -> Result<Self, WorkDirError> {
        Self::create_in(PlaceName::labelled(label, path))
    }

    pub(crate) fn create_in(place: PlaceName) -> Result<Self, WorkDirError> {
        let parent = OpenPlace::open(&place)?;
        parent.check_owners(&place)?;
        // Not being allowed to list the place does not hinder working in it.
        let swept = sweep(&parent, Foreign::Keep).unwrap_or_default();
        for _ in 0..ATTEMPTS_MAX {
            let made = Claimed::make(&parent).map_err(|e| explain(&place, &parent, &e))?;
            if let Some(Claimed { name, folder, lock }) = made {
                let (parent, lock) = (parent.fd, Some(lock));
                let maker = rustix::process::getpid();
                return Ok(Self { place, parent, name, folder, lock, maker, swept });
            }
        }
        let why = "working folders vanish or are replaced as they are made; find what removes or \
                   renames `.iotoll-*` folders there, and stop it";
        Err(WorkDirError::refused(&place, why))
    }

    /// Absolute, links resolved.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// To open files relative to.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.folder.fd()
    }

    /// What killed runs had left in the place, and what became of it.
    pub fn swept(&self) -> &CleanReport {
        &self.swept
    }

    /// A sub-folder, made anew and empty: what it held under that name is removed.
    pub fn subdir(&self, name: &str) -> Result<Folder, WorkDirError> {
        self.remove_subdir(name)?;
        let path = self.path().join(name);
        let fail = |error| self.fail("making a sub-folder", path.clone(), error);
        let c_name = sub_name(name)?;
        let fd = make_directory(self.fd(), &c_name).map_err(fail)?;
        Ok(Folder { path: path.clone(), fd })
    }

    /// Removes a sub-folder with all that is in it; none of that name is fine.
    pub fn remove_subdir(&self, name: &str) -> Result<(), WorkDirError> {
        let c_name = sub_name(name)?;
        match rustix::fs::statat(self.fd(), &c_name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => {
                return Err(self.fail("looking at a sub-folder", self.path().join(name), error));
            }
            Ok(_) => {}
        }
        removal::entry(self.fd(), self.path(), &c_name).map_err(WorkDirError::from)
    }

    /// Gives a sub-folder another name.
    pub(crate) fn rename_subdir(&self, from: &str, to: &str) -> Result<(), WorkDirError> {
        let fail = |error| self.fail("renaming a sub-folder", self.path().join(from), error);
        let (from, to) = (sub_name(from)?, sub_name(to)?);
        rustix::fs::renameat(self.fd(), &from, self.fd(), &to).map_err(fail)
    }

    /// Removes the folder with all that is in it.
    pub fn remove(mut self) -> Result<(), WorkDirError> {
        self.remove_once().map_err(WorkDirError::from)
    }

    /// Leaves the folder for others to remove once this process has ended.
    pub(crate) fn leave(&mut self) {
        self.lock = None;
    }

    pub(crate) fn remove_once(&mut self) -> Result<(), Failure> {
        match self.lock.take() {
            Some(lock) => {
                remove_folder(self.parent.as_fd(), &self.name, &self.folder, lock).map(drop)
            }
            None => Ok(()),
        }
    }

    fn fail(&self, action: &'static str, path: PathBuf, error: Errno) -> WorkDirError {
        match known(&self.place, self.folder.fd(), error) {
            Some(known) => known,
            None => WorkDirError::Io { path, action, source: error.into() },
        }
    }
}

impl Drop for WorkDir {
    /// Silently: what is left is found by its lock, and removed by the next run.
    fn drop(&mut self) {
        if rustix::process::getpid() == self.maker {
            let _ = self.remove_once();
        }
    }
}

/// A new folder with its lock held.
#[derive(Debug)]
struct Claimed {
    name: CString,
    folder: Folder,
    lock: OwnedFd,
}

/// What went wrong when a folder was made, and while doing what.
#[derive(Debug)]
struct MakeError {
    action: &'static str,
    error: Errno,
}

impl Claimed {
    /// `None` where a cleaner took the folder away before it was locked.
    fn make(parent: &OpenPlace) -> Result<Option<Self>, MakeError> {
        let at = |action| move |error| MakeError { action, error };
        let name = random_name().map_err(at("drawing a random name"))?;
        let path = parent.path.join(name.to_string_lossy().as_ref());
        let fd = match make_directory(parent.fd.as_fd(), &name) {
            Ok(fd) => fd,
            Err(Errno::EXIST | Errno::STALE) => return Ok(None),
            Err(error) => return Err(at("making a working folder")(error)),
        };
        let folder = Folder { path, fd };
        let claimed = claim(&folder);
        if !matches!(claimed, Ok(Some(_))) {
            // Not ours to remove unless it is still empty, and then nobody's.
            let _ = rustix::fs::unlinkat(&parent.fd, &name, AtFlags::REMOVEDIR);
        }
        let lock = claimed.map_err(at("locking the working folder"))?;
        Ok(lock.map(|lock| Self { name, folder, lock }))
    }
}

/// Makes the lock file with its lock held; `None` where a cleaner took the folder away, or
/// where it is not the one that was made: somebody who may rename what is in the place can
/// put another there before it is opened.
fn claim(folder: &Folder) -> Result<Option<OwnedFd>, Errno> {
    match names(folder.fd()) {
        Ok(names) if names.is_empty() => {}
        Ok(_) | Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error),
    }
    let Some(lock) = make_lock(folder)? else { return Ok(None) };
    let claimed = is_of_folder(&lock, folder).and_then(|is_ours| {
        if !is_ours {
            rustix::fs::unlinkat(folder.fd(), UNSIGNED, AtFlags::empty())?;
            return Ok(false);
        }
        if !take_lock(&lock)? {
            return Ok(false);
        }
        sign(&lock)?;
        show_lock(folder)
    });
    if claimed.is_err() {
        let _ = rustix::fs::unlinkat(folder.fd(), UNSIGNED, AtFlags::empty());
    }
    Ok(claimed?.then_some(lock))
}

/// Whether a lock file belongs to whoever the folder belongs to, which is surely us: on some
/// file systems all that is made belongs to somebody else.
fn is_of_folder(lock: &OwnedFd, folder: &Folder) -> Result<bool, Errno> {
    Ok(fstat(lock)?.st_uid == fstat(folder.fd())?.st_uid)
}

/// `None` where a cleaner took the folder away.
fn make_lock(folder: &Folder) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(folder.fd(), UNSIGNED, flags, Mode::RUSR | Mode::WUSR) {
        Ok(lock) => Ok(Some(lock)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the lock is now held; not where a cleaner holds it.
fn take_lock(lock: &OwnedFd) -> Result<bool, Errno> {
    match rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(_) => Err(Errno::NOLCK),
    }
}

/// Says in the lock file whose it is.
fn sign(lock: &OwnedFd) -> Result<(), Errno> {
    let text = signature::write(&Owner::this_process());
    let written = rustix::io::write(lock, text.as_bytes())?;
    if written == text.len() { Ok(()) } else { Err(Errno::NOSPC) }
}

/// Gives the lock file its name; false where a cleaner has removed it.
fn show_lock(folder: &Folder) -> Result<bool, Errno> {
    match rustix::fs::renameat(folder.fd(), UNSIGNED, folder.fd(), LOCK) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes a directory that is its owner's alone, whatever the umask, and opens it.
fn make_directory(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    rustix::fs::mkdirat(parent, name, Mode::RWXU)?;
    let opened = open_made(parent, name);
    if opened.is_err() {
        let _ = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
    opened
}

fn open_made(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A umask may have taken even the owner's right to read, which O_PATH does not need.
    let handle = match rustix::fs::openat(parent, name, flags | OFlags::PATH, Mode::empty()) {
        Err(Errno::NOENT) => return Err(Errno::STALE),
        handle => handle?,
    };
    let mode = Mode::from_raw_mode(fstat(&handle)?.st_mode);
    if !mode.contains(Mode::RWXU) && !mode.intersects(Mode::RWXG | Mode::RWXO) {
        // A file system without rights of its own, such as FAT, refuses; if that matters,
        // opening fails next.
        let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let _ = rustix::fs::chmod(link, Mode::RWXU);
    }
    let opened = rustix::fs::openat(&handle, c".", flags, Mode::empty())?;
    // Some file systems give others rights that were not asked for. What is not empty was
    // not made here, but put in its place, and keeps its rights.
    if mode.intersects(Mode::RWXG | Mode::RWXO) && names(opened.as_fd())?.is_empty() {
        let _ = fchmod(&opened, Mode::RWXU);
    }
    Ok(opened)
}

fn random_name() -> Result<CString, Errno> {
    let mut bytes = [0_u8; DIGITS / 2];
    let filled = rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty())?;
    debug_assert_eq!(filled, bytes.len(), "up to 256 bytes come whole");
    let number = u64::from_ne_bytes(bytes);
    CString::new(format!("{PREFIX}{number:0DIGITS$x}")).map_err(|_| Errno::INVAL)
}

fn sub_name(name: &str) -> Result<CString, WorkDirError> {
    let fits = !matches!(name, "" | "." | "..") && !name.contains('/') && name.len() <= 200;
    let is_ours = |c_name: &CString| [LOCK, UNSIGNED].contains(&c_name.as_c_str());
    let c_name = CString::new(name).ok().filter(|c_name| fits && !is_ours(c_name));
    c_name.ok_or_else(|| {
        WorkDirError::Refused(format!(
            "`{name}` is not a name for a sub-folder: use a single, short file name other than \
             `lock`"
        ))
    })
}

impl From<Failure> for WorkDirError {
    fn from(failure: Failure) -> Self {
        Self::Remove { path: failure.path, source: failure.error.into() }
    }
}

fn explain(place: &PlaceName, parent: &OpenPlace, failed: &MakeError) -> WorkDirError {
    let &MakeError { action, error } = failed;
    if error == Errno::NOLCK {
        let why = format!(
            "the file system cannot lock files ({error}), and without a lock a live working folder \
             cannot be told from a leftover; mount it with locks, or pass another directory"
        );
        return WorkDirError::refused(place, why);
    }
    known(place, parent.fd.as_fd(), error).unwrap_or_else(|| WorkDirError::Io {
        path: parent.path.clone(),
        action,
        source: error.into(),
    })
}

/// The errors that have a sentence of their own.
fn known(place: &PlaceName, dir: BorrowedFd<'_>, error: Errno) -> Option<WorkDirError> {
    let why = match error {
        Errno::ACCESS | Errno::PERM => {
            "you may not write to this directory; pass one that you may write to, or run as its \
             owner"
        }
        Errno::ROFS => {
            "the file system is mounted read-only; remount it for writing, or pass a directory on \
             another. If it took files before, see the kernel log (dmesg)"
        }
        Errno::NOSPC if lacks_inodes(dir) => {
            "the file system has no inodes left for another file (see `df -i`); remove files, or \
             pass another directory"
        }
        Errno::NOSPC => "no space is left on the file system; free some, or pass another directory",
        Errno::DQUOT => {
            "your quota on this file system is used up; free some, or pass another directory"
        }
        Errno::NOENT if is_there(dir) => {
            return Some(PlaceError::TakesNoFiles(place.clone()).into());
        }
        Errno::NOENT => return Some(PlaceError::Missing(place.clone()).into()),
        Errno::NAMETOOLONG => return Some(PlaceError::TooLong(place.clone()).into()),
        _ => return None,
    };
    Some(WorkDirError::refused(place, why))
}

/// Whether the directory was not removed.
fn is_there(dir: BorrowedFd<'_>) -> bool {
    fstat(dir).is_ok_and(|facts| facts.st_nlink > 0)
}

/// Asked after what could be made was removed again, so one that is free is not enough:
/// a folder takes one, and its lock file another.
fn lacks_inodes(dir: BorrowedFd<'_>) -> bool {
    FileSystemSpace::of(dir).is_ok_and(|space| space.free_inodes.is_some_and(|left| left < 2))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::thread;

    use super::*;

    /// A folder as its maker has it before it is locked.
    fn unlocked(place: &Path) -> (OpenPlace, Folder) {
        let parent = OpenPlace::open(&PlaceName::bare(place)).unwrap();
        let name = random_name().unwrap();
        let fd = make_directory(parent.fd.as_fd(), &name).unwrap();
        let folder = Folder { path: parent.path.join(name.to_str().unwrap()), fd };
        (parent, folder)
    }

    #[test]
    fn a_folder_that_is_cleaned_away_before_its_lock_is_made_is_not_claimed() {
        let place = tempfile::tempdir().unwrap();
        let (parent, folder) = unlocked(place.path());
        assert_eq!(sweep(&parent, Foreign::Keep).unwrap().removed.len(), 1);
        assert!(claim(&folder).unwrap().is_none());
    }

    #[test]
    fn a_folder_that_is_cleaned_away_before_its_lock_is_signed_is_not_claimed() {
        let place = tempfile::tempdir().unwrap();
        let (parent, folder) = unlocked(place.path());
        let lock = make_lock(&folder).unwrap().unwrap();
        assert_eq!(sweep(&parent, Foreign::Keep).unwrap().removed.len(), 1);
        assert!(take_lock(&lock).unwrap());
        assert!(!show_lock(&folder).unwrap());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_whose_lock_is_being_signed_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let (parent, folder) = unlocked(place.path());
        let lock = make_lock(&folder).unwrap().unwrap();
        assert!(take_lock(&lock).unwrap());
        assert_eq!(sweep(&parent, Foreign::Remove).unwrap().in_use.len(), 1);
        assert!(show_lock(&folder).unwrap());
    }

    #[test]
    fn a_folder_whose_lock_a_cleaner_holds_is_not_claimed() {
        let place = tempfile::tempdir().unwrap();
        let (_, folder) = unlocked(place.path());
        let lock = make_lock(&folder).unwrap().unwrap();
        let cleaner = fs::File::open(folder.path.join("lock.new")).unwrap();
        cleaner.lock().unwrap();
        assert!(!take_lock(&lock).unwrap());
    }

    /// What a maker finds whose folder was exchanged before it was opened.
    #[test]
    fn a_folder_that_is_not_the_one_that_was_made_is_not_claimed_and_keeps_its_files() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(".iotoll-0123456789abcdef");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(path.join("precious"), "text").unwrap();
        let parent = fs::File::open(place.path()).unwrap();
        let fd = open_made(parent.as_fd(), c".iotoll-0123456789abcdef").unwrap();
        let folder = Folder { path: path.clone(), fd };
        assert!(claim(&folder).unwrap().is_none());
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o755);
        fs::remove_file(path.join("precious")).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
            assert!(claim(&folder).unwrap().is_none());
            assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_claimed_folder_is_not_cleaned_away() {
        let place = tempfile::tempdir().unwrap();
        let (parent, folder) = unlocked(place.path());
        let _lock = claim(&folder).unwrap().unwrap();
        let report = sweep(&parent, Foreign::Keep).unwrap();
        assert_eq!((report.removed.len(), report.in_use.len()), (0, 1));
        assert_eq!(report.in_use[0].pid, Some(std::process::id()));
    }

    /// All orders that the threads happen upon: making sweeps too, so that makers and
    /// cleaners meet in each other's gaps.
    #[test]
    fn makers_and_cleaners_at_once_never_lose_a_live_folder() {
        let place = tempfile::tempdir().unwrap();
        let work = || {
            for _ in 0..100 {
                let work = WorkDir::create("disk", place.path()).unwrap();
                assert_eq!(work.swept().failed, []);
                let sub = work.subdir("slice").unwrap();
                fs::write(sub.path().join("file"), "text").unwrap();
                thread::yield_now();
                assert!(work.path().join("lock").exists());
                work.remove().unwrap();
            }
        };
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn names_have_the_prefix_and_sixteen_digits() {
        let name = random_name().unwrap().into_string().unwrap();
        let digits = name.strip_prefix(".iotoll-").unwrap();
        assert!(digits.len() == 16 && u64::from_str_radix(digits, 16).is_ok(), "{name}");
    }

    #[test]
    fn a_sub_folders_name_is_one_plain_component() {
        for name in ["", ".", "..", "a/b", "/", "lock", "lock.new", "a\0b", &"x".repeat(201)] {
            assert!(sub_name(name).is_err(), "{name}");
        }
        assert!(sub_name("log-held.disk").is_ok());
    }
}
