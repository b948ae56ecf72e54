//! What explains a toll, a difference or the absence of one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The stable name of a cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum CauseCode {
    /// What was written stayed in the page cache.
    AbsorbedByPageCache,
    /// The time went into forcing data to the device.
    BoundBySync,
    /// The time went into waiting for a lock.
    WaitingForLock,
    /// The kernel held writers back until the device had caught up.
    ThrottledWriteback,
    /// Data had to be read from the device.
    ReadsFromDevice,
    /// Data was written past the page cache, and the device had to take it.
    WritesToDevice,
    /// Memory was short.
    MemoryPressure,
    /// The device freed blocks (discard) while it was waited for.
    DeviceDiscards,
    /// The time went into the kernel's work for each call.
    SystemCalls,
    /// The time went into the kernel's work for each byte moved.
    Copying,
    /// One place holds its files in small pages, the other in large ones.
    SmallPages,
    /// The time went into creating, renaming and removing files.
    Metadata,
    /// The time went into page faults.
    PageFaults,
    /// The time went into memory that was used for the first time.
    FirstTouch,
    /// The time went into the program's own work.
    ApplicationCpu,
    /// The time was spent on a processor, in the kernel or the program.
    ProcessorTime,
    /// Others used the processors.
    OutsideNoise,
    /// Nothing that was looked at explains the difference.
    NoneFound,
    /// A cause that a study defines.
    OfStudy(String),
}

impl CauseCode {
    const KNOWN: [Self; 18] = [
        Self::AbsorbedByPageCache,
        Self::BoundBySync,
        Self::WaitingForLock,
        Self::ThrottledWriteback,
        Self::ReadsFromDevice,
        Self::WritesToDevice,
        Self::MemoryPressure,
        Self::DeviceDiscards,
        Self::SystemCalls,
        Self::Copying,
        Self::SmallPages,
        Self::Metadata,
        Self::PageFaults,
        Self::FirstTouch,
        Self::ApplicationCpu,
        Self::ProcessorTime,
        Self::OutsideNoise,
        Self::NoneFound,
    ];

    /// The name in results.
    pub fn as_str(&self) -> &str {
        match self {
            Self::AbsorbedByPageCache => "absorbed-by-page-cache",
            Self::BoundBySync => "bound-by-sync",
            Self::WaitingForLock => "waiting-for-lock",
            Self::ThrottledWriteback => "throttled-writeback",
            Self::ReadsFromDevice => "reads-from-device",
            Self::WritesToDevice => "writes-to-device",
            Self::MemoryPressure => "memory-pressure",
            Self::DeviceDiscards => "device-discards",
            Self::SystemCalls => "system-calls",
            Self::Copying => "copying",
            Self::SmallPages => "small-pages",
            Self::Metadata => "metadata",
            Self::PageFaults => "page-faults",
            Self::FirstTouch => "first-touch",
            Self::ApplicationCpu => "application-cpu",
            Self::ProcessorTime => "processor-time",
            Self::OutsideNoise => "outside-noise",
            Self::NoneFound => "none-found",
            Self::OfStudy(name) => name,
        }
    }

    /// The cause in a few words, for a table: of one that is a study's own, those of its name.
    pub fn in_short(&self) -> Cow<'_, str> {
        let words = match self {
            Self::AbsorbedByPageCache => "writes stay in the page cache",
            Self::BoundBySync => "syncs",
            Self::WaitingForLock => "locks",
            Self::ThrottledWriteback => "throttled writeback",
            Self::ReadsFromDevice => "reads from the device",
            Self::WritesToDevice => "writes to the device",
            Self::MemoryPressure => "too little memory",
            Self::DeviceDiscards => "discards of the device",
            Self::SystemCalls => "system calls",
            Self::Copying => "copying",
            Self::SmallPages => "small pages",
            Self::Metadata => "creating and removing files",
            Self::PageFaults => "page faults",
            Self::FirstTouch => "first use of memory",
            Self::ApplicationCpu => "the program itself",
            Self::ProcessorTime => "processor time",
            Self::OutsideNoise => "other programs",
            Self::NoneFound => "no cause found",
            Self::OfStudy(name) => return name.replace('-', " ").into(),
        };
        words.into()
    }
}

impl From<String> for CauseCode {
    fn from(name: String) -> Self {
        let known = Self::KNOWN.into_iter().find(|code| code.as_str() == name);
        known.unwrap_or(Self::OfStudy(name))
    }
}

impl From<CauseCode> for String {
    fn from(code: CauseCode) -> Self {
        code.as_str().to_owned()
    }
}

impl fmt::Display for CauseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for CauseCode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CauseCode".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// What a cause bears on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The arms that it was found in.
    Arm,
    /// The whole run, so that it is enough to say it once.
    Run,
}

/// One explanation, with the figures that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// A stable name.
    pub code: CauseCode,
    /// What it bears on.
    pub scope: Scope,
    /// The figures, each with its unit in its name.
    pub evidence: BTreeMap<String, f64>,
    /// The same in a sentence.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_back_as_it_was_written() {
        for code in CauseCode::KNOWN.into_iter().chain([CauseCode::OfStudy("own".to_owned())]) {
            assert_eq!(CauseCode::from(String::from(code.clone())), code);
        }
    }
}
