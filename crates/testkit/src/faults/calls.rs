//! The system calls that a run may make, what each is done to, and how it may fail.

use libc::c_long;
use nix::errno::Errno;

/// What a call fails by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call is not made, and returns the error.
    Error(Errno),
    /// The call is made, and returns an error all the same, as close(2) does.
    Late(Errno),
    /// Half of what was asked for is transferred.
    Short,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Error(errno) | Self::Late(errno) => write!(f, "{errno:?}"),
            Self::Short => f.write_str("short"),
        }
    }
}

/// Which argument of a call says what it is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// None does.
    Nothing,
    /// A descriptor.
    Fd(usize),
    /// A path, from the working directory.
    Path(usize),
    /// A path, from the directory of the descriptor before it.
    At(usize),
    /// The same of a file that is opened, with what for.
    Opened,
    /// A mapping, of a file where there is a descriptor.
    Mapping,
}

/// A system call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// As in its man page.
    pub name: &'static str,
    pub(super) number: c_long,
    pub(super) on: On,
    /// The argument with the length of a transfer.
    pub(super) length: Option<usize>,
    /// How it may fail; not at all where it cannot, or where whoever calls it is not us.
    pub faults: &'static [Fault],
}

impl Call {
    /// Whether what it fails to do is lost: it writes or syncs.
    pub fn makes_data_last(&self) -> bool {
        [WRITES, SYNCS].contains(&self.faults)
    }
}

/// The call of that name.
pub fn call_named(name: &str) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.name == name)
}

pub(super) fn call_of(number: c_long) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.number == number)
}

const NOSPC: Fault = Fault::Error(Errno::ENOSPC);
const IO: Fault = Fault::Error(Errno::EIO);
const INTR: Fault = Fault::Error(Errno::EINTR);
const PERM: Fault = Fault::Error(Errno::EPERM);
const NOSYS: Fault = Fault::Error(Errno::ENOSYS);
const NOMEM: Fault = Fault::Error(Errno::ENOMEM);
const MFILE: Fault = Fault::Error(Errno::EMFILE);
const AGAIN: Fault = Fault::Error(Errno::EAGAIN);

const OPENS: &[Fault] = &[NOSPC, IO, INTR, PERM, MFILE];
const READS: &[Fault] = &[IO, INTR, Fault::Short];
const WRITES: &[Fault] = &[NOSPC, IO, INTR, PERM, Fault::Short];
const SYNCS: &[Fault] = &[NOSPC, IO, INTR];
const CLOSES: &[Fault] = &[Fault::Late(Errno::EIO), Fault::Late(Errno::EINTR)];
const LOOKS: &[Fault] = &[IO, PERM];
const NAMES: &[Fault] = &[NOSPC, IO, PERM];
const MAKES: &[Fault] = &[PERM, NOSYS, MFILE];
const LOCKS: &[Fault] = &[IO, INTR, NOSYS];
const WAITS: &[Fault] = &[INTR];
const ASKS: &[Fault] = &[PERM, NOSYS];
const STARTS: &[Fault] = &[AGAIN, PERM, NOSYS];
const MAPS: &[Fault] = &[NOMEM, PERM];
/// Memory is the allocator's, and what cannot be had ends a Rust program. Locks between
/// threads, masks of signals, a process's own numbers, names and clocks do not fail for
/// reasons outside of the program; the rest ends a process or a thread.
const NEVER: &[Fault] = &[];

macro_rules! calls {
    ($($name:literal $number:expr, $on:expr, $length:expr, $faults:expr;)+) => {
        /// All that are known.
        pub const CALLS: &[Call] = &[$(Call {
            name: $name, number: $number, on: $on, length: $length, faults: $faults,
        }),+];
    };
}

calls! {
    "open" libc::SYS_open, On::Path(0), None, OPENS;
    "openat" libc::SYS_openat, On::Opened, None, OPENS;
    "openat2" libc::SYS_openat2, On::At(1), None, &[NOSPC, IO, INTR, PERM, MFILE, NOSYS];
    "creat" libc::SYS_creat, On::Path(0), None, OPENS;
    "read" libc::SYS_read, On::Fd(0), Some(2), READS;
    "pread64" libc::SYS_pread64, On::Fd(0), Some(2), READS;
    "readv" libc::SYS_readv, On::Fd(0), Some(2), READS;
    "preadv" libc::SYS_preadv, On::Fd(0), Some(2), READS;
    "write" libc::SYS_write, On::Fd(0), Some(2), WRITES;
    "pwrite64" libc::SYS_pwrite64, On::Fd(0), Some(2), WRITES;
    "writev" libc::SYS_writev, On::Fd(0), Some(2), WRITES;
    "pwritev" libc::SYS_pwritev, On::Fd(0), Some(2), WRITES;
    "sendfile" libc::SYS_sendfile, On::Fd(1), Some(3), READS;
    "copy_file_range" libc::SYS_copy_file_range, On::Fd(0), Some(4), &[IO, INTR, NOSYS, Fault::Short];
    "fsync" libc::SYS_fsync, On::Fd(0), None, SYNCS;
    "fdatasync" libc::SYS_fdatasync, On::Fd(0), None, SYNCS;
    "sync_file_range" libc::SYS_sync_file_range, On::Fd(0), None, &[IO, NOSYS, NOSPC];
    "syncfs" libc::SYS_syncfs, On::Fd(0), None, SYNCS;
    "close" libc::SYS_close, On::Fd(0), None, CLOSES;
    "close_range" libc::SYS_close_range, On::Nothing, None, ASKS;
    "stat" libc::SYS_stat, On::Path(0), None, LOOKS;
    "lstat" libc::SYS_lstat, On::Path(0), None, LOOKS;
    "fstat" libc::SYS_fstat, On::Fd(0), None, LOOKS;
    "newfstatat" libc::SYS_newfstatat, On::At(1), None, LOOKS;
    "statx" libc::SYS_statx, On::At(1), None, &[IO, PERM, NOSYS];
    "statfs" libc::SYS_statfs, On::Path(0), None, &[IO, PERM, NOSYS];
    "fstatfs" libc::SYS_fstatfs, On::Fd(0), None, &[IO, PERM, NOSYS];
    "access" libc::SYS_access, On::Path(0), None, LOOKS;
    "faccessat" libc::SYS_faccessat, On::At(1), None, LOOKS;
    "faccessat2" libc::SYS_faccessat2, On::At(1), None, ASKS;
    "readlink" libc::SYS_readlink, On::Path(0), None, LOOKS;
    "readlinkat" libc::SYS_readlinkat, On::At(1), None, LOOKS;
    "getdents64" libc::SYS_getdents64, On::Fd(0), None, &[IO, INTR];
    "mkdir" libc::SYS_mkdir, On::Path(0), None, NAMES;
    "mkdirat" libc::SYS_mkdirat, On::At(1), None, NAMES;
    "unlink" libc::SYS_unlink, On::Path(0), None, NAMES;
    "unlinkat" libc::SYS_unlinkat, On::At(1), None, NAMES;
    "rmdir" libc::SYS_rmdir, On::Path(0), None, NAMES;
    "rename" libc::SYS_rename, On::Path(1), None, NAMES;
    "renameat" libc::SYS_renameat, On::At(3), None, NAMES;
    "renameat2" libc::SYS_renameat2, On::At(3), None, NAMES;
    "linkat" libc::SYS_linkat, On::At(3), None, NAMES;
    "symlinkat" libc::SYS_symlinkat, On::At(2), None, NAMES;
    "ftruncate" libc::SYS_ftruncate, On::Fd(0), None, &[NOSPC, IO, INTR, PERM];
    "fallocate" libc::SYS_fallocate, On::Fd(0), None, &[NOSPC, IO, INTR, PERM, NOSYS];
    "chmod" libc::SYS_chmod, On::Path(0), None, NAMES;
    "fchmod" libc::SYS_fchmod, On::Fd(0), None, NAMES;
    "fchmodat" libc::SYS_fchmodat, On::At(1), None, NAMES;
    "fchown" libc::SYS_fchown, On::Fd(0), None, NAMES;
    "utimensat" libc::SYS_utimensat, On::At(1), None, NAMES;
    "lseek" libc::SYS_lseek, On::Fd(0), None, &[IO];
    "fadvise64" libc::SYS_fadvise64, On::Fd(0), None, ASKS;
    "flock" libc::SYS_flock, On::Fd(0), None, LOCKS;
    "fcntl" libc::SYS_fcntl, On::Fd(0), None, &[IO, INTR];
    "ioctl" libc::SYS_ioctl, On::Fd(0), None, &[IO, PERM, NOSYS];
    "dup" libc::SYS_dup, On::Fd(0), None, &[MFILE];
    "dup2" libc::SYS_dup2, On::Fd(0), None, &[IO];
    "dup3" libc::SYS_dup3, On::Fd(0), None, &[IO];
    "cachestat" 451, On::Fd(0), None, ASKS;
    "mincore" libc::SYS_mincore, On::Nothing, None, ASKS;
    "mmap" libc::SYS_mmap, On::Mapping, None, MAPS;
    "msync" libc::SYS_msync, On::Nothing, None, &[IO];
    "memfd_create" libc::SYS_memfd_create, On::Nothing, None, MAKES;
    "pipe2" libc::SYS_pipe2, On::Nothing, None, MAKES;
    "eventfd2" libc::SYS_eventfd2, On::Nothing, None, MAKES;
    "timerfd_create" libc::SYS_timerfd_create, On::Nothing, None, MAKES;
    "timerfd_settime" libc::SYS_timerfd_settime, On::Fd(0), None, &[PERM];
    "epoll_create1" libc::SYS_epoll_create1, On::Nothing, None, MAKES;
    "epoll_ctl" libc::SYS_epoll_ctl, On::Fd(2), None, &[NOSPC, PERM];
    "epoll_wait" libc::SYS_epoll_wait, On::Fd(0), None, WAITS;
    "epoll_pwait" libc::SYS_epoll_pwait, On::Fd(0), None, WAITS;
    "poll" libc::SYS_poll, On::Nothing, None, WAITS;
    "ppoll" libc::SYS_ppoll, On::Nothing, None, WAITS;
    "select" libc::SYS_select, On::Nothing, None, WAITS;
    "pselect6" libc::SYS_pselect6, On::Nothing, None, WAITS;
    "nanosleep" libc::SYS_nanosleep, On::Nothing, None, WAITS;
    "clock_nanosleep" libc::SYS_clock_nanosleep, On::Nothing, None, WAITS;
    "socket" libc::SYS_socket, On::Nothing, None, MAKES;
    "socketpair" libc::SYS_socketpair, On::Nothing, None, MAKES;
    "bind" libc::SYS_bind, On::Fd(0), None, &[PERM];
    "listen" libc::SYS_listen, On::Fd(0), None, &[PERM];
    "accept" libc::SYS_accept, On::Fd(0), None, &[INTR, PERM, MFILE];
    "accept4" libc::SYS_accept4, On::Fd(0), None, &[INTR, PERM, MFILE];
    "connect" libc::SYS_connect, On::Fd(0), None, &[INTR, PERM];
    "getsockname" libc::SYS_getsockname, On::Fd(0), None, &[PERM];
    "getsockopt" libc::SYS_getsockopt, On::Fd(0), None, &[PERM];
    "setsockopt" libc::SYS_setsockopt, On::Fd(0), None, &[PERM];
    "shutdown" libc::SYS_shutdown, On::Fd(0), None, &[IO];
    "sendto" libc::SYS_sendto, On::Fd(0), Some(2), &[INTR, PERM, Fault::Short];
    "recvfrom" libc::SYS_recvfrom, On::Fd(0), Some(2), &[INTR, Fault::Short];
    "sendmsg" libc::SYS_sendmsg, On::Fd(0), None, &[IO, INTR, PERM];
    "recvmsg" libc::SYS_recvmsg, On::Fd(0), None, &[IO, INTR];
    "clone" libc::SYS_clone, On::Nothing, None, &[AGAIN, PERM];
    "clone3" libc::SYS_clone3, On::Nothing, None, STARTS;
    "fork" libc::SYS_fork, On::Nothing, None, &[AGAIN];
    "vfork" libc::SYS_vfork, On::Nothing, None, &[AGAIN];
    "execve" libc::SYS_execve, On::Nothing, None, &[IO, PERM];
    "wait4" libc::SYS_wait4, On::Nothing, None, WAITS;
    "waitid" libc::SYS_waitid, On::Nothing, None, WAITS;
    "kill" libc::SYS_kill, On::Nothing, None, &[PERM];
    "tgkill" libc::SYS_tgkill, On::Nothing, None, &[PERM];
    "pidfd_open" libc::SYS_pidfd_open, On::Nothing, None, MAKES;
    "pidfd_send_signal" libc::SYS_pidfd_send_signal, On::Fd(0), None, ASKS;
    "prctl" libc::SYS_prctl, On::Nothing, None, ASKS;
    "capset" libc::SYS_capset, On::Nothing, None, ASKS;
    "seccomp" libc::SYS_seccomp, On::Nothing, None, ASKS;
    "landlock_create_ruleset" libc::SYS_landlock_create_ruleset, On::Nothing, None, ASKS;
    "landlock_restrict_self" libc::SYS_landlock_restrict_self, On::Nothing, None, ASKS;
    "prlimit64" libc::SYS_prlimit64, On::Nothing, None, ASKS;
    "setpgid" libc::SYS_setpgid, On::Nothing, None, &[PERM];
    "setsid" libc::SYS_setsid, On::Nothing, None, &[PERM];
    "chdir" libc::SYS_chdir, On::Path(0), None, LOOKS;
    "fchdir" libc::SYS_fchdir, On::Fd(0), None, LOOKS;
    "getcwd" libc::SYS_getcwd, On::Nothing, None, &[PERM];
    "getrandom" libc::SYS_getrandom, On::Nothing, None, &[INTR, NOSYS];
    "getrusage" libc::SYS_getrusage, On::Nothing, None, &[PERM];
    "sysinfo" libc::SYS_sysinfo, On::Nothing, None, &[PERM];
    "uname" libc::SYS_uname, On::Nothing, None, NEVER;
    "sched_getaffinity" libc::SYS_sched_getaffinity, On::Nothing, None, ASKS;
    "sched_setaffinity" libc::SYS_sched_setaffinity, On::Nothing, None, ASKS;
    "sched_setscheduler" libc::SYS_sched_setscheduler, On::Nothing, None, ASKS;
    "ioprio_set" libc::SYS_ioprio_set, On::Nothing, None, ASKS;
    "ioprio_get" libc::SYS_ioprio_get, On::Nothing, None, ASKS;
    "sched_getattr" libc::SYS_sched_getattr, On::Nothing, None, ASKS;
    "sched_setattr" libc::SYS_sched_setattr, On::Nothing, None, ASKS;
    "signalfd4" libc::SYS_signalfd4, On::Nothing, None, MAKES;
    "fsopen" libc::SYS_fsopen, On::Nothing, None, ASKS;
    "fsconfig" libc::SYS_fsconfig, On::Nothing, None, ASKS;
    "fsmount" libc::SYS_fsmount, On::Nothing, None, ASKS;
    "perf_event_open" libc::SYS_perf_event_open, On::Nothing, None, ASKS;
    "io_uring_setup" libc::SYS_io_uring_setup, On::Nothing, None, ASKS;
    "io_uring_enter" libc::SYS_io_uring_enter, On::Nothing, None, &[IO, INTR, PERM];
    "io_uring_register" libc::SYS_io_uring_register, On::Nothing, None, ASKS;
    "umask" libc::SYS_umask, On::Nothing, None, NEVER;
    "brk" libc::SYS_brk, On::Nothing, None, NEVER;
    "munmap" libc::SYS_munmap, On::Nothing, None, NEVER;
    "mremap" libc::SYS_mremap, On::Nothing, None, NEVER;
    "mprotect" libc::SYS_mprotect, On::Nothing, None, NEVER;
    "madvise" libc::SYS_madvise, On::Nothing, None, NEVER;
    "futex" libc::SYS_futex, On::Nothing, None, NEVER;
    "rt_sigaction" libc::SYS_rt_sigaction, On::Nothing, None, NEVER;
    "rt_sigprocmask" libc::SYS_rt_sigprocmask, On::Nothing, None, NEVER;
    "rt_sigreturn" libc::SYS_rt_sigreturn, On::Nothing, None, NEVER;
    "rt_sigtimedwait" libc::SYS_rt_sigtimedwait, On::Nothing, None, NEVER;
    "sigaltstack" libc::SYS_sigaltstack, On::Nothing, None, NEVER;
    "restart_syscall" libc::SYS_restart_syscall, On::Nothing, None, NEVER;
    "set_robust_list" libc::SYS_set_robust_list, On::Nothing, None, NEVER;
    "set_tid_address" libc::SYS_set_tid_address, On::Nothing, None, NEVER;
    "arch_prctl" libc::SYS_arch_prctl, On::Nothing, None, NEVER;
    "rseq" libc::SYS_rseq, On::Nothing, None, NEVER;
    "membarrier" libc::SYS_membarrier, On::Nothing, None, NEVER;
    "sched_yield" libc::SYS_sched_yield, On::Nothing, None, NEVER;
    "getcpu" libc::SYS_getcpu, On::Nothing, None, NEVER;
    "clock_gettime" libc::SYS_clock_gettime, On::Nothing, None, NEVER;
    "clock_getres" libc::SYS_clock_getres, On::Nothing, None, NEVER;
    "gettimeofday" libc::SYS_gettimeofday, On::Nothing, None, NEVER;
    "getpid" libc::SYS_getpid, On::Nothing, None, NEVER;
    "getppid" libc::SYS_getppid, On::Nothing, None, NEVER;
    "gettid" libc::SYS_gettid, On::Nothing, None, NEVER;
    "getpgrp" libc::SYS_getpgrp, On::Nothing, None, NEVER;
    "getpgid" libc::SYS_getpgid, On::Nothing, None, NEVER;
    "getsid" libc::SYS_getsid, On::Nothing, None, NEVER;
    "getuid" libc::SYS_getuid, On::Nothing, None, NEVER;
    "geteuid" libc::SYS_geteuid, On::Nothing, None, NEVER;
    "getgid" libc::SYS_getgid, On::Nothing, None, NEVER;
    "getegid" libc::SYS_getegid, On::Nothing, None, NEVER;
    "exit" libc::SYS_exit, On::Nothing, None, NEVER;
    "exit_group" libc::SYS_exit_group, On::Nothing, None, NEVER;
}
