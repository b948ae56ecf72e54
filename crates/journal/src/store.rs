//! A store of keys and values: a copy-on-write B+tree of pages over the journal.

mod data;
mod node;
mod pages;
mod snapshot;
mod tree;

pub use node::{ITEM_BYTES_MAX, KEY_BYTES_MAX};
pub use snapshot::Snapshot;

use crate::defect::Planted;
use crate::error::Error;
use crate::files::Files;
use crate::journal::Journal;
use crate::observer::{Observer, Part, Receipt};
use crate::options::Options;
use crate::recovery::{Recovered, recover_with};
use data::Data;
use pages::Pages;
use tree::Items;

/// A store of keys and values, in the order of keys.
///
/// All pages are held in memory. A transaction changes private copies of them; committed,
/// they are in the journal and on the device. A checkpoint writes what was committed to the
/// file `data`, and begins the journal anew: until then, the journal grows and recovery takes
/// longer. Nothing is ever removed from a store.
///
/// After a write or a sync that failed, the store can be read, and refuses all else. It has
/// to be opened again, which returns it to the last complete transaction: the one that failed
/// may be there, or not, but never in part.
pub struct Store<F: Files> {
    journal: Journal<F>,
    data: Data<F::File>,
    pages: Pages,
    recovered: Recovered,
    has_failed: bool,
}

impl<F: Files> Store<F> {
    /// Opens the store in a directory, recovers what was committed and makes a checkpoint of
    /// it; or begins one where there is none.
    pub fn open(files: F, options: &Options) -> Result<Self, Error> {
        Self::open_with(files, options, Planted::default())
    }

    pub(crate) fn open_with(files: F, options: &Options, planted: Planted) -> Result<Self, Error> {
        options.check()?;
        match Data::load(&files)? {
            Some((data, pages)) => Self::go_on(files, options, data, pages, planted),
            None => Self::begin_new(files, options, planted),
        }
    }

    fn begin_new(files: F, options: &Options, planted: Planted) -> Result<Self, Error> {
        match recover_with(&files, 0, |_| Ok(()), planted) {
            // What a crash may have left when the store was begun before.
            Err(Error::NoJournal) | Ok(Recovered { last: 0, .. }) => {}
            Ok(_) => {
                return Err(Error::damaged(
                    data::NAME,
                    "the file is missing, although the journal has transactions",
                ));
            }
            Err(error) => return Err(error),
        }
        // Where there is a file `data`, there has always been a journal.
        let journal = Journal::start_with(files, options, 0, planted)?;
        let data = Data::create(journal.files())?;
        let (pages, recovered) = (Pages::default(), Recovered::default());
        Ok(Self { journal, data, pages, recovered, has_failed: false })
    }

    fn go_on(
        files: F,
        options: &Options,
        mut data: Data<F::File>,
        mut pages: Pages,
        planted: Planted,
    ) -> Result<Self, Error> {
        let recovered =
            recover_with(&files, data.transaction(), |page| pages.replay(page), planted)?;
        tree::check(&pages).map_err(|what| Error::damaged(data::NAME, what))?;
        data.confirm()?;
        if recovered.last > data.transaction() {
            data.save(&mut pages, recovered.last)?;
        }
        let journal = Journal::start_with(files, options, recovered.last, planted)?;
        Ok(Self { journal, data, pages, recovered, has_failed: false })
    }

    /// Begins a transaction. `observer` is told what time goes to, `()` does without.
    pub fn begin<O: Observer>(&mut self, mut observer: O) -> Result<Transaction<'_, F, O>, Error> {
        self.refuse_after_failure()?;
        observer.enter(Part::Tree);
        Ok(Transaction { store: self, observer, put_bytes: 0 })
    }

    /// Saves all pages that were committed since the last checkpoint in the file `data`, and
    /// begins the journal anew.
    pub fn checkpoint(&mut self, mut observer: impl Observer) -> Result<(), Error> {
        self.refuse_after_failure()?;
        let last = self.journal.last();
        if last > self.data.transaction() {
            observer.enter(Part::Checkpoint);
            let done = self.data.save(&mut self.pages, last).and_then(|()| self.journal.restart());
            self.has_failed |= done.is_err();
            observer.enter(Part::Outside);
            done?;
        }
        Ok(())
    }

    /// The value that belongs to a key.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        tree::get(&self.pages, key)
    }

    /// All keys with their values, in the order of keys.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        Items::new(&self.pages)
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The number of the last transaction that was committed.
    pub fn last(&self) -> u64 {
        self.journal.last()
    }

    /// What was written to the journal since it was begun anew: what recovery would read.
    pub fn journal_bytes(&self) -> u64 {
        self.journal.bytes()
    }

    /// What opening the store recovered from the journal.
    pub fn recovered(&self) -> Recovered {
        self.recovered
    }

    fn refuse_after_failure(&self) -> Result<(), Error> {
        if self.has_failed { Err(Error::Refused) } else { self.journal.refuse_after_failure() }
    }
}

/// A transaction that is under way. Dropped, it leaves nothing behind.
pub struct Transaction<'s, F: Files, O: Observer = ()> {
    store: &'s mut Store<F>,
    observer: O,
    put_bytes: u64,
}

impl<F: Files, O: Observer> Transaction<'_, F, O> {
    /// Gives a key a value, whether it had one or not.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        tree::put(&mut self.store.pages, key, value)?;
        self.put_bytes += (key.len() + value.len()) as u64;
        Ok(())
    }

    /// The value that belongs to a key, as this transaction sees it.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.store.get(key)
    }

    /// Commits, and returns when everything is on the device. A transaction that put nothing
    /// writes nothing.
    ///
    /// On an error nothing of it is to be seen. Where that is [`Error::Io`] it may still be
    /// there, whole, when the store is opened again.
    pub fn commit(mut self) -> Result<Commit, Error> {
        let Store { journal, pages, .. } = &mut *self.store;
        let mut journaled = Receipt { number: journal.last(), ..Receipt::default() };
        if pages.is_changed() {
            journaled = journal.append(pages.changes(), &mut self.observer)?;
            self.observer.enter(Part::Tree);
            pages.accept();
        }
        Ok(Commit { put_bytes: self.put_bytes, journaled })
    }
}

impl<F: Files, O: Observer> Drop for Transaction<'_, F, O> {
    fn drop(&mut self) {
        self.store.pages.discard();
        self.observer.enter(Part::Outside);
    }
}

/// A transaction that is on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commit {
    /// The keys and values that were put.
    pub put_bytes: u64,
    /// What became of them in the journal.
    pub journaled: Receipt,
}
