//! The files that a journal consists of.

use crate::buffer::Buffer;
use crate::defect::Planted;
use crate::error::Error;
use crate::files::{File, Files};
use crate::layout::SegmentHeader;
use crate::options::{Options, Space, Writing};

/// Zeros are written in pieces of so many bytes, a multiple of any block.
const ZEROS_BYTES: usize = 1 << 20;
const PREFIX: &str = "journal-";

/// `journal-0000000000000012`: in the order of names, segments are in the order of numbers.
pub(crate) fn name(number: u64) -> String {
    format!("{PREFIX}{number:016}")
}

/// The segments that are there, in order.
pub(crate) fn numbers(files: &impl Files) -> Result<Vec<u64>, Error> {
    let names = files.names().map_err(Error::io("listing the files", "."))?;
    let number = |found: &String| {
        let number = found.strip_prefix(PREFIX)?.parse().ok()?;
        (name(number) == *found && number > 0).then_some(number)
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The segment that is written to.
pub(crate) struct Segment<F> {
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) file: F,
    /// Where the next transaction begins.
    pub(crate) end: u64,
    /// Where the last one ends at the latest.
    limit: u64,
}

/// A segment that is to be made.
#[derive(Clone, Copy)]
pub(crate) struct New {
    pub(crate) number: u64,
    /// The number of its first transaction.
    pub(crate) first: u64,
    /// How long that is, padded.
    pub(crate) bytes: u64,
    /// The number of a segment that is no longer needed.
    pub(crate) spare: Option<u64>,
}

impl<F: File> Segment<F> {
    /// Makes a segment. It is on the device, under its name, when this returns.
    pub(crate) fn make<D: Files<File = F>>(
        files: &D,
        options: &Options,
        new: New,
        planted: Planted,
    ) -> Result<Self, Error> {
        let name = name(new.number);
        let block = u64::from(options.block_bytes);
        let limit = options.segment_bytes.max(block + new.bytes);
        let file = match new.spare {
            Some(spare) => recycle(files, spare, &name, options.writing)?,
            None => create(files, &name, options, limit)?,
        };
        let mut header = Buffer::default();
        let encoded = SegmentHeader { block_bytes: options.block_bytes, first: new.first };
        header.push(&encoded.encode(new.number, planted));
        header.pad(block as usize);
        file.write_at(header.bytes(), 0).map_err(Error::io("writing the header", &name))?;
        file.sync().map_err(Error::io("syncing the header", &name))?;
        files.sync_names().map_err(Error::io("syncing its directory", &name))?;
        Ok(Self { number: new.number, name, file, end: block, limit })
    }

    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        bytes <= self.limit - self.end
    }
}

fn recycle<D: Files>(
    files: &D,
    spare: u64,
    name: &str,
    writing: Writing,
) -> Result<D::File, Error> {
    let renamed = files.rename(&self::name(spare), name);
    renamed.map_err(Error::io("renaming an older segment to it", name))?;
    files.open(name, writing).map_err(Error::io("opening", name))
}

fn create<D: Files>(
    files: &D,
    name: &str,
    options: &Options,
    limit: u64,
) -> Result<D::File, Error> {
    let file = files.create(name, options.writing).map_err(Error::io("creating", name))?;
    match options.space {
        Space::Growing => {}
        Space::Preallocated => {
            file.allocate(limit).map_err(Error::io("allocating space", name))?;
        }
        Space::ZeroFilled | Space::Recycled => {
            fill(&file, options, limit).map_err(Error::io("writing zeros", name))?;
        }
    }
    Ok(file)
}

fn fill(file: &impl File, options: &Options, limit: u64) -> std::io::Result<()> {
    let whole = limit.next_multiple_of(u64::from(options.block_bytes));
    let mut zeros = Buffer::default();
    zeros.push(&vec![0; ZEROS_BYTES.min(whole as usize)]);
    let mut at = 0;
    while at < whole {
        let len = zeros.len().min((whole - at) as usize);
        file.write_at(&zeros.bytes()[..len], at)?;
        at += len as u64;
    }
    Ok(())
}
