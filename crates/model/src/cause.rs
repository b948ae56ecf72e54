//! What explains a toll, a difference or the absence of one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares [`CauseCode`] with the names in results, and those for tables.
macro_rules! causes {
    ($($(#[$doc:meta])* $cause:ident = $name:literal, $in_short:literal;)*) => {
        /// The stable name of a cause.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum CauseCode {
            $($(#[$doc])* $cause,)*
            /// A cause that a study defines.
            OfStudy(String),
        }

        impl CauseCode {
            /// All that any study may have.
            pub const KNOWN: &[Self] = &[$(Self::$cause),*];

            /// The name in results.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$cause => $name,)*
                    Self::OfStudy(name) => name,
                }
            }

            /// The cause in a few words, for a table: of one that is a study's own, those of its
            /// name.
            pub fn in_short(&self) -> Cow<'_, str> {
                match self {
                    $(Self::$cause => $in_short.into(),)*
                    Self::OfStudy(name) => name.replace('-', " ").into(),
                }
            }
        }
    };
}

causes! {
    /// What was written stayed in the page cache.
    AbsorbedByPageCache = "absorbed-by-page-cache", "writes stay in the page cache";
    /// The time went into forcing data to the device.
    BoundBySync = "bound-by-sync", "syncs";
    /// The time went into waiting for a lock.
    WaitingForLock = "waiting-for-lock", "locks";
    /// The kernel held writers back until the device had caught up.
    ThrottledWriteback = "throttled-writeback", "throttled writeback";
    /// Data had to be read from the device.
    ReadsFromDevice = "reads-from-device", "reads from the device";
    /// Data was written past the page cache, and the device had to take it.
    WritesToDevice = "writes-to-device", "writes to the device";
    /// Memory was short.
    MemoryPressure = "memory-pressure", "too little memory";
    /// The device freed blocks (discard) while it was waited for.
    DeviceDiscards = "device-discards", "discards of the device";
    /// The time went into the kernel's work for each call.
    SystemCalls = "system-calls", "system calls";
    /// The time went into the kernel's work for each byte moved.
    Copying = "copying", "copying";
    /// One place holds its files in small pages, the other in large ones.
    SmallPages = "small-pages", "small pages";
    /// One process has one thread, the other has more.
    SecondThread = "second-thread", "a second thread";
    /// The time went into clearing huge pages for small files.
    ClearingHugePages = "clearing-huge-pages", "clearing huge pages";
    /// The time went into creating, renaming and removing files.
    Metadata = "metadata", "creating and removing files";
    /// The time went into page faults.
    PageFaults = "page-faults", "page faults";
    /// The time went into memory that was used for the first time.
    FirstTouch = "first-touch", "first use of memory";
    /// The time went into the program's own work.
    ApplicationCpu = "application-cpu", "the program itself";
    /// The time was spent on a processor, in the kernel or the program.
    ProcessorTime = "processor-time", "processor time";
    /// The arm's slices take one of two times, far apart.
    TwoModes = "two-modes", "slices in two modes";
    /// Others used the processors.
    OutsideNoise = "outside-noise", "other programs";
    /// Nothing that was looked at explains the difference.
    NoneFound = "none-found", "no cause found";
}

impl From<String> for CauseCode {
    fn from(name: String) -> Self {
        let known = Self::KNOWN.iter().find(|code| code.as_str() == name);
        known.cloned().unwrap_or(Self::OfStudy(name))
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
        for code in CauseCode::KNOWN.iter().cloned().chain([CauseCode::OfStudy("own".to_owned())]) {
            assert_eq!(CauseCode::from(String::from(code.clone())), code);
        }
    }

    #[test]
    fn the_documentation_explains_each_cause() {
        let docs = include_str!("../../../docs/causes.md");
        for code in CauseCode::KNOWN {
            assert!(docs.contains(&format!("\n### `{code}`\n")), "docs/causes.md lacks {code}");
        }
    }
}
