//! The bill: what file calls cost a program, and what no change to them can beat.
//!
//! From a trace's entries alone, in bounded memory. Time is counted twice: added up over
//! threads, and once, however many threads are in a call at the same time. The latter bounds
//! what can be saved: were all these calls to take no time, the program could not be faster by
//! more than the time in which at least one of them was under way. Where the recorder saw it, the
//! former is divided into processor time and waiting. The recorder's own part is taken out, as far
//! as it is known.

mod awaited;
mod bill_builder;
mod bound;
mod busy;
mod cost;
mod cover;
mod elsewhere;
mod file_class;
mod folders;
mod kind;
mod moved;
mod needless;
mod order;
mod paid;
mod range;
mod ranges;
mod requests;
mod retries;
mod unit;
mod uses;

use serde::Serialize;

pub use self::awaited::{Awaited, AwaitedProcess};
pub(crate) use self::bill_builder::{BillBuilder, Billed};
pub use self::bound::{Bound, Missing};
pub use self::cost::{Cost, Divided, Wait, WaitedFor};
pub use self::elsewhere::Container;
pub(crate) use self::folders::{above, is_in, text};
pub use self::kind::Kind;
pub use self::needless::{Needless, NeedlessKind};
pub use self::range::{RangeNs, Share};
pub use self::unit::{Unit, UnitCost};
pub(crate) use self::uses::{FileUse, Looks, Tally, Uses};
use crate::advised::Advice;
use crate::entry::Unseen;
use crate::header::Header;
use crate::pattern::Pattern;

/// The version of a bill as JSON.
pub const SCHEMA: &str = "iotoll.bill/1";

/// What a recording comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "iotoll.bill/1"))]
pub struct Bill {
    /// `iotoll.bill/1`.
    pub schema: &'static str,
    /// What was recorded, and how.
    pub header: Header,
    /// How long the recording took.
    pub wall_ns: u64,
    /// How long it would have taken without the recorder. Each `share` is of this.
    pub own_wall_ns: RangeNs,
    /// Whether more than half of the recorded time was the recorder's: then no time here is worth
    /// much. Counts and bytes are exact.
    pub too_coarse: bool,
    /// What of `own_wall_ns` the program was busy: one of its threads was on a processor, or a file call was
    /// under way. Each `busy_share` is of this. All of it where the recorder did not see when
    /// threads were idle (`header.sees`).
    pub busy_ns: RangeNs,
    /// What no move of files can beat.
    pub bound: Bound,
    /// What a unit of the program's work costs, where units can be counted.
    pub unit: Option<UnitCost>,
    /// Whom it waited for outside of the recording, for 5% of the wall time or more. Only a recorder
    /// that sees who woke whom knows (`header.sees_wakers`).
    pub awaited: Vec<Awaited>,
    /// Processor time outside the kernel, of all processes; none where the trace was cut short, or a
    /// watched process ended before the recording did.
    pub user_ns: Option<u64>,
    /// Processor time within the kernel, with the recorder's own part.
    pub system_ns: Option<u64>,
    /// The command's end, as wait(2) has it; none where it had not ended, or where the trace was
    /// cut short.
    pub status: Option<i32>,
    /// Whether the trace stopped before the recording's end.
    pub cut_short: bool,
    /// How many entries could not be kept.
    pub lost: u64,
    /// How many processes there were.
    pub processes: u64,
    /// How many threads there were, those of processes included.
    pub threads: u64,
    /// How many calls were recorded, also those on no file.
    pub calls: u64,
    /// The container or other mounts that the program has, where every file is named as it is reached
    /// from here.
    pub container: Option<Container>,
    /// The working folder of the first process.
    pub working_folder: Option<String>,
    /// All calls on stored files.
    pub files: Cost,
    /// The same by kind of call, the one with the most time first; those that there were.
    pub kinds: Vec<KindCost>,
    /// The folders that matter, each with all below it and none within another.
    pub folders: Vec<FolderCost>,
    /// The files with the most time, at most 20.
    pub top_files: Vec<FileCost>,
    /// How many files were forgotten, so as to remember others.
    pub files_forgotten: u64,
    /// Calls on files of the kernel, as those of `/proc`, and on devices: nothing to be moved,
    /// and no part of `files`.
    pub kernel_files: Cost,
    /// Calls on descriptors of which the trace does not say what they stand for: no part of
    /// `files`.
    pub unknown: Cost,
    /// What the recorder met and could not see into.
    pub unseen: Vec<UnseenCount>,
    /// Work with files that it could leave out, for 1% of the time or more, the one with the most time
    /// first.
    pub needless: Vec<Needless>,
    /// What the program does with its files that may pay to be done another way, the one with
    /// the most time first.
    pub patterns: Vec<Pattern>,
    /// Settings of programs that are known, with what their calls cost in this recording, the one
    /// with the most time first.
    pub advice: Vec<Advice>,
}

/// What calls of one kind cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindCost {
    /// Which kind.
    pub kind: Kind,
    /// What they cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// The folder with nearly all of that, if it is not everything.
    pub folder: Option<String>,
}

/// What calls in one folder cost, and below it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FolderCost {
    /// Its absolute path.
    pub path: String,
    /// What they cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// The kind of call with the most time there.
    pub most: Kind,
    /// What that kind costs there, as a share of the time in which the program was busy.
    pub most_share: Share,
    /// Whether that kind mostly waits there; none where the recorder did not see it.
    pub most_waits: Option<bool>,
    /// What that kind mostly waits for there, if it mostly waits and that was told apart.
    pub most_waits_for: Option<Wait>,
}

/// What calls on one file cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileCost {
    /// Its absolute path.
    pub path: String,
    /// How many calls.
    pub calls: u64,
    /// How often it was opened.
    pub opens: u64,
    /// How many bytes were read.
    pub read_bytes: u64,
    /// How many bytes were written.
    pub written_bytes: u64,
    /// How often it was forced to the device.
    pub syncs: u64,
    /// Time, threads in parallel added up.
    pub summed_ns: u64,
    /// Its part of the time in which the program was busy: time in which threads were in calls at
    /// once is divided among these calls.
    pub share: f64,
}

/// How often something was met that the recorder cannot see into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnseenCount {
    /// What it was.
    pub kind: Unseen,
    /// How often.
    pub count: u64,
}

impl Bill {
    /// Whether something of this kind was met that could not be seen.
    pub fn has_unseen(&self, kind: Unseen) -> bool {
        self.unseen.iter().any(|unseen| unseen.kind == kind)
    }

    /// What times with files, added up over threads, are of the time in which the program was busy:
    /// time in which threads were in calls at once is divided among these calls.
    pub(crate) fn part_of(&self, summed_ns: u64) -> f64 {
        let part = summed_ns as f64 / self.files.summed_ns.middle().max(1.0);
        part.min(1.0) * self.files.busy_share.middle()
    }
}
