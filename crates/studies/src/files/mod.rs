//! `files`: an application writes documents, invoices as PDF say, reads them back
//! and removes them.
//!
//! Each step is an operation of its own, so that data and names can be told apart:
//! `write` and `read` move contents, `create`, `stat`, `rename` and `unlink` change
//! or ask for names alone. What an operation needs is made outside the clock: once for
//! all slices where it leaves the files there, as `read`, `stat` and `rename` do. What is
//! to be removed is brought to the device first, for a file that was never written back
//! costs a device nothing.

mod power;
mod spec;
mod stock;

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Doing as _, Footprint, Operations, Part, Ran, Ready, SliceFolders, StudyError, Workload,
};
use model::integrity::Integrity;
use model::slice::Outcome;
use model::study::Params;
use rustix::fs::{AtFlags, OFlags, fstat, renameat, statat, unlinkat};
use rustix::io::Errno;
use sys::aligned::Aligned;

use self::spec::{CLIENTS_FOLDER, Operation};
pub(crate) use self::stock::OWN;
use self::stock::{Contents, Document, Stock};
use crate::atomic_replace::{ASIDE, Put};
use crate::built_in_study::{BuiltInStudy, trial};
use crate::clients::{self, Common, OwnOrSame};
use crate::drop_cache::{Cache, Residency};
use crate::file::{keep_open, name, open_for_reading, open_for_writing, read_whole};
use crate::tree::{files_below, sync_files, sync_tree};
use crate::user_data::files::OwnFiles;

/// Even the fastest operation needs longer than a slice lasts for so many.
const OPERATIONS_MAX: u64 = 1 << 17;

/// The study.
pub(crate) static FILES: BuiltInStudy = BuiltInStudy::new(&spec::SPEC, spec::CASES, workload)
    .with_power_trial(|strategy, params| trial(power::Written::new(strategy, params)));

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let config = Config::new(strategy, params)?;
    let filing = Box::new(Filing { config, documents: Vec::new() });
    let common = match OwnOrSame::of(params.choice(CLIENTS_FOLDER))? {
        OwnOrSame::Own => Common::Nothing,
        OwnOrSame::Same => Common::Folders,
    };
    Ok(clients::each(&spec::SPEC, strategy, params, filing, common))
}

/// What an arm is told.
#[derive(Clone)]
struct Config {
    put: Put,
    operation: Operation,
    stock: Stock,
    /// Of what is read.
    cache: Cache,
}

impl Config {
    fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let stock = match params.text("set") {
            "" => Stock::Generated {
                size_bytes: params.size("size"),
                folders: params.count("folders"),
            },
            folder => Stock::Own(OwnFiles::read(folder, OWN)?),
        };
        Ok(Self {
            put: Put::of(strategy)?,
            operation: Operation::of(params.choice("operation"))?,
            stock,
            cache: Cache::of(params.choice("cache"))?,
        })
    }

    /// What the files of so many operations come to.
    fn footprint(&self, operations: u64) -> Footprint {
        let is_empty = self.operation == Operation::Create;
        let most = if is_empty { self.stock.names_max() } else { self.stock.files_max() };
        self.stock.footprint(operations.min(most), is_empty)
    }

    /// Whether the files that one slice finds serve the next one, too.
    fn keeps_files(&self) -> bool {
        match self.operation {
            Operation::Read | Operation::Stat | Operation::Rename => true,
            Operation::Write | Operation::Create | Operation::Unlink => false,
        }
    }
}

/// An arm's documents.
struct Filing {
    config: Config,
    /// Those in the slice's folder, or all that are kept.
    documents: Vec<Document>,
}

impl Workload for Filing {
    fn about(&self) -> About {
        let Config { operation, stock, cache, .. } = &self.config;
        let granule = stock.granule();
        let max = match operation {
            Operation::Write | Operation::Unlink => stock.files_max(),
            Operation::Create => stock.names_max(),
            // Each once, for then it is in memory.
            Operation::Read if *cache == Cache::Cold => stock.files_max(),
            Operation::Read | Operation::Stat | Operation::Rename => {
                OPERATIONS_MAX / granule * granule
            }
        };
        let kept =
            if self.config.keeps_files() { self.config.footprint(max) } else { Footprint::NOTHING };
        let material = Some(stock.material());
        About { material, kept, ..About::of(Operations { granule, max }) }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        if self.config.keeps_files() {
            return Footprint::NOTHING;
        }
        let made = self.config.footprint(operations);
        // What is written over was written before.
        Footprint { written_bytes: 2 * made.written_bytes, ..made }
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let Self { config, documents } = self;
        let folder = if config.keeps_files() { folders.kept } else { folders.fresh };
        if folders.kept_is_new || !config.keeps_files() {
            documents.clear();
        }
        let folder = keep_open(folder)?;
        Ok(Box::new(made(config, folder, folders.part, documents, operations, timer)?))
    }
}

/// Documents that operations can be done on.
struct Made<'d> {
    documents: Documents<'d>,
    operations: u64,
}

#[expect(clippy::struct_field_names, reason = "they are what it is a list of")]
struct Documents<'d> {
    config: Config,
    folder: OwnedFd,
    part: Part,
    /// The number of the first, of all that several clients have in the folder.
    first: u64,
    aside: CString,
    contents: Contents,
    buffer: Aligned,
    /// All that the arm keeps …
    documents: &'d mut [Document],
    /// … of which the slice has the first so many.
    used: usize,
}

impl<'d> Documents<'d> {
    fn new(
        config: &Config,
        folder: OwnedFd,
        part: Part,
        documents: &'d mut [Document],
        used: usize,
    ) -> Self {
        let contents = config.stock.contents();
        Self {
            config: config.clone(),
            folder,
            part,
            first: config.stock.first(part),
            aside: aside(part),
            buffer: Aligned::zeros(contents.largest()),
            contents,
            documents,
            used,
        }
    }

    /// Does one operation on one document.
    #[inline]
    fn operate(&mut self, number: usize, timer: &mut SliceTimer) -> Result<u64, StudyError> {
        match self.config.operation {
            Operation::Write => self.write(number, timer),
            Operation::Read => self.read(number),
            Operation::Create => self.create(&self.documents[number].path, timer).map(|()| 0),
            Operation::Stat => self.stat(&self.documents[number].path).map(|()| 0),
            Operation::Rename => self.rename(number, timer).map(|()| 0),
            Operation::Unlink => self.unlink(&self.documents[number].path, timer).map(|()| 0),
        }
    }

    fn write(&mut self, number: usize, timer: &mut SliceTimer) -> Result<u64, StudyError> {
        let contents = self.contents.of(self.first + number as u64);
        let document = &self.documents[number];
        let put = self.config.put;
        put.file_by(&self.aside, &self.folder, &document.path, contents, timer)?;
        put.names(&self.folder, &document.folder, timer)?;
        Ok(contents.len() as u64)
    }

    fn read(&mut self, number: usize) -> Result<u64, StudyError> {
        const READING: &str = "reading a document";
        let file = open_for_reading(&self.folder, &self.documents[number].path).doing(READING)?;
        let size = fstat(&file).doing(READING)?.st_size as usize;
        read_whole(file, self.buffer.at_least(size), READING)?;
        Ok(size as u64)
    }

    fn create(&self, path: &CStr, timer: &mut SliceTimer) -> Result<(), StudyError> {
        timer.changed_name();
        open_for_writing(&self.folder, path, OFlags::EXCL).doing("creating a file").map(drop)
    }

    fn stat(&self, path: &CStr) -> Result<(), StudyError> {
        statat(&self.folder, path, AtFlags::SYMLINK_NOFOLLOW).doing("asking for a file").map(drop)
    }

    fn rename(&mut self, number: usize, timer: &mut SliceTimer) -> Result<(), StudyError> {
        timer.changed_name();
        let Document { path, other, .. } = &mut self.documents[number];
        let renamed = renameat(&self.folder, &*path, &self.folder, &*other);
        std::mem::swap(path, other);
        renamed.doing("renaming a file")
    }

    fn unlink(&self, path: &CStr, timer: &mut SliceTimer) -> Result<(), StudyError> {
        timer.changed_name();
        unlinkat(&self.folder, path, AtFlags::empty()).doing("removing a file")
    }

    /// Holds one document against what was written.
    fn examine(&mut self, number: usize, integrity: &mut Integrity) -> Result<(), StudyError> {
        integrity.records += 1;
        match self.find(number)? {
            DocumentState::Whole => {}
            DocumentState::Absent => integrity.lost += 1,
            DocumentState::Empty | DocumentState::Cut { .. } => integrity.torn += 1,
            DocumentState::Different => integrity.overwritten += 1,
        }
        Ok(())
    }

    /// Looks for one document.
    fn find(&mut self, number: usize) -> Result<DocumentState, StudyError> {
        let document = &self.documents[number];
        let file = match open_for_reading(&self.folder, &document.path) {
            Err(Errno::NOENT) => return Ok(DocumentState::Absent),
            opened => opened.doing("checking a document")?,
        };
        let is_empty = self.config.operation == Operation::Create;
        let stamp = self.first + number as u64;
        let expected: &[u8] = if is_empty { &[] } else { self.contents.of(stamp) };
        let size = fstat(&file).doing("checking a document")?.st_size as usize;
        match size {
            _ if size == expected.len() => {}
            0 => return Ok(DocumentState::Empty),
            bytes => return Ok(DocumentState::Cut { bytes }),
        }
        let found = self.buffer.at_least(size);
        read_whole(file, found, "checking a document")?;
        Ok(if *found == *expected { DocumentState::Whole } else { DocumentState::Different })
    }

    /// Gets those that are used out of memory.
    fn evict(&self) -> Result<(), StudyError> {
        let mut left = Residency::default();
        for document in &self.documents[..self.used] {
            let file =
                open_for_reading(&self.folder, &document.path).doing("opening a document")?;
            left.evict(&file)?;
        }
        left.check_cold(&self.folder)
    }

    /// Forces what this client did to the device.
    fn sync(&self) -> Result<(), StudyError> {
        if self.part.is_shared() {
            let used = self.documents[..self.used].iter();
            sync_files(&self.folder, used.map(|document| document.path.as_c_str()))
        } else {
            sync_tree(&self.folder)
        }
    }

    /// Looks among the files of others for what was removed.
    fn examine_removed(&mut self, integrity: &mut Integrity) -> Result<(), StudyError> {
        for number in 0..self.used {
            integrity.foreign += u64::from(self.find(number)? != DocumentState::Absent);
        }
        Ok(())
    }

    /// Looks for files that are no document's; where other clients have theirs, they are known
    /// to them alone.
    fn examine_names(&self, integrity: &mut Integrity) -> Result<(), StudyError> {
        const LOOKING: &str = "looking for files that nobody wrote";
        if self.part.is_shared() {
            return Ok(());
        }
        let known: HashSet<&CStr> = self.documents.iter().map(|d| d.path.as_c_str()).collect();
        let found = files_below(&self.folder).doing(LOOKING)?;
        let foreign = found.iter().filter(|path| !known.contains(path.as_c_str()));
        integrity.foreign += foreign.count() as u64;
        Ok(())
    }
}

/// Where a client writes what it renames.
fn aside(part: Part) -> CString {
    if part.is_shared() { name(&format!("aside-{}.tmp", part.number)) } else { ASIDE.to_owned() }
}

/// What is found of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentState {
    Whole,
    Absent,
    Empty,
    Cut { bytes: usize },
    Different,
}

/// Documents that operations can be done on, with those that are kept.
fn made<'d>(
    config: &Config,
    folder: OwnedFd,
    part: Part,
    kept: &'d mut Vec<Document>,
    operations: u64,
    timer: &SliceTimer,
) -> Result<Made<'d>, StudyError> {
    let Config { operation, stock, cache, .. } = config;
    let (files, are_made) = match operation {
        Operation::Write | Operation::Create => (operations, false),
        _ => (operations.min(stock.files_max()), true),
    };
    let there = kept.len();
    stock.make_folders(&folder, part, there as u64, files)?;
    let missing = there as u64..files;
    kept.extend(missing.map(|number| stock.document(stock.first(part) + number)));
    let mut documents = Documents::new(config, folder, part, kept, files as usize);
    if are_made && there < documents.used {
        let mut unseen = SliceTimer::new(timer.clock().clone(), timer.stop_flag().clone());
        for number in there..documents.used {
            documents.write(number, &mut unseen)?;
            timer.check_stop()?;
        }
        documents.sync()?;
    }
    if *operation == Operation::Read && *cache == Cache::Cold {
        documents.evict()?;
    }
    Ok(Made { documents, operations })
}

impl<'a> Ready<'a> for Made<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { mut documents, operations } = *self;
        let (mut number, mut requested_bytes) = (0, 0);
        for _ in 0..operations {
            requested_bytes += documents.operate(number, timer)?;
            timer.lap();
            number = if number + 1 == documents.used { 0 } else { number + 1 };
            timer.check_stop()?;
        }
        timer.requested(requested_bytes);
        Ok(Box::new(documents))
    }
}

impl Ran for Documents<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        match self.config.operation {
            Operation::Read | Operation::Stat => Ok(()),
            _ => self.sync(),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Outcome, StudyError> {
        let mut integrity = Integrity::default();
        if self.config.operation == Operation::Unlink {
            // What was removed is gone.
            integrity.records = self.used as u64;
            if self.part.is_shared() {
                self.examine_removed(&mut integrity)?;
            }
            self.documents = &mut [];
        } else {
            (0..self.used).try_for_each(|number| self.examine(number, &mut integrity))?;
        }
        self.examine_names(&mut integrity)?;
        Ok(Outcome { integrity: Some(integrity), ..Outcome::default() })
    }
}

#[cfg(test)]
mod tests;
