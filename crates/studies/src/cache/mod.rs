//! `cache`: an application keeps its templates compiled, and a manifest of the
//! sources that they were made from.
//!
//! Both operations are whole requests as far as files go. `rebuild` scans the
//! source tree, reads and compiles it, and writes compiled templates and manifest
//! over the cache that is there. `load` reads and understands the manifest, then
//! reads the compiled templates of one page. Compiling is kept simple and is the
//! same everywhere: what differs between places is the files. Sources and cache
//! stand on the same place.
//!
//! An arm's slices share the sources, and loads their cache; each slice of rebuilds has a
//! cache of its own.

mod power;
mod sources;
mod spec;
mod store;

use std::os::fd::OwnedFd;

use engine::slice_timer::SliceTimer;
use engine::study::{About, Footprint, Operations, Ran, Ready, SliceFolders, StudyError, Workload};
use model::integrity::Integrity;
use model::slice::Outcome;
use model::study::Params;
use units::exact_size;

pub(crate) use self::sources::OWN;
use self::sources::{Shape, TREE_BYTES_MAX, Tree, scan};
use self::spec::Operation;
use self::store::Entry;
use crate::atomic_replace::Put;
use crate::built_in_study::{BuiltInStudy, trial};
use crate::drop_cache::{Cache as Memory, Residency};
use crate::file::{keep_open, make_folder};
use crate::tree::{each_file, sync_tree};
use crate::user_data::files::OwnFiles;

/// Even the fastest loads take longer than a slice lasts.
const OPERATIONS_MAX: u64 = 1 << 16;
/// What there is beside sources or their compiled forms: folders, the manifest, and what is
/// written aside.
const FILES_BESIDE: u64 = 16;
/// Each source takes so much in the manifest at the most.
const ENTRY_BYTES: u64 = 256;
/// The same of one of the user's, whose path may be long, and of bytes that are no text.
const OWN_ENTRY_BYTES: u64 = 12 << 10;

/// The study.
pub(crate) static CACHE: BuiltInStudy = BuiltInStudy::new(&spec::SPEC, spec::CASES, workload)
    .with_power_trial(|strategy, params| trial(power::Rebuilt::new(strategy, params)));

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    Ok(Box::new(Config::new(strategy, params)?))
}

/// What an arm is told.
#[derive(Clone)]
struct Config {
    put: Put,
    operation: Operation,
    tree: Tree,
    /// Compiled templates that a page loads.
    used: usize,
    /// Whether memory holds what is loaded.
    memory: Memory,
}

impl Config {
    fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let tree = match params.text("set") {
            "" => Tree::Generated(Self::shape(params)?),
            folder => Tree::Own(OwnFiles::read(folder, OWN)?),
        };
        // Of one's own there may be fewer than is usual.
        let used = params.count("used").min(tree.templates());
        let operation = Operation::of(params.choice("operation"))?;
        let memory = Memory::of(params.choice("cache"))?;
        Ok(Self { put: Put::of(strategy)?, operation, tree, used: used as usize, memory })
    }

    /// What a generated tree is like.
    fn shape(params: &Params) -> Result<Shape, StudyError> {
        let shape = Shape {
            templates: params.count("templates"),
            template_bytes: params.size("template"),
            classes: params.count("classes"),
            class_bytes: params.size("class"),
        };
        let used = params.count("used");
        if used > shape.templates {
            return Err(StudyError::Unsuited(format!(
                "a page cannot use {used} of {} templates; lower used or raise templates",
                shape.templates
            )));
        }
        let bytes = shape.bytes();
        if bytes > TREE_BYTES_MAX {
            return Err(StudyError::Unsuited(format!(
                "sources of {} together are more than {}; make them fewer or smaller",
                exact_size(bytes),
                exact_size(TREE_BYTES_MAX)
            )));
        }
        Ok(shape)
    }

    /// Whether each load is the first of its slice.
    fn is_cold(&self) -> bool {
        self.operation == Operation::Load && self.memory == Memory::Cold
    }

    /// Compiled templates, which may be larger than they were, one more aside, and the
    /// manifest.
    fn cache_bytes(&self) -> u64 {
        // What it compiles to may be larger, at the worst where a source is all braces.
        let larger = match self.tree {
            Tree::Generated(_) => 2,
            Tree::Own(_) => 7,
        };
        larger * self.tree.bytes_on_disk() + self.tree.files() * self.entry_bytes()
    }

    /// What a source takes in the manifest, at the most.
    fn entry_bytes(&self) -> u64 {
        match self.tree {
            Tree::Generated(_) => ENTRY_BYTES,
            Tree::Own(_) => OWN_ENTRY_BYTES,
        }
    }

    /// The cache, written once.
    fn cache_footprint(&self) -> Footprint {
        let bytes = self.cache_bytes();
        let files = self.tree.files() + FILES_BESIDE;
        Footprint { space_bytes: bytes, files, written_bytes: bytes }
    }
}

impl Workload for Config {
    fn about(&self) -> About {
        // A second load would find the manifest in memory.
        let max = if self.is_cold() { 1 } else { OPERATIONS_MAX };
        let bytes = self.tree.bytes_on_disk();
        let files = self.tree.entries() + FILES_BESIDE;
        let sources = Footprint { space_bytes: bytes, files, written_bytes: bytes };
        let kept = match self.operation {
            Operation::Rebuild => sources,
            Operation::Load => sources.and(self.cache_footprint()),
        };
        let material = Some(self.tree.material());
        About { material, kept, ..About::of(Operations { granule: 1, max }) }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        match self.operation {
            // Each writes the whole cache.
            Operation::Rebuild => Footprint {
                written_bytes: self.cache_bytes().saturating_mul(operations),
                ..self.cache_footprint()
            },
            Operation::Load => Footprint::NOTHING,
        }
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let (config, sources) = (self.clone(), keep_open(folders.kept)?);
        if folders.kept_is_new {
            config.tree.make(&sources)?;
            sync_tree(&sources)?;
        }
        let (cache, is_built) = match config.operation {
            Operation::Load => (keep_open(folders.kept)?, !folders.kept_is_new),
            Operation::Rebuild => (keep_open(folders.fresh)?, false),
        };
        let requests = Requests { config, sources, cache };
        if !is_built {
            requests.build(timer)?;
        }
        if requests.config.is_cold() {
            requests.evict()?;
        }
        Ok(Box::new(Built { requests, operations }))
    }
}

/// A cache that requests can be answered from.
struct Built {
    requests: Requests,
    operations: u64,
}

/// What answers requests.
struct Requests {
    config: Config,
    /// Where the sources are.
    sources: OwnedFd,
    /// Where the cache is.
    cache: OwnedFd,
}

impl Requests {
    /// A rebuild finds a cache to build over, and finds it on the device, as all but
    /// the first do: what is replaced must be freed there.
    fn build(&self, timer: &SliceTimer) -> Result<(), StudyError> {
        make_folder(&self.cache, store::FOLDER)?;
        let stop = timer.stop_flag().clone();
        self.rebuild(&mut SliceTimer::new(timer.clock().clone(), stop))?;
        store::sync(&self.cache)
    }

    fn rebuild(&self, timer: &mut SliceTimer) -> Result<u64, StudyError> {
        let sources = scan(&self.sources)?;
        let read: u64 = sources.iter().map(|source| source.contents.len() as u64).sum();
        Ok(read + store::write(&self.cache, &self.config.tree, &sources, self.config.put, timer)?)
    }

    /// Loads what a page needs, other templates than the page before.
    fn load(&self, page: u64) -> Result<u64, StudyError> {
        let (entries, mut read) = store::load_manifest(&self.cache)?;
        let Config { tree, used, .. } = &self.config;
        let templates: Vec<&Entry> = entries.iter().filter(|e| tree.is_template(&e.path)).collect();
        for nth in 0..*used {
            let entry = templates[(page as usize * used + nth) % templates.len()];
            read += store::load_file(&self.cache, &tree.compiled(&entry.path))?.len() as u64;
        }
        Ok(read)
    }

    /// Gets the cache out of memory.
    fn evict(&self) -> Result<(), StudyError> {
        let mut left = Residency::default();
        each_file(&self.cache, |file| left.evict(&file))?;
        left.check_cold(&self.cache)
    }

    /// Loads everything, and holds it against what building it again would give.
    fn account(&self) -> Result<Integrity, StudyError> {
        let tree = &self.config.tree;
        let sources = scan(&self.sources)?;
        let mut integrity = Integrity { records: 1, ..Integrity::default() };
        let manifest = store::load_manifest(&self.cache);
        let expected: Vec<Entry> = sources.iter().map(Entry::of).collect();
        if !manifest.is_ok_and(|(entries, _)| entries == expected) {
            integrity.torn += 1;
            integrity.example = Some("the manifest does not list the sources".to_owned());
        }
        for source in sources.iter().filter(|source| tree.is_template(&source.path)) {
            integrity.records += 1;
            match store::load_file(&self.cache, &tree.compiled(&source.path)) {
                Ok(compiled) if compiled == store::compile(&source.contents) => {}
                Ok(_) => {
                    integrity.torn += 1;
                    integrity.example = Some(format!("the compiled {} is damaged", source.path));
                }
                Err(_) => {
                    integrity.lost += 1;
                    integrity.example = Some(format!("the compiled {} is missing", source.path));
                }
            }
        }
        // The manifest is one more than the templates.
        let there = store::files(&self.cache)?;
        let known = integrity.records - integrity.lost;
        integrity.foreign = there.saturating_sub(known);
        Ok(integrity)
    }
}

impl<'a> Ready<'a> for Built {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { requests, operations } = *self;
        let mut requested_bytes = 0;
        for page in 0..operations {
            requested_bytes += match requests.config.operation {
                Operation::Rebuild => requests.rebuild(timer)?,
                Operation::Load => requests.load(page)?,
            };
            timer.lap();
            timer.check_stop()?;
        }
        timer.requested(requested_bytes);
        Ok(Box::new(requests))
    }
}

impl Ran for Requests {
    fn flush(&mut self) -> Result<(), StudyError> {
        match self.config.operation {
            Operation::Rebuild => store::sync(&self.cache),
            Operation::Load => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        Ok(Outcome { integrity: Some(self.account()?), ..Outcome::default() })
    }
}

#[cfg(test)]
mod tests;
