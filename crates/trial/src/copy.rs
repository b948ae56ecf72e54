//! Copies files and folders as they are: contents, rights, owners, times, links and attributes.
//!
//! Each step is relative to a folder that is open, and no link is followed, so that nobody can have
//! something else copied by exchanging a name meanwhile. Contents are cloned where the file system
//! can, and copied within the kernel otherwise; holes stay holes.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, SeekFrom, Stat, Timespec, Timestamps, Uid,
    XattrFlags, chownat, copy_file_range, fchmod, fgetxattr, flistxattr, fsetxattr, ftruncate,
    futimens, ioctl_ficlone, linkat, mkdirat, mknodat, openat, readlinkat, seek, statat, symlinkat,
    utimensat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::{At as _, Error};

/// What is copied at a time where the kernel cannot do it by itself.
const PIECE_BYTES: usize = 1 << 20;
/// Longer attributes are left out.
const ATTRIBUTE_BYTES: usize = 1 << 16;
/// What every working folder's name begins with: none of them is anybody's data.
const OURS: &[u8] = b".iotoll-";

/// Copies below one folder.
pub(crate) struct Copier<'a> {
    /// What is not copied: something else is put there. It gets an empty file or folder.
    pub(crate) left_out: &'a BTreeSet<PathBuf>,
    /// Files with several names, by device and inode, and where the first copy is.
    linked: HashMap<(u64, u64), PathBuf>,
    /// Sockets and devices, which are not copied either.
    pub(crate) uncopied: BTreeSet<PathBuf>,
    pub(crate) unlike: Unlike,
}

/// What is not as it is in the original.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unlike {
    /// What belongs to others, whose copies are the user's.
    pub(crate) of_others: BTreeSet<PathBuf>,
    /// What the user may not read: there is no copy of it.
    pub(crate) unread: BTreeSet<PathBuf>,
}

impl<'a> Copier<'a> {
    pub(crate) fn new(left_out: &'a BTreeSet<PathBuf>) -> Self {
        Self {
            left_out,
            linked: HashMap::new(),
            uncopied: BTreeSet::new(),
            unlike: Unlike::default(),
        }
    }

    /// Copies what is at a path; nothing is at the other one yet.
    pub(crate) fn copy(&mut self, from: &Path, to: &Path) -> Result<(), Error> {
        let (Some(from_folder), Some(to_folder), Some(name)) =
            (from.parent(), to.parent(), from.file_name())
        else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput)).at("copying", from);
        };
        let folders = [from_folder, to_folder].map(|folder| (folder, open_folder(CWD, folder)));
        let [(_, from_fd), (_, to_fd)] = folders;
        let from_fd = from_fd.at("opening", from_folder)?;
        let to_fd = to_fd.at("opening", to_folder)?;
        let to_name = to.file_name().unwrap_or(name);
        let place = Place { from: from_fd.as_fd(), to: to_fd.as_fd(), name, to_name };
        self.entry(&place, from, to)
    }

    fn entry(&mut self, place: &Place<'_>, from: &Path, to: &Path) -> Result<(), Error> {
        let [name, to_name] = place.names().at("copying", from)?;
        let facts = match statat(place.from, &name, AtFlags::SYMLINK_NOFOLLOW) {
            // It was removed meanwhile.
            Err(Errno::NOENT) => return Ok(()),
            facts => facts,
        };
        let kind = |facts: &Stat| FileType::from_raw_mode(facts.st_mode);
        if self.left_out.contains(from) {
            // What does not answer is taken for a folder, on which a dead file system is mounted.
            let kind = facts.as_ref().map_or(FileType::Directory, kind);
            return place.stand_in(&to_name, kind).at("copying", from);
        }
        let facts = facts.at("looking at", from)?;
        let kind = kind(&facts);
        match kind {
            FileType::Directory => self.folder(place, [&name, &to_name], &facts, [from, to]),
            FileType::RegularFile => self.file(place, [&name, &to_name], &facts, [from, to]),
            FileType::Symlink => {
                let copied = readlinkat(place.from, &name, Vec::new())
                    .and_then(|target| symlinkat(&target, place.to, &to_name))
                    .and_then(|()| self.own(place.to, &to_name, &facts, from))
                    .and_then(|()| {
                        utimensat(place.to, &to_name, &times(&facts), AtFlags::SYMLINK_NOFOLLOW)
                    });
                copied.at("copying", from)
            }
            FileType::Fifo => {
                mknodat(place.to, &to_name, kind, Mode::from_raw_mode(facts.st_mode), 0)
                    .and_then(|()| self.own(place.to, &to_name, &facts, from))
                    .at("copying", from)
            }
            _ => {
                self.uncopied.insert(from.to_owned());
                place.stand_in(&to_name, kind).at("copying", from)
            }
        }
    }

    fn folder(
        &mut self,
        place: &Place<'_>,
        [name, to_name]: [&CStr; 2],
        facts: &Stat,
        [from, to]: [&Path; 2],
    ) -> Result<(), Error> {
        let opened = match open_folder(place.from, name) {
            // What the user may not read, they see where it is.
            Err(Errno::ACCESS) => return self.unread(place, to_name, FileType::Directory, from),
            // It was removed meanwhile.
            Err(Errno::NOENT) => return Ok(()),
            opened => opened.at("opening", from)?,
        };
        mkdirat(place.to, to_name, Mode::RWXU).at("making", to)?;
        let made = open_folder(place.to, to_name).at("opening", to)?;
        for within in Dir::read_from(&opened).at("listing", from)? {
            let within = within.at("listing", from)?;
            let name = OsStr::from_bytes(within.file_name().to_bytes());
            if matches!(name.as_bytes(), b"." | b"..") || is_ours(name) {
                continue;
            }
            let inner = Place { from: opened.as_fd(), to: made.as_fd(), name, to_name: name };
            self.entry(&inner, &from.join(name), &to.join(name))?;
        }
        self.dress(&opened, &made, facts, from).at("copying", from)
    }

    fn file(
        &mut self,
        place: &Place<'_>,
        [name, to_name]: [&CStr; 2],
        facts: &Stat,
        [from, to]: [&Path; 2],
    ) -> Result<(), Error> {
        let key = (facts.st_dev, facts.st_ino);
        if facts.st_nlink > 1
            && let Some(first) = self.linked.get(&key)
        {
            return linkat(CWD, first, place.to, to_name, AtFlags::empty()).at("copying", from);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let source = match openat(place.from, name, flags, Mode::empty()) {
            Err(Errno::ACCESS) => return self.unread(place, to_name, FileType::RegularFile, from),
            // It was removed meanwhile.
            Err(Errno::NOENT) => return Ok(()),
            source => source.at("opening", from)?,
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = openat(place.to, to_name, flags, Mode::RUSR | Mode::WUSR).at("making", to)?;
        contents(&source, &made, facts.st_size as u64).at("copying", from)?;
        self.dress(&source, &made, facts, from).at("copying", from)?;
        if facts.st_nlink > 1 {
            self.linked.insert(key, to.to_owned());
        }
        Ok(())
    }

    fn unread(
        &mut self,
        place: &Place<'_>,
        to_name: &CStr,
        kind: FileType,
        from: &Path,
    ) -> Result<(), Error> {
        self.uncopied.insert(from.to_owned());
        self.unlike.unread.insert(from.to_owned());
        place.stand_in(to_name, kind).at("copying", from)
    }

    /// Gives a copy the owner, rights, attributes and times of what it is of.
    fn dress(&mut self, from: &OwnedFd, to: &OwnedFd, facts: &Stat, path: &Path) -> io::Result<()> {
        // Of a descriptor, where no name is looked up.
        self.own(to.as_fd(), c"", facts, path)?;
        attributes(from, to);
        fchmod(to, Mode::from_raw_mode(facts.st_mode & 0o7777))?;
        Ok(futimens(to, &times(facts))?)
    }

    /// An ordinary user's copies are the user's, and so are those that root may not give away: a user
    /// namespace has not all users.
    fn own(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        facts: &Stat,
        path: &Path,
    ) -> Result<(), Errno> {
        let own = geteuid();
        let (user, group) = (Uid::from_raw(facts.st_uid), Gid::from_raw(facts.st_gid));
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
        let give = |user, group| chownat(folder, name, user, group, flags);
        let mut is_given = user == own;
        if own.is_root() {
            is_given = match give(Some(user), Some(group)) {
                Err(Errno::INVAL | Errno::PERM | Errno::OVERFLOW) => {
                    let _ = give(None, Some(group));
                    give(Some(user), None).is_ok()
                }
                given => given.map(|()| true)?,
            };
        }
        if !is_given {
            self.unlike.of_others.insert(path.to_owned());
        }
        Ok(())
    }
}

/// Whether a name is that of a working folder.
pub(crate) fn is_ours(name: &OsStr) -> bool {
    name.as_bytes().starts_with(OURS)
}

/// Where something is copied from, and to.
struct Place<'a> {
    from: BorrowedFd<'a>,
    to: BorrowedFd<'a>,
    name: &'a OsStr,
    to_name: &'a OsStr,
}

impl Place<'_> {
    fn names(&self) -> io::Result<[CString; 2]> {
        Ok([CString::new(self.name.as_bytes())?, CString::new(self.to_name.as_bytes())?])
    }

    /// Something that another thing can be put on.
    fn stand_in(&self, name: &CStr, kind: FileType) -> Result<(), Errno> {
        if kind == FileType::Directory {
            return mkdirat(self.to, name, Mode::RWXU);
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        openat(self.to, name, flags, Mode::RUSR).map(drop)
    }
}

fn open_folder<P: rustix::path::Arg>(at: impl AsFd, name: P) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Where the next data begins, from an offset on; nothing if the rest is a hole.
pub(crate) fn data_from(file: impl AsFd, at: u64) -> Option<u64> {
    match seek(file, SeekFrom::Data(at)) {
        Err(Errno::NXIO) => None,
        // A file system that does not tell has data everywhere.
        found => Some(found.unwrap_or(at)),
    }
}

fn contents(from: &OwnedFd, to: &OwnedFd, bytes: u64) -> io::Result<()> {
    if bytes == 0 || ioctl_ficlone(to, from).is_ok() {
        return Ok(());
    }
    ftruncate(to, bytes)?;
    let mut at = 0;
    while at < bytes {
        let Some(begins) = data_from(from, at) else { break };
        let ends = seek(from, SeekFrom::Hole(begins)).unwrap_or(bytes).min(bytes);
        piece(from, to, begins, ends)?;
        at = ends.max(begins + 1);
    }
    Ok(())
}

/// Copies from one offset to another.
fn piece(from: &OwnedFd, to: &OwnedFd, mut at: u64, ends: u64) -> io::Result<()> {
    let mut buffer = Vec::new();
    while at < ends {
        let length = (ends - at) as usize;
        let (mut off_in, mut off_out) = (at, at);
        let copied = copy_file_range(from, Some(&mut off_in), to, Some(&mut off_out), length);
        match copied {
            // Shorter than it was, or a file system that cannot do it.
            Ok(0) | Err(_) => {
                buffer.resize(PIECE_BYTES.min(length), 0);
                let read = rustix::io::pread(from, &mut buffer[..], at)?;
                if read == 0 {
                    return Ok(());
                }
                let mut written = 0;
                while written < read {
                    written += rustix::io::pwrite(to, &buffer[written..read], at + written as u64)?;
                }
                at += read as u64;
            }
            Ok(copied) => at += copied as u64,
        }
    }
    Ok(())
}

/// As far as the other file system takes them.
fn attributes(from: &OwnedFd, to: &OwnedFd) {
    let mut names = vec![0; ATTRIBUTE_BYTES];
    let length = flistxattr(from, &mut names[..]).unwrap_or(0);
    let mut value = Vec::new();
    for name in names[..length].split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
        value.resize(ATTRIBUTE_BYTES, 0);
        if let Ok(length) = fgetxattr(from, name, &mut value[..]) {
            let _ = fsetxattr(to, name, &value[..length], XattrFlags::empty());
        }
    }
}

fn times(facts: &Stat) -> Timestamps {
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    Timestamps {
        last_access: time(facts.st_atime, facts.st_atime_nsec as _),
        last_modification: time(facts.st_mtime, facts.st_mtime_nsec as _),
    }
}

/// Removes what is at a path, whatever it is; one that is not there is fine.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    let facts = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        facts => facts.at("looking at", path)?,
    };
    let removed = if facts.is_dir() { remove_folder(path) } else { fs::remove_file(path) };
    removed.at("removing", path)
}

/// A command may have left folders that not even their owner may change.
fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path);
            fs::remove_dir_all(path)
        }
        removed => removed,
    }
}

fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
