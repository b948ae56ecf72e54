//! What an arm's time went into, part by part.

use serde::{Deserialize, Serialize};

/// A part of an arm's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimePart {
    /// The kind of time.
    pub kind: TimeKind,
    /// What it went into, in a few words.
    pub what: String,
    /// How much of it there was, per operation.
    pub ns_per_op: f64,
}

/// The kinds of time that an arm's may go into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TimeKind {
    /// In calls that force data to the device.
    Sync,
    /// Asleep until a lock was free.
    Lock,
    /// Asleep otherwise, as for the device.
    Wait,
    /// On a processor, in the kernel.
    Kernel,
    /// On a processor, in the program.
    Program,
    /// On a processor, where the kernel's part cannot be told from the program's.
    Processor,
    /// Ready to run, and waiting for a processor.
    Queue,
    /// What the study itself accounts for.
    Study,
}

impl TimeKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Sync,
        Self::Lock,
        Self::Wait,
        Self::Kernel,
        Self::Program,
        Self::Processor,
        Self::Queue,
        Self::Study,
    ];

    /// What it is called.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Lock => "locks",
            Self::Wait => "waiting",
            Self::Kernel => "kernel",
            Self::Program => "program",
            Self::Processor => "kernel + program",
            Self::Queue => "no free processor",
            Self::Study => "timed by the study",
        }
    }
}
