//! Traces given any bytes.

use crate::bill::{Bill, Maker};
use crate::chunk::{ChunkReader, Kind, Next};
use crate::coder::{Coder, told};
use crate::header::{Header, Mechanism, TollNs};
use crate::paths::Paths;
use crate::patterns;

/// Entries that no checksum stands before, and their bill, if there are any. What is read becomes
/// the same again once it is written.
pub fn entries(mut bytes: &[u8]) -> Option<Bill> {
    let mut maker = Maker::new(header());
    let (mut reads, mut writes, mut again) = (Coder::new(), Coder::new(), Coder::new());
    let mut paths = Paths::default();
    let mut count = 0;
    while let Some(entry) = reads.take(&mut bytes, &paths) {
        let mut written = Vec::new();
        writes.put(&mut written, &entry, &paths);
        let read = again.take(&mut written.as_slice(), &paths);
        assert_eq!(read.as_ref(), Some(&entry));
        if let Some((_, path)) = told(&entry) {
            paths.add(path.clone());
        }
        maker.take(&entry);
        count += 1;
    }
    let (mut bill, uses) = maker.finish(None, 0);
    bill.patterns = patterns::find(&bill, &uses);
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

fn header() -> Header {
    Header {
        mechanism: Mechanism::Planted,
        attached: false,
        program: String::new(),
        started_s: 0,
        kernel: String::new(),
        processors: 1,
        page_bytes: 4096,
        sees_waiting: true,
        toll_ns: TollNs { low: 10, high: 20 },
        toll_within_ns: TollNs { low: 3, high: 5 },
        named: None,
        dispatch_ns: None,
    }
}
