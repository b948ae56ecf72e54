//! How patterns are recognised.
//!
//! Each pattern is a pure function of the bill and of what was done with each file, in a file of
//! its own with its thresholds. One that is found has the program's own numbers. The caller names
//! the command that compares it with what could be done instead.
//!
//! A pattern is told from [`WORTH_TELLING`] of the program's time on: a change that saves less is
//! not worth the work, which is where `iotoll compare` draws the line, too.

mod locks;
mod looks;
mod read_again;
mod reopened;
mod replaced;
mod small_writes;
mod sqlite;
mod synced;

use std::cmp::Reverse;

pub(crate) use self::sqlite::BESIDE;
use crate::bill::{Bill, FileUse, Uses};
use crate::pattern::{CommandOf, Pattern, PatternKind};

/// The least share of the time in which the program is busy that a pattern's calls take.
pub(crate) const WORTH_TELLING: f64 = 0.01;
/// What a program does fewer times, it does at its start or by chance.
const OFTEN: u64 = 20;
/// How many patterns of one kind are told, the ones with the most time.
const OF_A_KIND: usize = 3;

/// What patterns are found in.
pub(crate) struct Evidence<'a> {
    pub(crate) bill: &'a Bill,
    pub(crate) uses: &'a Uses,
    /// The databases of SQLite with their journals, of which other patterns say nothing.
    pub(crate) databases: sqlite::Databases<'a>,
    command_of: CommandOf,
}

/// All patterns, the one with the most time first.
pub(crate) fn find(bill: &Bill, uses: &Uses, command_of: CommandOf) -> Vec<Pattern> {
    let databases = sqlite::databases(uses);
    let evidence = Evidence { bill, uses, databases, command_of };
    let find = [
        sqlite::find,
        reopened::find,
        synced::find,
        small_writes::find,
        replaced::find,
        read_again::find,
        looks::find,
        locks::find,
    ];
    let mut all: Vec<Pattern> = Vec::new();
    for find in find {
        let mut found = find(&evidence);
        found.retain(|pattern| pattern.share >= WORTH_TELLING);
        sort(&mut found);
        found.truncate(OF_A_KIND);
        all.extend(found);
    }
    sort(&mut all);
    all
}

fn sort(patterns: &mut [Pattern]) {
    patterns.sort_by_key(|pattern| Reverse(pattern.summed_ns));
}

impl Evidence<'_> {
    /// Files that are no part of a database.
    fn files(&self) -> impl Iterator<Item = (&[u8], &FileUse)> {
        self.uses.files().filter(|(path, _)| !self.databases.have(path))
    }

    /// How often a second something was done that was done so often. A rate is of the wall time:
    /// that is how often it comes.
    fn per_second(&self, times: u64) -> f64 {
        let wall_ns = self.bill.own_wall_ns;
        let seconds = wall_ns.low.midpoint(wall_ns.high).max(1) as f64 / 1e9;
        times as f64 / seconds
    }

    fn pattern(&self, what: PatternKind, summed_ns: u64) -> Pattern {
        let share = self.bill.part_of(summed_ns);
        let folder = self.bill.working_folder.as_deref().filter(|_| !self.bill.header.attached);
        let command = (self.command_of)(&what, folder);
        Pattern { what, summed_ns, share, command }
    }
}
