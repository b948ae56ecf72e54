//! How entries become bytes, before these are compressed.
//!
//! Calls repeat each other: a program reads again from the same descriptor, as much as before,
//! where it stopped. Both sides keep the last call of each operation, and what is as expected
//! from it takes no room: a mask says which fields follow. Times are differences to the thread's
//! last call. What is kept is of fixed size: threads whose numbers fall together only have
//! larger differences.

use std::sync::Arc;

use crate::call::{Call, HERE, PathId};
use crate::entry::{Entry, FileFacts, FileKind, Unseen};
use crate::header::OverheadNs;
use crate::op::Op;
use crate::paths::{self, Paths};
use crate::varint::{put, put_difference, take, take_difference};

/// Calls have their operation's number in place of these.
const PATH: u8 = 128;
const FORK: u8 = 129;
const EXEC: u8 = 130;
const EXIT: u8 = 131;
const INHERITED: u8 = 132;
const FILE: u8 = 133;
const UNSEEN: u8 = 134;
const LOST: u8 = 135;
const IDLE: u8 = 144;
const WOKEN: u8 = 136;
const OVERHEAD: u8 = 137;
const HELD: u8 = 138;
const OUTSIDE: u8 = 139;

/// The fields of a call that may follow, the frequent ones first.
mod field {
    pub(super) const RESULT: u64 = 1;
    pub(super) const THREAD: u64 = 1 << 1;
    pub(super) const FD: u64 = 1 << 2;
    pub(super) const LENGTH: u64 = 1 << 3;
    pub(super) const PATH: u64 = 1 << 4;
    pub(super) const OFFSET: u64 = 1 << 5;
    pub(super) const FLAGS: u64 = 1 << 6;
    pub(super) const OTHER: u64 = 1 << 7;
    pub(super) const TO: u64 = 1 << 8;
    pub(super) const MODE: u64 = 1 << 9;
    pub(super) const WAITED: u64 = 1 << 10;
    pub(super) const DISPATCHED: u64 = 1 << 11;
    pub(super) const WAITS: u64 = 1 << 12;
    pub(super) const ALL: u64 = (1 << 13) - 1;
}

/// In place of a thread, for what is of all of them.
const NOBODY: u32 = 0;
/// Threads whose calls are kept apart.
const THREADS: usize = 32;
/// Threads whose times are kept apart.
const TIMES: usize = 1024;

/// What both sides know of the entries before.
pub(crate) struct Coder {
    /// By thread and operation.
    calls: Box<[Call]>,
    /// When the last call ended, by thread.
    times: Box<[u64]>,
    /// The thread of the last call.
    thread: u32,
}

impl Coder {
    pub(crate) fn new() -> Self {
        let mut calls = vec![Call::new(0, Op::Open); THREADS * Op::NUMBERS];
        for (row, op) in (0..THREADS).flat_map(|row| Op::ALL.iter().map(move |op| (row, *op))) {
            calls[row * Op::NUMBERS + op as usize].op = op;
        }
        Self { calls: calls.into(), times: vec![0; TIMES].into(), thread: 0 }
    }

    fn call_before(&mut self, thread: u32, op: Op) -> &mut Call {
        &mut self.calls[thread as usize % THREADS * Op::NUMBERS + op as usize]
    }

    fn time_before(&mut self, thread: u32) -> &mut u64 {
        &mut self.times[thread as usize % TIMES]
    }

    /// Appends an entry whose paths are known.
    pub(crate) fn put(&mut self, out: &mut Vec<u8>, entry: &Entry, paths: &Paths) {
        match entry {
            Entry::Call(call) => self.put_call(out, call, paths),
            Entry::Path { id: _, bytes } => {
                out.push(PATH);
                put(out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
            Entry::Fork { at_ns, parent, child, thread, shares_files, shares_folder } => {
                out.push(FORK);
                self.put_time(out, *parent, *at_ns);
                put(out, u64::from(*child));
                let flags = [*thread, *shares_files, *shares_folder];
                out.push((0..).zip(flags).map(|(bit, set)| u8::from(set) << bit).sum());
            }
            Entry::Exec { at_ns, thread, program } => {
                out.push(EXEC);
                self.put_time(out, *thread, *at_ns);
                put_path(out, *program, paths);
            }
            Entry::Exit { at_ns, thread, status, user_ns, system_ns } => {
                out.push(EXIT);
                self.put_time(out, *thread, *at_ns);
                put(out, u64::from(*status as u32));
                put(out, *user_ns);
                put(out, *system_ns);
            }
            Entry::Woken { at_ns, thread, by, slept_ns } => {
                out.push(WOKEN);
                self.put_time(out, *thread, *at_ns);
                put(out, u64::from(*by));
                put(out, *slept_ns);
            }
            Entry::Inherited { process, fd, path, flags, offset } => {
                out.push(INHERITED);
                put(out, u64::from(*process));
                put(out, u64::from(*fd as u32));
                put_path(out, Some(*path), paths);
                put(out, *flags);
                put(out, *offset);
            }
            Entry::File(facts) => put_file(out, facts, paths),
            Entry::Idle { at_ns, took_ns } => {
                out.push(IDLE);
                self.put_time(out, NOBODY, *at_ns);
                put(out, *took_ns);
            }
            Entry::Unseen { .. }
            | Entry::Lost { .. }
            | Entry::Overhead { .. }
            | Entry::Held { .. }
            | Entry::Outside { .. } => put_remark(out, entry, paths),
        }
    }

    fn put_time(&mut self, out: &mut Vec<u8>, thread: u32, at_ns: u64) {
        put(out, u64::from(thread));
        let before = self.time_before(thread);
        put_difference(out, at_ns, *before);
        *before = at_ns;
    }

    fn take_time(&mut self, bytes: &mut &[u8]) -> Option<(u32, u64)> {
        let thread = take_u32(bytes)?;
        let before = self.time_before(thread);
        *before = take_difference(bytes, *before)?;
        Some((thread, *before))
    }

    fn put_call(&mut self, out: &mut Vec<u8>, call: &Call, paths: &Paths) {
        let last_thread = std::mem::replace(&mut self.thread, call.thread);
        let before = self.call_before(call.thread, call.op);
        let result = expected_result(before, call.length);
        let offset = expected_offset(before);
        let fields = [
            (field::RESULT, call.result != result),
            (field::THREAD, call.thread != last_thread),
            (field::FD, call.fd != before.fd),
            (field::LENGTH, call.length != before.length),
            (field::PATH, call.path != before.path),
            (field::OFFSET, call.offset != offset),
            (field::FLAGS, call.flags != before.flags),
            (field::OTHER, call.other != before.other),
            (field::TO, call.to != before.to),
            (field::MODE, call.mode != before.mode),
            (field::WAITED, call.waited_ns > 0),
            (field::DISPATCHED, call.dispatched != before.dispatched),
            (field::WAITS, call.queued_ns | call.locked_ns | call.piped_ns > 0),
        ];
        let has = |field: u64| fields.contains(&(field, true));
        out.push(call.op as u8);
        put(out, fields.iter().filter(|(_, differs)| *differs).map(|(bit, _)| bit).sum());
        if has(field::THREAD) {
            put_difference(out, u64::from(call.thread), u64::from(last_thread));
        }
        if has(field::FD) {
            put_difference(out, call.fd as u64, before.fd as u64);
        }
        if has(field::OTHER) {
            put_difference(out, call.other as u64, before.other as u64);
        }
        if has(field::PATH) {
            put_path(out, call.path, paths);
        }
        if has(field::TO) {
            put_path(out, call.to, paths);
        }
        if has(field::OFFSET) {
            put_difference(out, call.offset as u64, offset as u64);
        }
        if has(field::LENGTH) {
            put(out, call.length);
        }
        if has(field::FLAGS) {
            put(out, call.flags);
        }
        if has(field::MODE) {
            put(out, u64::from(call.mode));
        }
        if has(field::RESULT) {
            put_difference(out, call.result as u64, result as u64);
        }
        if has(field::DISPATCHED) {
            put(out, u64::from(call.dispatched));
        }
        *before = *call;
        let time = self.time_before(call.thread);
        put_difference(out, call.began_ns, *time);
        put(out, call.took_ns);
        put_waits(out, call, [has(field::WAITED), has(field::WAITS)]);
        *time = call.ended_ns();
    }

    /// Takes an entry from the front; none where there is none that could have been put there.
    pub(crate) fn take(&mut self, bytes: &mut &[u8], paths: &Paths) -> Option<Entry> {
        let tag = take_byte(bytes)?;
        Some(match tag {
            PATH => {
                let length = usize::try_from(take(bytes)?).ok()?;
                let path = take_bytes(bytes, length)?;
                Entry::Path { id: paths.next()?, bytes: may_be_path(path).then(|| path.into())? }
            }
            FORK => {
                let (parent, at_ns) = self.take_time(bytes)?;
                let child = take_u32(bytes)?;
                let flags = take_byte(bytes).filter(|flags| *flags < 8)?;
                let [thread, shares_files, shares_folder] = [1, 2, 4].map(|bit| flags & bit > 0);
                Entry::Fork { at_ns, parent, child, thread, shares_files, shares_folder }
            }
            EXEC => {
                let (thread, at_ns) = self.take_time(bytes)?;
                Entry::Exec { at_ns, thread, program: take_path(bytes, paths).ok()? }
            }
            EXIT => {
                let (thread, at_ns) = self.take_time(bytes)?;
                let status = take_u32(bytes)? as i32;
                let (user_ns, system_ns) = (take(bytes)?, take(bytes)?);
                Entry::Exit { at_ns, thread, status, user_ns, system_ns }
            }
            WOKEN => {
                let (thread, at_ns) = self.take_time(bytes)?;
                Entry::Woken { at_ns, thread, by: take_u32(bytes)?, slept_ns: take(bytes)? }
            }
            INHERITED => Entry::Inherited {
                process: take_u32(bytes)?,
                fd: take_u32(bytes)? as i32,
                path: take_path(bytes, paths).ok()??,
                flags: take(bytes)?,
                offset: take(bytes)?,
            },
            FILE => Entry::File(take_file(bytes, paths)?),
            UNSEEN => {
                let number = take_byte(bytes)?;
                let kind = Unseen::ALL.into_iter().find(|kind| *kind as u8 == number)?;
                Entry::Unseen { kind, count: take(bytes)? }
            }
            LOST => Entry::Lost { count: take(bytes)? },
            IDLE => {
                let (_, at_ns) = self.take_time(bytes)?;
                Entry::Idle { at_ns, took_ns: take(bytes)? }
            }
            OVERHEAD => {
                let mut take = || Some(take_difference(bytes, 0)?.cast_signed());
                let mut range = || Some(OverheadNs { low: take()?, high: take()? });
                Entry::Overhead { overhead_ns: range()?, within_ns: range()? }
            }
            HELD => Entry::Held { low_ns: take(bytes)?, high_ns: take(bytes)? },
            OUTSIDE => Entry::Outside {
                thread: take_u32(bytes)?,
                process: take_u32(bytes)?,
                name: take_path(bytes, paths).ok()??,
                address: take_path(bytes, paths).ok()?,
            },
            op => Entry::Call(self.take_call(Op::of_number(op)?, bytes, paths)?),
        })
    }

    fn take_call(&mut self, op: Op, bytes: &mut &[u8], paths: &Paths) -> Option<Call> {
        let fields = take(bytes).filter(|fields| *fields <= field::ALL)?;
        let has = |field: u64| fields & field > 0;
        if has(field::THREAD) {
            self.thread = u32::try_from(take_difference(bytes, u64::from(self.thread))?).ok()?;
        }
        let thread = self.thread;
        let before = *self.call_before(thread, op);
        let mut call = Call { thread, offset: expected_offset(&before), ..before };
        if has(field::FD) {
            call.fd = take_fd(bytes, before.fd)?;
        }
        if has(field::OTHER) {
            call.other = take_fd(bytes, before.other)?;
        }
        if has(field::PATH) {
            call.path = take_path(bytes, paths).ok()?;
        }
        if has(field::TO) {
            call.to = take_path(bytes, paths).ok()?;
        }
        if has(field::OFFSET) {
            call.offset = take_difference(bytes, call.offset as u64)? as i64;
        }
        if has(field::LENGTH) {
            call.length = take(bytes)?;
        }
        if has(field::FLAGS) {
            call.flags = take(bytes)?;
        }
        if has(field::MODE) {
            call.mode = take_u32(bytes)?;
        }
        call.result = expected_result(&before, call.length);
        if has(field::RESULT) {
            call.result = take_difference(bytes, call.result as u64)? as i64;
        }
        if has(field::DISPATCHED) {
            call.dispatched = take_u32(bytes)?;
        }
        let time = *self.time_before(thread);
        call.began_ns = take_difference(bytes, time)?;
        call.took_ns = take(bytes)?;
        call.waited_ns = if has(field::WAITED) { take(bytes)? } else { 0 };
        (call.queued_ns, call.locked_ns, call.piped_ns) =
            if has(field::WAITS) { (take(bytes)?, take(bytes)?, take(bytes)?) } else { (0, 0, 0) };
        if !call.adds_up() {
            return None;
        }
        *self.call_before(thread, op) = call;
        *self.time_before(thread) = call.ended_ns();
        // A path that was known when it was used before may be forgotten by now.
        [call.path, call.to].iter().flatten().all(|id| paths.get(*id).is_some()).then_some(call)
    }
}

/// For how long a call waited, and what of that for what, where the fields are there.
fn put_waits(out: &mut Vec<u8>, call: &Call, [waited, parts]: [bool; 2]) {
    if waited {
        put(out, call.waited_ns);
    }
    if parts {
        for ns in [call.queued_ns, call.locked_ns, call.piped_ns] {
            put(out, ns);
        }
    }
}

/// Where it goes on, if it does.
fn expected_offset(before: &Call) -> i64 {
    if before.offset == HERE { HERE } else { before.offset.wrapping_add(before.result) }
}

/// All that was asked for, if it was the last time; or the same.
fn expected_result(before: &Call, length: u64) -> i64 {
    if before.result == before.length as i64 { length as i64 } else { before.result }
}

/// Whether the kernel could have been given it as a path.
pub(crate) fn may_be_path(bytes: &[u8]) -> bool {
    bytes.len() <= paths::BYTES_MAX && !bytes.contains(&0)
}

/// No recorder writes this.
struct Wrong;

/// How far back it was told; 0 for none.
fn put_path(out: &mut Vec<u8>, path: Option<PathId>, paths: &Paths) {
    let next = paths.next().map_or(u32::MAX, |id| id.0);
    put(out, path.map_or(0, |id| u64::from(next.saturating_sub(id.0))));
}

fn take_path(bytes: &mut &[u8], paths: &Paths) -> Result<Option<PathId>, Wrong> {
    let next = paths.next().map_or(u32::MAX, |id| id.0);
    let back = take_u32(bytes).ok_or(Wrong)?;
    if back == 0 {
        return Ok(None);
    }
    let id = next.checked_sub(back).map(PathId).ok_or(Wrong)?;
    paths.get(id).is_some().then_some(Some(id)).ok_or(Wrong)
}

fn put_file(out: &mut Vec<u8>, facts: &FileFacts, paths: &Paths) {
    out.extend([FILE, facts.kind as u8]);
    put(out, facts.at_ns);
    put_path(out, Some(facts.path), paths);
    put_path(out, facts.target, paths);
    put(out, facts.bytes);
    put(out, facts.device);
    put(out, facts.inode);
    put(out, u64::from(facts.mode));
    put(out, u64::from(facts.sample_bytes));
    put(out, u64::from(facts.compressed_bytes));
}

fn take_file(bytes: &mut &[u8], paths: &Paths) -> Option<FileFacts> {
    let kind = take_byte(bytes)?;
    Some(FileFacts {
        kind: FileKind::ALL.into_iter().find(|known| *known as u8 == kind)?,
        at_ns: take(bytes)?,
        path: take_path(bytes, paths).ok()??,
        target: take_path(bytes, paths).ok()?,
        bytes: take(bytes)?,
        device: take(bytes)?,
        inode: take(bytes)?,
        mode: take_u32(bytes)?,
        sample_bytes: take_u32(bytes)?,
        compressed_bytes: take_u32(bytes)?,
    })
}

fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    take_bytes(bytes, 1).map(|byte| byte[0])
}

fn take_bytes<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(first)
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    u32::try_from(take(bytes)?).ok()
}

fn take_fd(bytes: &mut &[u8], before: i32) -> Option<i32> {
    i32::try_from(take_difference(bytes, before as u64)? as i64).ok()
}

/// Appends what the recorder says of itself and of what it saw, at no moment.
fn put_remark(out: &mut Vec<u8>, entry: &Entry, paths: &Paths) {
    match entry {
        Entry::Unseen { kind, count } => {
            out.extend([UNSEEN, *kind as u8]);
            put(out, *count);
        }
        Entry::Lost { count } => {
            out.push(LOST);
            put(out, *count);
        }
        Entry::Overhead { overhead_ns, within_ns } => {
            out.push(OVERHEAD);
            for ns in [overhead_ns.low, overhead_ns.high, within_ns.low, within_ns.high] {
                put_difference(out, ns.cast_unsigned(), 0);
            }
        }
        Entry::Held { low_ns, high_ns } => {
            out.push(HELD);
            put(out, *low_ns);
            put(out, *high_ns);
        }
        Entry::Outside { thread, process, name, address } => {
            out.push(OUTSIDE);
            put(out, u64::from(*thread));
            put(out, u64::from(*process));
            put_path(out, Some(*name), paths);
            put_path(out, *address, paths);
        }
        _ => {}
    }
}

/// The paths that an entry names.
pub(crate) fn named(entry: &Entry) -> [Option<PathId>; 2] {
    match entry {
        Entry::Call(call) => [call.path, call.to],
        Entry::Exec { program, .. } => [*program, None],
        Entry::Inherited { path, .. } => [Some(*path), None],
        Entry::File(facts) => [Some(facts.path), facts.target],
        Entry::Outside { name, address, .. } => [Some(*name), *address],
        Entry::Path { .. }
        | Entry::Fork { .. }
        | Entry::Exit { .. }
        | Entry::Woken { .. }
        | Entry::Unseen { .. }
        | Entry::Lost { .. }
        | Entry::Idle { .. }
        | Entry::Overhead { .. }
        | Entry::Held { .. } => [None, None],
    }
}

/// What an entry that tells of a path has.
pub(crate) fn told(entry: &Entry) -> Option<(PathId, &Arc<[u8]>)> {
    match entry {
        Entry::Path { id, bytes } => Some((*id, bytes)),
        _ => None,
    }
}
