//! A store that is only looked at.

use crate::defect::Planted;
use crate::error::Error;
use crate::files::Files;
use crate::observer::{Observer, Part};
use crate::recovery::{Recovered, recover_with};
use crate::store::data::{self, Data};
use crate::store::pages::Pages;
use crate::store::tree::{self, Items};

/// What a store holds, read without writing anything.
///
/// [`Store::open`](crate::Store::open) would find the same. But after a sync that failed, what
/// is read here need not be on the device: only opening the store makes sure of that.
pub struct Snapshot {
    pages: Pages,
    recovered: Recovered,
}

impl Snapshot {
    /// Reads the store in a directory, which nobody may change meanwhile. `observer` is told
    /// what time goes to: [`Part::Load`] and [`Part::Recovery`].
    pub fn read(files: &impl Files, mut observer: impl Observer) -> Result<Self, Error> {
        observer.enter(Part::Load);
        let Some((data, mut pages)) = Data::load(files)? else {
            return Err(Error::damaged(data::NAME, "the file is missing"));
        };
        observer.enter(Part::Recovery);
        let recovered =
            recover_with(files, data.transaction(), |page| pages.replay(page), Planted::default())?;
        observer.enter(Part::Load);
        tree::check(&pages).map_err(|what| Error::damaged(data::NAME, what))?;
        observer.enter(Part::Outside);
        Ok(Self { pages, recovered })
    }

    /// What the journal had, beyond the last checkpoint.
    pub fn recovered(&self) -> Recovered {
        self.recovered
    }

    /// The value that belongs to a key.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        tree::get(&self.pages, key)
    }

    /// All keys with their values, in the order of keys.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        Items::new(&self.pages)
    }
}
