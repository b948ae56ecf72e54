//! Appends transactions to a journal.

use std::io;

use crate::buffer::Buffer;
use crate::codec::{Codec, Compressor};
use crate::defect::{Defect, Planted};
use crate::difference;
use crate::error::Error;
use crate::files::{File, Files};
use crate::layout::{self, HEADER_BYTES, TRANSACTION_BYTES_MAX, TransactionHeader};
use crate::observer::{Observer, Part, Receipt};
use crate::options::{Options, Space, Writing};
use crate::page::{PAGE_BYTES, Page};
use crate::segment::{self, New, Segment};

/// So many segments that are no longer needed are kept to be used again.
const SPARES_MAX: usize = 8;

/// A page that a transaction changes.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The page's number.
    pub page: u32,
    /// What it held before: [`EMPTY_PAGE`](crate::EMPTY_PAGE) where it is new. Recovery must
    /// have the same.
    pub before: &'a Page,
    /// What it holds now.
    pub after: &'a Page,
}

/// An append-only journal of page transactions.
///
/// It is written to here, and read by [`recover`](crate::recover) alone. Transactions are
/// numbered from 1 on, without a gap. After a write or a sync that failed, what the journal
/// holds is unknown, and it refuses everything.
pub struct Journal<F: Files> {
    files: F,
    options: Options,
    planted: Planted,
    compressor: Compressor,
    segment: Segment<F::File>,
    /// Segments before it that recovery needs.
    needed: Vec<u64>,
    /// Segments that nothing needs any more, to be used again.
    spares: Vec<u64>,
    /// The last transaction that is on the device.
    last: u64,
    /// What was written since the first needed segment was begun.
    bytes: u64,
    has_failed: bool,
    /// Room for a header, then the changes.
    changes: Buffer,
    /// Room for a header, then the same, compressed.
    compressed: Buffer,
    difference: Box<Page>,
}

impl<F: Files> Journal<F> {
    /// Begins a journal, or goes on with one behind transaction `after`, in a new segment.
    ///
    /// Everything up to there must be on the device elsewhere: segments from before are
    /// removed, or used again. So is what [`recover`](crate::recover) found, for what a
    /// system reads back after a failed sync need not be on the device.
    pub fn start(files: F, options: &Options, after: u64) -> Result<Self, Error> {
        Self::start_with(files, options, after, Planted::default())
    }

    pub(crate) fn start_with(
        files: F,
        options: &Options,
        after: u64,
        planted: Planted,
    ) -> Result<Self, Error> {
        options.check()?;
        let compressor = Compressor::new(options.compression)
            .map_err(Error::io("setting up compression", "."))?;
        let needed = segment::numbers(&files)?;
        let number = next(needed.last().copied().unwrap_or(0))?;
        // None of those that are there is used again yet: recovery needs one until this one
        // is on the device.
        let new = New { number, first: next(after)?, bytes: 0, spare: None };
        let segment = Segment::make(&files, options, new, planted)?;
        let mut journal = Self {
            files,
            options: *options,
            planted,
            compressor,
            segment,
            needed,
            spares: Vec::new(),
            last: after,
            bytes: 0,
            has_failed: false,
            changes: Buffer::default(),
            compressed: Buffer::default(),
            difference: Box::new([0; PAGE_BYTES]),
        };
        journal.put_aside()?;
        Ok(journal)
    }

    /// The number of the last transaction.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The directory.
    pub fn files(&self) -> &F {
        &self.files
    }

    /// Appends one transaction, and returns when it is on the device. The changes must not
    /// have a page twice.
    pub fn append<'a>(
        &mut self,
        changes: impl IntoIterator<Item = Change<'a>>,
        observer: &mut impl Observer,
    ) -> Result<Receipt, Error> {
        self.refuse_after_failure()?;
        let number = next(self.last)?;
        let pages = self.collect(changes, observer)?;
        let change_bytes = self.changes.len() - HEADER_BYTES;
        let codec = self.compress(observer);
        observer.enter(Part::Checksum);
        let buffer = if codec == Codec::None { &mut self.changes } else { &mut self.compressed };
        let header = TransactionHeader {
            codec,
            number,
            change_bytes: change_bytes as u32,
            stored_bytes: (buffer.len() - HEADER_BYTES) as u32,
        };
        header.write(buffer.bytes_mut());
        layout::seal(buffer.bytes_mut(), number, self.planted);
        buffer.pad(self.options.block_bytes as usize);
        let written_bytes = buffer.len() as u64;
        let done = self.store(codec, observer);
        self.note_failure(done)?;
        self.last = number;
        Ok(Receipt {
            number,
            pages,
            page_bytes: pages * PAGE_BYTES as u64,
            change_bytes: change_bytes as u64,
            stored_bytes: u64::from(header.stored_bytes),
            written_bytes,
        })
    }

    /// Forgets everything up to now, which must be on the device elsewhere: begins a new
    /// segment, and removes those before it or puts them aside to be used again.
    pub fn restart(&mut self) -> Result<(), Error> {
        self.refuse_after_failure()?;
        let done = self.next_segment(0).and_then(|()| self.put_aside());
        self.bytes = 0;
        self.note_failure(done)
    }

    /// What was written since the journal was started, or begun anew.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Collects the changes behind the room for a header; how many pages they are of.
    fn collect<'a>(
        &mut self,
        changes: impl IntoIterator<Item = Change<'a>>,
        observer: &mut impl Observer,
    ) -> Result<u64, Error> {
        let differences = self.options.differences;
        observer.enter(if differences { Part::Difference } else { Part::Copy });
        self.changes.set_len(HEADER_BYTES);
        let mut pages = 0;
        for change in changes {
            let shorter = if differences {
                difference::encode(change.before, change.after, &mut self.difference)
            } else {
                None
            };
            let body = shorter.map_or(change.after.as_slice(), |len| &self.difference[..len]);
            self.changes.push(&change.page.to_le_bytes());
            self.changes.push(&(body.len() as u16).to_le_bytes());
            self.changes.push(body);
            let bytes = (self.changes.len() - HEADER_BYTES) as u64;
            if bytes > TRANSACTION_BYTES_MAX {
                return Err(Error::TransactionTooLarge { bytes, max: TRANSACTION_BYTES_MAX });
            }
            pages += 1;
        }
        Ok(pages)
    }

    /// Compresses the changes, where that is wanted and makes them shorter.
    fn compress(&mut self, observer: &mut impl Observer) -> Codec {
        let changes = &self.changes.bytes()[HEADER_BYTES..];
        let codec = self.compressor.codec();
        if codec == Codec::None || changes.len() <= self.options.threshold_bytes as usize {
            return Codec::None;
        }
        observer.enter(Part::Compression);
        self.compressed.set_len(HEADER_BYTES + self.compressor.room(changes.len()));
        let out = &mut self.compressed.bytes_mut()[HEADER_BYTES..];
        match self.compressor.compress(changes, out) {
            Some(len) => {
                self.compressed.set_len(HEADER_BYTES + len);
                codec
            }
            None => Codec::None,
        }
    }

    fn store(&mut self, codec: Codec, observer: &mut impl Observer) -> Result<(), Error> {
        let bytes = self.outgoing(codec).len() as u64;
        if !self.segment.has_room(bytes) {
            observer.enter(Part::Segment);
            self.next_segment(bytes)?;
        }
        let Segment { name, file, end, .. } = &self.segment;
        observer.enter(Part::Write);
        file.write_at(self.outgoing(codec).bytes(), *end)
            .map_err(Error::io("writing a transaction", name))?;
        if self.options.writing == Writing::Buffered {
            observer.enter(Part::Sync);
            self.sync().map_err(Error::io("syncing a transaction", name))?;
        }
        self.segment.end += bytes;
        self.bytes += bytes;
        Ok(())
    }

    fn outgoing(&self, codec: Codec) -> &Buffer {
        if codec == Codec::None { &self.changes } else { &self.compressed }
    }

    fn sync(&self) -> io::Result<()> {
        let file = &self.segment.file;
        match file.sync() {
            Err(_) if self.planted.has(Defect::SyncsAgain) => file.sync(),
            done => done,
        }
    }

    /// Begins a segment with the next transaction, which is so long.
    fn next_segment(&mut self, bytes: u64) -> Result<(), Error> {
        let new = New {
            number: next(self.segment.number)?,
            first: next(self.last)?,
            bytes,
            spare: self.spares.pop(),
        };
        self.needed.push(self.segment.number);
        self.segment = Segment::make(&self.files, &self.options, new, self.planted)?;
        Ok(())
    }

    /// Recovery needs no segment any more but the one that was just begun.
    fn put_aside(&mut self) -> Result<(), Error> {
        self.spares.append(&mut self.needed);
        let kept = if self.options.space == Space::Recycled { SPARES_MAX } else { 0 };
        let excess = self.spares.len().saturating_sub(kept);
        for number in self.spares.drain(..excess) {
            let name = segment::name(number);
            self.files.remove(&name).map_err(Error::io("removing", &name))?;
        }
        Ok(())
    }

    pub(crate) fn refuse_after_failure(&self) -> Result<(), Error> {
        if self.has_failed { Err(Error::Refused) } else { Ok(()) }
    }

    fn note_failure(&mut self, done: Result<(), Error>) -> Result<(), Error> {
        self.has_failed |= done.is_err();
        done
    }
}

fn next(number: u64) -> Result<u64, Error> {
    number.checked_add(1).ok_or(Error::Full)
}
