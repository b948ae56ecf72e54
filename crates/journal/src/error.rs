//! What can go wrong, each in a sentence that says what to do.

use std::fmt::Display;
use std::io;

use thiserror::Error;

/// Why the journal or the store cannot do what it was asked to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// What the system says.
    #[error("{file}: {action} failed: {source}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file of the directory.
        file: String,
        /// Why it failed.
        source: io::Error,
    },
    /// A write or sync failed, now or before.
    #[error(
        "an earlier write or sync failed, so nothing more is committed; open the store again to \
         return to the last complete transaction"
    )]
    Refused,
    /// An option that makes no sense.
    #[error("{0}")]
    Options(&'static str),
    /// A transaction beyond [`TRANSACTION_BYTES_MAX`](crate::TRANSACTION_BYTES_MAX).
    #[error(
        "the transaction changes at least {bytes} bytes of pages, but the limit is {max}; commit \
         less at a time"
    )]
    TransactionTooLarge {
        /// How much it has come to.
        bytes: u64,
        /// How much it may.
        max: u64,
    },
    /// A key or a value that is too long for a page.
    #[error(
        "a key of {key_bytes} and a value of {value_bytes} bytes are too long; a key may have at \
         most {key_bytes_max} bytes, and both together at most {item_bytes_max}"
    )]
    ItemTooLong {
        /// How long the key is.
        key_bytes: usize,
        /// How long the value is.
        value_bytes: usize,
        /// How long a key may be.
        key_bytes_max: usize,
        /// How long both may be.
        item_bytes_max: usize,
    },
    /// As many pages or transactions as there are numbers for them.
    #[error("the store has run out of page or transaction numbers; create a new store")]
    Full,
    /// A file is not what it must be, although its checksums may hold: a transaction is damaged
    /// or missing that is not the last, so it is no torn tail; or a part of it makes no sense.
    #[error("{0}; restore the store from a backup")]
    Damaged(String),
    /// No segment says where the journal begins.
    #[error(
        "there is no journal to recover from; restore all files of the store from the same backup"
    )]
    NoJournal,
}

impl Error {
    /// For `map_err`: what was being done, to which file.
    pub(crate) fn io(action: &'static str, file: &str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, file: file.to_owned(), source }
    }

    pub(crate) fn damaged(file: &str, what: impl Display) -> Self {
        Self::Damaged(format!("{file}: {what}"))
    }
}
