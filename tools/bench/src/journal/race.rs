//! Engines that take turns at the same work, and what they came to.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::engines::{Engine, Program, Recovery, Stretch, Work};
use crate::spread::Spread;
use crate::turns::in_any_order;

/// An engine, and what it is called in tables.
pub(super) struct Entry {
    pub(super) engine: &'static str,
    pub(super) title: &'static str,
}

/// An engine that has done all of its work.
#[derive(Default)]
pub(super) struct Done {
    pub(super) engine: &'static str,
    pub(super) title: &'static str,
    /// Block by block.
    pub(super) stretches: Vec<Stretch>,
    /// Where the journal was read back.
    pub(super) recovery: Option<Recovery>,
}

/// Where they do it, and how much.
pub(super) struct Race<'a> {
    pub(super) program: &'a Program,
    pub(super) place: &'a Path,
    /// Of each engine.
    pub(super) commits: u64,
    pub(super) blocks: usize,
}

impl Race<'_> {
    /// Has all of them do the work, reads their journals back where those are ours, and compares
    /// what they have at the end.
    pub(super) fn run<'e>(
        &self,
        work: &Work,
        entries: impl IntoIterator<Item = &'e Entry>,
        reads_back: bool,
    ) -> Result<Vec<Done>> {
        let finish = |(mut engine, done): (Engine, Done)| {
            let recovery = reads_back.then(|| engine.recover()).transpose()?;
            engine.check(work.items)?;
            Ok(Done { recovery, ..done })
        };
        self.commit_all(work, entries)?.into_iter().map(finish).collect()
    }

    fn commit_all<'e>(
        &self,
        work: &Work,
        entries: impl IntoIterator<Item = &'e Entry>,
    ) -> Result<Vec<(Engine, Done)>> {
        let start = |&Entry { engine, title }: &Entry| {
            let started = self.program.start(self.place, engine, work)?;
            Ok((started, Done { engine, title, ..Done::default() }))
        };
        let mut running: Vec<(Engine, Done)> =
            entries.into_iter().map(start).collect::<Result<_>>()?;
        let blocks = self.blocks as u64;
        for block in 0..blocks {
            eprint!("\rblock {} of {blocks}, keys {}", block + 1, work.keys);
            let end = |block: u64| self.commits * block / blocks;
            for turn in in_any_order(running.len()) {
                let (engine, done) = &mut running[turn];
                let stretch = engine.commit(end(block + 1) - end(block));
                done.stretches.push(stretch.with_context(|| done.title)?);
            }
        }
        eprintln!();
        Ok(running)
    }
}

impl Done {
    fn sum(&self, of: impl Fn(&Stretch) -> u64) -> f64 {
        self.stretches.iter().map(of).sum::<u64>() as f64
    }

    /// A figure over the number of commits.
    pub(super) fn per_commit(&self, of: impl Fn(&Stretch) -> u64) -> f64 {
        self.sum(of) / self.sum(|stretch| stretch.syncs.len() as u64)
    }

    /// Commits a second.
    pub(super) fn rate(&self) -> f64 {
        1e9 / self.per_commit(|stretch| stretch.elapsed_ns)
    }

    /// How many syncs a commit makes on average, those of checkpoints included.
    pub(super) fn syncs(&self) -> f64 {
        self.per_commit(|stretch| stretch.syncs.iter().sum())
    }

    /// How many syncs the middle commit makes.
    pub(super) fn usual_syncs(&self) -> u64 {
        let mut all: Vec<u64> = self.stretches.iter().flat_map(|s| &s.syncs).copied().collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    }

    /// What was written to the journal, all together.
    pub(super) fn journal_bytes(&self) -> f64 {
        self.sum(|stretch| stretch.journal_bytes)
    }

    /// How many times as long as another one it takes, block by block.
    pub(super) fn time_over(&self, other: &Self) -> Spread {
        let pairs = self.stretches.iter().zip(&other.stretches);
        Spread::of(pairs.map(|(own, other)| own.elapsed_ns as f64 / other.elapsed_ns as f64))
    }
}
