//! Traces of what programs do with files: the format, which file each call acted on, what it
//! all cost, and the patterns in it.
//!
//! A trace is a stream of [`Entry`] values, of which most are a [`Call`]. It has no contents of
//! files, no arguments and no environment of programs. A recorder writes it as it goes.
//!
//! The crate touches no machine: it reads from what implements [`std::io::Read`] and writes to
//! what implements [`std::io::Write`].

mod anonymise;
mod bill;
mod call;
mod chunk;
mod coder;
mod entry;
mod error;
mod flags;
mod follow;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod header;
mod op;
mod paths;
mod pattern;
mod patterns;
#[cfg(any(test, feature = "planted"))]
pub mod planted;
mod reader;
mod reckon;
#[cfg(test)]
mod tests;
mod varint;
mod writer;

pub use anonymise::anonymise;
pub use bill::{
    Bill, Cost, FileCost, FolderCost, Kind, KindCost, RangeNs, SCHEMA, Share, UnseenCount,
};
pub use call::{Call, HERE, NO_FD, PathId, WORKING_FOLDER};
pub use entry::{Entry, FileFacts, FileKind, Unseen};
pub use error::Error;
pub use follow::{Followed, Follower, OpenFile, OpenKind, Place};
pub use header::{Header, Mechanism, Summary, TollNs};
pub use op::Op;
pub use pattern::{Database, Journal, Pattern, What};
pub use reader::{TraceReader, is_trace};
pub use reckon::bill_of;
pub use writer::TraceWriter;
