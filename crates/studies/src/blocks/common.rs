//! A file of blocks that several arms read: it is written once for all of them, which would
//! else take most of a short run.

use std::cell::{RefCell, RefMut};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::rc::{Rc, Weak};

use engine::study::{Doing as _, StudyError};
use process::StopFlag;

use super::config::Config;
use super::store::Store;
use crate::file::FileId;

thread_local! {
    /// Those that arms of this process have.
    static KNOWN: RefCell<Vec<(Key, Weak<Kept>)>> = const { RefCell::new(Vec::new()) };
}

/// Arms of one place have one file of blocks of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    device: u64,
    block_bytes: usize,
    file_bytes: u64,
}

/// A file of blocks, and the folder that it is in.
pub(super) struct Kept {
    pub(super) folder: OwnedFd,
    store: RefCell<Store>,
}

impl Kept {
    /// A file of an arm's own.
    pub(super) fn make(
        folder: OwnedFd,
        config: &Config,
        stop: &StopFlag,
    ) -> Result<Rc<Self>, StudyError> {
        let store = RefCell::new(Store::make(folder.as_fd(), config, stop)?);
        Ok(Rc::new(Self { folder, store }))
    }

    /// The one that another arm of the place has, or a new one in this arm's folder, which then
    /// stays as long as any of the arms.
    pub(super) fn common(
        folder: OwnedFd,
        config: &Config,
        stop: &StopFlag,
    ) -> Result<Rc<Self>, StudyError> {
        let key = Key::of(folder.as_fd(), config)?;
        let known = KNOWN.with_borrow(|known| {
            let mut found = known.iter().filter(|(other, _)| *other == key);
            found.find_map(|(_, kept)| kept.upgrade())
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Self::make(folder, config, stop)?;
        KNOWN.with_borrow_mut(|known| {
            known.retain(|(_, kept)| kept.strong_count() > 0);
            known.push((key, Rc::downgrade(&made)));
        });
        Ok(made)
    }

    /// For a slice. Slices of a process come one at a time.
    pub(super) fn store(&self) -> RefMut<'_, Store> {
        self.store.borrow_mut()
    }
}

impl Key {
    fn of(folder: BorrowedFd<'_>, config: &Config) -> Result<Self, StudyError> {
        let device = FileId::of(folder).doing("asking which file system a folder is on")?.device();
        Ok(Self { device, block_bytes: config.size, file_bytes: config.file_bytes() })
    }
}
