//! Writing a trace, as it goes.

use std::io::Write;
use std::sync::Arc;

use crate::call::PathId;
use crate::chunk::{ChunkWriter, Kind, RAW_BYTES_MAX};
use crate::coder::{Coder, objection, told};
use crate::entry::Entry;
use crate::error::Error;
use crate::header::{Header, Summary};
use crate::paths::Numbered;

/// A chunk ends when it has this much in it.
const CHUNK_BYTES: usize = RAW_BYTES_MAX / 2;
/// And when its entries are from this long: what a recorder that is killed had not written.
const CHUNK_NS: u64 = 1_000_000_000;
/// The longest that a header and a summary become.
const HEADER_BYTES_MAX: usize = 16 << 10;

/// Writes a trace to `W`, in chunks of 64 KiB of entries or a second. It needs no buffer around
/// it. Whatever was written can be read, should the rest never come.
///
/// The memory that it takes does not grow with the trace.
pub struct TraceWriter<W: Write> {
    chunks: ChunkWriter<W>,
    coder: Coder,
    paths: Numbered,
    /// Entries that are not written yet.
    raw: Vec<u8>,
    /// When the first of them was.
    since_ns: Option<u64>,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace.
    pub fn new(out: W, header: &Header) -> Result<Self, Error> {
        let mut chunks = ChunkWriter::new(out)?;
        let text = serde_json::to_vec(header).map_err(|error| Error::Write(error.into()))?;
        if text.len() > HEADER_BYTES_MAX {
            return Err(Error::Entry("its header is longer than 16 KiB"));
        }
        chunks.write(Kind::Header, &text)?;
        let (coder, paths) = (Coder::new(), Numbered::default());
        Ok(Self { chunks, coder, paths, raw: Vec::new(), since_ns: None })
    }

    /// The number of a path for the entries that come next, which is told if it must be.
    ///
    /// To be asked for each entry anew: numbers of long ago are forgotten.
    pub fn path(&mut self, bytes: &[u8]) -> Result<PathId, Error> {
        if let Some(id) = self.paths.number(bytes) {
            return Ok(id);
        }
        let id = self.paths.paths().next().ok_or(Error::Entry("it has four billion paths"))?;
        self.push(Entry::Path { id, bytes: Arc::from(bytes) })?;
        Ok(id)
    }

    /// Adds an entry. Its paths are numbers that [`path`](Self::path) gave, or that pushed
    /// entries told.
    pub fn push(&mut self, mut entry: Entry) -> Result<(), Error> {
        if let Some(objection) = objection(&mut entry, self.paths.paths()) {
            return Err(Error::Entry(objection));
        }
        self.coder.put(&mut self.raw, &mut entry, self.paths.paths());
        if let Some((id, bytes)) = told(&entry) {
            self.paths.add(bytes, id);
        }
        let at_ns = at_ns(&entry);
        self.since_ns = self.since_ns.or(at_ns);
        let age_ns = at_ns.zip(self.since_ns).map(|(at, since)| at.saturating_sub(since));
        let is_due = age_ns.is_some_and(|age_ns| age_ns >= CHUNK_NS);
        if is_due || self.raw.len() >= CHUNK_BYTES { self.write_chunk() } else { Ok(()) }
    }

    /// Writes what is not written yet. To be called when nothing has been pushed for a second.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write_chunk()?;
        self.chunks.flush()
    }

    /// How many bytes have been written.
    pub fn written_bytes(&self) -> u64 {
        self.chunks.bytes()
    }

    /// Ends the trace. One without such an end was cut short.
    pub fn finish(mut self, summary: &Summary) -> Result<W, Error> {
        self.write_chunk()?;
        let text = serde_json::to_vec(summary).map_err(|error| Error::Write(error.into()))?;
        self.chunks.write(Kind::Summary, &text)?;
        self.chunks.flush()?;
        Ok(self.chunks.into_inner())
    }

    /// Writes what is not written yet, and leaves the trace as one that was cut short.
    pub(crate) fn abandon(mut self) -> Result<W, Error> {
        self.flush()?;
        Ok(self.chunks.into_inner())
    }

    fn write_chunk(&mut self) -> Result<(), Error> {
        self.since_ns = None;
        if self.raw.is_empty() {
            return Ok(());
        }
        let written = self.chunks.write(Kind::Entries, &self.raw);
        self.raw.clear();
        written
    }
}

/// When an entry was, if it says so.
fn at_ns(entry: &Entry) -> Option<u64> {
    match entry {
        Entry::Call(call) => Some(call.ended_ns()),
        Entry::Fork { at_ns, .. }
        | Entry::Exec { at_ns, .. }
        | Entry::Exit { at_ns, .. }
        | Entry::Woken { at_ns, .. } => Some(*at_ns),
        Entry::File(facts) => Some(facts.at_ns),
        Entry::Idle { at_ns, took_ns } => Some(at_ns.saturating_add(*took_ns)),
        Entry::Path { .. }
        | Entry::Inherited { .. }
        | Entry::Unseen { .. }
        | Entry::Overhead { .. }
        | Entry::Held { .. }
        | Entry::Outside { .. }
        | Entry::Lost { .. } => None,
    }
}
