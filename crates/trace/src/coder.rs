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
use crate::side::Side;

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
    pub(crate) fn put(&mut self, out: &mut Vec<u8>, entry: &mut Entry, paths: &Paths) {
        out.push(tag(entry));
        let put = self.fields(out, entry, paths);
        debug_assert!(put.is_some(), "{entry:?}");
    }

    /// Takes an entry from the front; none where there is none that could have been put there.
    pub(crate) fn take(&mut self, bytes: &mut &[u8], paths: &Paths) -> Option<Entry> {
        let mut tag = 0;
        bytes.byte(&mut tag)?;
        let mut entry = blank(tag, paths)?;
        self.fields(bytes, &mut entry, paths)?;
        objection(&mut entry, paths).is_none().then_some(entry)
    }

    /// The fields of an entry, in the order in which they stand behind its tag.
    fn fields<S: Side>(&mut self, side: &mut S, entry: &mut Entry, paths: &Paths) -> Option<()> {
        match entry {
            Entry::Call(call) => self.call(side, call, paths),
            Entry::Path { bytes, .. } => side.bytes(bytes),
            Entry::Fork { at_ns, parent, child, thread, shares_files, shares_folder } => {
                self.time(side, parent, at_ns)?;
                side.half(child)?;
                let flags = [thread, shares_files, shares_folder];
                let mut bits = (0..).zip(&flags).map(|(bit, set)| u8::from(**set) << bit).sum();
                side.byte(&mut bits)?;
                (0..).zip(flags).for_each(|(bit, set)| *set = bits >> bit & 1 > 0);
                (bits < 8).then_some(())
            }
            Entry::Exec { at_ns, thread, program } => {
                self.time(side, thread, at_ns)?;
                path(side, program, paths)
            }
            Entry::Exit { at_ns, thread, status, user_ns, system_ns } => {
                self.time(side, thread, at_ns)?;
                side.signed_half(status)?;
                side.numbers([user_ns, system_ns])
            }
            Entry::Woken { at_ns, thread, by, slept_ns } => {
                self.time(side, thread, at_ns)?;
                side.half(by)?;
                side.number(slept_ns)
            }
            Entry::Inherited { process, fd, path, flags, offset } => {
                side.half(process)?;
                side.signed_half(fd)?;
                known_path(side, path, paths)?;
                side.numbers([flags, offset])
            }
            Entry::File(facts) => file(side, facts, paths),
            Entry::Unseen { kind, count } => {
                let mut number = *kind as u8;
                side.byte(&mut number)?;
                *kind = Unseen::ALL.into_iter().find(|kind| *kind as u8 == number)?;
                side.number(count)
            }
            Entry::Lost { count } => side.number(count),
            Entry::Idle { at_ns, took_ns } => {
                let mut nobody = NOBODY;
                self.time(side, &mut nobody, at_ns)?;
                side.number(took_ns)
            }
            Entry::Overhead { overhead_ns, within_ns } => {
                let ends =
                    [overhead_ns, within_ns].into_iter().flat_map(|ns| [&mut ns.low, &mut ns.high]);
                ends.into_iter().try_for_each(|ns| side.signed_difference(ns, 0))
            }
            Entry::Held { low_ns, high_ns } => side.numbers([low_ns, high_ns]),
            Entry::Outside { thread, process, name, address } => {
                side.half(thread)?;
                side.half(process)?;
                known_path(side, name, paths)?;
                path(side, address, paths)
            }
        }
    }

    fn time<S: Side>(&mut self, side: &mut S, thread: &mut u32, at_ns: &mut u64) -> Option<()> {
        side.half(thread)?;
        let before = self.time_before(*thread);
        side.difference(at_ns, *before)?;
        *before = *at_ns;
        Some(())
    }

    /// The fields of a call that are not as expected.
    fn unexpected(&mut self, call: &Call) -> u64 {
        let last_thread = self.thread;
        let before = self.call_before(call.thread, call.op);
        let fields = [
            (field::RESULT, call.result != expected_result(before, call.length)),
            (field::THREAD, call.thread != last_thread),
            (field::FD, call.fd != before.fd),
            (field::LENGTH, call.length != before.length),
            (field::PATH, call.path != before.path),
            (field::OFFSET, call.offset != expected_offset(before)),
            (field::FLAGS, call.flags != before.flags),
            (field::OTHER, call.other != before.other),
            (field::TO, call.to != before.to),
            (field::MODE, call.mode != before.mode),
            (field::WAITED, call.waited_ns > 0),
            (field::DISPATCHED, call.dispatched != before.dispatched),
            (field::WAITS, call.queued_ns | call.locked_ns | call.piped_ns > 0),
        ];
        fields.iter().filter(|(_, differs)| *differs).map(|(bit, _)| bit).sum()
    }

    fn call<S: Side>(&mut self, side: &mut S, call: &mut Call, paths: &Paths) -> Option<()> {
        let mut fields = if S::TAKES { 0 } else { self.unexpected(call) };
        side.number(&mut fields)?;
        if fields > field::ALL {
            return None;
        }
        let has = |field: u64| fields & field > 0;
        let mut thread = if S::TAKES { self.thread } else { call.thread };
        if has(field::THREAD) {
            side.narrow_difference(&mut thread, self.thread)?;
        }
        self.thread = thread;
        let before = *self.call_before(thread, call.op);
        if S::TAKES {
            let offset = expected_offset(&before);
            let (waited_ns, queued_ns, locked_ns, piped_ns) = (0, 0, 0, 0);
            *call = Call { thread, waited_ns, queued_ns, locked_ns, piped_ns, offset, ..before };
        }
        if has(field::FD) {
            side.narrow_difference(&mut call.fd, before.fd)?;
        }
        if has(field::OTHER) {
            side.narrow_difference(&mut call.other, before.other)?;
        }
        if has(field::PATH) {
            path(side, &mut call.path, paths)?;
        }
        if has(field::TO) {
            path(side, &mut call.to, paths)?;
        }
        if has(field::OFFSET) {
            side.signed_difference(&mut call.offset, expected_offset(&before))?;
        }
        if has(field::LENGTH) {
            side.number(&mut call.length)?;
        }
        if has(field::FLAGS) {
            side.number(&mut call.flags)?;
        }
        if has(field::MODE) {
            side.half(&mut call.mode)?;
        }
        let result = expected_result(&before, call.length);
        if has(field::RESULT) {
            side.signed_difference(&mut call.result, result)?;
        } else {
            call.result = result;
        }
        if has(field::DISPATCHED) {
            side.half(&mut call.dispatched)?;
        }
        side.difference(&mut call.began_ns, *self.time_before(thread))?;
        side.number(&mut call.took_ns)?;
        if has(field::WAITED) {
            side.number(&mut call.waited_ns)?;
        }
        if has(field::WAITS) {
            side.numbers([&mut call.queued_ns, &mut call.locked_ns, &mut call.piped_ns])?;
        }
        *self.call_before(thread, call.op) = *call;
        *self.time_before(thread) = call.ended_ns();
        Some(())
    }
}

/// The byte that an entry begins with.
fn tag(entry: &Entry) -> u8 {
    match entry {
        Entry::Call(call) => call.op as u8,
        Entry::Path { .. } => PATH,
        Entry::Fork { .. } => FORK,
        Entry::Exec { .. } => EXEC,
        Entry::Exit { .. } => EXIT,
        Entry::Woken { .. } => WOKEN,
        Entry::Inherited { .. } => INHERITED,
        Entry::File(_) => FILE,
        Entry::Unseen { .. } => UNSEEN,
        Entry::Lost { .. } => LOST,
        Entry::Idle { .. } => IDLE,
        Entry::Overhead { .. } => OVERHEAD,
        Entry::Held { .. } => HELD,
        Entry::Outside { .. } => OUTSIDE,
    }
}

/// An entry with this tag and empty fields; none if no entry has the tag.
fn blank(tag: u8, paths: &Paths) -> Option<Entry> {
    let (at_ns, thread, path, nothing) = (0, 0, PathId(0), OverheadNs::default());
    Some(match tag {
        PATH => Entry::Path { id: paths.next()?, bytes: Arc::default() },
        FORK => Entry::Fork {
            at_ns,
            parent: 0,
            child: 0,
            thread: false,
            shares_files: false,
            shares_folder: false,
        },
        EXEC => Entry::Exec { at_ns, thread, program: None },
        EXIT => Entry::Exit { at_ns, thread, status: 0, user_ns: 0, system_ns: 0 },
        WOKEN => Entry::Woken { at_ns, thread, by: 0, slept_ns: 0 },
        INHERITED => Entry::Inherited { process: 0, fd: 0, path, flags: 0, offset: 0 },
        FILE => Entry::File(FileFacts::default()),
        UNSEEN => Entry::Unseen { kind: Unseen::Calls, count: 0 },
        LOST => Entry::Lost { count: 0 },
        IDLE => Entry::Idle { at_ns, took_ns: 0 },
        OVERHEAD => Entry::Overhead { overhead_ns: nothing, within_ns: nothing },
        HELD => Entry::Held { low_ns: 0, high_ns: 0 },
        OUTSIDE => Entry::Outside { thread, process: 0, name: path, address: None },
        op => Entry::Call(Call::new(thread, Op::of_number(op)?)),
    })
}

/// Where it goes on, if it does.
fn expected_offset(before: &Call) -> i64 {
    if before.offset == HERE { HERE } else { before.offset.wrapping_add(before.result) }
}

/// All that was asked for, if it was the last time; or the same.
fn expected_result(before: &Call, length: u64) -> i64 {
    if before.result == before.length as i64 { length as i64 } else { before.result }
}

/// Why a trace cannot have this entry next.
///
/// Readers ask as well: a call takes its path from the call before, which may be forgotten by now.
pub(crate) fn objection(entry: &mut Entry, paths: &Paths) -> Option<&'static str> {
    if entry.named().any(|id| paths.get(*id).is_none()) {
        return Some("nobody told the path of this number, or long ago");
    }
    match entry {
        Entry::Path { id, .. } if paths.next() != Some(*id) => {
            Some("its path has another number than the next")
        }
        Entry::Path { bytes, .. } if bytes.len() > paths::BYTES_MAX || bytes.contains(&0) => {
            Some("its path is longer than 4096 bytes, or has one of 0")
        }
        Entry::Call(call) if !call.adds_up() => Some("it waited for longer than it took"),
        _ => None,
    }
}

/// How far back it was told; 0 for none.
fn path<S: Side>(side: &mut S, path: &mut Option<PathId>, paths: &Paths) -> Option<()> {
    let next = paths.next().map_or(u32::MAX, |id| id.0);
    let mut back = path.map_or(0, |id| next.saturating_sub(id.0));
    side.half(&mut back)?;
    *path = if back == 0 { None } else { Some(PathId(next.checked_sub(back)?)) };
    Some(())
}

fn known_path<S: Side>(side: &mut S, known: &mut PathId, paths: &Paths) -> Option<()> {
    let mut some = Some(*known);
    path(side, &mut some, paths)?;
    *known = some?;
    Some(())
}

fn file<S: Side>(side: &mut S, facts: &mut FileFacts, paths: &Paths) -> Option<()> {
    let mut kind = facts.kind as u8;
    side.byte(&mut kind)?;
    facts.kind = FileKind::ALL.into_iter().find(|known| *known as u8 == kind)?;
    side.number(&mut facts.at_ns)?;
    known_path(side, &mut facts.path, paths)?;
    path(side, &mut facts.target, paths)?;
    side.numbers([&mut facts.bytes, &mut facts.device, &mut facts.inode])?;
    let FileFacts { mode, sample_bytes, compressed_bytes, .. } = facts;
    [mode, sample_bytes, compressed_bytes].into_iter().try_for_each(|number| side.half(number))
}

/// What an entry that tells of a path has.
pub(crate) fn told(entry: &Entry) -> Option<(PathId, &Arc<[u8]>)> {
    match entry {
        Entry::Path { id, bytes } => Some((*id, bytes)),
        _ => None,
    }
}
