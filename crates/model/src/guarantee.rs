//! What ways of doing I/O rely on between several processes, and a file system that several
//! machines share may keep on each of them alone.

use serde::{Deserialize, Serialize};

/// Something that holds between the processes of one machine on every file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Guarantee {
    /// Each write with `O_APPEND` goes to the end of the file, after those of others.
    Appends,
    /// Locks of flock(2).
    Flock,
    /// Locks of fcntl(2), of processes and of open files.
    FcntlLocks,
}

impl Guarantee {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Appends, Self::Flock, Self::FcntlLocks];

    /// What it is, for people: several of something.
    pub const fn shown(self) -> &'static str {
        match self {
            Self::Appends => "appends (O_APPEND)",
            Self::Flock => "locks of flock(2)",
            Self::FcntlLocks => "locks of fcntl(2)",
        }
    }
}
