//! The way to an output: its path, walked component by component.
//!
//! Each directory is opened within the one before, never through a link. Links are read and
//! resolved here, so that their owners can be looked at: a link, device or FIFO that other
//! users may have planted is refused. The rule which directories can be relied on is the one
//! of places (`model::ownership`). For root, all that is below a directory of others is
//! theirs, too.

use std::collections::VecDeque;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use host::root::Root;
use host::users::unmapped_uid;
use model::ownership::{Access, Directory, Trusted};
use rustix::fs::{CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat, fstat, fstatfs};
use rustix::fs::{openat, readlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::error::OutputError;
use super::stream::{Stream, reopen};
use crate::open::directories_above;

/// What a chain of links is given up after, as the kernel does.
const LINKS_MAX: usize = 40;

/// What a path leads to.
pub(super) enum ResolvedTarget {
    /// A descriptor that this process has inherited, by one of its names.
    Descriptor(RawFd),
    /// A FIFO or device that has no name in any directory: a descriptor of another process.
    Stream(Stream, FileType),
    /// A name in a directory.
    Name(Spot),
}

/// A name in a directory, and what is there.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) directory: OwnedFd,
    pub(super) directory_path: PathBuf,
    pub(super) name: CString,
    /// Opened only to be referred to (`O_PATH`); it is no link.
    pub(super) entry: Option<Entry>,
    /// What other users may do in the directory.
    pub(super) others: Access,
}

/// What is there under a name.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) fd: OwnedFd,
    pub(super) stat: Stat,
}

impl Entry {
    fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }
}

impl Spot {
    pub(super) fn path(&self) -> PathBuf {
        self.directory_path.join(OsStr::from_bytes(self.name.to_bytes()))
    }

    pub(super) fn entry_kind(&self) -> Option<FileType> {
        self.entry.as_ref().map(Entry::kind)
    }

    /// What is there, opened: no other than was found.
    pub(super) fn open(&self, flags: OFlags) -> Result<Option<OwnedFd>, Errno> {
        let Some(entry) = &self.entry else { return Ok(None) };
        let name = Some((self.directory.as_fd(), self.name.as_c_str()));
        reopen(&entry.fd, name, flags).map(Some)
    }

    /// What is there, to be written as it is.
    pub(super) fn into_stream(self) -> Result<Stream, OutputError> {
        let Self { directory, name, entry, .. } = self;
        let Entry { fd, .. } = entry.ok_or(io::Error::from(Errno::NOENT))?;
        Ok(Stream { fd, name: Some((directory, name)) })
    }
}

/// Walks a path to its end.
pub(super) fn find(path: &Path) -> Result<ResolvedTarget, OutputError> {
    if let Some(number) = descriptor_number(path) {
        return Ok(ResolvedTarget::Descriptor(number));
    }
    let user = geteuid().as_raw();
    let trusted = Trusted { user, unmapped: unmapped_uid(&Root::real()) };
    Way::begin(path, trusted)?.walk()
}

/// Where a link of `/proc` leads.
enum Followed {
    /// The walk goes on from there.
    ToDirectory,
    ToStream(Stream, FileType),
    /// Its text has to do.
    Nowhere,
}

struct Way {
    trusted: Trusted,
    directory: OwnedFd,
    path: PathBuf,
    others: Access,
    /// Components that are still to be walked.
    left: VecDeque<OsString>,
    links: usize,
}

impl Way {
    fn begin(path: &Path, trusted: Trusted) -> Result<Self, OutputError> {
        let start = if path.is_absolute() { c"/" } else { c"." };
        let directory = open_directory(CWD, start)?;
        let mut way = Self {
            trusted,
            directory,
            path: PathBuf::new(),
            others: Access::None,
            left: VecDeque::new(),
            links: 0,
        };
        way.push(path);
        way.others = way.others_at(&way.directory)?;
        if path.is_absolute() {
            way.path.push("/");
        }
        Ok(way)
    }

    fn walk(mut self) -> Result<ResolvedTarget, OutputError> {
        while let Some(component) = self.left.pop_front() {
            let is_last = self.left.is_empty();
            let name = CString::new(component.as_bytes()).map_err(|_| Errno::INVAL);
            let name = name.map_err(io::Error::from)?;
            let fd = match open_entry(self.directory.as_fd(), &name) {
                Ok(fd) => fd,
                Err(Errno::NOENT) if is_last && component != ".." => {
                    return Ok(ResolvedTarget::Name(self.spot(name, None)));
                }
                Err(Errno::NOENT) => return Err(self.no_directory(&component)),
                Err(error) => return Err(io::Error::from(error).into()),
            };
            let stat = fstat(&fd).map_err(io::Error::from)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink => {
                    if let Some(found) = self.follow(&name, &fd, &stat)? {
                        return Ok(found);
                    }
                }
                FileType::Directory => self.enter(&component, fd, &stat),
                _ if !is_last => return Err(io::Error::from(Errno::NOTDIR).into()),
                kind => {
                    self.check_planted(&name, kind, &stat)?;
                    return Ok(ResolvedTarget::Name(self.spot(name, Some(Entry { fd, stat }))));
                }
            }
        }
        Err(OutputError::directory())
    }

    /// Puts a path before what is still to be walked.
    fn push(&mut self, path: &Path) {
        let is_named =
            |part: &Component| matches!(part, Component::Normal(_) | Component::ParentDir);
        let parts = path.components().filter(is_named);
        for part in parts.collect::<Vec<_>>().into_iter().rev() {
            self.left.push_front(part.as_os_str().to_owned());
        }
    }

    fn spot(self, name: CString, entry: Option<Entry>) -> Spot {
        let Self { directory, path: directory_path, others, .. } = self;
        Spot { directory, directory_path, name, entry, others }
    }

    fn no_directory(&self, component: &OsStr) -> OutputError {
        // A name is for a file; the directories before it are those that are missing.
        let rest = self.left.iter().rev().skip(1).rev();
        let missing = rest.fold(self.path.join(component), |path, part| path.join(part));
        OutputError::Refused(format!("there is no directory {}", missing.display()))
    }

    fn enter(&mut self, component: &OsStr, directory: OwnedFd, stat: &Stat) {
        self.directory = directory;
        self.path.push(component);
        let Stat { st_uid, st_mode, .. } = *stat;
        self.others = self.trusted.access_of_others_below(self.others, st_uid, st_mode);
    }

    /// Goes where a link leads; what was found, where that is no directory to go on from.
    fn follow(
        &mut self,
        name: &CStr,
        link: &OwnedFd,
        stat: &Stat,
    ) -> Result<Option<ResolvedTarget>, OutputError> {
        self.check_planted(name, FileType::Symlink, stat)?;
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(io::Error::from(Errno::LOOP).into());
        }
        let target = readlinkat(link, c"", Vec::new()).map_err(io::Error::from)?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        let whole = self.left.iter().fold(target.clone(), |path, part| path.join(part));
        if let Some(number) = descriptor_number(&whole) {
            return Ok(Some(ResolvedTarget::Descriptor(number)));
        }
        if fstatfs(link).is_ok_and(|facts| facts.f_type == PROC_SUPER_MAGIC) {
            match self.follow_kernels(name)? {
                Followed::ToDirectory => return Ok(None),
                Followed::ToStream(stream, kind) => {
                    return Ok(Some(ResolvedTarget::Stream(stream, kind)));
                }
                Followed::Nowhere => {}
            }
        }
        self.push(&target);
        if target.is_absolute() {
            self.directory = open_directory(CWD, c"/")?;
            self.path = PathBuf::from("/");
            self.others = self.others_at(&self.directory)?;
        }
        Ok(None)
    }

    /// Follows a link of `/proc` as the kernel does: what it leads to may have no path.
    fn follow_kernels(&mut self, name: &CStr) -> Result<Followed, OutputError> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let Ok(fd) = openat(&self.directory, name, flags, Mode::empty()) else {
            return Ok(Followed::Nowhere);
        };
        let stat = fstat(&fd).map_err(io::Error::from)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                self.path.push(OsStr::from_bytes(name.to_bytes()));
                self.others = self.others_at(&fd)?;
                self.directory = fd;
                Ok(Followed::ToDirectory)
            }
            kind @ (FileType::Fifo | FileType::CharacterDevice) if self.left.is_empty() => {
                Ok(Followed::ToStream(Stream { fd, name: None }, kind))
            }
            _ => Ok(Followed::Nowhere),
        }
    }

    /// What others may do in a directory that the walk did not come to from above.
    fn others_at(&self, directory: &OwnedFd) -> io::Result<Access> {
        let below = |above, directory: &Directory| {
            self.trusted.access_of_others_below(above, directory.uid, directory.mode)
        };
        let all = directories_above(directory.as_fd(), &self.path)?;
        Ok(all.iter().rev().fold(Access::None, below))
    }

    /// An error where other users may have put a link, FIFO or device there to choose what is
    /// written.
    fn check_planted(&self, name: &CStr, kind: FileType, stat: &Stat) -> Result<(), OutputError> {
        let is_foreign = !self.trusted.includes(stat.st_uid);
        let elsewhere = "name a file, or use a directory that only you can change";
        let (what, advice) = match kind {
            FileType::Symlink => ("a symbolic link", "name its target instead"),
            FileType::Fifo => ("a FIFO", elsewhere),
            FileType::CharacterDevice => ("a device", elsewhere),
            _ => return Ok(()),
        };
        let is_ours = match self.others {
            // Where nobody else can make one, it may be a terminal, which is its user's.
            Access::None => !is_foreign || kind != FileType::Symlink,
            Access::Add => !is_foreign,
            Access::Exchange => false,
        };
        if is_ours {
            return Ok(());
        }
        let path = self.path.join(OsStr::from_bytes(name.to_bytes()));
        let whose = if is_foreign {
            "that belongs to another user"
        } else {
            "in a directory where other users can exchange it"
        };
        Err(OutputError::Refused(format!("{} is {what} {whose}; {advice}", path.display())))
    }
}

/// The descriptor that a path is one of the usual names of.
fn descriptor_number(path: &Path) -> Option<RawFd> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => {
            let folder = path.parent()?;
            let is_of_descriptors = ["/dev/fd", "/proc/self/fd"].map(Path::new).contains(&folder);
            let name = path.file_name().and_then(OsStr::to_str).filter(|_| is_of_descriptors)?;
            name.parse().ok().filter(|number| *number >= 0)
        }
    }
}

fn open_directory(at: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(at, name, flags, Mode::empty())?)
}

fn open_entry(directory: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    openat(directory, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_descriptors_are_known() {
        let number = |path| descriptor_number(Path::new(path));
        assert_eq!(number("/dev/stdout"), Some(1));
        assert_eq!(number("/dev/stderr"), Some(2));
        assert_eq!(number("/dev/fd/63"), Some(63));
        assert_eq!(number("/proc/self/fd/7"), Some(7));
        for other in ["/dev/fd/-1", "/dev/fd/x", "/dev/fd", "/dev/null", "fd/1", "/tmp/fd/1", ""] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
