//! `stream`: a large file is written from start to end and synced once, as
//! `dd conv=fdatasync` does.
//!
//! An operation is one block; the slice's time includes the sync, so the toll
//! of a block carries its share of it. The bytes are random, so that a file
//! system or a device that compresses gains nothing by it.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};

use engine::recorder::Recorder;
use engine::study::{Doing, Operations, Study, StudyError, Task};
use model::study::{ParamKind, ParamSpec, Params, StrategySpec, StudySpec};
use model::units::exact_size;
use rustix::fs::{OFlags, fdatasync};

use crate::file::{open_for_writing, write_whole};
use crate::random;

const NAME: &CStr = c"stream.bin";
const WRITING: &str = "writing the stream";
const SYNCING: &str = "forcing the stream to the device";

static SPEC: StudySpec = StudySpec {
    name: "stream",
    about: "write a large file from start to end, then sync it",
    operation: "block",
    moves_bytes: true,
    by_default: true,
    compared: &[],
    strategies: &[StrategySpec {
        name: "sequential",
        about: "write(2) block after block, with one fdatasync(2) at the end",
        promise: "",
        by_default: true,
    }],
    params: &[
        ParamSpec {
            name: "block",
            about: "size of each write",
            kind: ParamKind::Size { min: 1, max: 64 << 20 },
            default: "1 MiB",
        },
        ParamSpec {
            name: "total",
            about: "size of the file",
            kind: ParamKind::Size { min: 1, max: 64 << 30 },
            default: "32 MiB",
        },
    ],
    figures: &[],
};

/// The study.
pub(crate) struct Stream;

impl Study for Stream {
    fn spec(&self) -> &'static StudySpec {
        &SPEC
    }

    fn operations(&self, params: &Params) -> Result<Operations, String> {
        let (block, total) = (params.size("block"), params.size("total"));
        if total.is_multiple_of(block) {
            Ok(Operations::exactly(total / block))
        } else {
            let (block, total) = (exact_size(block), exact_size(total));
            Err(format!("a total of {total} is not a whole number of blocks of {block}"))
        }
    }

    fn space_bytes(&self, _strategy: &str, params: &Params, _operations: u64) -> u64 {
        params.size("total")
    }

    fn prepare(
        &self,
        _strategy: &str,
        params: &Params,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Task>, StudyError> {
        let block = random::bytes(params.size("block") as usize, 0);
        let file = open_for_writing(folder, NAME, OFlags::EXCL).doing("making the file")?;
        Ok(Box::new(Sequential { file, block, written_bytes: 0 }))
    }
}

struct Sequential {
    file: OwnedFd,
    block: Vec<u8>,
    written_bytes: u64,
}

impl Task for Sequential {
    fn run(&mut self, operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
        for _ in 0..operations {
            write_whole(&self.file, &self.block, WRITING)?;
            recorder.lap();
            recorder.check_stop()?;
        }
        self.written_bytes += operations * self.block.len() as u64;
        recorder.sync(|| fdatasync(&self.file)).doing(SYNCING)
    }

    fn flush(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing(SYNCING)
    }

    fn requested_bytes(&self) -> u64 {
        self.written_bytes
    }
}
