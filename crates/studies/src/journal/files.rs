//! A slice's files: those of its folder, with a loaded store's checkpoint below the file
//! `data`, and a modelled device below all of them.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::iter;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use journal::{File, Files, OsFiles, PAGE_BYTES, Writing};

use super::base::{Base, DATA};
use super::device::Device;

/// The directory.
#[derive(Clone)]
pub(super) struct SliceFiles {
    folder: Rc<OsFiles>,
    below: Option<Rc<Below>>,
    device: Option<Rc<Device>>,
}

/// What the file `data` has where the slice has not written to it.
struct Below {
    base: Arc<Base>,
    /// Of each page, whether the slice has.
    is_written: RefCell<Vec<bool>>,
}

/// A file of the directory.
pub(super) struct SliceFile {
    file: fs::File,
    below: Option<Rc<Below>>,
    device: Option<Rc<Device>>,
    writing: Writing,
}

impl SliceFiles {
    /// Those of an empty folder, on a modelled device or none.
    pub(super) fn new(folder: OwnedFd, device: Option<Rc<Device>>) -> io::Result<Self> {
        Ok(Self { folder: Rc::new(OsFiles::new(folder)?), below: None, device })
    }

    /// Puts a loaded store there, whose journal's file is filled up to so many bytes.
    pub(super) fn put(&mut self, base: &Arc<Base>, journal_bytes: u64) -> io::Result<()> {
        let (name, contents) = &base.journal;
        let journal = self.create(name, Writing::Buffered)?;
        let mut contents = contents.clone();
        contents.resize(contents.len().max(journal_bytes as usize), 0);
        journal.write_at(&contents, 0)?;
        if journal_bytes > 0 {
            // It is used again within the clock, and is on the device by then.
            journal.sync()?;
        }
        // Opening the store syncs all else that is there before the clock starts.
        self.create(DATA, Writing::Buffered)?;
        let is_written = RefCell::new(vec![false; base.data.len().div_ceil(PAGE_BYTES)]);
        self.below = Some(Rc::new(Below { base: Arc::clone(base), is_written }));
        Ok(())
    }

    /// A file as this directory has it.
    fn with(&self, file: fs::File, name: &str, writing: Writing) -> SliceFile {
        let below = self.below.as_ref().filter(|_| name == DATA);
        SliceFile { file, below: below.cloned(), device: self.device.clone(), writing }
    }
}

impl Files for SliceFiles {
    type File = SliceFile;

    fn names(&self) -> io::Result<Vec<String>> {
        self.folder.names()
    }

    fn create(&self, name: &str, writing: Writing) -> io::Result<SliceFile> {
        Ok(self.with(self.folder.create(name, writing)?, name, writing))
    }

    fn open(&self, name: &str, writing: Writing) -> io::Result<SliceFile> {
        Ok(self.with(self.folder.open(name, writing)?, name, writing))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.folder.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.folder.remove(name)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.folder.sync_names()?;
        self.device.iter().for_each(|device| device.sync());
        Ok(())
    }
}

impl File for SliceFile {
    fn bytes(&self) -> io::Result<u64> {
        let below = self.below.as_ref().map_or(0, |below| below.base.data.len() as u64);
        Ok(self.file.bytes()?.max(below))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.below {
            Some(below) => below.read_at(&self.file, buffer, offset),
            None => self.file.read_at(buffer, offset),
        }
    }

    fn written(&self) -> io::Result<Vec<Range<u64>>> {
        match &self.below {
            Some(_) => Ok(iter::once(0..self.bytes()?).collect()),
            None => self.file.written(),
        }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        File::write_at(&self.file, bytes, offset)?;
        if let Some(below) = &self.below {
            below.note_written(bytes.len(), offset)?;
        }
        if let Some(device) = &self.device {
            device.take(bytes.len() as u64);
            if self.writing != Writing::Buffered {
                device.sync();
            }
        }
        Ok(())
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        self.file.allocate(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()?;
        self.device.iter().for_each(|device| device.sync());
        Ok(())
    }
}

impl Below {
    /// Reads each page from where it is.
    fn read_at(&self, file: &fs::File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let is_written = self.is_written.borrow();
        let mut read = 0;
        while read < buffer.len() {
            let at = offset as usize + read;
            let rest = &mut buffer[read..];
            let here = rest.len().min(PAGE_BYTES - at % PAGE_BYTES);
            let page = &mut rest[..here];
            let got = if is_written.get(at / PAGE_BYTES).copied().unwrap_or(true) {
                File::read_at(file, page, at as u64)?
            } else {
                let there = self.base.data.get(at..).unwrap_or_default();
                let got = there.len().min(here);
                page[..got].copy_from_slice(&there[..got]);
                got
            };
            read += got;
            if got < here {
                break;
            }
        }
        Ok(read)
    }

    /// The store writes whole pages to its checkpoint. Of what is beyond the one below, the
    /// file has all that there is.
    fn note_written(&self, bytes: usize, offset: u64) -> io::Result<()> {
        let from = offset as usize;
        if !from.is_multiple_of(PAGE_BYTES) || !bytes.is_multiple_of(PAGE_BYTES) {
            let why = "a checkpoint was written in parts of pages";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let pages = from / PAGE_BYTES..(from + bytes) / PAGE_BYTES;
        let mut is_written = self.is_written.borrow_mut();
        is_written.iter_mut().take(pages.end).skip(pages.start).for_each(|page| *page = true);
        Ok(())
    }
}
