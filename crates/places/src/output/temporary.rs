//! Files that are being written, under a name that is not yet theirs.
//!
//! A file has no name at all until it is complete (`O_TMPFILE`), where the file system has
//! such files. It then has a temporary name for a moment, for a rename to replace what is
//! there: a kill in that moment leaves it. For as long as it has that name its writer holds
//! its lock. The name begins with the kernel's own number of this boot, so that a cleaner
//! knows whether it could see that lock.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};

use host::owner::Owner;
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, flock, fstat, linkat, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::rand::GetRandomFlags;

use super::stream::link_to;
use crate::folder::{PREFIX, is_linked, is_named, open_own_file};

/// How often another name is tried.
const ATTEMPTS_MAX: usize = 64;
/// Of the boot's number and of the random one, each.
const DIGITS: usize = 8;
const SUFFIX: &str = ".tmp";

/// A complete file under a temporary name, removed when it is dropped.
#[derive(Debug)]
pub(super) struct Temporary<'a> {
    directory: BorrowedFd<'a>,
    file: File,
    name: Option<CString>,
}

impl<'a> Temporary<'a> {
    /// A file that gets a name only when it is complete.
    pub(super) fn unnamed(
        directory: BorrowedFd<'a>,
        mode: u32,
        write: &impl Fn(&File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = openat(directory, c".", flags, Mode::from_raw_mode(mode))?;
        let link = link_to(&file);
        let file = File::from(file);
        write(&file)?;
        // Some file systems have no locks; there, no cleaner can take one either.
        let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
        for _ in 0..ATTEMPTS_MAX {
            let name = random_name()?;
            match linkat(CWD, &link, directory, &name, AtFlags::SYMLINK_FOLLOW) {
                Ok(()) => return Ok(Self { directory, file, name: Some(name) }),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Errno::EXIST.into())
    }

    /// A file that has a name from the beginning.
    pub(super) fn named(
        directory: BorrowedFd<'a>,
        mode: u32,
        write: &impl Fn(&File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS_MAX {
            let name = random_name()?;
            let file = match openat(directory, &name, flags, Mode::from_raw_mode(mode)) {
                Ok(file) => file,
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(error.into()),
            };
            // Until it was locked, a cleaner could take it away.
            let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
            if locked == Err(Errno::WOULDBLOCK) || !is_linked(&file)? {
                continue;
            }
            let new = Self { directory, file: file.into(), name: Some(name) };
            write(&new.file)?;
            return Ok(new);
        }
        Err(Errno::EXIST.into())
    }

    /// Takes the place of what has that name.
    pub(super) fn rename_to(mut self, name: &CStr) -> io::Result<File> {
        if let Some(temporary) = &self.name {
            renameat(self.directory, temporary, self.directory, name)?;
        }
        self.name = None;
        let _ = flock(&self.file, FlockOperation::Unlock);
        self.file.try_clone()
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name
            && is_named(self.directory, name, self.file.as_fd())
        {
            let _ = unlinkat(self.directory, name, AtFlags::empty());
        }
    }
}

/// What became of a file that was being written when its writer was killed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// It was removed, and had this many bytes set aside for it.
    Removed { bytes: u64 },
    /// Its writer, if there still is one, cannot be seen from here.
    OfAnotherBoot,
    /// It could not be removed.
    Failed(Errno),
}

/// Removes such a file of the user's own; nothing where it is none, or is being written.
/// `everywhere` is whether those that another host or boot left are removed, too.
pub(crate) fn unfinished(
    directory: BorrowedFd<'_>,
    name: &CStr,
    everywhere: bool,
) -> Option<Unfinished> {
    let boot = boot_of(name)?;
    let file = open_own_file(directory, name, OFlags::RDWR).ok()?;
    let stat = fstat(&file).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    // Under the lock: until then its writer could rename it to where it belongs.
    if !is_named(directory, name, file.as_fd()) {
        return None;
    }
    if boot != this_boot() && !everywhere {
        return Some(Unfinished::OfAnotherBoot);
    }
    Some(match unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) => Unfinished::Removed { bytes: u64::try_from(stat.st_blocks).unwrap_or(0) * 512 },
        Err(error) => Unfinished::Failed(error),
    })
}

fn random_name() -> io::Result<CString> {
    let mut bytes = [0_u8; DIGITS / 2];
    rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty())?;
    let number = u32::from_ne_bytes(bytes);
    let name = format!("{PREFIX}{}{number:0DIGITS$x}{SUFFIX}", this_boot());
    Ok(CString::new(name).map_err(|_| Errno::INVAL)?)
}

/// The beginning of the number that the kernel draws at each boot.
fn this_boot() -> String {
    let digits: String = Owner::this_process().boot.chars().take(DIGITS).collect();
    if is_number(digits.as_bytes()) { digits } else { "0".repeat(DIGITS) }
}

/// The boot in a temporary name; nothing where it is another name.
fn boot_of(name: &CStr) -> Option<&str> {
    let digits = name.to_str().ok()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    (digits.len() == 2 * DIGITS && is_number(digits.as_bytes())).then(|| &digits[..DIGITS])
}

fn is_number(digits: &[u8]) -> bool {
    digits.len().is_multiple_of(DIGITS)
        && !digits.is_empty()
        && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_temporary_name_says_of_which_boot_it_is_and_no_other_name_does() {
        let name = random_name().unwrap();
        assert_eq!(boot_of(&name), Some(this_boot().as_str()), "{name:?}");
        for other in [
            c".iotoll-0123456789abcdef",
            c".iotoll-0123456789abcde.tmp",
            c".iotoll-0123456789abcdef0.tmp",
            c".iotoll-0123456789ABCDEF.tmp",
            c".iotoll-.tmp",
            c"iotoll-0123456789abcdef.tmp",
        ] {
            assert_eq!(boot_of(other), None, "{other:?}");
        }
    }
}
