//! Traces of what programs do with files: the format, which file each call acted on, what it
//! all cost, and the patterns in it.
//!
//! A trace is a stream of [`Entry`] values, of which most are a [`Call`]. It has no contents of
//! files, no arguments and no environment of programs. A recorder writes it as it goes.
//!
//! ```
//! use iotoll_trace::{Call, Entry, Header, Mechanism, Op, OverheadNs, Sees, Summary};
//! use iotoll_trace::{TraceReader, TraceWriter, WORKING_FOLDER, bill_of};
//!
//! let overhead = OverheadNs { low: 410, high: 450 };
//! let header = Header {
//!     mechanism: Mechanism::Ebpf,
//!     program: "app".to_owned(),
//!     started_s: 1_795_420_800,
//!     kernel: "6.8.0".to_owned(),
//!     processors: 2,
//!     page_bytes: 4096,
//!     sees_waiting: true,
//!     sees: Sees { faults: true, rings: true, idle: true },
//!     sees_wakers: true,
//!     overhead_ns: overhead,
//!     overhead_within_ns: OverheadNs { low: 30, high: 40 },
//!     ..Header::default()
//! };
//! let mut writer = TraceWriter::new(Vec::new(), &header)?;
//! let path = Some(writer.path(b"data/app.log")?);
//! let call = Call { fd: WORKING_FOLDER, path, took_ns: 2_000, ..Call::new(1, Op::Stat) };
//! writer.push(Entry::Call(call))?;
//! let summary = Summary { wall_ns: 10_000, user_ns: 5_000, system_ns: 2_000, status: Some(0) };
//! let trace = writer.finish(&summary)?;
//!
//! let bill = bill_of(&mut TraceReader::new(&trace[..])?, |_, _| String::new())?;
//! assert_eq!(bill.files.calls, 1);
//! assert!(bill.files.share.high < 0.21);
//! # Ok::<(), iotoll_trace::Error>(())
//! ```
//!
//! # Bounds
//!
//! Neither side's memory grows with a trace, and a bill takes some 50 MB at the most. What is read
//! is what was written, or an error: each chunk has a checksum, and no length is believed before
//! it is held against its bound. Checksums find damage, not forgery. [`Follower`] keeps what is
//! open at a time.
//!
//! The crate touches no machine: it reads from what implements [`std::io::Read`] and writes to
//! what implements [`std::io::Write`].
//!
//! # Inside
//!
//! `writer.rs` and `reader.rs` stand on `chunk.rs` and `coder.rs`. `follow` replays the tables of descriptors.
//! `bill` adds up in one pass: calls wait in a heap (`bill/order.rs`) until they come out in the order in which
//! they began, so the union of their times takes two numbers (`bill/cover.rs`). That union bounds what can be
//! saved. Beyond its limits, a bill forgets what has the least time, and the bound never becomes too small.
//! `patterns` has a file for each pattern, with its thresholds. `advice/programs.rs` is a table of programs and
//! their settings. `docs/traces.md` describes the format.

mod advice;
mod advised;
mod anonymise;
mod bill;
mod build;
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
mod inner;
#[cfg(feature = "fuzz")]
pub mod letters;
mod listed;
mod op;
mod paths;
mod pattern;
mod patterns;
#[cfg(any(test, feature = "planted"))]
pub mod planted;
mod reader;
mod side;
#[cfg(test)]
mod tests;
mod writer;

pub use advised::{Advice, Change};
pub use anonymise::anonymise;
pub use bill::{
    Awaited, AwaitedProcess, Bill, Bound, Container, Cost, Divided, FileCost, FolderCost, Kind,
    KindCost, Missing, Needless, NeedlessKind, RangeNs, SCHEMA, Share, Unit, UnitCost, UnseenCount,
    Wait, WaitedFor,
};
pub use build::bill_of;
pub use call::{Call, HERE, NO_FD, PathId, ROOT_FOLDER, WORKING_FOLDER};
pub use entry::{ACCEPTED, Entry, FileFacts, FileKind, Unseen};
pub use error::Error;
pub use follow::{Followed, Follower, OpenFile, OpenKind, Place};
pub use header::{Header, Mechanism, NamedOverhead, OverheadNs, Sees, Summary};
pub use inner::inner;
pub use op::Op;
pub use pattern::{CommandOf, Database, Journal, Pattern, PatternKind};
pub use reader::{TraceReader, is_trace};
pub use writer::TraceWriter;
