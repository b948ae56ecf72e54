//! What can go wrong with a trace.

use std::io;

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The beginning is not a trace's.
    #[error("it is not a trace of iotoll")]
    NotATrace,
    /// A version that this program does not know.
    #[error(
        "it is a trace of version {0}, and this iotoll reads versions 1 to 4; use the iotoll that \
         recorded it or a newer one"
    )]
    Version(String),
    /// It ends before its header does.
    #[error("it was cut short before anything was recorded")]
    Empty,
    /// What is there is not what was written.
    #[error("it is damaged in its part {chunk}: {what}")]
    Damaged {
        /// Which chunk, from 1; the header is the first.
        chunk: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Reading failed.
    #[error("reading it: {0}")]
    Read(#[source] io::Error),
    /// Writing failed. What was written before can be read.
    #[error("writing the trace: {0}")]
    Write(#[source] io::Error),
    /// An entry that cannot be kept, such as a path that nobody has told.
    #[error("a trace cannot have this entry: {0}")]
    Entry(&'static str),
}
