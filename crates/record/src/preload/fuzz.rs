//! Reads the ring after a recorded program wrote anything there.

use std::cell::RefCell;
use std::io;

use rustix::fs::{AtFlags, CWD, statat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sys::usage::Usage;
use trace::{Entry, TraceWriter, letters};

use super::layout;
use super::ring::Ring;
use super::times::Times;
use super::tree::Tree;
use crate::followed::Followed;
use crate::raw_call::{Event, Sink as _};
use crate::recording::Recording;
use crate::shared::{
    ARGUMENTS, BEGAN, BLOCK_LENGTH, DISPATCHED, ENDED_AT, LOST, NUMBER, PATH_LENGTH, PROCESS,
    RESERVED, REST, RESULT, STAMP_SHIFT, THREAD, TO_LENGTH, UNIT_BYTES,
};
use crate::start::BecameAt;

/// The command. There is no process of this number.
const FIRST: u32 = 0x7fff_fff0;

/// A step of the program, the library or the recorder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The library writes a record.
    Record(Record),
    /// The program writes eight bytes somewhere in the shared memory.
    Word {
        /// Where, counted from its beginning.
        at: u64,
        /// The eight bytes.
        value: u64,
    },
    /// The library had no room for so many records up to now.
    Lost(u64),
    /// The library has given out so many units up to now.
    Reserved(u64),
    /// The recorder reads what is there.
    Drain,
}

/// A record, as the library writes one.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Record {
    /// The system call, or the event.
    pub number: u32,
    /// The thread that wrote it.
    pub thread: u32,
    /// Its process.
    pub process: u32,
    /// When it began.
    pub began: u64,
    /// When it ended.
    pub ended: u64,
    /// The kernel's result.
    pub result: i64,
    /// How many calls were dispatched.
    pub dispatched: u32,
    /// The call's arguments.
    pub arguments: [u64; 6],
    /// The memory that they point to.
    #[serde(with = "letters")]
    #[schemars(with = "String")]
    pub block: Vec<u8>,
    /// A path, with the 0 at its end.
    #[serde(with = "letters")]
    #[schemars(with = "String")]
    pub path: Vec<u8>,
    /// A second one.
    #[serde(with = "letters")]
    #[schemars(with = "String")]
    pub to: Vec<u8>,
    /// In place of the mark that it is complete.
    pub stamp: Option<u64>,
}

impl Record {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; REST];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(BEGAN, &self.began.to_ne_bytes());
        put(ENDED_AT, &self.ended.to_ne_bytes());
        put(THREAD, &self.thread.to_ne_bytes());
        put(NUMBER, &self.number.to_ne_bytes());
        put(RESULT, &self.result.to_ne_bytes());
        put(DISPATCHED, &self.dispatched.to_ne_bytes());
        put(PROCESS, &self.process.to_ne_bytes());
        for (index, argument) in self.arguments.iter().enumerate() {
            put(ARGUMENTS + 8 * index, &argument.to_ne_bytes());
        }
        let parts = [(BLOCK_LENGTH, &self.block), (PATH_LENGTH, &self.path), (TO_LENGTH, &self.to)];
        for (at, part) in parts {
            put(at, &(part.len() as u16).to_ne_bytes());
        }
        bytes.extend(parts.into_iter().flat_map(|(_, part)| part));
        bytes.resize(bytes.len().next_multiple_of(UNIT_BYTES), 0);
        bytes
    }
}

/// Shared memory with what was written there.
struct Shared {
    ring: Ring,
    written: Vec<usize>,
    reserved: u64,
}

impl Shared {
    fn new() -> io::Result<Self> {
        let ring = Ring::new(&statat(CWD, "/", AtFlags::empty())?, false)?;
        Ok(Self { ring, written: Vec::new(), reserved: 0 })
    }

    fn put(&mut self, at: usize, value: u64) {
        self.written.push(self.ring.scribble(at, value));
    }

    fn write(&mut self, record: &Record) {
        let bytes = record.bytes();
        let (first, units) = (self.reserved, (bytes.len() / UNIT_BYTES) as u64);
        self.reserve(first.wrapping_add(units));
        let place =
            |index: usize| Ring::place(first.wrapping_add(index as u64 / 2)) + index % 2 * 8;
        for (index, word) in bytes.chunks_exact(8).enumerate().skip(1) {
            let word = word.try_into().map_or(0, u64::from_ne_bytes);
            self.put(place(index), word);
        }
        let stamp = first.wrapping_add(1) << STAMP_SHIFT | units;
        self.put(place(0), record.stamp.unwrap_or(stamp));
    }

    fn reserve(&mut self, units: u64) {
        self.reserved = units;
        self.put(RESERVED, units);
    }

    fn begin_again(&mut self) {
        self.ring.begin_again(&self.written);
        self.written.clear();
        self.reserved = 0;
    }
}

/// The trace that a recorder makes of these steps; none where no memory can be shared.
pub fn recorded(steps: &[Step]) -> Option<Vec<u8>> {
    thread_local! {
        /// Making it takes longer than reading it.
        static SHARED: RefCell<Option<Shared>> = const { RefCell::new(None) };
    }
    SHARED.with_borrow_mut(|shared| {
        if shared.is_none() {
            *shared = Some(Shared::new().ok()?);
        }
        let shared = shared.as_mut()?;
        // An input that panicked left its records there.
        shared.begin_again();
        let trace = record(shared, steps).ok();
        shared.begin_again();
        trace
    })
}

fn record(shared: &mut Shared, steps: &[Step]) -> io::Result<Vec<u8>> {
    let header = trace::fuzz::header();
    let mut trace = Vec::new();
    let writer = TraceWriter::new(&mut trace, &header).map_err(io::Error::other)?;
    let (mut recording, mut tree) =
        (Recording::new(writer, trace::Sees::default()), Tree::of(FIRST, BecameAt::default()));
    recording.hold(FIRST)?;
    for step in steps {
        match step {
            Step::Record(record) => shared.write(record),
            Step::Word { at, value } => shared.put(*at as usize, *value),
            Step::Lost(count) => shared.put(LOST, *count),
            Step::Reserved(units) => shared.reserve(*units),
            Step::Drain => drain(shared, &mut tree, &mut recording, false)?,
        }
    }
    drain(shared, &mut tree, &mut recording, true)?;
    tree.reaped(u64::MAX, FIRST, 0, &mut recording)?;
    tree.finish(&mut recording)?;
    recording.end(Usage::default(), Followed { end: None, cut: None });
    Ok(trace)
}

/// As [`Preload`](super::Preload) does it.
fn drain(
    shared: &mut Shared,
    tree: &mut Tree,
    recording: &mut Recording<&mut Vec<u8>>,
    is_end: bool,
) -> io::Result<()> {
    let times = Times::same();
    shared.ring.drain(is_end, |record| match layout::record(record) {
        Some(record) => tree.on_event(record, &times, recording),
        None => Ok(()),
    })?;
    match shared.ring.lost() {
        0 => Ok(()),
        count => recording.on_event(&Event::Entry(Entry::Lost { count })),
    }
}
