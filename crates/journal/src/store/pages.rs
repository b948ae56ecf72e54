//! All pages of a store, in memory, with the private copies of the transaction that is
//! under way.

use crate::error::Error;
use crate::journal::Change;
use crate::page::{EMPTY_PAGE, PAGE_BYTES, Page};
use crate::recovery::PageVersion;

/// Copies that are kept to be used again.
const POOL_MAX: usize = 1024;

/// A page, at least in one of its two versions.
#[derive(Default)]
struct Slot {
    /// None where the page is new.
    committed: Option<Box<Page>>,
    /// None where the transaction under way has not changed it.
    private: Option<Box<Page>>,
    /// Committed since the last checkpoint.
    is_unsaved: bool,
}

/// Pages by their numbers.
#[derive(Default)]
pub(crate) struct Pages {
    slots: Vec<Slot>,
    /// The pages with a private copy.
    changed: Vec<u32>,
    unsaved: Vec<u32>,
    pool: Vec<Box<Page>>,
}

impl Pages {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// A page that the last checkpoint has, the next in order.
    pub(crate) fn load(&mut self, page: Box<Page>) {
        self.slots.push(Slot { committed: Some(page), ..Slot::default() });
    }

    /// The page as the transaction under way sees it.
    pub(crate) fn get(&self, page: u32) -> &Page {
        let slot = &self.slots[page as usize];
        slot.private.as_deref().or(slot.committed.as_deref()).unwrap_or(EMPTY_PAGE)
    }

    /// The same, to be changed: a private copy.
    pub(crate) fn get_mut(&mut self, page: u32) -> &mut Page {
        let slot = &mut self.slots[page as usize];
        let committed = slot.committed.as_deref();
        slot.private.get_or_insert_with(|| {
            self.changed.push(page);
            let committed = committed.unwrap_or(EMPTY_PAGE);
            match self.pool.pop() {
                Some(mut copy) => {
                    *copy = *committed;
                    copy
                }
                None => Box::new(*committed),
            }
        })
    }

    /// A new page, empty.
    pub(crate) fn add(&mut self) -> Result<u32, Error> {
        let page = u32::try_from(self.slots.len()).ok().filter(|page| *page < u32::MAX);
        let page = page.ok_or(Error::Full)?;
        self.slots.push(Slot::default());
        self.get_mut(page);
        Ok(page)
    }

    /// Takes a private copy out, to be put back.
    pub(crate) fn take(&mut self, page: u32) -> Box<Page> {
        self.get_mut(page);
        let private = self.slots[page as usize].private.take();
        private.unwrap_or_else(|| Box::new([0; PAGE_BYTES]))
    }

    pub(crate) fn put_back(&mut self, page: u32, private: Box<Page>) {
        self.slots[page as usize].private = Some(private);
    }

    /// What the transaction under way changed, in the order of pages.
    pub(crate) fn changes(&mut self) -> impl Iterator<Item = Change<'_>> {
        self.changed.sort_unstable();
        self.changed.iter().filter_map(|page| {
            let slot = &self.slots[*page as usize];
            let before = slot.committed.as_deref().unwrap_or(EMPTY_PAGE);
            slot.private.as_deref().map(|after| Change { page: *page, before, after })
        })
    }

    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The private copies are committed.
    pub(crate) fn accept(&mut self) {
        for page in self.changed.drain(..) {
            let slot = &mut self.slots[page as usize];
            let before = slot.committed.take();
            slot.committed = slot.private.take();
            self.pool.extend(before.filter(|_| self.pool.len() < POOL_MAX));
            if !std::mem::replace(&mut slot.is_unsaved, true) {
                self.unsaved.push(page);
            }
        }
    }

    /// The private copies are forgotten, and new pages with them.
    pub(crate) fn discard(&mut self) {
        for page in self.changed.drain(..) {
            let private = self.slots[page as usize].private.take();
            self.pool.extend(private.filter(|_| self.pool.len() < POOL_MAX));
        }
        // New pages are the last ones.
        while self.slots.pop_if(|slot| slot.committed.is_none()).is_some() {}
    }

    /// Makes a version of a page that was committed before, as recovery reads it.
    pub(crate) fn replay(&mut self, version: PageVersion<'_>) -> Result<(), &'static str> {
        let page = version.page as usize;
        if page > self.slots.len() {
            return Err("a transaction changes a page that does not exist");
        }
        if page == self.slots.len() {
            self.slots.push(Slot::default());
        }
        let slot = &mut self.slots[page];
        if !std::mem::replace(&mut slot.is_unsaved, true) {
            self.unsaved.push(version.page);
        }
        let committed = slot.committed.get_or_insert_with(|| Box::new([0; PAGE_BYTES]));
        if version.apply(committed) {
            Ok(())
        } else {
            Err("a change in a transaction is neither a page nor a valid difference")
        }
    }

    /// The pages that were committed since the last checkpoint, in order.
    pub(crate) fn unsaved(&mut self) -> impl Iterator<Item = (u32, &Page)> {
        self.unsaved.sort_unstable();
        self.unsaved
            .iter()
            .filter_map(|page| Some((*page, self.slots[*page as usize].committed.as_deref()?)))
    }

    /// A checkpoint has them now.
    pub(crate) fn saved(&mut self) {
        for page in self.unsaved.drain(..) {
            self.slots[page as usize].is_unsaved = false;
        }
    }
}
