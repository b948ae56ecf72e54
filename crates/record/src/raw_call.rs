//! What a mechanism sees, and the entry of the trace that it becomes.

use std::io;

use trace::{Call, Entry, HERE, NO_FD, Op, PathId, WORKING_FOLDER};

use crate::bytes::eight;
use crate::kernel_work::{Fault, RingDone};
use crate::shared::{VECTOR_BYTES, VECTOR_MAX};
use crate::table::{self, Outcome, Role, Row};

/// Where events go.
pub(crate) trait Sink {
    /// An error ends the recording, and not the program.
    fn on_event(&mut self, event: &Event<'_>) -> io::Result<()>;

    /// Nothing has happened for some time.
    fn idle(&mut self) -> io::Result<()>;
}

/// What a mechanism saw. Events come in the order in which they happened, with times of
/// `CLOCK_MONOTONIC`.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    Called(RawCall<'a>),
    Executed {
        at_ns: u64,
        thread: u32,
        program: &'a [u8],
    },
    Woken(Woken),
    Faulted(Fault),
    RingDone(RingDone),
    /// Any other entry of the trace.
    Entry(Entry),
}

/// A thread that slept and was woken by another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Woken {
    pub(crate) at_ns: u64,
    pub(crate) since_ns: u64,
    pub(crate) thread: u32,
    pub(crate) by: u32,
    /// The number of the system call that the waking thread was in.
    pub(crate) call: u32,
}

/// A system call that has returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawCall<'a> {
    pub(crate) thread: u32,
    pub(crate) number: u32,
    pub(crate) began_ns: u64,
    pub(crate) ended_ns: u64,
    /// For how much of that the thread was off the processor.
    pub(crate) waits: RawWaits,
    pub(crate) arguments: [u64; 6],
    pub(crate) result: i64,
    /// Without its last byte, which is 0; none where it could not be read.
    pub(crate) path: Option<&'a [u8]>,
    pub(crate) to: Option<&'a [u8]>,
    /// What its structure or vector has; empty where it could not be read.
    pub(crate) block: &'a [u8],
    /// How many system calls of the thread went through a signal since the last one, this included.
    pub(crate) dispatched: u32,
}

/// Whether a call names no path and leaves all descriptors as they are, which most do.
pub(crate) fn leaves_descriptors(call: &Call) -> bool {
    let only_uses = matches!(
        call.op,
        Op::Read | Op::Write | Op::Seek | Op::Stat | Op::Fsync | Op::Fdatasync | Op::Getdents
    );
    only_uses && call.path.is_none()
}

/// For how long a thread was off the processor within a call; 0 where nobody saw it.
// Units end names.
#[allow(clippy::struct_field_names)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawWaits {
    pub(crate) all_ns: u64,
    /// What of that it was ready to run.
    pub(crate) queued_ns: u64,
    /// What of that it waited for a lock within the kernel.
    pub(crate) locked_ns: u64,
    /// What of that it slept until something happened that may never happen.
    pub(crate) slept_ns: u64,
}

impl RawWaits {
    /// As they stand in the trace: what a call sleeps for follows from what it is.
    fn put(self, call: &mut Call) {
        call.waited_ns = self.all_ns.min(call.took_ns);
        call.queued_ns = self.queued_ns.min(call.waited_ns);
        let mut slept_ns = [self.locked_ns, 0];
        match call.op {
            Op::Lock | Op::Flock => slept_ns[0] = self.locked_ns.saturating_add(self.slept_ns),
            Op::Sendfile | Op::Splice => slept_ns[1] = self.slept_ns,
            // Of a file, it is a file server that answers.
            _ => {}
        }
        let rest_ns = call.waited_ns - call.queued_ns;
        call.locked_ns = slept_ns[0].min(rest_ns);
        call.piped_ns = slept_ns[1].min(rest_ns - call.locked_ns);
    }
}

impl RawCall<'_> {
    pub(crate) fn row(&self) -> Option<&'static Row> {
        table::row(self.number)
    }

    /// The call as it stands in the trace, `origin_ns` being the recording's beginning; nothing
    /// for a call that acts on no file.
    pub(crate) fn call(
        &self,
        row: &Row,
        origin_ns: u64,
        [path, to]: [Option<PathId>; 2],
    ) -> Option<Call> {
        let Outcome::Recorded(op) = row.what else { return None };
        let mut call = Call::new(self.thread, op);
        call.began_ns = self.began_ns.saturating_sub(origin_ns);
        call.took_ns = self.ended_ns.saturating_sub(self.began_ns);
        self.waits.put(&mut call);
        call.dispatched = self.dispatched;
        call.result = returned(self.result);
        (call.path, call.to) = (path, to);
        call.flags = table::implied_flags(self.number);
        self.fill(row, &mut call);
        self.adjust(row, call)
    }

    fn fill(&self, row: &Row, call: &mut Call) {
        let has = |wanted| row.roles.contains(&wanted);
        if has(Role::Path) {
            call.fd = WORKING_FOLDER;
        }
        if has(Role::To) {
            call.other = WORKING_FOLDER;
        }
        for (at, role) in row.roles.iter().enumerate() {
            let value = self.arguments[at];
            match role {
                Role::Skipped | Role::Path | Role::To | Role::Block(_) => {}
                Role::Fd => call.fd = value as i32,
                Role::Other => call.other = value as i32,
                Role::Offset => call.offset = value as i64,
                Role::Length => call.length = value,
                // They are 32 bits wide, whatever is in the register beside them.
                Role::Flags => call.flags |= u64::from(value as u32),
                Role::Mode => call.mode = value as u32,
                Role::Vector => {
                    call.length = self.vector_bytes(self.arguments[at + 1]);
                }
            }
        }
    }

    /// What all buffers of a vector have room for; what was done where there are more than are
    /// read.
    fn vector_bytes(&self, count: u64) -> u64 {
        if count as usize > VECTOR_MAX || self.block.is_empty() {
            return self.result.max(0) as u64;
        }
        let buffers = self.block.chunks_exact(VECTOR_BYTES);
        buffers.fold(0, |sum: u64, buffer| sum.saturating_add(eight(buffer, 8).unwrap_or(0)))
    }

    /// What the call's arguments alone do not say.
    fn adjust(&self, row: &Row, mut call: Call) -> Option<Call> {
        match call.op {
            Op::Open => {
                if let Some((flags, mode)) = eight(self.block, 0).zip(eight(self.block, 8)) {
                    (call.flags, call.mode) = (flags, mode as u32);
                }
            }
            Op::CloseRange => {
                let clamp = |value: u64| i32::try_from(value as u32).unwrap_or(i32::MAX);
                call.fd = clamp(self.arguments[0]);
                call.other = clamp(self.arguments[1]);
            }
            Op::Unlink if call.flags & libc::AT_REMOVEDIR as u64 != 0 => {
                call.op = Op::Rmdir;
                call.flags = 0;
            }
            Op::Symlink => call.fd = NO_FD,
            Op::Fcntl => return Some(self.fcntl(call)),
            Op::Map => {
                let (protection, flags) = (self.arguments[2], self.arguments[3]);
                if flags & libc::MAP_ANONYMOUS as u64 != 0 || call.fd < 0 {
                    return None;
                }
                call.flags = u64::from(protection as u32) | u64::from(flags as u32) << 32;
            }
            Op::Sendfile | Op::CopyRange | Op::Splice => {
                // The call has moved it by as much as it copied.
                let after = eight(self.block, 0).map(u64::cast_signed);
                // Or the program has written something else there since.
                call.offset = after.map_or(HERE, |after| after.saturating_sub(self.result.max(0)));
            }
            Op::Pipe | Op::Socketpair => {
                let pair = eight(self.block, 0).unwrap_or(u64::MAX);
                (call.fd, call.other) = (pair as u32 as i32, (pair >> 32) as i32);
                call.flags &= libc::O_CLOEXEC as u64 | libc::O_NONBLOCK as u64;
            }
            Op::Socket => call.flags &= libc::SOCK_CLOEXEC as u64,
            Op::Special => call.flags = self.special_flags(call.flags),
            Op::Ioctl if call.flags == FICLONE => call.other = self.arguments[2] as i32,
            // waitid(2) tells the process in a structure.
            Op::Wait if row.block().is_some() && call.result == 0 => {
                call.result = eight(self.block, 16).map_or(0, |pair| i64::from(pair as u32));
            }
            _ => {}
        }
        Some(call)
    }

    fn fcntl(&self, mut call: Call) -> Call {
        let is_lock = LOCKS.contains(&(call.flags as i32));
        if is_lock && let [kind, _, whence, _, ..] = self.block {
            call.op = Op::Lock;
            call.mode = u32::from(*kind);
            call.other = i32::from(*whence);
            call.offset = eight(self.block, 8).unwrap_or(0).cast_signed();
            call.length = eight(self.block, 16).unwrap_or(0);
        } else {
            call.offset = self.arguments[2].cast_signed();
        }
        call
    }

    fn special_flags(&self, flags: u64) -> u64 {
        let close_on_exec = libc::O_CLOEXEC as u64;
        if i64::from(self.number) == libc::SYS_memfd_create {
            let asked = flags & u64::from(libc::MFD_CLOEXEC) != 0;
            return if asked { close_on_exec } else { 0 };
        }
        flags & close_on_exec
    }
}

/// ioctl(2): share the data of another file. Not every libc has it.
const FICLONE: u64 = 0x4004_9409;
/// fcntl(2): the commands with a lock.
const LOCKS: [i32; 6] = [
    libc::F_GETLK,
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_GETLK,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
];

/// What the program gets: the kernel's own codes for a call that it makes again, or that a
/// signal ended, are seen by tracers alone (`ERESTARTSYS` and its like).
fn returned(result: i64) -> i64 {
    if (-516..=-512).contains(&result) { -i64::from(libc::EINTR) } else { result }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn raw_call(number: libc::c_long, arguments: [u64; 6], result: i64) -> RawCall<'static> {
        let (path, to, block) = (None, None, &[][..]);
        let number = number as u32;
        let (began_ns, ended_ns) = (120, 150);
        let waits = RawWaits { all_ns: 20, queued_ns: 5, locked_ns: 0, slept_ns: 9 };
        RawCall {
            thread: 7,
            number,
            began_ns,
            ended_ns,
            waits,
            arguments,
            result,
            path,
            to,
            block,
            dispatched: 0,
        }
    }

    fn call(raw_call: RawCall<'_>) -> Option<Call> {
        let paths = [raw_call.path.map(|_| PathId(0)), raw_call.to.map(|_| PathId(1))];
        raw_call.call(raw_call.row().unwrap(), 100, paths)
    }

    #[test]
    fn a_write_says_when_where_and_how_much() {
        let call = call(raw_call(libc::SYS_pwrite64, [3, 0xdead, 70, 4096, 0, 0], 70)).unwrap();
        assert_eq!((call.thread, call.op, call.fd), (7, Op::Write, 3));
        assert_eq!((call.began_ns, call.took_ns), (20, 30));
        assert_eq!((call.offset, call.length, call.result), (4096, 70, 70));
    }

    #[test]
    fn what_has_no_offset_is_at_the_current_one() {
        let call = call(raw_call(libc::SYS_write, [1, 0, 5, 9, 9, 9], 5)).unwrap();
        assert_eq!((call.offset, call.length, call.other), (HERE, 5, NO_FD));
    }

    #[test]
    fn paths_are_relative_to_a_folder_or_to_the_working_folder() {
        let open = RawCall {
            path: Some(b"a"),
            ..raw_call(libc::SYS_openat, [9, 1, 0x241, 0o644, 0, 0], 4)
        };
        let open = call(open).unwrap();
        assert_eq!((open.fd, open.path, open.flags, open.mode), (9, Some(PathId(0)), 0x241, 0o644));
        #[cfg(target_arch = "x86_64")]
        {
            let rename = RawCall {
                path: Some(b"a"),
                to: Some(b"b"),
                ..raw_call(libc::SYS_rename, [1, 2, 77, 77, 77, 0], 0)
            };
            let rename = call(rename).unwrap();
            assert_eq!((rename.fd, rename.other), (WORKING_FOLDER, WORKING_FOLDER));
            assert_eq!((rename.path, rename.to), (Some(PathId(0)), Some(PathId(1))));
            let lstat = call(raw_call(libc::SYS_lstat, [1, 2, 0, 0, 0, 0], 0)).unwrap();
            assert_eq!(lstat.flags, libc::AT_SYMLINK_NOFOLLOW as u64);
        }
    }

    #[test]
    fn buffers_are_added_up() {
        let mut block = Vec::new();
        for length in [10_u64, 20, 30] {
            block.extend(1_u64.to_ne_bytes());
            block.extend(length.to_ne_bytes());
        }
        let writev = raw_call(libc::SYS_writev, [1, 1, 3, 0, 0, 0], 55);
        assert_eq!(call(RawCall { block: &block, ..writev }).unwrap().length, 60);
        assert_eq!(call(writev).unwrap().length, 55);
    }

    #[test]
    fn locks_pipes_and_maps_are_what_they_say() {
        let mut flock = Vec::new();
        flock.extend(1_u16.to_ne_bytes());
        flock.extend(0_u16.to_ne_bytes());
        flock.extend(0_u32.to_ne_bytes());
        flock.extend(1_073_741_824_u64.to_ne_bytes());
        flock.extend(1_u64.to_ne_bytes());
        flock.extend(0_u64.to_ne_bytes());
        let set = raw_call(libc::SYS_fcntl, [3, libc::F_SETLK as u64, 99, 0, 0, 0], 0);
        let lock = call(RawCall { block: &flock, ..set }).unwrap();
        assert_eq!((lock.op, lock.offset, lock.length), (Op::Lock, 1_073_741_824, 1));
        assert_eq!((lock.mode, lock.other), (1, 0));
        let flags = call(raw_call(libc::SYS_fcntl, [3, 4, 99, 0, 0, 0], 0)).unwrap();
        assert_eq!((flags.op, flags.flags, flags.offset), (Op::Fcntl, 4, 99));
        let pair = [5_u32.to_ne_bytes(), 6_u32.to_ne_bytes()].concat();
        let pipe =
            call(RawCall { block: &pair, ..raw_call(libc::SYS_pipe2, [1, 0, 0, 0, 0, 0], 0) });
        assert_eq!(pipe.map(|pipe| (pipe.fd, pipe.other)), Some((5, 6)));
        assert_eq!(call(raw_call(libc::SYS_mmap, [0, 4096, 3, 0x22, u64::MAX, 0], 1)), None);
        let map = call(raw_call(libc::SYS_mmap, [0, 4096, 1, 2, 3, 8192], 1)).unwrap();
        assert_eq!((map.fd, map.flags, map.offset), (3, 1 | 2 << 32, 8192));
        let clone = call(raw_call(libc::SYS_ioctl, [3, FICLONE, 9, 0, 0, 0], 0)).unwrap();
        assert_eq!((clone.op, clone.fd, clone.other), (Op::Ioctl, 3, 9));
        let other = call(raw_call(libc::SYS_ioctl, [3, FICLONE + 1, 9, 0, 0, 0], 0)).unwrap();
        assert_eq!((other.fd, other.other), (3, NO_FD));
    }

    #[test]
    fn an_interrupted_call_is_what_the_program_gets() {
        assert_eq!(returned(-512), -4);
        assert_eq!(returned(-11), -11);
        assert_eq!(returned(3), 3);
    }

    #[test]
    fn what_a_copy_began_at_is_before_what_it_copied() {
        let after = 5000_u64.to_ne_bytes();
        let copy = raw_call(libc::SYS_copy_file_range, [3, 1, 4, 0, 1000, 0], 1000);
        let with_offset = call(RawCall { block: &after, ..copy }).unwrap();
        assert_eq!((with_offset.fd, with_offset.other, with_offset.offset), (3, 4, 4000));
        assert_eq!(call(copy).unwrap().offset, HERE);
        let rubbish = i64::MIN.to_ne_bytes();
        assert_eq!(call(RawCall { block: &rubbish, ..copy }).unwrap().offset, i64::MIN);
    }
}
