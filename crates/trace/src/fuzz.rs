//! Traces given any bytes, and any entries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bill::{Bill, BillBuilder};
use crate::build::completed;
use crate::chunk::{ChunkReader, Kind, Next};
use crate::coder::{Coder, told};
use crate::entry::Entry;
use crate::header::{Header, OverheadNs, Summary};
use crate::paths::Paths;
use crate::pattern::CommandOf;
use crate::reader::TraceReader;
use crate::writer::TraceWriter;

/// A whole trace, to be changed in any of its parts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Parts {
    /// Its beginning.
    pub header: Header,
    /// Its entries.
    pub entries: Vec<Entry>,
    /// Its end; none if it was cut.
    pub summary: Option<Summary>,
}

impl Parts {
    /// Reads a trace.
    pub fn of(trace: &[u8]) -> Option<Self> {
        let mut reader = TraceReader::new(trace).ok()?;
        let header = reader.header().clone();
        let mut entries = Vec::new();
        while let Ok(Some(entry)) = reader.next_entry() {
            entries.push(entry);
        }
        Some(Self { header, entries, summary: reader.summary().copied() })
    }

    /// Writes the trace, without entries that no trace can have.
    pub fn written(&self) -> Option<Vec<u8>> {
        let mut writer = TraceWriter::new(Vec::new(), &self.header).ok()?;
        for entry in &self.entries {
            let _ = writer.push(entry.clone());
        }
        let written = match &self.summary {
            Some(summary) => writer.finish(summary),
            None => writer.abandon(),
        };
        written.ok()
    }
}

/// Entries that no checksum stands before, and their bill, if there are any. What is read becomes
/// the same again once it is written.
pub fn entries(mut bytes: &[u8], command_of: CommandOf) -> Option<Bill> {
    let mut bill_builder = BillBuilder::new(header());
    let (mut reads, mut writes, mut again) = (Coder::new(), Coder::new(), Coder::new());
    let mut paths = Paths::default();
    let mut count = 0;
    while let Some(entry) = reads.take(&mut bytes, &paths) {
        let mut written = Vec::new();
        writes.put(&mut written, &mut entry.clone(), &paths);
        let read = again.take(&mut written.as_slice(), &paths);
        assert_eq!(read.as_ref(), Some(&entry));
        if let Some((_, path)) = told(&entry) {
            paths.add(path.clone());
        }
        bill_builder.take(&entry);
        count += 1;
    }
    let bill = completed(bill_builder.finish(None, 0), 0.0, command_of);
    for pattern in &bill.patterns {
        assert!((0.0..=1.0).contains(&pattern.share), "{pattern:?}");
    }
    assert!(bill.files.once_ns.low <= bill.files.once_ns.high);
    assert!(bill.files.once_ns.high <= bill.wall_ns);
    (count > 0).then_some(bill)
}

/// The entries of a trace as [`entries`] reads them.
pub fn entries_of(trace: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    if let Ok(mut chunks) = ChunkReader::new(trace) {
        while let Ok(Next::Chunk(kind)) = chunks.next() {
            if kind == Kind::Entries {
                all.extend_from_slice(chunks.raw());
            }
        }
    }
    all
}

/// A header of a machine without peculiarities.
pub fn header() -> Header {
    Header {
        processors: 1,
        page_bytes: 4096,
        sees_waiting: true,
        divides_waits: true,
        sees_wakers: true,
        overhead_ns: OverheadNs { low: 10, high: 20 },
        overhead_within_ns: OverheadNs { low: 3, high: 5 },
        ..Header::default()
    }
}
