//! Reads a journal back, up to its last complete transaction.
//!
//! The end is where the next transaction does not stand whole. That is how a commit looks
//! that a crash interrupted, and nothing was lost by it, for it was never acknowledged.
//! But no transaction is written before the one ahead of it is on the device. So where a
//! later one stands behind, what is between was whole once, and is damaged: an error.

use std::ops::Range;

use crate::codec::{Codec, Decompressor};
use crate::defect::{Defect, Planted};
use crate::difference;
use crate::error::Error;
use crate::files::{File, Files};
use crate::layout::{self, Fields, HEADER_BYTES, SegmentHeader, TransactionHeader};
use crate::options::{BLOCK_BYTES_MIN, Writing};
use crate::page::{PAGE_BYTES, Page};
use crate::segment;
use crate::window::Window;

/// What looks like a later transaction is compared with its checksum up to so many times
/// the segment's bytes in all; beyond, the segment was made to take time, and is damaged.
const LOOKS_MAX: u64 = 4;

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The last complete transaction.
    pub last: u64,
    /// How many were replayed.
    pub transactions: u64,
    /// How many versions of pages they brought.
    pub pages: u64,
    /// These versions, whole.
    pub page_bytes: u64,
    /// What they are stored in.
    pub stored_bytes: u64,
}

/// A page as a transaction left it.
#[derive(Clone, Copy, Debug)]
pub struct PageVersion<'a> {
    /// The page's number. It was read from a file, so it may be any.
    pub page: u32,
    body: &'a [u8],
}

impl PageVersion<'_> {
    /// Makes this version of the previous one; false where what is stored is neither a page
    /// nor a difference. Then `page` holds anything.
    pub fn apply(&self, page: &mut Page) -> bool {
        match <&Page>::try_from(self.body) {
            Ok(whole) => {
                *page = *whole;
                true
            }
            Err(_) => difference::apply(self.body, page).is_some(),
        }
    }
}

/// Hands the pages of all complete transactions behind `after` to `replay`, in order.
///
/// `replay` says what is wrong with a version that cannot be. That is an error, as is damage
/// anywhere but at the journal's end. An error leaves what was replayed half done: nothing of
/// it may be kept.
pub fn recover(
    files: &impl Files,
    after: u64,
    replay: impl FnMut(PageVersion<'_>) -> Result<(), &'static str>,
) -> Result<Recovered, Error> {
    recover_with(files, after, replay, Planted::default())
}

pub(crate) fn recover_with(
    files: &impl Files,
    after: u64,
    replay: impl FnMut(PageVersion<'_>) -> Result<(), &'static str>,
    planted: Planted,
) -> Result<Recovered, Error> {
    let mut found = Vec::new();
    for number in segment::numbers(files)? {
        let segment = Segment::open(files, segment::name(number))?;
        let header = segment.header(number, planted)?;
        found.push(SegmentFile { name: segment.name, header });
    }
    let mut scan = Scan {
        files,
        after,
        expected: after.checked_add(1).ok_or(Error::Full)?,
        window: Window::default(),
        decompressor: Decompressor::default(),
        changes: Vec::new(),
        tally: Recovered::default(),
        replay,
        planted,
    };
    let relevant = scan.relevant(&found)?;
    // The first segment may begin with what is not to be replayed any more.
    if let Some(header) = relevant.first().and_then(|segment| segment.header) {
        scan.expected = header.first;
    }
    for segment in relevant {
        scan.segment(segment)?;
    }
    if relevant.iter().all(|segment| segment.header.is_none()) {
        return Err(Error::NoJournal);
    }
    scan.tally.last = (scan.expected - 1).max(after);
    Ok(scan.tally)
}

/// A segment that is there. Of those that are relevant one is open at a time.
struct SegmentFile {
    name: String,
    /// None where it was never begun under this number, or its header is damaged.
    header: Option<SegmentHeader>,
}

/// A segment that is read.
struct Segment<F> {
    name: String,
    file: F,
    bytes: u64,
}

impl<F: File> Segment<F> {
    fn open(files: &impl Files<File = F>, name: String) -> Result<Self, Error> {
        let file = files.open(&name, Writing::Buffered).map_err(Error::io("opening", &name))?;
        let bytes = file.bytes().map_err(Error::io("getting the file size", &name))?;
        Ok(Self { name, file, bytes })
    }

    /// The parts of it to which anything was written. What was read may count as written.
    fn written(&self) -> Result<Vec<Range<u64>>, Error> {
        self.file.written().map_err(Error::io("looking for what was written", &self.name))
    }

    fn header(&self, number: u64, planted: Planted) -> Result<Option<SegmentHeader>, Error> {
        let mut window = Window::of(HEADER_BYTES);
        let header = self.get(&mut window, 0, HEADER_BYTES)?;
        Ok(header.and_then(|header| SegmentHeader::decode(header, number, planted)))
    }

    /// So many bytes of it; none where it ends before.
    fn get<'w>(
        &self,
        window: &'w mut Window,
        offset: u64,
        len: usize,
    ) -> Result<Option<&'w [u8]>, Error> {
        window.get(&self.file, self.bytes, offset, len).map_err(Error::io("reading", &self.name))
    }
}

/// On the way through the segments.
struct Scan<'f, D, R> {
    files: &'f D,
    /// What is not to be replayed any more.
    after: u64,
    /// The number of the transaction that is looked for.
    expected: u64,
    window: Window,
    decompressor: Decompressor,
    /// The changes of one transaction, decompressed.
    changes: Vec<u8>,
    tally: Recovered,
    replay: R,
    planted: Planted,
}

impl<D: Files, R: FnMut(PageVersion<'_>) -> Result<(), &'static str>> Scan<'_, D, R> {
    /// The segments from the one on in which the first transaction to replay may be.
    fn relevant<'s>(&self, found: &'s [SegmentFile]) -> Result<&'s [SegmentFile], Error> {
        let first_of = |segment: &SegmentFile| segment.header.map(|header| header.first);
        let begins = found
            .iter()
            .rposition(|segment| first_of(segment).is_some_and(|first| first <= self.expected));
        if let Some(begins) = begins {
            return Ok(&found[begins..]);
        }
        for segment in found {
            if let Some(first) = first_of(segment) {
                return Err(self.missing(segment, first));
            }
        }
        Ok(found)
    }

    fn missing(&self, segment: &SegmentFile, found: u64) -> Error {
        let expected = self.expected;
        let what = format!(
            "the journal continues with transaction {found}, but transaction {expected} is missing"
        );
        Error::damaged(&segment.name, what)
    }

    fn segment(&mut self, found: &SegmentFile) -> Result<(), Error> {
        let segment = &Segment::open(self.files, found.name.clone())?;
        let written = segment.written()?;
        self.window.clear();
        let Some(header) = found.header else {
            return self.look_behind(segment, &written, 0, u64::from(BLOCK_BYTES_MIN));
        };
        if header.first > self.expected {
            return Err(self.missing(found, header.first));
        }
        if header.first < self.expected {
            return Err(Error::damaged(
                &found.name,
                "it begins with a transaction that is already in an earlier segment",
            ));
        }
        let block = u64::from(header.block_bytes);
        let mut offset = block;
        while let Some(bytes) = self.transaction(segment, offset)? {
            offset += bytes.next_multiple_of(block);
            self.expected = self.expected.checked_add(1).ok_or(Error::Full)?;
        }
        self.look_behind(segment, &written, offset, block)
    }

    /// Replays the expected transaction and says how long it is, if that is what stands at
    /// `offset`.
    fn transaction(
        &mut self,
        segment: &Segment<D::File>,
        offset: u64,
    ) -> Result<Option<u64>, Error> {
        let window = &mut self.window;
        let header = segment.get(window, offset, HEADER_BYTES)?;
        let Some(header) = header.and_then(TransactionHeader::decode) else {
            return Ok(None);
        };
        let Some(bytes) = segment
            .get(window, offset, header.bytes())?
            .filter(|bytes| layout::holds(bytes, self.expected, self.planted))
        else {
            return Ok(None);
        };
        if self.expected > self.after {
            let stored = &bytes[HEADER_BYTES..];
            let malformed = |what| Error::damaged(&segment.name, what);
            let changes = if header.codec == Codec::None {
                stored
            } else {
                // Decoding the header bounded it.
                let len = header.change_bytes as usize;
                self.changes.resize(self.changes.len().max(len), 0);
                let changes = &mut self.changes[..len];
                let done = self.decompressor.decompress(header.codec, stored, changes);
                done.ok_or("a transaction cannot be decompressed").map_err(malformed)?;
                changes
            };
            let pages = replay_all(changes, &mut self.replay).map_err(malformed)?;
            self.tally.transactions += 1;
            self.tally.pages += pages;
            self.tally.page_bytes += pages * PAGE_BYTES as u64;
            self.tally.stored_bytes += bytes.len() as u64;
        }
        Ok(Some(header.bytes() as u64))
    }

    /// An error where a later transaction stands whole, from `offset` on.
    fn look_behind(
        &mut self,
        segment: &Segment<D::File>,
        written: &[Range<u64>],
        mut offset: u64,
        block: u64,
    ) -> Result<(), Error> {
        if self.planted.has(Defect::NoLookBehind) {
            return Ok(());
        }
        let damaged_at = offset;
        let mut looks = LOOKS_MAX * segment.bytes;
        for part in written {
            offset += part.start.saturating_sub(offset) / block * block;
            while offset < part.end {
                let Some(header) = segment.get(&mut self.window, offset, HEADER_BYTES)? else {
                    return Ok(());
                };
                let later = TransactionHeader::decode(header)
                    .filter(|header| header.number >= self.expected.max(self.after + 1));
                if let Some(later) = later
                    && let Some(bytes) = segment.get(&mut self.window, offset, later.bytes())?
                {
                    let len = bytes.len() as u64;
                    if len > looks || layout::holds(bytes, later.number, self.planted) {
                        let what = format!(
                            "transaction {} at byte {damaged_at} is damaged, and is not the last: \
                             transaction {} follows it",
                            self.expected, later.number
                        );
                        return Err(Error::damaged(&segment.name, what));
                    }
                    looks -= len;
                }
                offset += block;
            }
        }
        Ok(())
    }
}

/// Hands all pages of one transaction to `replay`; how many there are.
fn replay_all(
    changes: &[u8],
    replay: &mut impl FnMut(PageVersion<'_>) -> Result<(), &'static str>,
) -> Result<u64, &'static str> {
    const CUT_SHORT: &str = "a transaction ends in the middle of a page";
    let mut pages = 0;
    let mut fields = Fields(changes);
    while !fields.0.is_empty() {
        let page = fields.u32().zip(fields.take().map(u16::from_le_bytes));
        let Some((page, len)) = page else { return Err(CUT_SHORT) };
        let Some((body, rest)) = fields.0.split_at_checked(usize::from(len)) else {
            return Err(CUT_SHORT);
        };
        replay(PageVersion { page, body })?;
        fields.0 = rest;
        pages += 1;
    }
    Ok(pages)
}
