//! Does what a step does, and says what the kernel answered, as it says it itself: -errno for a
//! failure.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::fs::{
    self, Access, Advice, AtFlags, FallocateFlags, FileType, FlockOperation, Mode, OFlags, RawDir,
    RenameFlags, ResolveFlags, SeekFrom, Timestamps, UTIME_NOW,
};
use rustix::io::{self, Errno};
use sys::aligned::Aligned;
use sys::file_locks::{self, LockOwner};
use sys::page_cache::sync_range;

use super::plan::program::{Act, LockKind, PathNumber, Slot, Synced, Target};
use super::shared_state::SharedState;

/// A call that asks for more is made as several, so that buffers stay small.
pub(super) const CALL_BYTES_MAX: usize = 16 << 20;
/// A lock that was free when it was recorded is waited for in steps of this …
const LOCK_STEP: Duration = Duration::from_micros(100);
/// … so often.
const LOCK_STEPS: u32 = 50_000;
/// What open(2) was asked for that means the same here.
const OPEN_FLAGS: OFlags = OFlags::RWMODE
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::TRUNC)
    .union(OFlags::APPEND)
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::DSYNC)
    .union(OFlags::SYNC)
    .union(OFlags::DIRECT)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOATIME)
    .union(OFlags::TMPFILE);
/// The same where the file is only named.
const PATH_FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW);

/// A thread's own memory.
pub(super) struct Buffers {
    read: Aligned,
    listed: Vec<MaybeUninit<u8>>,
    /// Which bytes were written last.
    written: usize,
}

impl Buffers {
    /// For reads, and listings, of so many bytes at the most.
    pub(super) fn new(read_bytes: usize, list_bytes: usize) -> Self {
        let listed = vec![MaybeUninit::uninit(); list_bytes];
        Self { read: Aligned::zeros(read_bytes), listed, written: 0 }
    }
}

impl SharedState {
    /// Does it; what the kernel answered.
    #[inline]
    pub(super) fn act(&self, act: &Act, buffers: &mut Buffers) -> i64 {
        match *act {
            Act::Begin { .. } | Act::Pass => 0,
            Act::Read { slot, length, offset } => {
                self.number(slot, |file| read(file, length, offset, buffers))
            }
            Act::Write { slot, length, offset, fill, .. } => {
                self.number(slot, |file| self.write(file, length, offset, fill, buffers))
            }
            Act::Open { path, slot, flags, mode } => {
                let opened = self.open(path, flags, mode);
                done(opened.map(|file| self.put(slot, file)))
            }
            Act::Close { slot } => done(self.take(slot).map(drop).ok_or(Errno::BADF)),
            Act::Seek { slot, whence, offset } => self.number(slot, |file| {
                let to = match i32::from(whence) {
                    libc::SEEK_SET => SeekFrom::Start(offset.max(0) as u64),
                    libc::SEEK_CUR => SeekFrom::Current(offset),
                    libc::SEEK_END => SeekFrom::End(offset),
                    libc::SEEK_DATA => SeekFrom::Data(offset.max(0) as u64),
                    _ => SeekFrom::Hole(offset.max(0) as u64),
                };
                fs::seek(file, to)
            }),
            Act::Sync { slot, what } => self.nothing(slot, |file| match what {
                Synced::All => fs::fsync(file),
                Synced::Data => fs::fdatasync(file),
                Synced::FileSystem => fs::syncfs(file),
            }),
            Act::Stat { target: Target::At(path), follow } => {
                let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
                done(fs::statat(&self.folder, self.path(path), flags))
            }
            Act::Stat { target: Target::Held(slot), .. } => {
                self.nothing(slot, |file| fs::fstat(file).map(drop))
            }
            _ => self.act_seldom(act, buffers),
        }
    }

    /// The same for all other acts.
    fn act_seldom(&self, act: &Act, buffers: &mut Buffers) -> i64 {
        match *act {
            Act::SyncRange { slot, flags, offset, length } => self.nothing(slot, |file| {
                sync_range(file, offset, length, flags).map_err(|e| errno(&e))
            }),
            Act::Allocate { slot, mode, offset, length } => self.nothing(slot, |file| {
                fs::fallocate(file, FallocateFlags::from_bits_retain(mode), offset, length)
            }),
            Act::Advise { slot, advice, offset, length } => self.nothing(slot, |file| {
                fs::fadvise(file, offset, std::num::NonZeroU64::new(length), advice_of(advice))
            }),
            Act::List { slot, length } => self.nothing(slot, |file| {
                let most = buffers.listed.len().min(length as usize);
                RawDir::new(file, &mut buffers.listed[..most]).next().transpose().map(drop)
            }),
            Act::Lock { slot, kind, own, waits, offset, length } => {
                let lock = || self.nothing(slot, |file| set_lock(file, kind, own, offset, length));
                self.locked(waits, lock)
            }
            Act::Flock { slot, operation } => {
                let waits = i32::from(operation) & libc::LOCK_NB == 0;
                let operation = match i32::from(operation) & !libc::LOCK_NB {
                    libc::LOCK_SH => FlockOperation::NonBlockingLockShared,
                    libc::LOCK_EX => FlockOperation::NonBlockingLockExclusive,
                    _ => FlockOperation::NonBlockingUnlock,
                };
                let lock = || self.nothing(slot, |file| fs::flock(file, operation));
                self.locked(waits, lock)
            }
            Act::Copy { from, to, length, offset, by_sendfile } => self
                .with(from, |from| {
                    self.number(to, |to| copy(from, to, length as usize, offset, by_sendfile))
                })
                .unwrap_or_else(|| error(Errno::BADF)),
            Act::Clone { from, to } => self
                .with(from, |from| self.nothing(to, |to| fs::ioctl_ficlone(to, from)))
                .unwrap_or_else(|| error(Errno::BADF)),
            _ => self.act_on_name(act, buffers),
        }
    }

    fn act_on_name(&self, act: &Act, buffers: &mut Buffers) -> i64 {
        let folder = &self.folder;
        let at = |path| self.path(path);
        let none = AtFlags::empty();
        done(match *act {
            Act::Truncate { target: Target::At(path), length } => self
                .open(path, libc::O_WRONLY as u32, 0)
                .and_then(|file| fs::ftruncate(file, length)),
            Act::Truncate { target: Target::Held(slot), length } => {
                return self.nothing(slot, |file| fs::ftruncate(file, length));
            }
            Act::Access { path, mode } => {
                fs::accessat(folder, at(path), Access::from_bits_truncate(mode.into()), none)
            }
            Act::Readlink { path, length } => {
                let most = buffers.listed.len().min(length as usize);
                let said = fs::readlinkat_raw(folder, at(path), &mut buffers.listed[..most]);
                return number(said.map(|(said, _)| said.len() as u64));
            }
            Act::Mkdir { path, mode } => fs::mkdirat(folder, at(path), mode_of(mode) | Mode::RWXU),
            Act::Mknod { path, mode } => {
                fs::mknodat(folder, at(path), FileType::RegularFile, mode_of(mode), 0)
            }
            Act::Rmdir { path } => fs::unlinkat(folder, at(path), AtFlags::REMOVEDIR),
            Act::Unlink { path } => fs::unlinkat(folder, at(path), none),
            Act::Rename { path, to, flags } => {
                let flags = RenameFlags::from_bits_retain(flags);
                fs::renameat_with(folder, at(path), folder, at(to), flags)
            }
            Act::Link { path, to } => fs::linkat(folder, at(path), folder, at(to), none),
            Act::Symlink { says, at: path } => fs::symlinkat(at(says), folder, at(path)),
            Act::Chmod { target: Target::At(path), mode } => {
                fs::chmodat(folder, at(path), mode_of(mode) | Mode::RWXU, none)
            }
            Act::Chmod { target: Target::Held(slot), mode } => {
                return self.nothing(slot, |file| fs::fchmod(file, mode_of(mode) | Mode::RWXU));
            }
            Act::Chown { target: Target::At(path) } => {
                fs::chownat(folder, at(path), None, None, none)
            }
            Act::Chown { target: Target::Held(slot) } => {
                return self.nothing(slot, |file| fs::fchown(file, None, None));
            }
            Act::Utime { target: Target::At(path) } => {
                fs::utimensat(folder, at(path), &now(), none)
            }
            Act::Utime { target: Target::Held(slot) } => {
                return self.nothing(slot, |file| fs::futimens(file, &now()));
            }
            _ => Ok(()),
        })
    }

    pub(super) fn path(&self, path: PathNumber) -> &CStr {
        &self.program.paths[path as usize]
    }

    fn open(&self, path: PathNumber, flags: u32, mode: u16) -> Result<OwnedFd, Errno> {
        let asked = OFlags::from_bits_retain(flags);
        // openat2 refuses what openat overlooks.
        let meant = if asked.contains(OFlags::PATH) { PATH_FLAGS } else { OPEN_FLAGS };
        let flags = (asked & meant) | OFlags::CLOEXEC;
        let makes = flags.contains(OFlags::CREATE) || flags.contains(OFlags::TMPFILE);
        let mode = if makes { mode_of(mode) } else { Mode::empty() };
        let path = self.path(path);
        if self.has_openat2 {
            let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            fs::openat2(&self.folder, path, flags, mode, within)
        } else {
            fs::openat(&self.folder, path, flags, mode)
        }
    }

    #[inline]
    fn write(
        &self,
        to: &OwnedFd,
        length: u32,
        offset: i64,
        fill: u8,
        buffers: &mut Buffers,
    ) -> Result<u64, Errno> {
        in_parts(length as usize, |done, part| {
            let bytes = self.fills.next(fill, part, &mut buffers.written);
            if offset < 0 {
                io::write(to, bytes)
            } else {
                io::pwrite(to, bytes, offset as u64 + done as u64)
            }
        })
    }

    /// Takes a lock, which may be held still by who gave it free before when it was recorded.
    fn locked(&self, waits: bool, lock: impl Fn() -> i64) -> i64 {
        let mut answer = lock();
        let is_held = |answer: i64| {
            [Errno::AGAIN, Errno::ACCESS].into_iter().any(|held| answer == error(held))
        };
        for _ in 0..LOCK_STEPS {
            if !waits || !is_held(answer) || self.check().is_err() {
                break;
            }
            std::thread::sleep(LOCK_STEP);
            answer = lock();
        }
        answer
    }

    #[inline]
    fn number(&self, slot: Slot, act: impl FnOnce(&OwnedFd) -> Result<u64, Errno>) -> i64 {
        self.with(slot, act).map_or_else(|| error(Errno::BADF), number)
    }

    #[inline]
    fn nothing(&self, slot: Slot, act: impl FnOnce(&OwnedFd) -> Result<(), Errno>) -> i64 {
        self.with(slot, act).map_or_else(|| error(Errno::BADF), done)
    }
}

#[inline]
fn read(file: &OwnedFd, length: u32, offset: i64, buffers: &mut Buffers) -> Result<u64, Errno> {
    let buffer = buffers.read.bytes_mut();
    in_parts(length as usize, |done, part| {
        let most = buffer.len().min(part);
        if offset < 0 {
            io::read(file, &mut buffer[..most])
        } else {
            io::pread(file, &mut buffer[..most], offset as u64 + done as u64)
        }
    })
}

/// A call of so many bytes, in parts of which the first that is not whole is the last.
#[inline]
fn in_parts(
    length: usize,
    mut call: impl FnMut(usize, usize) -> Result<usize, Errno>,
) -> Result<u64, Errno> {
    let mut done = 0;
    loop {
        let part = (length - done).min(CALL_BYTES_MAX);
        match call(done, part) {
            Ok(bytes) => {
                done += bytes;
                if bytes < part || done == length {
                    return Ok(done as u64);
                }
            }
            Err(error) if done == 0 => return Err(error),
            Err(_) => return Ok(done as u64),
        }
    }
}

fn copy(
    from: &OwnedFd,
    to: &OwnedFd,
    length: usize,
    offset: i64,
    by_sendfile: bool,
) -> Result<u64, Errno> {
    let mut offset = u64::try_from(offset).ok();
    let copied = if by_sendfile {
        fs::sendfile(to, from, offset.as_mut(), length)
    } else {
        fs::copy_file_range(from, offset.as_mut(), to, None, length)
    };
    copied.map(|bytes| bytes as u64)
}

fn set_lock(
    file: &OwnedFd,
    kind: LockKind,
    own: bool,
    offset: i64,
    length: i64,
) -> Result<(), Errno> {
    let kind = match kind {
        LockKind::Read => file_locks::Kind::Read,
        LockKind::Write => file_locks::Kind::Write,
        LockKind::Unlock => file_locks::Kind::Unlock,
    };
    let owner = if own { LockOwner::Process } else { LockOwner::OpenFile };
    file_locks::set(file.as_fd(), owner, kind, offset, length).map_err(|e| errno(&e))
}

fn advice_of(advice: u8) -> Advice {
    match i32::from(advice) {
        libc::POSIX_FADV_SEQUENTIAL => Advice::Sequential,
        libc::POSIX_FADV_RANDOM => Advice::Random,
        libc::POSIX_FADV_NOREUSE => Advice::NoReuse,
        libc::POSIX_FADV_WILLNEED => Advice::WillNeed,
        libc::POSIX_FADV_DONTNEED => Advice::DontNeed,
        _ => Advice::Normal,
    }
}

fn now() -> Timestamps {
    let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    Timestamps { last_access: now, last_modification: now }
}

/// Permissions, of which the folder's owner keeps enough to remove it all again.
fn mode_of(mode: u16) -> Mode {
    Mode::from_raw_mode(u32::from(mode) & 0o777)
}

#[inline]
fn number(result: Result<u64, Errno>) -> i64 {
    result.map_or_else(error, |number| number as i64)
}

#[inline]
fn done<T>(result: Result<T, Errno>) -> i64 {
    result.map_or_else(error, |_| 0)
}

#[inline]
fn error(errno: Errno) -> i64 {
    -i64::from(errno.raw_os_error())
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
