//! Removing what killed runs left.
//!
//! A folder is a leftover when its lock can be taken (see the rule in `workdir.rs`) and
//! the process that it was made by has surely ended; it is removed while that lock is
//! held. Where that process is of another host, boot or PID namespace, or not told, the
//! folder is foreign, and goes only when that is asked for. Only folders with our exact kind
//! of name are looked at, directly in the given directory, that are real directories owned by
//! the effective user: root, too, leaves those of others to them. What a run made besides is
//! undone first, by the record in its folder (`record.rs`).
//!
//! Names may be exchanged at any moment. So the folder, its lock file and its record are each
//! opened first and then looked at, and what is removed is what is open.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use host::owner::{Owner, Standing};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{PlaceError, PlaceName};
use crate::folder::{
    DIGITS, Folder, LOCK, PREFIX, UNSIGNED, is_linked, is_named, open_own_file, remove_folder,
    remove_name,
};
use crate::home::{created_home, has_records};
use crate::open::OpenPlace;
use crate::output::{Unfinished, unfinished};
use crate::record::{self, PATIENCE, Undone};
use crate::removal::Failure;
use crate::signature;
use crate::walk::{names, open_child, open_within};

/// What became of the working folders in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanReport {
    /// What killed runs had left, now gone.
    pub removed: Vec<RemovedFolder>,
    /// What live runs are working in, untouched.
    pub in_use: Vec<HeldFolder>,
    /// What may be of a live run, as far as can be told from here, untouched.
    pub foreign: Vec<Left>,
    /// What could not be removed, or not entirely.
    pub failed: Vec<Left>,
    /// Files that killed processes were writing, now gone.
    pub unfinished: Vec<UnfinishedFile>,
}

/// A file that is gone, and that nobody was writing any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedFile {
    /// Where it was.
    pub path: PathBuf,
    /// What the file system had set aside for it.
    pub bytes: u64,
}

/// A folder that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedFolder {
    /// Where it was.
    pub path: PathBuf,
    /// What the file system had set aside for its files.
    pub bytes: u64,
    /// How many files it had, the lock file and directories aside.
    pub files: u64,
    /// What else its run had made, and is gone with it: devices, folders in other places.
    pub undone: Vec<String>,
    /// What may be of its run or of somebody else, and was left: each in a sentence.
    pub unproved: Vec<String>,
}

/// A folder that a live run holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldFolder {
    /// Where it is.
    pub path: PathBuf,
    /// The process that its lock file names.
    pub pid: Option<u32>,
}

/// A folder or file that was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Where it is.
    pub path: PathBuf,
    /// Why it was left, in a sentence: whose it is, or what failed.
    pub why: String,
}

/// What to do with foreign folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Leave them alone.
    Keep,
    /// Remove them: whoever asks knows that their owners have ended.
    Remove,
}

/// Removes what killed runs left directly in a directory, and files that killed processes
/// were writing there.
pub fn clean(path: &Path, foreign: Foreign) -> Result<CleanReport, PlaceError> {
    let place = PlaceName::bare(path);
    let opened = OpenPlace::open(&place)?;
    let fail = |error| PlaceError::from_io(&place, "listing it", error);
    let mut report = sweep(&opened, foreign).map_err(fail)?;
    remove_unfinished(&opened, foreign, &mut report).map_err(fail)?;
    Ok(report)
}

/// Removes what killed runs created and left: folders with records, and what these say.
pub fn clean_home() -> Result<CleanReport, PlaceError> {
    sweep_at(&created_home())
}

fn sweep_at(path: &Path) -> Result<CleanReport, PlaceError> {
    let place = PlaceName::bare(path);
    let opened = OpenPlace::open(&place)?;
    sweep(&opened, Foreign::Keep).map_err(|e| PlaceError::from_io(&place, "listing it", e))
}

/// Removes what killed runs left in a directory that is open.
pub(crate) fn sweep(place: &OpenPlace, foreign: Foreign) -> io::Result<CleanReport> {
    let dir = readable(place)?;
    let mut report = CleanReport::default();
    for name in names(dir.as_fd())?.iter().filter(|name| is_our_name(name)) {
        let path = place.path.join(name.to_string_lossy().as_ref());
        match take(place, dir.as_fd(), name, foreign) {
            Fate::Removed { files, bytes, undone } => {
                let Undone { gone: undone, unproved } = undone;
                report.removed.push(RemovedFolder { path, bytes, files, undone, unproved });
            }
            Fate::Held(pid) => report.in_use.push(HeldFolder { path, pid }),
            Fate::Foreign(why) => report.foreign.push(Left { path, why }),
            Fate::Failed(why) => report.failed.push(Left { path, why }),
            Fate::Gone => {}
        }
    }
    Ok(report)
}

fn remove_unfinished(
    place: &OpenPlace,
    foreign: Foreign,
    report: &mut CleanReport,
) -> io::Result<()> {
    let dir = readable(place)?;
    for name in names(dir.as_fd())? {
        let path = place.path.join(name.to_string_lossy().as_ref());
        match unfinished(dir.as_fd(), &name, foreign == Foreign::Remove) {
            Some(Unfinished::Removed { bytes }) => {
                report.unfinished.push(UnfinishedFile { path, bytes });
            }
            Some(Unfinished::OfAnotherBoot) => {
                let why = "another host, or this one before its last boot, was writing it";
                report.foreign.push(Left { path, why: why.to_owned() });
            }
            Some(Unfinished::Failed(error)) => {
                let why = format!("removing it failed: {}", io::Error::from(error));
                report.failed.push(Left { path, why });
            }
            None => {}
        }
    }
    Ok(())
}

/// The directory, opened to be listed.
fn readable(place: &OpenPlace) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&place.fd, c".", flags, Mode::empty())?)
}

fn is_our_name(name: &CStr) -> bool {
    let digits = name.to_bytes().strip_prefix(PREFIX.as_bytes());
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    digits.is_some_and(|digits| digits.len() == DIGITS && digits.iter().all(is_digit))
}

fn is_ours(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        && stat.st_uid == rustix::process::geteuid().as_raw()
}

/// Opens a folder of the user's own; nothing where the name is anything else's.
fn open_our_directory(dir: BorrowedFd<'_>, name: &CStr) -> Result<Option<OwnedFd>, Errno> {
    // A folder of another user's may not be read, and need not be.
    let handle = match open_within(dir, name, OFlags::PATH | OFlags::DIRECTORY) {
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        Err(error) => {
            let named = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
            return if is_ours(&named) { Err(error) } else { Ok(None) };
        }
        Ok(handle) => handle,
    };
    if !is_ours(&rustix::fs::fstat(&handle)?) {
        return Ok(None);
    }
    open_child(handle.as_fd(), c".").map(Some)
}

/// What became of one folder.
enum Fate {
    Removed {
        files: u64,
        bytes: u64,
        undone: Undone,
    },
    /// A live run has it: the process that its lock file names.
    Held(Option<u32>),
    Foreign(String),
    Failed(String),
    /// Another process removed it meanwhile.
    Gone,
}

impl Fate {
    fn failed(why: &str) -> Self {
        Self::Failed(why.to_owned())
    }

    fn from_errno(action: &str, error: Errno) -> Self {
        match error {
            Errno::NOENT => Self::Gone,
            Errno::XDEV => {
                Self::failed("something is mounted on it; unmount that, and clean again")
            }
            Errno::STALE => Self::failed("something else took its name meanwhile; clean again"),
            _ => Self::Failed(format!("{action} failed: {}", io::Error::from(error))),
        }
    }
}

fn take(place: &OpenPlace, dir: BorrowedFd<'_>, name: &CStr, foreign: Foreign) -> Fate {
    let path = place.path.join(name.to_string_lossy().as_ref());
    let folder = match open_our_directory(dir, name) {
        Ok(Some(fd)) => Folder { path, fd },
        Ok(None) => return Fate::Gone,
        Err(error) => return Fate::from_errno("opening it", error),
    };
    match open_lock_file(&folder, LOCK) {
        Ok(lock) => match take_locked(&folder, &lock, foreign) {
            Ok(()) => remove_locked(place, dir, name, &folder, lock),
            Err(fate) => fate,
        },
        Err(Errno::NOENT) => take_unlocked(dir, name, &folder),
        Err(error) => Fate::from_errno("opening its lock file", error),
    }
}

fn open_lock_file(folder: &Folder, name: &CStr) -> Result<OwnedFd, Errno> {
    open_own_file(folder.fd(), name, OFlags::RDWR)
}

/// Whether someone else holds the lock, which is else held from now on.
fn lock_is_held(lock: &OwnedFd) -> bool {
    let taken = rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive);
    taken == Err(Errno::WOULDBLOCK)
}

/// Takes the lock of a leftover; what became of the folder, where it is none.
fn take_locked(folder: &Folder, lock: &OwnedFd, foreign: Foreign) -> Result<(), Fate> {
    match take_lock(lock) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Err(held(lock)),
        Err(error) => return Err(Fate::from_errno("locking it", error)),
    }
    match is_linked(lock) {
        Ok(true) => {}
        Ok(false) => return Err(Fate::Gone),
        Err(error) => return Err(Fate::from_errno("looking at its lock file", error)),
    }
    if !is_named(folder.fd(), LOCK, lock.as_fd()) {
        return Err(Fate::from_errno("looking at its lock file", Errno::STALE));
    }
    let owner = owner(lock);
    let standing = owner.as_ref().map(|owner| owner.standing(&Owner::this_process()));
    let doubt = match (&owner, standing) {
        (Some(owner), Some(Standing::Alive)) => return Err(Fate::Held(Some(owner.pid))),
        (Some(owner), Some(standing)) => signature::doubt(owner, standing),
        _ => Some(
            "its lock file does not say which run it belongs to; make sure that no run uses it \
             before you remove it"
                .to_owned(),
        ),
    };
    match doubt {
        Some(why) if foreign == Foreign::Keep => Err(Fate::Foreign(why)),
        _ => Ok(()),
    }
}

/// Takes a lock unless somebody holds it. What a killed process held, the kernel may let go of
/// a moment after its end: once what was mounted for it alone is written out.
fn take_lock(lock: &OwnedFd) -> Result<(), Errno> {
    let began = Instant::now();
    loop {
        let taken = rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive);
        let is_held = taken == Err(Errno::WOULDBLOCK);
        if !is_held || began.elapsed() > PATIENCE || !has_ended(lock) {
            return taken;
        }
        sleep(Duration::from_millis(20));
    }
}

/// Whether the process that a lock file names has surely ended.
fn has_ended(lock: &OwnedFd) -> bool {
    let this = Owner::this_process();
    owner(lock).is_some_and(|owner| owner.standing(&this) == Standing::Gone)
}

fn remove_locked(
    place: &OpenPlace,
    dir: BorrowedFd<'_>,
    name: &CStr,
    folder: &Folder,
    lock: OwnedFd,
) -> Fate {
    if record::is_in(folder.fd()) && !has_records(place) {
        let why = "its record says what else to remove, but `iotoll clean` acts only on records \
                   in the directory where runs keep them; look at what is in it, and remove it by \
                   hand";
        return Fate::failed(why);
    }
    let undone = match record::undo(folder.fd(), clean_elsewhere) {
        Ok(undone) => undone,
        Err(why) => return Fate::Failed(why),
    };
    match remove_folder(dir, name, folder, lock) {
        Ok(tally) => Fate::Removed { files: tally.files, bytes: tally.bytes, undone },
        Err(Failure { path, error }) => Fate::Failed(format!(
            "{} could not be removed: {}",
            path.display(),
            io::Error::from(error)
        )),
    }
}

/// What a run left in another directory is a leftover there, too.
fn clean_elsewhere(directory: &Path) -> Result<Vec<String>, String> {
    match sweep_at(directory) {
        Ok(report) => match report.failed.first() {
            None => {
                let removed = report.removed.into_iter();
                Ok(removed.map(|folder| folder.path.display().to_string()).collect())
            }
            Some(failed) => Err(format!("{}: {}", failed.path.display(), failed.why)),
        },
        Err(PlaceError::Missing(_)) => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

/// Without a lock file a folder is one that its maker has not locked yet, or never came
/// to lock, and so there is nothing in it, or a lock file that is not signed. Removing it
/// takes no more than `rmdir`, which fails when that changes; its maker notices and makes
/// another.
fn take_unlocked(dir: BorrowedFd<'_>, name: &CStr, folder: &Folder) -> Fate {
    if let Ok(unsigned) = open_lock_file(folder, UNSIGNED) {
        if lock_is_held(&unsigned) {
            return Fate::Held(None);
        }
        // Where its maker was quicker, there is none of that name any more.
        let _ = rustix::fs::unlinkat(folder.fd(), UNSIGNED, AtFlags::empty());
    }
    match remove_name(dir, name, folder) {
        Ok(()) => Fate::Removed { files: 0, bytes: 0, undone: Undone::default() },
        // Its maker came to it meanwhile. A lock file has first the one name and then the
        // other, so looking in this order misses none.
        Err(Errno::NOTEMPTY | Errno::EXIST) if open_lock_file(folder, UNSIGNED).is_ok() => {
            Fate::Held(None)
        }
        Err(Errno::NOTEMPTY | Errno::EXIST) => match open_lock_file(folder, LOCK) {
            Ok(lock) => held(&lock),
            // Its maker and another cleaner were quicker.
            Err(_) if names(folder.fd()).is_ok_and(|names| names.is_empty()) => Fate::Gone,
            Err(_) => Fate::failed(
                "it has files but no lock file, so no run of iotoll left it; look at what is in \
                 it, and remove it by hand",
            ),
        },
        Err(error) => Fate::from_errno("removing it", error),
    }
}

fn held(lock: &OwnedFd) -> Fate {
    Fate::Held(owner(lock).map(|owner| owner.pid))
}

/// The process that its lock file names.
fn owner(lock: &OwnedFd) -> Option<Owner> {
    let mut text = [0_u8; signature::BYTES_MAX];
    let length = rustix::io::pread(lock, &mut text, 0).ok()?;
    signature::read(str::from_utf8(&text[..length]).ok()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_lock_that_the_kernel_lets_go_of_after_its_owners_end_is_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join(".iotoll-0123456789abcdef");
        fs::create_dir(&folder).unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let owner = Owner { pid: ended.id(), ..Owner::this_process() };
        fs::write(folder.join("lock"), signature::write(&owner)).unwrap();
        let held = File::open(folder.join("lock")).unwrap();
        held.lock().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                sleep(Duration::from_millis(200));
                drop(held);
            });
            let report = clean(place.path(), Foreign::Keep).unwrap();
            assert_eq!((report.removed.len(), report.in_use.len()), (1, 0), "{report:?}");
        });
    }

    #[test]
    fn a_folder_that_goes_between_opening_its_lock_and_taking_it_is_no_failure() {
        let place = tempfile::tempdir().unwrap();
        let dir = File::open(place.path()).unwrap();
        let path = place.path().join("folder");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("lock"), "").unwrap();
        let fd = open_child(dir.as_fd(), c"folder").unwrap();
        let folder = Folder { path: path.clone(), fd };
        let lock = open_lock_file(&folder, LOCK).unwrap();
        fs::remove_dir_all(path).unwrap();
        let fate = take_locked(&folder, &lock, Foreign::Keep);
        assert!(matches!(fate, Err(Fate::Gone)));
    }
}
