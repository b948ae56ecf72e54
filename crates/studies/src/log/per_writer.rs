//! A file for each writer, merged by time afterwards.
//!
//! Nobody waits for anybody. The price is paid by whoever reads: the records
//! must be merged by the times that they carry. Ours carry none, for a clock
//! printed into each would be part of this strategy's time alone; the times at which they
//! began are kept in memory and left beside the log when the slice has ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use rustix::fs::{OFlags, fdatasync};

use super::append::{APPENDING, Append, OPENING, SYNCING, Taken, log_name};
use super::records::{Format, Name, Records};
use super::work::Work;
use crate::file::{keep_open, name, open_for_reading, open_for_writing, write_whole};

const MERGING: &str = "merging the writers' logs";

/// A writer's own log.
pub(super) struct PerWriter {
    file: OwnedFd,
    folder: OwnedFd,
    stem: String,
    records: Arc<Records>,
    /// When each record began, in ticks, which all writers share.
    times: Vec<u64>,
}

impl PerWriter {
    pub(super) fn new(
        folder: &OwnedFd,
        records: Arc<Records>,
        work: &Work,
    ) -> Result<Self, StudyError> {
        let stem = stem_of(&work.stem, work.writer);
        Ok(Self {
            file: open_for_writing(folder, &log_name(&stem), OFlags::APPEND).doing(OPENING)?,
            folder: keep_open(folder)?,
            stem,
            records,
            times: Vec::with_capacity(work.records as usize),
        })
    }
}

fn stem_of(stem: &str, writer: u32) -> String {
    format!("{stem}.{writer}")
}

fn times_name(stem: &str) -> CString {
    name(&format!("{stem}.times"))
}

impl Append for PerWriter {
    fn append(&mut self, index: usize, timer: &mut SliceTimer) -> Result<Taken, StudyError> {
        self.times.push(timer.last_ticks());
        write_whole(&self.file, self.records.get(index), APPENDING)?;
        Ok(Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing(SYNCING)
    }

    fn leave(&mut self) -> Result<(), StudyError> {
        let name = times_name(&self.stem);
        let file = open_for_writing(&self.folder, &name, OFlags::EXCL).doing(OPENING)?;
        let bytes: Vec<u8> = self.times.iter().flat_map(|time| time.to_le_bytes()).collect();
        File::from(file).write_all(&bytes).doing("leaving the records' times")
    }
}

/// The writers' logs in a folder, for forcing them to the device.
pub(super) fn logs(
    folder: BorrowedFd<'_>,
    stem: &str,
    writers: u32,
) -> Result<Vec<OwnedFd>, StudyError> {
    (0..writers)
        .map(|writer| {
            let name = log_name(&stem_of(stem, writer));
            open_for_writing(folder, &name, OFlags::APPEND).doing(OPENING)
        })
        .collect()
}

/// Merges the writers' logs into one by time, reading each from start to end.
pub(super) fn merge(
    folder: BorrowedFd<'_>,
    stem: &str,
    format: Format,
    acknowledged: &[u64],
) -> Result<(), StudyError> {
    let sources = (0..acknowledged.len() as u32)
        .map(|writer| Source::open(folder, stem, writer, acknowledged[writer as usize]))
        .collect::<io::Result<Vec<_>>>();
    let merged = open_for_writing(folder, &log_name(stem), OFlags::TRUNC).doing(MERGING)?;
    merge_into(File::from(merged), sources.doing(MERGING)?, format).doing(MERGING)
}

fn merge_into(merged: File, mut sources: Vec<Source>, format: Format) -> io::Result<()> {
    let mut merged = BufWriter::with_capacity(1 << 16, merged);
    let mut line = Vec::new();
    let mut heads = BinaryHeap::new();
    for (writer, source) in sources.iter_mut().enumerate() {
        heads.extend(source.next_time()?.map(|time| Reverse((time, writer))));
    }
    while let Some(Reverse((_, writer))) = heads.pop() {
        let source = &mut sources[writer];
        let name = Name { writer: writer as u32, sequence: source.taken - 1 };
        line.resize(format.size_of(name), 0);
        source.log.read_exact(&mut line)?;
        merged.write_all(&line)?;
        heads.extend(source.next_time()?.map(|time| Reverse((time, writer))));
    }
    // What no time accounts for must not go unseen.
    for source in &mut sources {
        io::copy(&mut source.log, &mut merged)?;
    }
    merged.flush()
}

/// One writer's log and the times of its records.
struct Source {
    log: BufReader<File>,
    times: BufReader<File>,
    taken: u64,
    records: u64,
}

impl Source {
    fn open(folder: BorrowedFd<'_>, stem: &str, writer: u32, records: u64) -> io::Result<Self> {
        let stem = stem_of(stem, writer);
        let open = |name: CString| -> io::Result<BufReader<File>> {
            let file = File::from(open_for_reading(folder, &name)?);
            Ok(BufReader::with_capacity(1 << 16, file))
        };
        Ok(Self { log: open(log_name(&stem))?, times: open(times_name(&stem))?, taken: 0, records })
    }

    fn next_time(&mut self) -> io::Result<Option<u64>> {
        if self.taken == self.records {
            return Ok(None);
        }
        self.taken += 1;
        let mut time = [0; 8];
        self.times.read_exact(&mut time)?;
        Ok(Some(u64::from_le_bytes(time)))
    }
}
