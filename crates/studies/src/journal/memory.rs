//! A directory in memory, in which a store is loaded before any clock starts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use journal::{File, Files, Writing};

/// The directory. Its clones are the same one.
#[derive(Clone, Default)]
pub(super) struct Memory(Rc<RefCell<BTreeMap<String, MemoryFile>>>);

/// A file of it, likewise.
#[derive(Clone, Default)]
pub(super) struct MemoryFile(Rc<RefCell<Vec<u8>>>);

impl Memory {
    /// What a file holds.
    pub(super) fn contents(&self, name: &str) -> io::Result<Vec<u8>> {
        Ok(self.open(name, Writing::Buffered)?.0.take())
    }
}

impl Files for Memory {
    type File = MemoryFile;

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.0.borrow().keys().cloned().collect())
    }

    fn create(&self, name: &str, _: Writing) -> io::Result<MemoryFile> {
        let file = MemoryFile::default();
        match self.0.borrow_mut().insert(name.to_owned(), file.clone()) {
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
            None => Ok(file),
        }
    }

    fn open(&self, name: &str, _: Writing) -> io::Result<MemoryFile> {
        self.0.borrow().get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let file = self.open(from, Writing::Buffered)?;
        let mut files = self.0.borrow_mut();
        files.remove(from);
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.borrow_mut().remove(name).map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_names(&self) -> io::Result<()> {
        Ok(())
    }
}

impl File for MemoryFile {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.borrow().len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.0.borrow();
        let there = bytes.get(offset as usize..).unwrap_or_default();
        let read = there.len().min(buffer.len());
        buffer[..read].copy_from_slice(&there[..read]);
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset + bytes.len() as u64;
        self.allocate(end.max(self.bytes()?))?;
        self.0.borrow_mut()[offset as usize..end as usize].copy_from_slice(bytes);
        Ok(())
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        self.0.borrow_mut().resize(bytes as usize, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
