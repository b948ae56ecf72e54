//! A slice: transactions are committed, and then recovered from what was written.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing as _, Ran, Ready, StudyError};
use host::clock::Clock;
use host::stored::Stored;
use journal::{Commit, Part, Space, Store, Writing};
use model::slice::Outcome;
use units::percent;

use super::base::{Base, Digest};
use super::check::{self, Expected, RecoveryCheck};
use super::config::Config;
use super::device::Device;
use super::failure::failed;
use super::files::SliceFiles;
use super::items::Items;
use super::parts::Parts;
use super::spec;
use crate::figures_of;
use crate::file::keep_open;
use crate::tree::{each_file, sync_tree};

/// What a slice's parts may differ by from its whole time.
const UNACCOUNTED_MAX: f64 = 0.03;

/// An arm, from slice to slice.
pub(super) struct Arm {
    pub(super) config: Config,
    /// Loaded before the first slice, where slices begin with a loaded store.
    base: Option<Arc<Base>>,
    /// Of the last slice: the same for each one of as many transactions.
    items: Option<Rc<Items>>,
    slices: u64,
}

/// A store, and what is to be committed to it.
pub(super) struct Waiting<'a> {
    config: &'a Config,
    base: Option<Arc<Base>>,
    /// The slice's number.
    slice: u64,
    store: Store<SliceFiles>,
    files: SliceFiles,
    device: Option<Rc<Device>>,
    items: Rc<Items>,
    folder: OwnedFd,
}

/// A store to which that was committed. It stays open until the clock has stopped: closing it
/// takes time.
struct Committed<'a> {
    waiting: Waiting<'a>,
    clock: Clock,
    parts: Parts,
    bytes: Bytes,
    /// How long it took, in ticks.
    whole: u64,
}

impl Arm {
    pub(super) fn new(config: Config) -> Self {
        Self { config, base: None, items: None, slices: 0 }
    }

    /// The store that slices begin with, if any.
    fn base(&mut self) -> Result<Option<Arc<Base>>, StudyError> {
        if self.base.is_none() && self.config.loaded() > 0 {
            let base = Base::of(self.config.kind, self.config.loaded()).map_err(failed)?;
            self.base = Some(base);
        }
        Ok(self.base.clone())
    }

    /// The items of that many transactions.
    fn items(&mut self, transactions: u64) -> Rc<Items> {
        let kept = self.items.take().filter(|items| items.transactions() as u64 == transactions);
        let first = self.config.loaded();
        let made = || Rc::new(self.config.kind.items(first..first + transactions));
        Rc::clone(self.items.insert(kept.unwrap_or_else(made)))
    }
}

impl<'a> Waiting<'a> {
    pub(super) fn new(
        arm: &'a mut Arm,
        folder: OwnedFd,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Self, StudyError> {
        let (base, items) = (arm.base()?, arm.items(operations));
        let slice = arm.slices;
        arm.slices += 1;
        let config = &arm.config;
        let options = config.options_for(operations);
        let clock = timer.clock().clone();
        let device = config.model.map(|model| Rc::new(Device::new(model, clock)));
        let opened = keep_open(&folder)?;
        let mut files =
            SliceFiles::new(opened, device.clone()).doing("opening the store's folder")?;
        if let Some(base) = &base {
            // A segment that is used again is as long as any.
            let recycles = options.space == Space::Recycled;
            let journal_bytes = if recycles { options.segment_bytes } else { 0 };
            files.put(base, journal_bytes).doing("putting a loaded store there")?;
        }
        let store = Store::open(files.clone(), &options).map_err(failed)?;
        Ok(Self { config, base, slice, store, files, device, items, folder })
    }

    /// Commits one transaction, and makes a checkpoint where one is due.
    fn commit(&mut self, number: usize, parts: &mut Parts) -> Result<Commit, journal::Error> {
        let mut transaction = self.store.begin(&mut *parts)?;
        for (key, value) in self.items.of(number) {
            transaction.put(key, value)?;
        }
        let commit = transaction.commit()?;
        if self.store.journal_bytes() >= self.config.checkpoint_bytes {
            self.store.checkpoint(parts)?;
        }
        Ok(commit)
    }

    fn commit_all(
        &mut self,
        parts: &mut Parts,
        timer: &mut SliceTimer,
    ) -> Result<Bytes, StudyError> {
        let transactions = self.items.transactions();
        let mut bytes = Bytes::default();
        for number in 0..transactions {
            parts.begin(number as u64, self.slice, transactions as u64);
            bytes.add(&self.commit(number, parts).map_err(failed)?);
            timer.lap();
            timer.check_stop()?;
        }
        Ok(bytes)
    }

    fn turn_device(&self, on: bool) {
        self.device.iter().for_each(|device| device.turn(on));
    }
}

/// What transactions came to.
#[derive(Default)]
struct Bytes {
    put: u64,
    pages: u64,
    written: u64,
}

impl Bytes {
    fn add(&mut self, commit: &Commit) {
        self.put += commit.put_bytes;
        self.pages += commit.journaled.page_bytes;
        self.written += commit.journaled.written_bytes;
    }
}

impl<'a> Ready<'a> for Waiting<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let mut waiting = *self;
        let clock = timer.clock().clone();
        let began = timer.last_ticks();
        let mut parts = Parts::new(clock.clone(), began);
        waiting.turn_device(true);
        let bytes = waiting.commit_all(&mut parts, timer)?;
        waiting.turn_device(false);
        let whole = timer.last_ticks() - began;
        let waits = if waiting.config.options.writing == Writing::Buffered {
            Part::Sync
        } else {
            Part::Write
        };
        let waited_ns = parts.of(waits) as f64 * clock.tick_ns();
        timer.synced(waiting.items.transactions() as u64, waited_ns as u64);
        timer.requested(bytes.written);
        Ok(Box::new(Committed { waiting, clock, parts, bytes, whole }))
    }
}

impl Committed<'_> {
    /// What the transactions came to, all together.
    fn figures(&self) -> Vec<(&'static str, f64)> {
        let Self { waiting, clock, parts, bytes, whole } = self;
        let transactions = waiting.items.transactions() as u64;
        let ns = |ticks: u64| ticks as f64 * clock.tick_ns();
        let wall = spec::WALL
            .map(|[name, ..]| name)
            .into_iter()
            .zip(parts.ticks().iter().map(|ticks| ns(*ticks)));
        let cpu = spec::CPU.map(|[name, ..]| name).into_iter().zip(parts.cpu_ns(transactions));
        let modelled = waiting.device.iter();
        let modelled = modelled.map(|device| (spec::MODELLED, device.waited_ns() as f64));
        let others = [
            (spec::PUT, bytes.put as f64),
            (spec::PAGES, bytes.pages as f64),
            (spec::WRITTEN, bytes.written as f64),
            (spec::PER_SECOND, transactions as f64 * 1e9 / ns(*whole).max(1.0)),
        ];
        wall.chain(cpu).chain(modelled).chain(others).collect()
    }
}

/// What to say where the parts are not the whole.
pub(super) fn unaccounted(parts: u64, whole: u64) -> Option<String> {
    let share = parts as f64 / whole.max(1) as f64;
    ((share - 1.0).abs() > UNACCOUNTED_MAX).then(|| {
        format!(
            "its parts add up to {} of its time, and may differ from it by {}",
            percent(share),
            percent(UNACCOUNTED_MAX)
        )
    })
}

impl Ran for Committed<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        sync_tree(&self.waiting.folder)
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let mut figures = self.figures();
        let Self { waiting, clock, parts, whole, .. } = *self;
        let Waiting { base, store, files, items, folder, .. } = waiting;
        drop(store);
        let (digest, last) = base.map_or((Digest::default(), 0), |base| (base.digest, base.last));
        let expected = Expected { base: digest, last, items: &items };
        let found = check::account(&files, &expected, &clock)?;
        figures.extend(recovery(&found, items.transactions() as f64));
        figures.extend(stored(&folder)?);
        Ok(Outcome {
            integrity: Some(found.integrity),
            figures: figures_of(figures),
            untrusted: unaccounted(parts.ticks().iter().sum(), whole),
            ..Outcome::default()
        })
    }
}

/// What replaying a transaction takes, for as many as the slice had, and how fast it is;
/// nothing where none was replayed.
fn recovery(found: &RecoveryCheck, transactions: f64) -> Vec<(&'static str, f64)> {
    let RecoveryCheck { recovered, recovery_ns, .. } = found;
    if recovered.transactions == 0 || *recovery_ns <= 0.0 {
        return Vec::new();
    }
    let each_ns = recovery_ns / recovered.transactions as f64;
    let mb_per_s = recovered.page_bytes as f64 * 1e3 / recovery_ns;
    vec![(spec::RECOVERY, each_ns * transactions), (spec::RECOVERY_SPEED, mb_per_s)]
}

/// What the file system made of the slice's files, where it may compress them.
fn stored(folder: &OwnedFd) -> Result<Vec<(&'static str, f64)>, StudyError> {
    let mut sum = Stored::NOTHING;
    each_file(folder, |file| {
        let stored = Stored::of(&file).doing("asking what the file system stores")?;
        sum = sum.and(stored.unwrap_or(Stored::NOTHING));
        Ok(())
    })?;
    let Stored { file_bytes, compressed_bytes, stored_bytes } = sum;
    if file_bytes == 0 {
        return Ok(Vec::new());
    }
    let percent = |bytes: u64| bytes as f64 * 100.0 / file_bytes as f64;
    let mut figures = vec![(spec::COMPRESSED, percent(compressed_bytes))];
    figures.extend(stored_bytes.map(|bytes| (spec::STORED, percent(bytes))));
    figures.extend((compressed_bytes == 0).then_some((spec::NOT_COMPRESSED, 1.0)));
    Ok(figures)
}
