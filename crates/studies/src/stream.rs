//! `stream`: a large file is written from start to end and synced once, as
//! `dd conv=fdatasync` does.
//!
//! An operation is one block; the slice's time includes the sync, so the time per operation
//! of a block carries its share of it. The bytes are random, so that a file
//! system or a device that compresses gains nothing by it, and each block has its
//! number in front, so that reading back finds one that stands in another's place.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::LazyLock;

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Doing as _, Footprint, Operations, Ran, Ready, SliceFolders, StudyError, Workload,
};
use model::case::Case;
use model::integrity::Integrity;
use model::slice::Outcome;
use model::study::{Params, StudyDescription};
use rustix::fs::{OFlags, fdatasync};
use units::exact_size;

use crate::built_in_study::BuiltInStudy;
use crate::choices::strategies;
use crate::file::{keep_open, open_for_reading, open_for_writing, write_whole};
use crate::random::{self, stamp};
use crate::read_back::{PIECE_BYTES, compared, ends};
use crate::rules::change;
use crate::specs::{param, size};

const NAME: &CStr = c"stream.bin";
const WRITING: &str = "writing the stream";
const SYNCING: &str = "forcing the stream to the device";
const READING: &str = "reading the stream back";

strategies! {
    /// How the file is written.
    enum Strategy {
        Sequential = "sequential", by_default {
            label: "write, then fdatasync",
            about: "write(2) block after block, with one fdatasync(2) at the end",
            promises: "", syncs: Always, relies_on: [], params: [], needs: None,
            recipe: change(
                "write(2) from start to end, then fdatasync(2) once (dd conv=fdatasync)",
                "strace -f -e write,fdatasync -p PID shows one fdatasync, after the last write",
                "leave the fdatasync(2) out",
            ),
        }
    }
}

static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        moves_bytes: true,
        params: vec![
            param("block", "size of each write", size(1, 64 << 20, "1 MiB")),
            param("total", "size of the file", size(1, 64 << 30, "32 MiB")),
        ],
        details: "A slice writes a file from start to end and forces it to the device once, as `dd \
                  conv=fdatasync` does. Each block has its share of that sync. The bytes are random, \
                  so compression gains nothing.",
        ..StudyDescription::new("stream", "write a large file and sync it, per block", "block")
    }
    .with_strategies(Strategy::descriptions())
});

const CASES: &[Case] = &[
    Case::of("sequential", &[("total", "1 MiB"), ("block", "64 KiB")]).calls_fail(),
    Case::of("sequential", &[("total", "64 KiB"), ("block", "16 KiB")]).killed(),
    Case::of("sequential", &[("total", "4 MiB")]).footprint(4),
];

/// The study.
pub(crate) static STREAM: BuiltInStudy = BuiltInStudy::new(&SPEC, CASES, workload);

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let Strategy::Sequential = Strategy::of(strategy)?;
    let (block_bytes, total_bytes) = (params.size("block"), params.size("total"));
    if total_bytes.is_multiple_of(block_bytes) {
        let exactly = Operations::exactly(total_bytes / block_bytes);
        return Ok(Box::new(Sequential::new(block_bytes, exactly, true)));
    }
    let (block, total) = (exact_size(block_bytes), exact_size(total_bytes));
    Err(StudyError::Unsuited(format!(
        "a total of {total} is not a whole number of blocks of {block}"
    )))
}

/// As many blocks of 1 MiB as fit into a slice, synced at its end or not.
pub(crate) fn written(is_synced: bool) -> Box<dyn Workload> {
    let blocks = Operations { granule: 2, max: 256 };
    Box::new(Sequential::new(1 << 20, blocks, is_synced))
}

struct Sequential {
    block_bytes: u64,
    /// How many a slice may have.
    blocks: Operations,
    is_synced: bool,
    /// What is written over and over, from the first slice on.
    block: Vec<u8>,
}

impl Sequential {
    fn new(block_bytes: u64, blocks: Operations, is_synced: bool) -> Self {
        Self { block_bytes, blocks, is_synced, block: Vec::new() }
    }
}

impl Workload for Sequential {
    fn about(&self) -> About {
        // As many as fit are what a check writes, which begins everything anew.
        let warms_up = self.blocks.granule == self.blocks.max;
        About { warms_up, ..About::of(self.blocks) }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        let bytes = self.block_bytes.saturating_mul(operations);
        Footprint { space_bytes: bytes, files: 1, written_bytes: bytes }
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        _timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        if self.block.is_empty() {
            self.block = random::bytes(self.block_bytes as usize, 0);
        }
        let file = open_for_writing(folders.fresh, NAME, OFlags::EXCL).doing("making the file")?;
        let folder = keep_open(folders.fresh)?;
        let Self { is_synced, block, .. } = self;
        Ok(Box::new(Writing { folder, file, block, is_synced: *is_synced, blocks: operations }))
    }
}

/// The file, and what is written to it over and over.
struct Writing<'w> {
    folder: OwnedFd,
    file: OwnedFd,
    block: &'w mut [u8],
    is_synced: bool,
    blocks: u64,
}

impl<'a> Ready<'a> for Writing<'a> {
    fn run(mut self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { ref file, ref mut block, is_synced, blocks, .. } = *self;
        for number in 0..blocks {
            stamp(block, number);
            write_whole(file, block, WRITING)?;
            timer.lap();
            timer.check_stop()?;
        }
        timer.requested(blocks * block.len() as u64);
        if is_synced {
            timer.sync(|| fdatasync(file)).doing(SYNCING)?;
        }
        Ok(self)
    }
}

impl Ran for Writing<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing(SYNCING)
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { folder, block, blocks, .. } = *self;
        let file = open_for_reading(&folder, NAME).doing(READING)?;
        let integrity = account(&mut File::from(file), block, blocks).doing(READING)?;
        Ok(Outcome { integrity: Some(integrity), ..Outcome::default() })
    }
}

/// Holds every block against what was written, and sees whether anything follows.
fn account(file: &mut File, block: &mut [u8], blocks: u64) -> io::Result<Integrity> {
    let mut integrity = Integrity { records: blocks, ..Integrity::default() };
    let mut piece = vec![0; PIECE_BYTES];
    for number in 0..blocks {
        stamp(block, number);
        let broken = match compared(file, block, &mut piece)? {
            (length, true) if length == block.len() => continue,
            (0, _) => &mut integrity.lost,
            (length, _) if length < block.len() => &mut integrity.torn,
            _ => &mut integrity.overwritten,
        };
        *broken += 1;
        integrity.example.get_or_insert_with(|| format!("block {number} is not as it was written"));
    }
    integrity.foreign = u64::from(!ends(file)?);
    Ok(integrity)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Seek as _;
    use std::os::unix::fs::FileExt as _;

    use super::*;

    /// What is found in a file of four blocks once it was changed.
    fn found(block_bytes: usize, change: impl Fn(&File)) -> Integrity {
        let mut file = tempfile::tempfile().unwrap();
        let mut block = random::bytes(block_bytes, 0);
        for number in 0..4 {
            stamp(&mut block, number);
            file.write_all_at(&block, number * block_bytes as u64).unwrap();
        }
        change(&file);
        file.rewind().unwrap();
        account(&mut file, &mut block, 4).unwrap()
    }

    #[test]
    fn what_is_not_as_it_was_written_is_found_in_blocks_of_one_piece_and_of_several() {
        for size in [3000, PIECE_BYTES, 3 * PIECE_BYTES + 100] {
            let bytes = size as u64;
            assert!(found(size, |_| {}).is_intact());
            for place in [bytes + 20, 2 * bytes - 5] {
                let changed = found(size, |file| file.write_all_at(b"other", place).unwrap());
                assert_eq!((changed.overwritten, changed.lost, changed.torn), (1, 0, 0));
            }
            let cut = found(size, |file| file.set_len(3 * bytes - 1).unwrap());
            assert_eq!((cut.overwritten, cut.lost, cut.torn), (0, 1, 1));
            assert_eq!(found(size, |file| file.set_len(5 * bytes).unwrap()).foreign, 1);
        }
    }
}
