//! `cache`: an application keeps its templates compiled, and a manifest of the
//! sources that they were made from.
//!
//! Both operations are whole requests as far as files go. `rebuild` scans the
//! source tree, reads and compiles it, and writes compiled templates and manifest
//! over the cache that is there. `load` reads and understands the manifest, then
//! reads the compiled templates of one page. Compiling is kept simple and is the
//! same everywhere: what differs between places is the files. Sources and cache
//! stand on the same place.

mod sources;
mod spec;
mod store;

use std::os::fd::{BorrowedFd, OwnedFd};

use engine::recorder::Recorder;
use engine::study::{Doing, Operations, Study, StudyError, Task};
use model::integrity::Integrity;
use model::study::{Params, StudySpec};
use model::units::exact_size;

use self::sources::{Shape, scan};
use self::store::Entry;
use crate::put::Put;

/// More sources than this are no source tree but a data store.
const TREE_BYTES_MAX: u64 = 64 << 20;
/// Even the fastest loads take longer than a slice lasts.
const OPERATIONS_MAX: u64 = 1 << 16;
/// Each source takes so much in the manifest at the most.
const ENTRY_BYTES: u64 = 256;

/// The study.
pub(crate) struct Cache;

impl Study for Cache {
    fn spec(&self) -> &'static StudySpec {
        &spec::SPEC
    }

    fn operations(&self, params: &Params) -> Result<Operations, String> {
        let (templates, used) = (params.count("templates"), params.count("used"));
        if used > templates {
            return Err(format!(
                "a page cannot use {used} of {templates} templates; lower used or raise templates"
            ));
        }
        let bytes = shape(params).bytes();
        if bytes > TREE_BYTES_MAX {
            return Err(format!(
                "sources of {} together are more than {}; make them fewer or smaller",
                exact_size(bytes),
                exact_size(TREE_BYTES_MAX)
            ));
        }
        Ok(Operations { granule: 1, max: OPERATIONS_MAX })
    }

    /// Sources, compiled templates, which may be larger than they were, one more
    /// aside, and the manifest.
    fn space_bytes(&self, _strategy: &str, params: &Params, _operations: u64) -> u64 {
        let shape = shape(params);
        3 * shape.bytes() + (shape.templates + shape.classes) * (ENTRY_BYTES + 4096)
    }

    fn prepare(
        &self,
        strategy: &str,
        params: &Params,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Task>, StudyError> {
        let folder = folder.try_clone_to_owned().doing("keeping the folder open")?;
        sources::make(&folder, &shape(params))?;
        store::make(&folder)?;
        Ok(Box::new(Requests {
            folder,
            put: Put::of(strategy),
            rebuilds: params.choice("operation") == "rebuild",
            used: params.count("used") as usize,
            requested_bytes: 0,
        }))
    }
}

fn shape(params: &Params) -> Shape {
    Shape {
        templates: params.count("templates"),
        template_bytes: params.size("template"),
        classes: params.count("classes"),
        class_bytes: params.size("class"),
    }
}

struct Requests {
    folder: OwnedFd,
    put: Put,
    rebuilds: bool,
    /// Compiled templates that a page loads.
    used: usize,
    requested_bytes: u64,
}

impl Requests {
    fn rebuild(&self, recorder: &mut Recorder) -> Result<u64, StudyError> {
        let sources = scan(&self.folder)?;
        let read: u64 = sources.iter().map(|source| source.contents.len() as u64).sum();
        Ok(read + store::write(&self.folder, &sources, self.put, recorder)?)
    }

    /// Loads what a page needs, other templates than the page before.
    fn load(&self, page: u64) -> Result<u64, StudyError> {
        let (entries, mut read) = store::load_manifest(&self.folder)?;
        let templates: Vec<&Entry> = entries.iter().filter(|e| e.is_template()).collect();
        for nth in 0..self.used {
            let entry = templates[(page as usize * self.used + nth) % templates.len()];
            read += store::load_template(&self.folder, entry)?.len() as u64;
        }
        Ok(read)
    }

    /// Loads everything, and holds it against what building it again would give.
    fn account(&self) -> Result<Integrity, StudyError> {
        let sources = scan(&self.folder)?;
        let mut integrity = Integrity { records: 1, ..Integrity::default() };
        let manifest = store::load_manifest(&self.folder);
        let expected: Vec<Entry> = sources.iter().map(Entry::of).collect();
        if !manifest.is_ok_and(|(entries, _)| entries == expected) {
            integrity.torn += 1;
            integrity.example = Some("the manifest does not list the sources".to_owned());
        }
        for (entry, source) in expected.iter().zip(&sources).filter(|(e, _)| e.is_template()) {
            integrity.records += 1;
            match store::load_template(&self.folder, entry) {
                Ok(compiled) if compiled == store::compile(&source.contents) => {}
                Ok(_) => {
                    integrity.torn += 1;
                    integrity.example = Some(format!("the compiled {} is not whole", source.path));
                }
                Err(_) => {
                    integrity.lost += 1;
                    integrity.example = Some(format!("the compiled {} is not there", source.path));
                }
            }
        }
        Ok(integrity)
    }
}

impl Task for Requests {
    /// A rebuild finds a cache to build over, and finds it on the device, as all but
    /// the first do: what is replaced must be freed there.
    fn ready(&mut self, _operations: u64, recorder: &Recorder) -> Result<(), StudyError> {
        let stop = recorder.stop_flag().clone();
        self.rebuild(&mut Recorder::new(recorder.clock().clone(), stop))?;
        self.flush()
    }

    fn run(&mut self, operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
        for page in 0..operations {
            self.requested_bytes +=
                if self.rebuilds { self.rebuild(recorder)? } else { self.load(page)? };
            recorder.lap();
            recorder.check_stop()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StudyError> {
        if self.rebuilds { store::sync(&self.folder) } else { Ok(()) }
    }

    fn check(&mut self) -> Result<Option<Integrity>, StudyError> {
        self.account().map(Some)
    }

    fn requested_bytes(&self) -> u64 {
        self.requested_bytes
    }
}

#[cfg(test)]
mod tests;
