//! The file `data`: all pages as they were at the last checkpoint.
//!
//! It consists of units of 4096 bytes. The first two are headers, which checkpoints write in
//! turn; the one with the higher sequence counts. It says where the map is, which has for
//! each page its unit and its checksum. A checkpoint writes changed pages and a new map to
//! units that neither is in, and then the header, so that the last checkpoint stays whole
//! until the next one is.
//!
//! | bytes of a header | what |
//! | --- | --- |
//! | 0–7 | checksum of the rest of the unit, seeded with the sequence |
//! | 8–15 | `iotollD1` |
//! | 16–23 | the sequence, one higher with each checkpoint |
//! | 24–31 | the number of the last transaction that the pages have |
//! | 32–35 | how many pages there are |
//! | 36–39 | the map's first unit |
//! | 40–47 | the map's checksum, seeded with the sequence |
//!
//! An entry of the map is a unit in four bytes, and a checksum in eight, which is seeded
//! with the page's number.

use std::io;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::defect::Planted;
use crate::error::Error;
use crate::files::{File, Files};
use crate::layout::{self, Fields};
use crate::options::Writing;
use crate::page::{PAGE_BYTES, Page};
use crate::store::pages::Pages;
use crate::window::Window;

/// What it is called.
pub(crate) const NAME: &str = "data";
/// What it is called until it is complete.
const NEW_NAME: &str = "data.new";
const MAGIC: [u8; 8] = *b"iotollD1";
const HEADERS: u32 = 2;
const UNIT_BYTES: u64 = PAGE_BYTES as u64;
const ENTRY_BYTES: usize = 12;
/// Pages that lie side by side are written together, up to so many bytes.
const BATCH_BYTES: usize = 1 << 20;

/// Where a page is, and what its checksum is.
#[derive(Clone, Copy, Default)]
struct Entry {
    unit: u32,
    checksum: u64,
}

#[derive(Clone, Copy)]
struct Header {
    sequence: u64,
    transaction: u64,
    pages: u32,
    map_unit: u32,
    map_checksum: u64,
}

impl Header {
    fn encode(self) -> Box<Page> {
        let mut unit = Box::new([0; PAGE_BYTES]);
        unit[8..16].copy_from_slice(&MAGIC);
        unit[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        unit[24..32].copy_from_slice(&self.transaction.to_le_bytes());
        unit[32..36].copy_from_slice(&self.pages.to_le_bytes());
        unit[36..40].copy_from_slice(&self.map_unit.to_le_bytes());
        unit[40..48].copy_from_slice(&self.map_checksum.to_le_bytes());
        layout::seal(&mut unit[..], self.sequence, Planted::default());
        unit
    }

    fn decode(unit: &[u8]) -> Option<Self> {
        let mut fields = Fields(unit.get(layout::CHECKSUM_BYTES..)?);
        let magic = fields.take()?;
        let sequence = fields.u64()?;
        let header = Self {
            sequence,
            transaction: fields.u64()?,
            pages: fields.u32()?,
            map_unit: fields.u32()?,
            map_checksum: fields.u64()?,
        };
        let holds = layout::holds(unit, sequence, Planted::default());
        (magic == MAGIC && holds).then_some(header)
    }

    fn offset(self) -> u64 {
        self.sequence % u64::from(HEADERS) * UNIT_BYTES
    }

    fn map_bytes(self) -> usize {
        self.pages as usize * ENTRY_BYTES
    }
}

/// The open file.
pub(crate) struct Data<F> {
    file: F,
    header: Header,
    map: Vec<Entry>,
    /// Units that the last checkpoint is in.
    used: Vec<bool>,
}

impl<F: File> Data<F> {
    /// Makes the file of a store without any pages. It has its name only when it is complete.
    pub(crate) fn create(files: &impl Files<File = F>) -> Result<Self, Error> {
        let names = files.names().map_err(Error::io("listing the files", "."))?;
        if names.iter().any(|name| name == NEW_NAME) {
            files.remove(NEW_NAME).map_err(Error::io("removing", NEW_NAME))?;
        }
        let file =
            files.create(NEW_NAME, Writing::Buffered).map_err(Error::io("creating", NEW_NAME))?;
        let map_checksum = |sequence| xxh3_64_with_seed(&[], sequence);
        let header = |sequence| Header {
            sequence,
            transaction: 0,
            pages: 0,
            map_unit: HEADERS,
            map_checksum: map_checksum(sequence),
        };
        let data = Self { file, header: header(1), map: Vec::new(), used: Vec::new() };
        let headers = [header(0).encode(), header(1).encode()].map(|unit| *unit);
        data.file.write_at(headers.as_flattened(), 0).map_err(Error::io("writing", NEW_NAME))?;
        data.file.sync().map_err(Error::io("syncing", NEW_NAME))?;
        files.rename(NEW_NAME, NAME).map_err(Error::io("renaming data.new to it", NAME))?;
        files.sync_names().map_err(Error::io("syncing its directory", NAME))?;
        Ok(data)
    }

    /// Reads all pages; none where there is no such file.
    pub(crate) fn load(files: &impl Files<File = F>) -> Result<Option<(Self, Pages)>, Error> {
        let names = files.names().map_err(Error::io("listing the files", "."))?;
        if !names.iter().any(|name| name == NAME) {
            return Ok(None);
        }
        let file = files.open(NAME, Writing::Buffered).map_err(Error::io("opening", NAME))?;
        let bytes = file.bytes().map_err(Error::io("getting the file size", NAME))?;
        let mut reader = Reader { file: &file, bytes, window: Window::default() };
        let mut headers = [None; HEADERS as usize];
        for (unit, header) in (0..).zip(&mut headers) {
            *header = reader.unit(unit)?.and_then(Header::decode);
        }
        let header = headers.into_iter().flatten().max_by_key(|header| header.sequence);
        let Some(header) = header else {
            return Err(Error::damaged(NAME, "both of its headers are damaged"));
        };
        let map = reader.map(header)?;
        let pages = reader.pages(&map)?;
        let mut data = Self { file, header, map, used: Vec::new() };
        data.mark_used();
        Ok(Some((data, pages)))
    }

    /// The last transaction that the pages have.
    pub(crate) fn transaction(&self) -> u64 {
        self.header.transaction
    }

    /// Writes and syncs the header again that counts: what can be read of it need not be on
    /// the device, where an earlier sync failed.
    pub(crate) fn confirm(&self) -> Result<(), Error> {
        self.write_header(self.header)
    }

    /// Makes a checkpoint: saves pages as transaction `transaction` left them.
    pub(crate) fn save(&mut self, pages: &mut Pages, transaction: u64) -> Result<(), Error> {
        let io = |error| Error::io("writing pages", NAME)(error);
        self.map.resize(pages.len(), Entry::default());
        let mut free = Free { used: &self.used, next: HEADERS as usize };
        let mut batch = Batch::default();
        for (number, page) in pages.unsaved() {
            let unit = free.take(1)?;
            let checksum = xxh3_64_with_seed(page, u64::from(number));
            self.map[number as usize] = Entry { unit, checksum };
            batch.push(&self.file, unit, page).map_err(io)?;
        }
        batch.write(&self.file).map_err(io)?;
        let mut map = Vec::with_capacity(self.map.len() * ENTRY_BYTES);
        for entry in &self.map {
            map.extend(entry.unit.to_le_bytes());
            map.extend(entry.checksum.to_le_bytes());
        }
        let sequence = self.header.sequence.checked_add(1).ok_or(Error::Full)?;
        let header = Header {
            sequence,
            transaction,
            pages: self.map.len() as u32,
            map_unit: free.take(map.len().div_ceil(PAGE_BYTES))?,
            map_checksum: xxh3_64_with_seed(&map, sequence),
        };
        map.resize(map.len().next_multiple_of(PAGE_BYTES), 0);
        self.file.write_at(&map, offset(header.map_unit)).map_err(io)?;
        self.file.sync().map_err(Error::io("syncing pages", NAME))?;
        self.write_header(header)?;
        self.header = header;
        self.mark_used();
        pages.saved();
        Ok(())
    }

    fn write_header(&self, header: Header) -> Result<(), Error> {
        let done = self.file.write_at(&header.encode()[..], header.offset());
        done.map_err(Error::io("writing the header", NAME))?;
        self.file.sync().map_err(Error::io("syncing the header", NAME))
    }

    fn mark_used(&mut self) {
        self.used.clear();
        let map_units = self.header.map_bytes().div_ceil(PAGE_BYTES) as u32;
        let of_map = (0..map_units).map(|unit| self.header.map_unit + unit);
        for unit in self.map.iter().map(|entry| entry.unit).chain(of_map) {
            let unit = unit as usize;
            if self.used.len() <= unit {
                self.used.resize(unit + 1, false);
            }
            self.used[unit] = true;
        }
    }
}

fn offset(unit: u32) -> u64 {
    u64::from(unit) * UNIT_BYTES
}

/// Units that the last checkpoint is not in, in order.
struct Free<'u> {
    used: &'u [bool],
    next: usize,
}

impl Free<'_> {
    /// The first of so many that lie side by side.
    fn take(&mut self, units: usize) -> Result<u32, Error> {
        let is_used = |unit: usize| self.used.get(unit).copied().unwrap_or(false);
        let mut first = self.next;
        while let Some(used) = (first..first + units).rfind(|unit| is_used(*unit)) {
            first = used + 1;
        }
        self.next = first + units;
        u32::try_from(first).map_err(|_| Error::Full)
    }
}

/// Pages that lie side by side, to be written at once.
#[derive(Default)]
struct Batch {
    first: u32,
    bytes: Vec<u8>,
}

impl Batch {
    fn push(&mut self, file: &impl File, unit: u32, page: &Page) -> io::Result<()> {
        let end = u64::from(self.first) + (self.bytes.len() / PAGE_BYTES) as u64;
        if u64::from(unit) != end || self.bytes.len() >= BATCH_BYTES {
            self.write(file)?;
            self.first = unit;
        }
        self.bytes.extend(page);
        Ok(())
    }

    fn write(&mut self, file: &impl File) -> io::Result<()> {
        if !self.bytes.is_empty() {
            file.write_at(&self.bytes, offset(self.first))?;
            self.bytes.clear();
        }
        Ok(())
    }
}

/// Reads units, of which there are as many as the file has bytes for.
struct Reader<'f, F> {
    file: &'f F,
    bytes: u64,
    window: Window,
}

impl<F: File> Reader<'_, F> {
    fn get(&mut self, unit: u32, len: usize) -> Result<Option<&[u8]>, Error> {
        let Self { file, bytes, window } = self;
        window.get(*file, *bytes, offset(unit), len).map_err(Error::io("reading", NAME))
    }

    fn unit(&mut self, unit: u32) -> Result<Option<&[u8]>, Error> {
        self.get(unit, PAGE_BYTES)
    }

    fn map(&mut self, header: Header) -> Result<Vec<Entry>, Error> {
        let bytes = self.get(header.map_unit, header.map_bytes())?.unwrap_or_default();
        if bytes.len() != header.map_bytes()
            || xxh3_64_with_seed(bytes, header.sequence) != header.map_checksum
        {
            return Err(Error::damaged(NAME, "its page map is damaged"));
        }
        let mut fields = Fields(bytes);
        let mut map = Vec::new();
        while let Some((unit, checksum)) = fields.u32().zip(fields.u64()) {
            map.push(Entry { unit, checksum });
        }
        Ok(map)
    }

    /// All pages, read in the order in which they lie there.
    fn pages(&mut self, map: &[Entry]) -> Result<Pages, Error> {
        let mut order: Vec<usize> = (0..map.len()).collect();
        order.sort_unstable_by_key(|page| map[*page].unit);
        let mut loaded: Vec<Option<Box<Page>>> = vec![None; map.len()];
        for number in order {
            let Entry { unit, checksum } = map[number];
            let page: Option<&Page> = self.unit(unit)?.and_then(|unit| unit.try_into().ok());
            let page = page.filter(|page| xxh3_64_with_seed(&page[..], number as u64) == checksum);
            let Some(page) = page else {
                return Err(Error::damaged(NAME, "a page in it is damaged"));
            };
            loaded[number] = Some(Box::new(*page));
        }
        let mut pages = Pages::default();
        loaded.into_iter().flatten().for_each(|page| pages.load(page));
        Ok(pages)
    }
}
