//! A study whose strategies each do one kind of thing.

use std::ffi::{CStr, CString};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Doing as _, Footprint, Operations, Ran, Ready, RunsIn, SliceFolders, Study, StudyError,
    Workload,
};
use model::slice::Outcome;
use model::study::{ParamDescription, ParamKind, Params, StrategyDescription, StudyDescription};
use rustix::fs::{
    Advice, AtFlags, FlockOperation, Mode, OFlags, fadvise, fdatasync, flock, fstat, openat,
    unlinkat,
};
use rustix::io::{pread, write};
use sys::mapping::Mapping;

const NAME: &CStr = c"file";
/// Made, written and removed within an operation.
const SHORT_LIVED: &CStr = c"short-lived";
/// What `locked` locks: one file for all slices.
const LOCK: &CStr = c"../lock";
/// Removed one by one, each named by its number.
pub(crate) const REMOVED_FILES: u64 = 64;
/// Large enough that to discard one takes the device longer than to remove it takes the kernel.
const REMOVED_BYTES: u64 = LARGE_BYTES as u64;
/// Memory that is used and given back at once.
const MEMORY_BYTES: usize = 1 << 20;
/// Too large to be written for each slice.
const BESIDE: &CStr = c"../around";
/// What is read cold and warm.
const FILE_BYTES: u64 = 8 << 20;
/// What is read around and around, twice what the small group may have.
const AROUND_BYTES: u64 = 64 << 20;
const RECORD_BYTES: usize = 70;
const LARGE_BYTES: usize = 256 << 10;
static LARGE: [u8; LARGE_BYTES] = [7; LARGE_BYTES];
/// Once around.
pub(crate) const AROUND_READS: u64 = AROUND_BYTES / LARGE_BYTES as u64;

fn strategy(name: &str) -> StrategyDescription {
    StrategyDescription::new(name, "", "")
}

pub(crate) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| StudyDescription {
    strategies: vec![
        strategy("append"),
        strategy("append-sync"),
        strategy("locked"),
        strategy("byte-files"),
        strategy("hash"),
        strategy("write-large"),
        strategy("read-cold"),
        strategy("read-warm"),
        strategy("read-around"),
        strategy("read-whole"),
        strategy("make-and-remove"),
        strategy("remove-synced"),
        strategy("use-memory"),
    ],
    params: vec![ParamDescription::new(
        "operations",
        "so many a slice; 0 for as many as fill it",
        ParamKind::Size { min: 0, max: 1 << 20 },
        "0 B",
    )],
    ..StudyDescription::new("situation", "one kind of thing", "operation")
});

pub(crate) struct Situation;

impl Study for Situation {
    fn spec(&self) -> &'static StudyDescription {
        &SPEC
    }

    fn workload(&self, strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
        let strategy = SPEC.strategy(strategy).unwrap().name.as_str();
        let operations = match params.size("operations") {
            0 => Operations { granule: 1, max: 1 << 20 },
            operations => Operations::exactly(operations),
        };
        Ok(Box::new(Doing { strategy, operations }))
    }

    fn cases(&self) -> &'static [model::case::Case] {
        &[]
    }
}

struct Doing {
    strategy: &'static str,
    operations: Operations,
}

impl Workload for Doing {
    fn about(&self) -> About {
        About { runs_in: RunsIn::ThisProcess, ..About::of(self.operations) }
    }

    fn footprint(&self, _operations: u64) -> Footprint {
        Footprint { space_bytes: AROUND_BYTES, files: 8, written_bytes: AROUND_BYTES }
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        _: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let (strategy, folder) = (self.strategy, folders.fresh);
        let is_around = strategy == "read-around";
        let file = open(folder, if is_around { BESIDE } else { NAME })?;
        let wanted_bytes = match strategy {
            "read-cold" | "read-warm" => FILE_BYTES,
            "read-whole" => LARGE_BYTES as u64,
            "read-around" => AROUND_BYTES,
            _ => 0,
        };
        if fstat(&file).doing("looking at the file")?.st_size as u64 != wanted_bytes {
            fill(&file, wanted_bytes)?;
        }
        if strategy == "read-cold" {
            fadvise(&file, 0, None, Advice::DontNeed).doing("emptying the cache")?;
            fadvise(&file, 0, None, Advice::Random).doing("reading nothing ahead")?;
        }
        if strategy == "remove-synced" {
            for number in 0..REMOVED_FILES {
                let file = open(folder, &numbered(number))?;
                fill(&file, REMOVED_BYTES)?;
                fadvise(&file, 0, None, Advice::DontNeed).doing("emptying the cache")?;
            }
        }
        let lock = open(folder, LOCK)?;
        let folder = folder.try_clone_to_owned().doing("keeping the folder")?;
        let buffer = vec![0; LARGE_BYTES].into();
        Ok(Box::new(Doer { strategy, folder, file, lock, buffer, operations }))
    }
}

/// Touches each page of some memory that is new to the process, and gives it back.
fn use_memory() -> std::io::Result<()> {
    let mut memory = Mapping::anonymous(MEMORY_BYTES)?;
    memory.advise(rustix::mm::Advice::LinuxNoHugepage)?;
    for page in (0..MEMORY_BYTES).step_by(4096) {
        memory.byte(page).store(7, Ordering::Relaxed);
    }
    memory.unmap()
}

fn numbered(number: u64) -> CString {
    CString::new(number.to_string()).unwrap()
}

fn open(folder: impl AsFd, name: &CStr) -> Result<OwnedFd, StudyError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::RUSR | Mode::WUSR).doing("opening the file")
}

fn fill(file: &OwnedFd, bytes: u64) -> Result<(), StudyError> {
    for _ in 0..bytes / LARGE_BYTES as u64 {
        write(file, &LARGE).doing("filling the file")?;
    }
    fdatasync(file).doing("filling the file")
}

struct Doer {
    strategy: &'static str,
    folder: OwnedFd,
    file: OwnedFd,
    lock: OwnedFd,
    /// Filled once, so that only the kernel's work is in a read.
    buffer: Box<[u8]>,
    operations: u64,
}

impl Doer {
    fn one(&mut self, number: u64, timer: &mut SliceTimer) -> Result<u64, StudyError> {
        match self.strategy {
            "append" => self.write(&[7; RECORD_BYTES]),
            "append-sync" => {
                let written = self.write(&[7; RECORD_BYTES])?;
                timer.sync(|| fdatasync(&self.file)).doing("syncing")?;
                Ok(written)
            }
            "locked" => {
                timer.lock(|| flock(&self.lock, FlockOperation::LockExclusive)).doing("locking")?;
                let written = self.write(&[7; RECORD_BYTES]);
                flock(&self.lock, FlockOperation::Unlock).doing("unlocking")?;
                written
            }
            "byte-files" => {
                let file = open(&self.folder, SHORT_LIVED)?;
                unlinkat(&self.folder, SHORT_LIVED, AtFlags::empty()).doing("removing it")?;
                Ok(write(&file, &[7]).doing("writing")? as u64)
            }
            "hash" => {
                let mut hasher = DefaultHasher::new();
                [number; 2000].hash(&mut hasher);
                self.write(&hasher.finish().to_le_bytes())
            }
            "write-large" => self.write(&LARGE),
            // Steps that jump, so that nothing is read ahead.
            "read-cold" | "read-warm" => self.read(4096, number * 37 * 4096 % FILE_BYTES),
            "read-whole" => self.read(LARGE_BYTES, 0),
            "make-and-remove" => {
                timer.changed_name();
                drop(open(&self.folder, SHORT_LIVED)?);
                self.remove(SHORT_LIVED, timer)
            }
            "remove-synced" => self.remove(&numbered(number), timer),
            "use-memory" => {
                use_memory().doing("using memory")?;
                Ok(0)
            }
            "read-around" => self.read(LARGE_BYTES, number * LARGE_BYTES as u64 % AROUND_BYTES),
            other => unreachable!("no strategy {other}"),
        }
    }

    fn remove(&self, name: &CStr, timer: &mut SliceTimer) -> Result<u64, StudyError> {
        timer.changed_name();
        unlinkat(&self.folder, name, AtFlags::empty()).doing("removing it").map(|()| 0)
    }

    fn write(&self, bytes: &[u8]) -> Result<u64, StudyError> {
        Ok(write(&self.file, bytes).doing("writing")? as u64)
    }

    fn read(&mut self, bytes: usize, offset: u64) -> Result<u64, StudyError> {
        Ok(pread(&self.file, &mut self.buffer[..bytes], offset).doing("reading")? as u64)
    }
}

impl<'a> Ready<'a> for Doer {
    fn run(mut self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let mut bytes = 0;
        for number in 0..self.operations {
            bytes += self.one(number, timer)?;
            timer.lap();
        }
        timer.requested(bytes);
        Ok(self)
    }
}

impl Ran for Doer {
    fn flush(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing("flushing")
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        Ok(Outcome::default())
    }
}
