//! How a journal is written.

use crate::error::Error;

/// Everything that may be chosen about a journal.
///
/// A journal can be opened with other options than those that it was written with: what
/// recovery needs to know stands in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Store what differs from the pages' previous versions, not whole pages.
    pub differences: bool,
    /// How a transaction's changes are compressed, all of them as one block.
    pub compression: Compression,
    /// Compress only where the changes come to more bytes than this.
    pub threshold_bytes: u32,
    /// What a transaction is padded to: the device's block. A power of two from 512 to 65536.
    pub block_bytes: u32,
    /// How a transaction reaches the device.
    pub writing: Writing,
    /// Where segments, the files that the journal consists of, have their space from.
    pub space: Space,
    /// How long a segment is. One transaction that is longer makes its segment longer.
    pub segment_bytes: u64,
}

impl Default for Options {
    /// Differences, compressed by LZ4, in preallocated segments, synced by fdatasync(2).
    fn default() -> Self {
        Self {
            differences: true,
            compression: Compression::Lz4,
            threshold_bytes: 0,
            block_bytes: 4096,
            writing: Writing::Buffered,
            space: Space::Preallocated,
            segment_bytes: 64 << 20,
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let block = self.block_bytes;
        if !block.is_power_of_two() || !(BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(&block) {
            return Err(Error::Options("block_bytes must be a power of two between 512 and 65536"));
        }
        if self.segment_bytes < 2 * u64::from(block) || self.segment_bytes > SEGMENT_BYTES_MAX {
            return Err(Error::Options("segment_bytes must be between two blocks and 16 GiB"));
        }
        if let Compression::Zstd { level } = self.compression
            && !(ZSTD_LEVEL_MIN..=ZSTD_LEVEL_MAX).contains(&level)
        {
            return Err(Error::Options("the zstd level must be between -7 and 22"));
        }
        Ok(())
    }
}

/// The smallest block that a device has.
pub(crate) const BLOCK_BYTES_MIN: u32 = 512;
/// The largest that a segment may say it has.
pub(crate) const BLOCK_BYTES_MAX: u32 = 65536;
const SEGMENT_BYTES_MAX: u64 = 16 << 30;
/// Lower ones than that only copy.
const ZSTD_LEVEL_MIN: i32 = -7;
const ZSTD_LEVEL_MAX: i32 = 22;

/// How a transaction's changes are compressed. What compressing makes no shorter is stored
/// as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// LZ4's block format.
    Lz4,
    /// Snappy's raw format.
    Snappy,
    /// A Zstandard frame.
    Zstd {
        /// The level, from -7, the fastest, to 22, the strongest; 0 is its own default, 3.
        level: i32,
    },
}

/// How a transaction reaches the device before its commit returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Written through the page cache, then fdatasync(2).
    Buffered,
    /// Written through the page cache of a file that is opened with `O_DSYNC`.
    Dsync,
    /// Written past the page cache: `O_DIRECT` and `O_DSYNC`. `block_bytes` must be a multiple
    /// of what the device takes.
    Direct,
}

/// Where a new segment has its space from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The file grows with each transaction, and so does what the file system has to sync.
    Growing,
    /// Allocated whole by fallocate(2). File systems note for each block that it is written.
    Preallocated,
    /// Written whole with zeros.
    ZeroFilled,
    /// A segment that is no longer needed, overwritten as it is; zero-filled where there is none.
    Recycled,
}
