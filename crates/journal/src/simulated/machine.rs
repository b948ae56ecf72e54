//! A simulated machine: a disk whose operations are counted, fail and end in a crash.

use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::rc::Rc;

use rand_chacha::ChaCha8Rng;

use crate::files::{File, Files};
use crate::options::Writing;
use crate::simulated::disk::{Disk, SECTOR_BYTES};

/// What goes wrong on a machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// The machine stops in this operation.
    pub(crate) crash_at: Option<u64>,
    /// The first sync from this operation on fails.
    pub(crate) sync_fails_from: Option<u64>,
    /// What all files may have together.
    pub(crate) room_bytes: Option<usize>,
    /// A defect: syncing a file does nothing.
    pub(crate) ignores_sync: bool,
    /// A defect: syncing the directory does nothing.
    pub(crate) ignores_names_sync: bool,
}

/// What is known of transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The last one that was acknowledged.
    pub(crate) acknowledged: u64,
    /// The last one that was begun to be committed.
    pub(crate) attempted: u64,
}

/// A disk in the middle of an operation.
pub(crate) struct Moment {
    pub(crate) disk: Disk,
    pub(crate) operation: u64,
    pub(crate) mark: Mark,
}

struct State {
    disk: Disk,
    operation: u64,
    faults: Faults,
    has_crashed: bool,
    /// How often something was made to fail.
    failures: u64,
    mark: Mark,
    /// None where nothing is recorded.
    moments: Option<Vec<Moment>>,
    rng: ChaCha8Rng,
}

/// A machine, and the one directory of its disk.
#[derive(Clone)]
pub(crate) struct Machine(Rc<RefCell<State>>);

impl Machine {
    pub(crate) fn new(disk: Disk, faults: Faults, rng: ChaCha8Rng) -> Self {
        Self(Rc::new(RefCell::new(State {
            disk,
            operation: 0,
            faults,
            has_crashed: false,
            failures: 0,
            mark: Mark::default(),
            moments: None,
            rng,
        })))
    }

    /// From now on, the disk is kept as it is in the middle of each operation.
    pub(crate) fn record(&self) {
        self.0.borrow_mut().moments = Some(Vec::new());
    }

    pub(crate) fn recorded(&self) -> Vec<Moment> {
        self.0.borrow_mut().moments.take().unwrap_or_default()
    }

    pub(crate) fn set_mark(&self, mark: Mark) {
        self.0.borrow_mut().mark = mark;
    }

    pub(crate) fn set_faults(&self, faults: Faults) {
        self.0.borrow_mut().faults = faults;
    }

    pub(crate) fn now(&self) -> Moment {
        let state = self.0.borrow();
        Moment { disk: state.disk.clone(), operation: state.operation, mark: state.mark }
    }

    pub(crate) fn operations(&self) -> u64 {
        self.0.borrow().operation
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.0.borrow().has_crashed
    }

    pub(crate) fn failures(&self) -> u64 {
        self.0.borrow().failures
    }
}

impl State {
    /// Nothing happens any more after a crash.
    fn begin(&mut self) -> io::Result<()> {
        if self.has_crashed {
            return Err(io::Error::other("the machine has crashed"));
        }
        self.operation += 1;
        Ok(())
    }

    /// The middle of an operation: here it may crash.
    fn middle(&mut self) -> io::Result<()> {
        let Self { moments, disk, operation, mark, .. } = self;
        if let Some(moments) = moments {
            moments.push(Moment { disk: disk.clone(), operation: *operation, mark: *mark });
        }
        if self.faults.crash_at == Some(self.operation) {
            self.has_crashed = true;
            return Err(io::Error::other("the machine crashes"));
        }
        Ok(())
    }

    fn sync(&mut self, inode: usize) -> io::Result<()> {
        self.middle()?;
        if let Err(error) = self.fail_sync() {
            self.disk.inode_mut(inode).fail_sync(&mut self.rng);
            return Err(error);
        }
        if !self.faults.ignores_sync {
            self.disk.inode_mut(inode).sync();
        }
        Ok(())
    }

    /// An error where this is the sync that is to fail. Names stay to be synced then, for the
    /// file system writes them in order.
    fn fail_sync(&mut self) -> io::Result<()> {
        if self.faults.sync_fails_from.is_some_and(|from| from <= self.operation) {
            self.faults.sync_fails_from = None;
            self.failures += 1;
            return Err(io::Error::other("the device failed"));
        }
        Ok(())
    }

    /// How many bytes more files may have, where that is not enough for `bytes`.
    fn short_of(&mut self, bytes: usize) -> Option<usize> {
        let room = self.faults.room_bytes?.saturating_sub(self.disk.bytes());
        (bytes > room).then(|| {
            self.failures += 1;
            room
        })
    }
}

impl Files for Machine {
    type File = OpenFile;

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.0.borrow().disk.names().cloned().collect())
    }

    fn create(&self, name: &str, writing: Writing) -> io::Result<OpenFile> {
        let mut state = self.0.borrow_mut();
        state.begin()?;
        if state.disk.find(name).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let operation = state.operation;
        let inode = state.disk.create(operation, name);
        state.middle()?;
        Ok(OpenFile { machine: self.clone(), inode, writing })
    }

    fn open(&self, name: &str, writing: Writing) -> io::Result<OpenFile> {
        let inode = self.0.borrow().disk.find(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(OpenFile { machine: self.clone(), inode, writing })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.begin()?;
        if state.disk.find(from).is_none() || state.disk.find(to).is_some() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let operation = state.operation;
        state.disk.rename(operation, from, to);
        state.middle()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.begin()?;
        if state.disk.find(name).is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let operation = state.operation;
        state.disk.remove(operation, name);
        state.middle()
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.begin()?;
        state.middle()?;
        state.fail_sync()?;
        if !state.faults.ignores_names_sync {
            state.disk.sync_names();
        }
        Ok(())
    }
}

/// A file of a machine.
pub(crate) struct OpenFile {
    machine: Machine,
    inode: usize,
    writing: Writing,
}

impl File for OpenFile {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.machine.0.borrow().disk.inode(self.inode).bytes().len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.machine.0.borrow();
        let bytes = state.disk.inode(self.inode).bytes();
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    /// As a file system that knows of each sector, and of one of zeros that it was never written.
    fn written(&self) -> io::Result<Vec<Range<u64>>> {
        let state = self.machine.0.borrow();
        let sectors = state.disk.inode(self.inode).bytes().chunks(SECTOR_BYTES);
        let written = (0..).zip(sectors).filter(|(_, sector)| sector.iter().any(|byte| *byte != 0));
        let part = |(number, _)| number * SECTOR_BYTES as u64..(number + 1) * SECTOR_BYTES as u64;
        Ok(written.map(part).collect())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.machine.0.borrow_mut();
        state.begin()?;
        let offset = offset as usize;
        if self.writing == Writing::Direct {
            let is_aligned = offset.is_multiple_of(SECTOR_BYTES)
                && bytes.len().is_multiple_of(SECTOR_BYTES)
                && bytes.as_ptr().addr().is_multiple_of(SECTOR_BYTES);
            assert!(is_aligned, "O_DIRECT wants offset, length and memory aligned");
        }
        let operation = state.operation;
        let len_before = state.disk.inode(self.inode).bytes().len();
        let grows = (offset + bytes.len()).saturating_sub(len_before);
        let short_of = state.short_of(grows);
        // What there is room for is written.
        let missing = short_of.map_or(0, |room| grows - room).min(bytes.len());
        let fits = &bytes[..bytes.len() - missing];
        state.disk.inode_mut(self.inode).write(operation, offset, fits);
        if self.writing == Writing::Buffered {
            state.middle()?;
        } else {
            state.sync(self.inode)?;
        }
        short_of.map_or(Ok(()), |_| Err(io::ErrorKind::StorageFull.into()))
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.machine.0.borrow_mut();
        state.begin()?;
        let operation = state.operation;
        let len_before = state.disk.inode(self.inode).bytes().len();
        if state.short_of((bytes as usize).saturating_sub(len_before)).is_some() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.disk.inode_mut(self.inode).grow(operation, bytes as usize);
        state.middle()
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.machine.0.borrow_mut();
        state.begin()?;
        state.sync(self.inode)
    }
}
