//! The system calls that are recorded, and what each of their arguments is.
//!
//! One table: what the kernel is asked to report, what is read from the program's memory and
//! what stands in the trace all follow from it. A call that is not in it is not looked at.

use std::sync::LazyLock;

use libc::c_long;
use trace::{Op, Unseen};

use crate::shared::NUMBERS;

/// The same on all architectures; the crate `libc` lacks it on some.
const SYS_FCHMODAT2: c_long = 452;

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Not recorded.
    Skipped,
    /// [`Call::fd`](trace::Call::fd).
    Fd,
    /// [`Call::other`](trace::Call::other).
    Other,
    /// A pointer to a path.
    Path,
    /// A pointer to the second path.
    To,
    Offset,
    Length,
    Flags,
    Mode,
    /// A pointer to a structure of so many bytes, which is read after the call.
    Block(u8),
    /// A pointer to a vector of buffers, whose count is the next argument.
    Vector,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is recorded.
    Recorded(Op),
    /// It does what cannot be seen, which is counted.
    Unseen(Unseen),
}

/// A system call of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) number: u32,
    pub(crate) what: Outcome,
    pub(crate) roles: [Role; 6],
}

impl Row {
    /// The first argument of that role.
    pub(crate) fn find(&self, wanted: impl Fn(Role) -> bool) -> Option<usize> {
        self.roles.iter().position(|role| wanted(*role))
    }

    /// The structure or vector that is read from the program's memory.
    pub(crate) fn block(&self) -> Option<(usize, Role)> {
        let at = self.find(|role| matches!(role, Role::Block(_) | Role::Vector))?;
        Some((at, self.roles[at]))
    }
}

/// The row of a system call's number.
pub(crate) fn row(number: u32) -> Option<&'static Row> {
    static BY_NUMBER: LazyLock<Vec<Option<Row>>> = LazyLock::new(|| {
        let mut table = vec![None; NUMBERS];
        for row in rows() {
            table[row.number as usize] = Some(row);
        }
        table
    });
    BY_NUMBER.get(number as usize)?.as_ref()
}

/// The whole table.
pub(crate) fn rows() -> impl Iterator<Item = Row> {
    let recorded = RECORDED.iter().chain(OLDER);
    let recorded =
        recorded.map(|(number, op, letters)| (*number, Outcome::Recorded(*op), *letters));
    let unseen = UNSEEN.iter().map(|(number, kind)| (*number, Outcome::Unseen(*kind), ""));
    recorded.chain(unseen).map(|(number, what, letters)| {
        let mut roles = [Role::Skipped; 6];
        for (role, letter) in roles.iter_mut().zip(letters.chars()) {
            *role = role_of(letter);
        }
        Row { number: number as u32, what, roles }
    })
}

fn role_of(letter: char) -> Role {
    match letter {
        'f' => Role::Fd,
        'o' => Role::Other,
        'p' => Role::Path,
        't' => Role::To,
        '@' => Role::Offset,
        'n' => Role::Length,
        'g' => Role::Flags,
        'm' => Role::Mode,
        'v' => Role::Vector,
        // A descriptor or an offset behind a pointer, two descriptors, two integers.
        '8' => Role::Block(8),
        // The head of `siginfo_t`, `struct open_how`.
        's' | 'h' => Role::Block(24),
        // `struct flock`.
        'l' => Role::Block(32),
        _ => Role::Skipped,
    }
}

/// Each with a letter for every argument: see [`role_of`].
const RECORDED: &[(c_long, Op, &str)] = &[
    (libc::SYS_openat, Op::Open, "fpgm"),
    (libc::SYS_openat2, Op::Open, "fph"),
    (libc::SYS_close, Op::Close, "f"),
    (libc::SYS_close_range, Op::CloseRange, "fog"),
    (libc::SYS_read, Op::Read, "f-n"),
    (libc::SYS_write, Op::Write, "f-n"),
    (libc::SYS_pread64, Op::Read, "f-n@"),
    (libc::SYS_pwrite64, Op::Write, "f-n@"),
    (libc::SYS_readv, Op::Read, "fv"),
    (libc::SYS_writev, Op::Write, "fv"),
    (libc::SYS_preadv, Op::Read, "fv-@"),
    (libc::SYS_pwritev, Op::Write, "fv-@"),
    (libc::SYS_preadv2, Op::Read, "fv-@-g"),
    (libc::SYS_pwritev2, Op::Write, "fv-@-g"),
    (libc::SYS_lseek, Op::Seek, "f@g"),
    (libc::SYS_fsync, Op::Fsync, "f"),
    (libc::SYS_fdatasync, Op::Fdatasync, "f"),
    (libc::SYS_sync_file_range, Op::SyncRange, "f@ng"),
    (libc::SYS_syncfs, Op::Syncfs, "f"),
    (libc::SYS_sync, Op::Sync, ""),
    (libc::SYS_truncate, Op::Truncate, "pn"),
    (libc::SYS_ftruncate, Op::Truncate, "fn"),
    (libc::SYS_fallocate, Op::Allocate, "fg@n"),
    (libc::SYS_fadvise64, Op::Advise, "f@ng"),
    (libc::SYS_readahead, Op::Advise, "f@n"),
    (libc::SYS_fstat, Op::Stat, "f"),
    (libc::SYS_newfstatat, Op::Stat, "fp-g"),
    (libc::SYS_statx, Op::Stat, "fpg"),
    (libc::SYS_faccessat, Op::Access, "fpm"),
    (libc::SYS_faccessat2, Op::Access, "fpmg"),
    (libc::SYS_readlinkat, Op::Readlink, "fp-n"),
    (libc::SYS_statfs, Op::Statfs, "p"),
    (libc::SYS_fstatfs, Op::Statfs, "f"),
    (libc::SYS_getdents64, Op::Getdents, "f-n"),
    (libc::SYS_mkdirat, Op::Mkdir, "fpm"),
    (libc::SYS_mknodat, Op::Mknod, "fpm"),
    (libc::SYS_unlinkat, Op::Unlink, "fpg"),
    (libc::SYS_renameat2, Op::Rename, "fpotg"),
    (libc::SYS_linkat, Op::Link, "fpotg"),
    (libc::SYS_symlinkat, Op::Symlink, "pot"),
    (libc::SYS_fchmod, Op::Chmod, "fm"),
    (libc::SYS_fchmodat, Op::Chmod, "fpm"),
    (SYS_FCHMODAT2, Op::Chmod, "fpmg"),
    (libc::SYS_fchown, Op::Chown, "f"),
    (libc::SYS_fchownat, Op::Chown, "fp--g"),
    (libc::SYS_utimensat, Op::Utime, "fp-g"),
    (libc::SYS_getxattr, Op::Getxattr, "p--n"),
    (libc::SYS_lgetxattr, Op::Getxattr, "p--n"),
    (libc::SYS_fgetxattr, Op::Getxattr, "f--n"),
    (libc::SYS_listxattr, Op::Getxattr, "p-n"),
    (libc::SYS_llistxattr, Op::Getxattr, "p-n"),
    (libc::SYS_flistxattr, Op::Getxattr, "f-n"),
    (libc::SYS_setxattr, Op::Setxattr, "p--n"),
    (libc::SYS_lsetxattr, Op::Setxattr, "p--n"),
    (libc::SYS_fsetxattr, Op::Setxattr, "f--n"),
    (libc::SYS_removexattr, Op::Setxattr, "p"),
    (libc::SYS_lremovexattr, Op::Setxattr, "p"),
    (libc::SYS_fremovexattr, Op::Setxattr, "f"),
    (libc::SYS_dup, Op::Duplicate, "f"),
    (libc::SYS_dup3, Op::Duplicate, "fog"),
    (libc::SYS_fcntl, Op::Fcntl, "fgl"),
    (libc::SYS_flock, Op::Flock, "fg"),
    (libc::SYS_mmap, Op::Map, "-n--f@"),
    (libc::SYS_msync, Op::Msync, "-ng"),
    (libc::SYS_sendfile, Op::Sendfile, "of8n"),
    (libc::SYS_copy_file_range, Op::CopyRange, "f8o-n"),
    (libc::SYS_splice, Op::Splice, "f8o-ng"),
    (libc::SYS_pipe2, Op::Pipe, "8g"),
    (libc::SYS_socket, Op::Socket, "-g"),
    (libc::SYS_accept, Op::Socket, "f"),
    (libc::SYS_accept4, Op::Socket, "f--g"),
    (libc::SYS_recvfrom, Op::Receive, "f"),
    (libc::SYS_recvmsg, Op::Receive, "f"),
    (libc::SYS_sendto, Op::Send, "f"),
    (libc::SYS_sendmsg, Op::Send, "f"),
    (libc::SYS_socketpair, Op::Socketpair, "-g-8"),
    (libc::SYS_epoll_create1, Op::Special, "g"),
    (libc::SYS_eventfd2, Op::Special, "-g"),
    (libc::SYS_timerfd_create, Op::Special, "-g"),
    (libc::SYS_memfd_create, Op::Special, "-g"),
    (libc::SYS_signalfd4, Op::Special, "---g"),
    (libc::SYS_inotify_init1, Op::Special, "g"),
    (libc::SYS_pidfd_open, Op::Special, ""),
    (libc::SYS_io_uring_setup, Op::Special, ""),
    (libc::SYS_chdir, Op::Chdir, "p"),
    (libc::SYS_fchdir, Op::Chdir, "f"),
    (libc::SYS_chroot, Op::Chroot, "p"),
    (libc::SYS_umask, Op::Umask, "m"),
    (libc::SYS_ioctl, Op::Ioctl, "fg"),
    (libc::SYS_wait4, Op::Wait, ""),
    (libc::SYS_waitid, Op::Wait, "--s"),
    (libc::SYS_unshare, Op::Unshare, "g"),
];

/// What newer architectures have no more.
#[cfg(target_arch = "x86_64")]
const OLDER: &[(c_long, Op, &str)] = &[
    (libc::SYS_open, Op::Open, "pgm"),
    (libc::SYS_creat, Op::Open, "pm"),
    (libc::SYS_stat, Op::Stat, "p"),
    (libc::SYS_lstat, Op::Stat, "p"),
    (libc::SYS_access, Op::Access, "pm"),
    (libc::SYS_readlink, Op::Readlink, "p-n"),
    (libc::SYS_getdents, Op::Getdents, "f-n"),
    (libc::SYS_mkdir, Op::Mkdir, "pm"),
    (libc::SYS_mknod, Op::Mknod, "pm"),
    (libc::SYS_rmdir, Op::Rmdir, "p"),
    (libc::SYS_unlink, Op::Unlink, "p"),
    (libc::SYS_rename, Op::Rename, "pt"),
    (libc::SYS_renameat, Op::Rename, "fpot"),
    (libc::SYS_link, Op::Link, "pt"),
    (libc::SYS_symlink, Op::Symlink, "pt"),
    (libc::SYS_chmod, Op::Chmod, "pm"),
    (libc::SYS_chown, Op::Chown, "p"),
    (libc::SYS_lchown, Op::Chown, "p"),
    (libc::SYS_utime, Op::Utime, "p"),
    (libc::SYS_utimes, Op::Utime, "p"),
    (libc::SYS_futimesat, Op::Utime, "fp"),
    (libc::SYS_dup2, Op::Duplicate, "fo"),
    (libc::SYS_pipe, Op::Pipe, "8"),
    (libc::SYS_epoll_create, Op::Special, ""),
    (libc::SYS_eventfd, Op::Special, ""),
    (libc::SYS_signalfd, Op::Special, ""),
    (libc::SYS_inotify_init, Op::Special, ""),
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[(c_long, Op, &str)] = &[(libc::SYS_renameat, Op::Rename, "fpot")];

const UNSEEN: &[(c_long, Unseen)] = &[
    (libc::SYS_io_uring_enter, Unseen::IoUring),
    (libc::SYS_io_submit, Unseen::Calls),
    (libc::SYS_open_by_handle_at, Unseen::Calls),
    (libc::SYS_setns, Unseen::Namespaces),
    (libc::SYS_mount, Unseen::Namespaces),
    (libc::SYS_umount2, Unseen::Namespaces),
    (libc::SYS_pivot_root, Unseen::Namespaces),
];

/// Whether a system call wakes no other thread: one that is within it and seems to was
/// interrupted, by a device or a clock that did.
pub(crate) fn wakes_nobody(number: u32) -> bool {
    #[cfg(target_arch = "x86_64")]
    const OLDER: &[c_long] =
        &[libc::SYS_poll, libc::SYS_select, libc::SYS_epoll_wait, libc::SYS_pause];
    #[cfg(not(target_arch = "x86_64"))]
    const OLDER: &[c_long] = &[];
    const WAITING: &[c_long] = &[
        libc::SYS_nanosleep,
        libc::SYS_clock_nanosleep,
        libc::SYS_ppoll,
        libc::SYS_pselect6,
        libc::SYS_epoll_pwait,
        libc::SYS_rt_sigsuspend,
        libc::SYS_rt_sigtimedwait,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_pread64,
        libc::SYS_fsync,
        libc::SYS_fdatasync,
        libc::SYS_wait4,
        libc::SYS_waitid,
        libc::SYS_openat,
        libc::SYS_newfstatat,
        libc::SYS_getdents64,
    ];
    let number = c_long::from(number);
    WAITING.contains(&number) || OLDER.contains(&number)
}

/// Flags that a call has by its name, or that no argument tells.
pub(crate) fn implied_flags(number: u32) -> u64 {
    let is = |calls: &[c_long]| calls.contains(&c_long::from(number));
    if is(&[libc::SYS_readahead]) {
        return libc::POSIX_FADV_WILLNEED as u64;
    }
    if is(&[libc::SYS_pidfd_open, libc::SYS_io_uring_setup]) {
        return libc::O_CLOEXEC as u64;
    }
    #[cfg(target_arch = "x86_64")]
    if is(&[libc::SYS_lstat, libc::SYS_lchown]) {
        return libc::AT_SYMLINK_NOFOLLOW as u64;
    }
    #[cfg(target_arch = "x86_64")]
    if is(&[libc::SYS_creat]) {
        return (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64;
    }
    0
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_call_has_one_row_within_the_table() {
        let mut numbers = HashSet::new();
        for row in rows() {
            assert!((row.number as usize) < NUMBERS);
            assert!(numbers.insert(row.number), "{row:?} is there twice");
        }
        assert_eq!(row(u32::MAX).map(|row| row.number), None);
    }

    #[test]
    fn no_role_but_none_is_there_twice() {
        for row in rows() {
            for (at, role) in row.roles.iter().enumerate() {
                let again = row.roles[at + 1..].contains(role);
                assert!(*role == Role::Skipped || !again, "{row:?}");
            }
        }
    }
}
