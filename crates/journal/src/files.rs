//! What the library asks of a file system: a directory and its files.
//!
//! Real files ([`OsFiles`](crate::OsFiles)) and simulated ones go the same way, through
//! these two traits.

use std::io;
use std::iter;
use std::ops::Range;

use crate::options::Writing;

/// One directory, and what is done to the names in it.
pub trait Files {
    /// A file that is open for reading and writing.
    type File: File;

    /// The names of all files there.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Makes a file that must not be there yet.
    fn create(&self, name: &str, writing: Writing) -> io::Result<Self::File>;

    /// Opens a file that must be there.
    fn open(&self, name: &str, writing: Writing) -> io::Result<Self::File>;

    /// Gives a file another name, which no other has.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns when all names are on the device as they are now.
    fn sync_names(&self) -> io::Result<()>;
}

/// An open file.
pub trait File {
    /// How long it is.
    fn bytes(&self) -> io::Result<u64>;

    /// Reads what is there, up to the buffer's length; 0 at the file's end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// The parts to which anything was written, in order: all else is zeros, as the file system
    /// knows where it has space that nothing was written to. What was read may count as written.
    fn written(&self) -> io::Result<Vec<Range<u64>>> {
        Ok(iter::once(0..self.bytes()?).collect())
    }

    /// Writes everything, growing the file where it must. A file that was opened with
    /// [`Writing::Dsync`] or [`Writing::Direct`] has it on the device on return.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes the file so long, with space on the device for all of it. What is new is read
    /// as zeros.
    fn allocate(&self, bytes: u64) -> io::Result<()>;

    /// Returns when the contents, and the length, are on the device: fdatasync(2).
    fn sync(&self) -> io::Result<()>;
}
