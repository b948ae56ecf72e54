//! The operations that are recorded.

/// Declares [`Op`] with the numbers that stand in traces, and the names that reports use.
macro_rules! ops {
    ($($(#[$doc:meta])* $op:ident = $number:literal, $name:literal;)*) => {
        /// What was called. System calls that do the same are one operation.
        ///
        /// Unless it says otherwise, `fd` is the descriptor that it acts on, or, with a `path`,
        /// the folder that this is relative to. Flags and commands are those of Linux.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "fuzz", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[repr(u8)]
        pub enum Op {
            $($(#[$doc])* $op = $number,)*
        }

        impl Op {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$op),*];

            /// The one that has this number in traces.
            pub const fn of_number(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$op),)*
                    _ => None,
                }
            }

            /// As it is called in reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$op => $name,)*
                }
            }
        }
    };
}

ops! {
    /// open, openat, openat2, creat: `path`, `flags`, `mode`; the result is the descriptor.
    Open = 0, "open";
    /// close.
    Close = 1, "close";
    /// `close_range`: from `fd` to `other`, both included; `flags`. A last descriptor beyond
    /// what `i32` holds is `i32::MAX`.
    CloseRange = 2, "close_range";
    /// read, readv, pread64, preadv, preadv2: `offset`, `length`, and `flags` of preadv2.
    Read = 3, "read";
    /// write, writev, pwrite64, pwritev, pwritev2: as `Read`.
    Write = 4, "write";
    /// lseek: `offset`, and whence in `flags`; the result is the position.
    Seek = 5, "lseek";
    /// fsync.
    Fsync = 6, "fsync";
    /// fdatasync.
    Fdatasync = 7, "fdatasync";
    /// `sync_file_range`: `offset`, `length`, `flags`.
    SyncRange = 8, "sync_file_range";
    /// syncfs: the file system that `fd` is on.
    Syncfs = 9, "syncfs";
    /// sync: all file systems.
    Sync = 10, "sync";
    /// truncate with a `path`, ftruncate without: to `length` bytes.
    Truncate = 11, "truncate";
    /// fallocate: `offset`, `length`, and the mode of fallocate in `flags`.
    Allocate = 12, "fallocate";
    /// fadvise64, readahead: `offset`, `length`, and the advice in `flags` (readahead:
    /// `POSIX_FADV_WILLNEED`).
    Advise = 13, "fadvise";
    /// stat, lstat, fstat, newfstatat, statx: `path` or none, `flags` (`AT_SYMLINK_NOFOLLOW`
    /// for lstat).
    Stat = 14, "stat";
    /// access, faccessat, faccessat2: `path`, what is asked for in `mode`, `flags`.
    Access = 15, "access";
    /// readlink, readlinkat: `path`, `length` of the buffer.
    Readlink = 16, "readlink";
    /// statfs, fstatfs: `path` or none.
    Statfs = 17, "statfs";
    /// getdents, getdents64: `length` of the buffer.
    Getdents = 18, "getdents";
    /// mkdir, mkdirat: `path`, `mode`.
    Mkdir = 19, "mkdir";
    /// mknod, mknodat: `path`, `mode` with the kind of file.
    Mknod = 20, "mknod";
    /// rmdir, and unlinkat with `AT_REMOVEDIR`: `path`.
    Rmdir = 21, "rmdir";
    /// unlink, unlinkat: `path`.
    Unlink = 22, "unlink";
    /// rename, renameat, renameat2: `path` relative to `fd`, `to` relative to `other`, `flags`.
    Rename = 23, "rename";
    /// link, linkat: as `Rename`.
    Link = 24, "link";
    /// symlink, symlinkat: what it says in `path`, which is relative to nothing, and where it
    /// stands in `to`, relative to `other`.
    Symlink = 25, "symlink";
    /// chmod, fchmod, fchmodat: `path` or none, `mode`.
    Chmod = 26, "chmod";
    /// chown, lchown, fchown, fchownat: `path` or none, `flags`. The owner is not kept.
    Chown = 27, "chown";
    /// utime, utimes, futimesat, utimensat: `path` or none, `flags`. The times are not kept.
    Utime = 28, "utime";
    /// getxattr, listxattr and their like: `path` or none, `length` of the buffer. The
    /// attribute's name is not kept.
    Getxattr = 29, "getxattr";
    /// setxattr, removexattr and their like: `path` or none, `length` of the value.
    Setxattr = 30, "setxattr";
    /// dup, dup2, dup3: the descriptor wanted in `other`, none for dup; `flags`; the result is
    /// the new descriptor.
    Duplicate = 31, "dup";
    /// fcntl but for locks: the command in `flags`, its argument in `offset`.
    Fcntl = 32, "fcntl";
    /// fcntl with a lock, also of open file descriptions: the command in `flags`, `F_RDLCK`,
    /// `F_WRLCK` or `F_UNLCK` in `mode`, `offset`, `length`, and whence in `other`.
    Lock = 33, "lock";
    /// flock: the operation in `flags`.
    Flock = 34, "flock";
    /// mmap of a file: `offset`, `length`, the protection in the lower 32 bits of `flags` and
    /// the flags of mmap in the upper ones.
    Map = 35, "mmap";
    /// msync: `length`, `flags`, and the mapped file in `path` where the recorder knows it.
    Msync = 36, "msync";
    /// sendfile: from `fd` to `other`, `offset` in the former, `length`.
    Sendfile = 37, "sendfile";
    /// `copy_file_range`: from `fd` to `other`, `offset` in the former, `length`.
    CopyRange = 38, "copy_file_range";
    /// splice: from `fd` to `other`, `offset` in the former, `length`, `flags`.
    Splice = 39, "splice";
    /// pipe, pipe2: `fd` is the new end to read from, `other` the one to write to; `flags`.
    Pipe = 40, "pipe";
    /// socket, accept, accept4: the result is the descriptor, `SOCK_CLOEXEC` in `flags`; `fd` is the
    /// socket that a connection was accepted on.
    Socket = 41, "socket";
    /// socketpair: the two new descriptors are `fd` and `other`; `flags` as of `Socket`.
    Socketpair = 42, "socketpair";
    /// `epoll_create1`, eventfd2, `timerfd_create`, `memfd_create` and other calls that make a
    /// descriptor of no file: the result is the descriptor; `O_CLOEXEC` in `flags` if it has
    /// that, whatever the call's own flag for it is.
    Special = 43, "special";
    /// chdir with a `path`, fchdir without.
    Chdir = 44, "chdir";
    /// chroot: `path`.
    Chroot = 45, "chroot";
    /// umask: `mode`.
    Umask = 46, "umask";
    /// ioctl: the request in `flags`; `FICLONE` has the file it copies from in `other`.
    Ioctl = 47, "ioctl";
    /// wait4, waitid: the result is the process that ended.
    Wait = 48, "wait";
    /// unshare: `flags`. A thread with `CLONE_FILES` has a table of its own from here on.
    Unshare = 49, "unshare";
    /// A page of a mapped file that the kernel had to bring, while no recorded call was under way:
    /// the file in `path`, `offset`, the page in `length`, 1 in `flags` for a write.
    Fault = 56, "page fault";
    /// A read by `io_uring`, from when it was handed in until it was done; the thread goes on
    /// meanwhile. The file is `fd`, or `path` where the ring has it registered.
    RingRead = 57, "io_uring read";
    /// A write by `io_uring`, as `RingRead`.
    RingWrite = 58, "io_uring write";
    /// A sync by `io_uring`, as `RingRead`.
    RingSync = 59, "io_uring sync";
    /// Anything else that `io_uring` does with a file, as `RingRead`.
    RingOther = 60, "io_uring operation";
    /// recvfrom, recvmsg: the result is how much.
    Receive = 61, "recv";
    /// sendto, sendmsg.
    Send = 62, "send";
}

impl Op {
    /// More than the largest number.
    pub(crate) const NUMBERS: usize = 64;

    /// Whether it is a system call of its thread, and not what the kernel does for it otherwise.
    pub const fn is_call(self) -> bool {
        !matches!(self, Self::Fault) && !self.is_of_ring()
    }

    /// Whether it was done by `io_uring`, while its thread went on.
    pub const fn is_of_ring(self) -> bool {
        matches!(self, Self::RingRead | Self::RingWrite | Self::RingSync | Self::RingOther)
    }
}
