//! An append-only journal of page transactions, and a store of keys and values over it.
//!
//! A transaction changes pages of 4096 bytes. The [`Journal`] stores it whole: the pages, or
//! what differs from their previous versions; compressed or not; with a checksum; padded to
//! the device's blocks; and it is on the device when the commit returns. [`recover`] replays
//! what was committed, in order, up to the last complete transaction. What was lost in a
//! crash before it was acknowledged is no error. What was acknowledged and cannot be read any
//! more is one.
//!
//! [`Store`] is a copy-on-write B+tree of such pages: private copies for the transaction
//! under way, the journal for what is committed, and checkpoints.
//!
//! ```
//! use iotoll_journal::{Options, OsFiles, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path();
//! let mut store = Store::open(OsFiles::open(path)?, &Options::default())?;
//! let mut transaction = store.begin(())?;
//! transaction.put(b"colour", b"blue")?;
//! let commit = transaction.commit()?;
//! assert_eq!(commit.put_bytes, 10);
//! assert_eq!(commit.journaled.written_bytes, 4096);
//! drop(store);
//!
//! let store = Store::open(OsFiles::open(path)?, &Options::default())?;
//! assert_eq!(store.recovered().transactions, 1);
//! assert_eq!(store.get(b"colour"), Some(&b"blue"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a commit costs
//!
//! The library has no clock. An [`Observer`] is told which [`Part`] of a transaction begins,
//! from the tree over differences, compression and checksum to write and sync, and a
//! [`Receipt`] says how many bytes there were at each step.
//!
//! # What may go wrong
//!
//! After a write or a sync that failed, nobody knows what is on the device: Linux may report
//! such an error once, and then take the data for written. So everything else is refused
//! until the store is opened again. Opening relies on nothing that is only read back: what is
//! recovered is written anew, and synced.
//!
//! One damage cannot be told from a crash: that of the very last transaction, when nothing
//! was written after it. It is taken for one that was never acknowledged.
//!
//! Nothing that stands in a file makes the library panic or take more memory than the file's
//! length and the longest transaction ([`TRANSACTION_BYTES_MAX`]) call for. Checksums are
//! not cryptographic: they find damage, not forgery.
//!
//! The layout of the files is described in `src/layout.rs`, and that of `data`, which
//! checkpoints write, in `src/store/data.rs`.
//!
//! All of this is tested by simulated crashes, at every operation of small histories and at
//! random in larger ones (the feature `simulated`). Real files and simulated ones are used
//! through the same two traits, [`Files`] and [`File`].

mod buffer;
mod codec;
mod defect;
mod difference;
mod error;
mod files;
mod journal;
mod layout;
mod observer;
mod options;
mod os;
mod page;
mod recovery;
mod segment;
#[cfg(any(test, feature = "simulated"))]
pub mod simulated;
mod store;
mod window;

pub use error::Error;
pub use files::{File, Files};
pub use journal::{Change, Journal};
pub use layout::TRANSACTION_BYTES_MAX;
pub use observer::{Observer, Part, Receipt};
pub use options::{Compression, Options, Space, Writing};
pub use os::OsFiles;
pub use page::{EMPTY_PAGE, PAGE_BYTES, Page};
pub use recovery::{PageVersion, Recovered, recover};
pub use store::{Commit, ITEM_BYTES_MAX, KEY_BYTES_MAX, Snapshot, Store, Transaction};
