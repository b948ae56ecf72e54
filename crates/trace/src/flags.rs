//! The values of Linux's flags that mean something here; they are the same on all processors
//! that iotoll runs on, and crates that have them bring system calls.

/// open(2): the file's end is where each write goes.
pub(crate) const O_APPEND: u64 = 0o2000;
/// open(2): only to write.
pub(crate) const O_WRONLY: u64 = 0o1;
/// open(2): to read and to write.
pub(crate) const O_RDWR: u64 = 0o2;
/// open(2): made if it is missing.
pub(crate) const O_CREAT: u64 = 0o100;
/// open(2): refused if it is there.
pub(crate) const O_EXCL: u64 = 0o200;
/// open(2): emptied.
pub(crate) const O_TRUNC: u64 = 0o1000;
/// open(2): each write has its data on the device when it returns (`O_SYNC` has this, too).
pub(crate) const O_DSYNC: u64 = 0o10000;
/// open(2): a file without a name, in this folder.
pub(crate) const O_TMPFILE: u64 = 0o20_200_000;
/// open(2): closed by exec.
pub(crate) const O_CLOEXEC: u64 = 0o2_000_000;

/// fcntl(2): another descriptor for the same.
pub(crate) const F_DUPFD: u64 = 0;
/// fcntl(2): whether exec closes it.
pub(crate) const F_SETFD: u64 = 2;
/// fcntl(2): its flags.
pub(crate) const F_SETFL: u64 = 4;
/// fcntl(2): another descriptor for the same, closed by exec.
pub(crate) const F_DUPFD_CLOEXEC: u64 = 1030;
/// The argument of `F_SETFD`.
pub(crate) const FD_CLOEXEC: i64 = 1;
/// fcntl(2): take a lock, and wait for it.
#[cfg(test)]
pub(crate) const F_SETLKW: u64 = 7;
/// fcntl(2), the kind of a lock: none.
pub(crate) const F_UNLCK: u32 = 2;

/// flock(2): let go of it.
pub(crate) const LOCK_UN: u64 = 8;

/// ioctl(2): not closed by exec.
pub(crate) const FIONCLEX: u64 = 0x5450;
/// ioctl(2): closed by exec.
pub(crate) const FIOCLEX: u64 = 0x5451;

/// `close_range`(2): not from the table that others share.
pub(crate) const CLOSE_RANGE_UNSHARE: u64 = 2;
/// `close_range`(2): not closed now, but by exec.
pub(crate) const CLOSE_RANGE_CLOEXEC: u64 = 4;

/// pwritev2(2): this write has its data on the device when it returns (`RWF_DSYNC`, `RWF_SYNC`).
pub(crate) const RWF_SYNCS: u64 = 0x6;

/// newfstatat(2), and what lstat(2) does: a symbolic link is not followed.
pub(crate) const AT_SYMLINK_NOFOLLOW: u64 = 0x100;

/// unshare(2): the working folder.
pub(crate) const CLONE_FS: u64 = 0x200;
/// unshare(2): the descriptors.
pub(crate) const CLONE_FILES: u64 = 0x400;

/// The descriptor is none: closing did nothing.
pub(crate) const EBADF: i64 = -9;
/// A lock is held by others, as flock(2) and most of fcntl(2) say it …
pub(crate) const EAGAIN: i64 = -11;
/// … and the rest of fcntl(2).
pub(crate) const EACCES: i64 = -13;
/// There is no such file.
pub(crate) const ENOENT: i64 = -2;
