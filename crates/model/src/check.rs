//! Whether storage is good enough: what a check measures of a place, what programs ask of it, and
//! what follows. Times are in nanoseconds and sizes in bytes unless the name says otherwise.

use serde::{Deserialize, Serialize};

use crate::bounded;

/// What a check asks of a run. It is part of the run's record, so that a reader needs nothing
/// else to answer it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckRequest {
    /// What each arm of the plan measures, in the same order.
    #[serde(deserialize_with = "bounded::list")]
    pub arms: Vec<CheckedArm>,
    /// The programs that the storage is to be good enough for.
    #[serde(deserialize_with = "bounded::list")]
    pub programs: Vec<Program>,
}

/// What an arm measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedArm {
    /// What of storage.
    pub measure: Measure,
    /// How many reads were under way at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    /// The name of the program whose commits they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// One thing that storage is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// fsync(2) after a small append.
    Fsync,
    /// fdatasync(2) after a small append.
    Fdatasync,
    /// A small append that stays in memory.
    Append,
    /// A file is written aside, synced and renamed, and its folder synced.
    Replace,
    /// The same without syncs.
    ReplaceCached,
    /// 4 KiB are read from the device.
    Read,
    /// 4 KiB are read from the page cache.
    ReadCached,
    /// 1 MiB after the other is read from the device.
    ReadSequential,
    /// The same from the page cache.
    ReadSequentialCached,
    /// 1 MiB after the other is written, and synced at the end.
    WriteSequential,
    /// The same, not synced.
    WriteSequentialCached,
    /// A program's commits.
    Program,
}

impl Measure {
    /// The same from the page cache, which it is shown beside.
    pub fn cached(self) -> Option<Self> {
        match self {
            Self::Fsync | Self::Fdatasync => Some(Self::Append),
            Self::Replace => Some(Self::ReplaceCached),
            Self::Read => Some(Self::ReadCached),
            Self::ReadSequential => Some(Self::ReadSequentialCached),
            Self::WriteSequential => Some(Self::WriteSequentialCached),
            _ => None,
        }
    }

    /// Whether it reads from the device.
    pub fn reads_device(self) -> bool {
        matches!(self, Self::Read | Self::ReadSequential)
    }

    /// What an operation moves, where that says more than its time.
    pub fn bytes_per_operation(self) -> Option<u64> {
        let is_sequential = matches!(
            self,
            Self::ReadSequential
                | Self::ReadSequentialCached
                | Self::WriteSequential
                | Self::WriteSequentialCached
        );
        is_sequential.then_some(1 << 20)
    }
}

/// A program that storage is to be good enough for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Program {
    /// Its name in flags: `etcd`.
    pub name: String,
    /// What one commit is: `put`, `transaction`.
    pub commit: String,
    /// What was recorded: the program's version, what it did and how it was set up.
    pub recorded: String,
    /// What its documentation asks of storage; empty where it names no figure.
    #[serde(default, deserialize_with = "bounded::list")]
    pub needs: Vec<Need>,
}

/// What begins the [source](Need::source) of a need that the user named.
pub const FOR: &str = "--for ";

/// What a program asks of storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Need {
    /// What is limited.
    pub figure: NeedFigure,
    /// The limit: nanoseconds of a time, a number of a rate.
    pub limit: f64,
    /// The words of the documentation.
    pub says: String,
    /// Where they are.
    pub source: String,
}

/// What a program limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NeedFigure {
    /// The 99th percentile of its syncs must be below the limit.
    SyncP99,
    /// One client must be able to make more commits a second than the limit.
    CommitsPerSecond,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// One for each place, in the order of the run's places.
    pub places: Vec<PlaceCheck>,
}

/// What a check found of a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceCheck {
    /// The place's label.
    pub place: String,
    /// Whether its files are in memory, so that a sync means nothing there.
    pub in_memory: bool,
    /// What was measured.
    pub measured: Vec<Measured>,
    /// At how many reads under way at a time they stop growing, and how many they are a second.
    pub reads_at_most: Option<ReadsAtMost>,
    /// Whether it is good enough, program by program.
    pub fits: Vec<Fit>,
    /// Kinds of storage on which published figures are like these, the nearest first.
    pub kinds: Vec<KindOfStorage>,
    /// What explains the figures, and what to try.
    pub why: Vec<Reason>,
}

/// One thing that was measured of a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measured {
    /// What it is.
    #[serde(flatten)]
    pub of: CheckedArm,
    /// The arm, as an index into the run's arms.
    pub arm: usize,
    /// Operations timed.
    pub operations: u64,
    /// Time per operation. `null` where none was timed.
    pub time_per_op_ns: Option<Range>,
    /// Of a synced append and of a program's commit, that of its syncs; else that of all.
    pub p50_ns: Option<Range>,
    /// The same, of which 1% are slower.
    pub p99_ns: Option<Range>,
    /// The same, of which one in a thousand is slower.
    pub p999_ns: Option<Range>,
    /// Whether reads came from the device; `null` where nothing was to be read from it.
    pub from_device: Option<FromDevice>,
    /// Why it could not be measured to the end, if so.
    pub failure: Option<String>,
}

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Range {
    /// The figure.
    pub estimate: f64,
    /// What it is at the least.
    pub low: f64,
    /// What it is at the most; `null` where too little was measured to tell.
    pub high: Option<f64>,
}

/// Whether reads came from the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FromDevice {
    /// Whether the devices' counters and the page cache show it.
    pub proved: bool,
    /// How much of what was read the devices read, in percent; `null` where none can be read.
    pub device_percent: Option<f64>,
    /// How much of the file was in memory when the reads began, in percent.
    pub resident_percent: Option<f64>,
    /// The same in a sentence.
    pub text: String,
}

/// The depth beyond which the rate of reads stops growing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadsAtMost {
    /// How many are under way at a time.
    pub depth: u64,
    /// How many are done in a second.
    pub per_second: f64,
    /// Whether they might still grow beyond the largest depth that was tried.
    pub grows: bool,
}

/// Whether a place is good enough for a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fit {
    /// The program.
    pub program: String,
    /// What its commits took, as an index into what was measured.
    pub measured: usize,
    /// All that it needs together.
    pub fits: Fits,
    /// One for each of the program's needs.
    pub needs: Vec<Fits>,
}

/// Whether a need is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fits {
    /// Its documentation names no figure.
    NothingAsked,
    /// Surely.
    Yes,
    /// Neither is sure so far.
    Undecided,
    /// Surely not.
    No,
}

impl Fits {
    /// The word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NothingAsked => "–",
            Self::Yes => "yes",
            Self::Undecided => "undecided",
            Self::No => "no",
        }
    }
}

/// A kind of storage with published figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindOfStorage {
    /// What it is: `NVMe without power-loss protection`.
    pub kind: String,
    /// The lowest and the highest time of a sync that was published.
    pub sync_ns: [f64; 2],
    /// Whether the median sync of the place is within these.
    pub holds: bool,
    /// Where they were published.
    pub source: String,
}

/// What explains the figures of a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// A stable name: `flush`, `journal`, `queue`, `throttled`, `others`, `full`.
    pub code: String,
    /// What is so, with the figures that show it.
    pub text: String,
    /// Commands to look further, or to change it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "try")]
    pub try_this: Vec<String>,
}

impl CheckRequest {
    /// Whether it goes with a plan of so many arms.
    pub(crate) fn check(&self, arms: usize) -> Result<(), String> {
        if self.arms.len() != arms {
            return Err(format!("its check is of {} arms, but it has {arms}", self.arms.len()));
        }
        let known = |name: &String| self.programs.iter().any(|program| program.name == *name);
        let mut named = self.arms.iter().filter_map(|arm| arm.program.as_ref());
        match named.find(|name| !known(name)) {
            Some(name) => Err(format!("its check is of the program `{name}`, which it lacks")),
            None => Ok(()),
        }
    }
}

impl Check {
    /// The worst answer for any program at any place.
    pub fn worst_fit(&self) -> Option<Fits> {
        self.places.iter().flat_map(|place| &place.fits).map(|fit| fit.fits).max()
    }
}

impl PlaceCheck {
    /// What was measured of that, where there is one alone of it.
    pub fn of(&self, measure: Measure) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.of.measure == measure)
    }
}
