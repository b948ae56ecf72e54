//! Counters of acknowledged records that outlive the writer that counts: a page
//! shared between processes, so that what a killed writer had been told is known.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::MapFlags;
use sys::mapping::Mapping;

use super::spec::WRITERS_MAX;

/// A cache line apart, so that writers do not slow one another down.
const STRIDE: usize = 64;
const BYTES: usize = WRITERS_MAX as usize * STRIDE;

/// A counter for each writer.
pub(crate) struct Acks {
    counters: Mapping,
    file: OwnedFd,
}

impl Acks {
    /// New counters, all at nothing.
    pub(crate) fn new() -> io::Result<Self> {
        let file = memfd_create("iotoll-acks", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, BYTES as u64)?;
        Self::map(file)
    }

    /// Counters that another process made.
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        Self::map(File::options().read(true).write(true).open(path)?.into())
    }

    /// The file that another process opens while this one keeps it.
    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    fn map(file: OwnedFd) -> io::Result<Self> {
        let counters = Mapping::shared(&file, BYTES, MapFlags::empty())?;
        Ok(Self { counters, file })
    }

    /// One writer's counter.
    pub(crate) fn of(&self, writer: u32) -> &AtomicU64 {
        self.counters.word(writer as usize % WRITERS_MAX as usize * STRIDE)
    }

    /// How many records a writer was told had been written.
    pub(crate) fn count(&self, writer: u32) -> u64 {
        self.of(writer).load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use process::worker::{Program, WorkerKind};

    use super::*;

    #[test]
    fn who_opens_the_path_sees_the_same_counters() {
        let acks = Acks::new().unwrap();
        let path = WorkerKind::Processes(Program::OURSELVES).path_to(acks.file());
        let other = Acks::open(&path).unwrap();
        other.of(3).store(17, Ordering::Relaxed);
        assert_eq!((acks.count(3), acks.count(2)), (17, 0));
    }
}
