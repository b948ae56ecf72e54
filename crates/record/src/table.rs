//! The system calls that are recorded, and what each of their arguments is.
//!
//! One table: what the kernel is asked to report, what is read from the program's memory and
//! what stands in the trace all follow from it. A call that is not in it is not looked at.

use std::sync::LazyLock;

use libc::{
    O_CLOEXEC, SYS_accept, SYS_accept4, SYS_chdir, SYS_chroot, SYS_close, SYS_close_range,
    SYS_copy_file_range, SYS_dup, SYS_dup3, SYS_epoll_create1, SYS_eventfd2, SYS_faccessat,
    SYS_faccessat2, SYS_fadvise64, SYS_fallocate, SYS_fchdir, SYS_fchmod, SYS_fchmodat, SYS_fchown,
    SYS_fchownat, SYS_fcntl, SYS_fdatasync, SYS_fgetxattr, SYS_flistxattr, SYS_flock,
    SYS_fremovexattr, SYS_fsetxattr, SYS_fstat, SYS_fstatfs, SYS_fsync, SYS_ftruncate,
    SYS_getdents64, SYS_getxattr, SYS_inotify_init1, SYS_io_submit, SYS_io_uring_enter,
    SYS_io_uring_setup, SYS_ioctl, SYS_lgetxattr, SYS_linkat, SYS_listxattr, SYS_llistxattr,
    SYS_lremovexattr, SYS_lseek, SYS_lsetxattr, SYS_memfd_create, SYS_mkdirat, SYS_mknodat,
    SYS_mmap, SYS_mount, SYS_msync, SYS_newfstatat, SYS_open_by_handle_at, SYS_openat, SYS_openat2,
    SYS_pidfd_open, SYS_pipe2, SYS_pivot_root, SYS_pread64, SYS_preadv, SYS_preadv2, SYS_pwrite64,
    SYS_pwritev, SYS_pwritev2, SYS_read, SYS_readahead, SYS_readlinkat, SYS_readv, SYS_recvfrom,
    SYS_recvmsg, SYS_removexattr, SYS_renameat2, SYS_sendfile, SYS_sendmsg, SYS_sendto, SYS_setns,
    SYS_setxattr, SYS_signalfd4, SYS_socket, SYS_socketpair, SYS_splice, SYS_statfs, SYS_statx,
    SYS_symlinkat, SYS_sync, SYS_sync_file_range, SYS_syncfs, SYS_timerfd_create, SYS_truncate,
    SYS_umask, SYS_umount2, SYS_unlinkat, SYS_unshare, SYS_utimensat, SYS_wait4, SYS_waitid,
    SYS_write, SYS_writev, c_long,
};
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
    (SYS_openat, Op::Open, "fpgm"),
    (SYS_openat2, Op::Open, "fph"),
    (SYS_close, Op::Close, "f"),
    (SYS_close_range, Op::CloseRange, "fog"),
    (SYS_read, Op::Read, "f-n"),
    (SYS_write, Op::Write, "f-n"),
    (SYS_pread64, Op::Read, "f-n@"),
    (SYS_pwrite64, Op::Write, "f-n@"),
    (SYS_readv, Op::Read, "fv"),
    (SYS_writev, Op::Write, "fv"),
    (SYS_preadv, Op::Read, "fv-@"),
    (SYS_pwritev, Op::Write, "fv-@"),
    (SYS_preadv2, Op::Read, "fv-@-g"),
    (SYS_pwritev2, Op::Write, "fv-@-g"),
    (SYS_lseek, Op::Seek, "f@g"),
    (SYS_fsync, Op::Fsync, "f"),
    (SYS_fdatasync, Op::Fdatasync, "f"),
    (SYS_sync_file_range, Op::SyncRange, "f@ng"),
    (SYS_syncfs, Op::Syncfs, "f"),
    (SYS_sync, Op::Sync, ""),
    (SYS_truncate, Op::Truncate, "pn"),
    (SYS_ftruncate, Op::Truncate, "fn"),
    (SYS_fallocate, Op::Allocate, "fg@n"),
    (SYS_fadvise64, Op::Advise, "f@ng"),
    (SYS_readahead, Op::Advise, "f@n"),
    (SYS_fstat, Op::Stat, "f"),
    (SYS_newfstatat, Op::Stat, "fp-g"),
    (SYS_statx, Op::Stat, "fpg"),
    (SYS_faccessat, Op::Access, "fpm"),
    (SYS_faccessat2, Op::Access, "fpmg"),
    (SYS_readlinkat, Op::Readlink, "fp-n"),
    (SYS_statfs, Op::Statfs, "p"),
    (SYS_fstatfs, Op::Statfs, "f"),
    (SYS_getdents64, Op::Getdents, "f-n"),
    (SYS_mkdirat, Op::Mkdir, "fpm"),
    (SYS_mknodat, Op::Mknod, "fpm"),
    (SYS_unlinkat, Op::Unlink, "fpg"),
    (SYS_renameat2, Op::Rename, "fpotg"),
    (SYS_linkat, Op::Link, "fpotg"),
    (SYS_symlinkat, Op::Symlink, "pot"),
    (SYS_fchmod, Op::Chmod, "fm"),
    (SYS_fchmodat, Op::Chmod, "fpm"),
    (SYS_FCHMODAT2, Op::Chmod, "fpmg"),
    (SYS_fchown, Op::Chown, "f"),
    (SYS_fchownat, Op::Chown, "fp--g"),
    (SYS_utimensat, Op::Utime, "fp-g"),
    (SYS_getxattr, Op::Getxattr, "p--n"),
    (SYS_lgetxattr, Op::Getxattr, "p--n"),
    (SYS_fgetxattr, Op::Getxattr, "f--n"),
    (SYS_listxattr, Op::Getxattr, "p-n"),
    (SYS_llistxattr, Op::Getxattr, "p-n"),
    (SYS_flistxattr, Op::Getxattr, "f-n"),
    (SYS_setxattr, Op::Setxattr, "p--n"),
    (SYS_lsetxattr, Op::Setxattr, "p--n"),
    (SYS_fsetxattr, Op::Setxattr, "f--n"),
    (SYS_removexattr, Op::Setxattr, "p"),
    (SYS_lremovexattr, Op::Setxattr, "p"),
    (SYS_fremovexattr, Op::Setxattr, "f"),
    (SYS_dup, Op::Duplicate, "f"),
    (SYS_dup3, Op::Duplicate, "fog"),
    (SYS_fcntl, Op::Fcntl, "fgl"),
    (SYS_flock, Op::Flock, "fg"),
    (SYS_mmap, Op::Map, "-n--f@"),
    (SYS_msync, Op::Msync, "-ng"),
    (SYS_sendfile, Op::Sendfile, "of8n"),
    (SYS_copy_file_range, Op::CopyRange, "f8o-n"),
    (SYS_splice, Op::Splice, "f8o-ng"),
    (SYS_pipe2, Op::Pipe, "8g"),
    (SYS_socket, Op::Socket, "-g"),
    (SYS_accept, Op::Socket, "f"),
    (SYS_accept4, Op::Socket, "f--g"),
    (SYS_recvfrom, Op::Receive, "f"),
    (SYS_recvmsg, Op::Receive, "f"),
    (SYS_sendto, Op::Send, "f"),
    (SYS_sendmsg, Op::Send, "f"),
    (SYS_socketpair, Op::Socketpair, "-g-8"),
    (SYS_epoll_create1, Op::Special, "g"),
    (SYS_eventfd2, Op::Special, "-g"),
    (SYS_timerfd_create, Op::Special, "-g"),
    (SYS_memfd_create, Op::Special, "-g"),
    (SYS_signalfd4, Op::Special, "---g"),
    (SYS_inotify_init1, Op::Special, "g"),
    (SYS_pidfd_open, Op::Special, ""),
    (SYS_io_uring_setup, Op::Special, ""),
    (SYS_chdir, Op::Chdir, "p"),
    (SYS_fchdir, Op::Chdir, "f"),
    (SYS_chroot, Op::Chroot, "p"),
    (SYS_umask, Op::Umask, "m"),
    (SYS_ioctl, Op::Ioctl, "fg"),
    (SYS_wait4, Op::Wait, ""),
    (SYS_waitid, Op::Wait, "--s"),
    (SYS_unshare, Op::Unshare, "g"),
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
    (SYS_io_uring_enter, Unseen::IoUring),
    (SYS_io_submit, Unseen::Calls),
    (SYS_open_by_handle_at, Unseen::Calls),
    (SYS_setns, Unseen::Namespaces),
    (SYS_mount, Unseen::Namespaces),
    (SYS_umount2, Unseen::Namespaces),
    (SYS_pivot_root, Unseen::Namespaces),
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
        SYS_pread64,
        SYS_fsync,
        SYS_fdatasync,
        SYS_wait4,
        SYS_waitid,
        SYS_openat,
        SYS_newfstatat,
        SYS_getdents64,
    ];
    let number = c_long::from(number);
    WAITING.contains(&number) || OLDER.contains(&number)
}

/// Flags that a call has by its name, or that no argument tells.
pub(crate) fn implied_flags(number: u32) -> u64 {
    let is = |calls: &[c_long]| calls.contains(&c_long::from(number));
    if is(&[SYS_readahead]) {
        return libc::POSIX_FADV_WILLNEED as u64;
    }
    if is(&[SYS_pidfd_open, SYS_io_uring_setup]) {
        return O_CLOEXEC as u64;
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
