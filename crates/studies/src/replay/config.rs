//! What an arm is told, and the program that it replays.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::study::{Footprint, StudyError};
use model::material::Material;
use model::study::Params;
use rustix::fs::{fstat, stat};
use units::{counted, rough_size};

use super::cold_cache_penalty::Curve;
use super::fill::Fills;
use super::plan::program::{Act, InitialKind, Program};
use super::plan::{folder, make};
use super::run::Thinking;
use super::{act, cold_cache_penalty, prepare, read};
use crate::drop_cache::Cache;
use crate::user_data::inherited::Kept;

/// The least that a file or folder takes.
const NAME_BYTES: u64 = 8192;

/// One arm's replay.
pub(super) struct Config {
    pub(super) program: Arc<Program>,
    pub(super) fills: Fills,
    /// How much of thinking is kept.
    kept: f64,
    /// Whether the program waited for what a replay may not have to wait for.
    waits: bool,
    /// Where the files are copied from that were there before.
    pub(super) copies: Option<PathBuf>,
    pub(super) cache: Cache,
    /// How many names of files the program changes.
    pub(super) name_changes: u64,
    /// The device that the recorded folder is on, where it is still there.
    device: Option<u64>,
    /// Other processes of the run read it as well.
    _trace: Kept,
}

impl Config {
    pub(super) fn new(params: &Params) -> Result<Self, StudyError> {
        let path = params.text("trace");
        if path.is_empty() {
            return Err(StudyError::Unsuited(
                "there is no trace to replay; record one by `iotoll record -o app.trace -- \
                 COMMAND`, and give it as --set replay.trace=app.trace"
                    .to_owned(),
            ));
        }
        let recording = read::recording(Path::new(path), params.duration("until"));
        let (recording, trace) = recording.map_err(StudyError::Unsuited)?;
        let folder = match params.text("folder") {
            "" => folder::chosen(&recording),
            named => folder::named(named),
        };
        let folder = folder.map_err(StudyError::Unsuited)?;
        let program = make::program(&recording, &folder);
        let mut program = program.map_err(StudyError::Unsuited)?;
        let copies = prepare::copies(params.text("with_files"))?;
        if let Some(copies) = &copies {
            take_sizes(&mut program, copies);
        }
        let fills = fills(&program);
        let steps = || program.replay_threads.iter().flat_map(|replay_thread| &replay_thread.steps);
        let waits = steps().any(|step| cold_cache_penalty::leaves_any(step.waited_us));
        let name_changes = steps().filter(|step| step.act.changes_name()).count() as u64;
        Ok(Self {
            program: Arc::new(program),
            fills,
            kept: params.count("think") as f64 / 100.0,
            waits,
            copies,
            cache: Cache::of(params.choice("cache"))?,
            name_changes,
            device: stat(&folder[..]).ok().map(|facts| facts.st_dev),
            _trace: trace,
        })
    }

    /// How its threads think. What waits leave behind is measured the first time that it counts.
    pub(super) fn thinking(&self) -> Thinking {
        let after_wait = if self.waits { cold_cache_penalty::measured() } else { Curve::default() };
        Thinking { kept: self.kept, after_wait }
    }

    /// Whether a replay in a folder should take as long as the program did.
    pub(super) fn is_as_recorded(&self, folder: BorrowedFd<'_>) -> bool {
        let device = fstat(folder).ok().map(|facts| facts.st_dev);
        device.is_some() && device == self.device && self.kept >= 1.0
    }

    /// The files that the program found; nothing where it found none.
    pub(super) fn material(&self) -> Option<Material> {
        let (files, total) = (self.file_bytes().count() as u64, self.file_bytes().sum());
        let about = format!("{}, {}", counted(files, "file"), rough_size(total));
        (files > 0).then(|| match &self.copies {
            Some(_) => Material::own(about, total),
            None => Material::generated(about, "with_files"),
        })
    }

    /// How long each file is that the program found.
    fn file_bytes(&self) -> impl Iterator<Item = u64> {
        self.program.initial.iter().filter_map(|initial| match initial.what {
            InitialKind::File { bytes, .. } => Some(bytes),
            InitialKind::Folder | InitialKind::Link { .. } => None,
        })
    }

    /// What a replay takes at the most.
    pub(super) fn whole_footprint(&self) -> Footprint {
        let facts = &self.program.facts;
        let before: u64 = self.file_bytes().sum();
        let files = self.program.initial.len() as u64 + facts.made + 1;
        let names = files.saturating_mul(NAME_BYTES);
        let bytes = before.saturating_add(facts.written_bytes).saturating_add(names);
        Footprint { space_bytes: bytes, files, written_bytes: bytes }
    }
}

/// Files that are copied are as long as their originals.
fn take_sizes(program: &mut Program, copies: &Path) {
    for initial in &mut program.initial {
        let path = &program.paths[initial.path as usize];
        if let InitialKind::File { bytes, .. } = &mut initial.what
            && let Some(original) = prepare::original_bytes(copies, path)
        {
            *bytes = original;
        }
    }
}

/// What all its writes and files are made of.
fn fills(program: &Program) -> Fills {
    let mut fills = Fills::default();
    for step in program.replay_threads.iter().flat_map(|replay_thread| &replay_thread.steps) {
        if let Act::Write { length, fill, .. } = step.act {
            fills.with(fill, (length as usize).min(act::CALL_BYTES_MAX));
        }
    }
    for initial in &program.initial {
        if let InitialKind::File { fill, .. } = initial.what {
            fills.with(fill, prepare::PIECE);
        }
    }
    fills
}
