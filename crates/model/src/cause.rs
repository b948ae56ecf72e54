//! What explains a time per operation, a difference or the absence of one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares [`CauseCode`] with the names in results, those for tables, and what each means. The
/// reference is made from that (`cargo xtask generate`), so write it for those who read reports.
macro_rules! causes {
    ($($(#[doc = $about:literal])* $cause:ident = $name:literal, $in_short:literal;)*) => {
        /// The stable name of a cause.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum CauseCode {
            $($(#[doc = $about])* $cause,)*
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

            /// What it means, when it is named, what helps and what it cannot see, in Markdown;
            /// nothing of one that is a study's own.
            pub fn about(&self) -> &'static str {
                match self {
                    $(Self::$cause => concat!($($about, "\n"),*),)*
                    Self::OfStudy(_) => "",
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
    /// What was written was still in memory when the clock stopped. The time is that of memory, and
    /// the device's part comes later, in the flush after the slice.
    /// Named when the slices wrote and at most 10% of it had reached the device, by cachestat(2) and
    /// the device's counters. Files beyond the first 1,024 of a slice are not looked at.
    AbsorbedByPageCache = "absorbed-by-page-cache", "writes stay in the page cache";
    /// Calls that force data to the device, such as fsync, took at least half of the time.
    /// Sync less often, or for several changes at once. A faster device helps as well.
    /// Writes to files that were opened with `O_SYNC` or `O_DSYNC` are no such calls: they count as
    /// time asleep.
    BoundBySync = "bound-by-sync", "syncs";
    /// Calls that take a lock were asleep for at least a fifth of the time. Taking a free lock does
    /// not count. Locks within the kernel are not seen.
    WaitingForLock = "waiting-for-lock", "locks";
    /// The kernel let writers sleep until the device had caught up. No counter shows it. It is named
    /// when writers slept outside syncs and locks for at least a fifth of the time while the device
    /// wrote, much was unwritten, and the pressure figures agree.
    /// Write less, or more slowly. A larger `vm.dirty_bytes` only delays it.
    ThrottledWriteback = "throttled-writeback", "throttled writeback";
    /// The files were not in memory, and waiting for reads took at least a fifth of the time.
    /// More memory, fewer bytes or a faster device help. Read-ahead that nobody waited for does not
    /// count.
    ReadsFromDevice = "reads-from-device", "reads from the device";
    /// Writes went past the page cache, with `O_DIRECT` or `O_DSYNC`, and waiting for them took at
    /// least a fifth of the time. A device with a cache of its own may take a write before it is
    /// safe.
    WritesToDevice = "writes-to-device", "writes to the device";
    /// Memory was short, and waiting for it took at least 5% of the time: for swapped pages, for
    /// pages that were dropped and read again, or for free ones.
    /// Outside a control group of your own, the figures are those of the whole machine.
    MemoryPressure = "memory-pressure", "too little memory";
    /// The place is mounted with `discard`, and telling the device which blocks are free took at
    /// least a fifth of the time. ext4 without a journal does this within the call that removes a
    /// file.
    /// Mount without `discard` and run `fstrim` once a week instead.
    DeviceDiscards = "device-discards", "discards of the device";
    /// The kernel's work for each call took at least half of the time. Larger or fewer calls help.
    /// Other storage helps only if its file system does less work for a call.
    /// `read_and_write_calls_per_op` counts reads and writes alone, not opening, closing or locking.
    SystemCalls = "system-calls", "system calls";
    /// Moving data between the page cache and the program took at least half of the time. This
    /// includes finding the pages of a file and freeing them with it. Fewer bytes help.
    Copying = "copying", "copying";
    /// One place holds its files in pages of 4 KiB, the other in larger ones, so the same bytes take
    /// longer to read. A tmpfs without `huge=` has small pages. XFS, and ext4 since Linux 6.16, have
    /// large ones. So a RAM disk can be slower than a disk's page cache.
    /// `mount -o remount,huge=within_size DIR` gives a tmpfs large pages.
    /// Named when a cached page cost 1.25 times as much there before the run. Without root, the size
    /// of pages is known of a tmpfs alone.
    SmallPages = "small-pages", "small pages";
    /// A process with a second thread pays some 90 ns more for each call on a file, even if that
    /// thread sleeps: the kernel then counts references to the file and locks its position.
    /// Named when two ways differ in `threads` alone. Write several records by one call, or from a
    /// process with one thread.
    SecondThread = "second-thread", "a second thread";
    /// A tmpfs with `huge=always` gives each small file a page of 2 MiB, and clearing it took at
    /// least a fifth of the time. `mount -o remount,huge=within_size DIR` avoids that.
    ClearingHugePages = "clearing-huge-pages", "clearing huge pages";
    /// Creating, emptying, renaming and removing files took at least half of the time: the file
    /// system's journal, directories and free blocks. Fewer files help.
    /// ext4 without a journal creates files more slowly for some minutes after many were removed.
    Metadata = "metadata", "creating and removing files";
    /// Page faults took at least a fifth of the time, by their number and by what one cost before
    /// the run.
    PageFaults = "page-faults", "page faults";
    /// The machine used memory for the first time, which took at least a fifth of the time. On a
    /// virtual machine the host may have to find that memory first. Later use of the same pages is
    /// cheaper. Memory that was in use before the run is not seen.
    FirstTouch = "first-touch", "first use of memory";
    /// The program's own code took at least half of the time. No storage can shorten that.
    ApplicationCpu = "application-cpu", "the program itself";
    /// Processor time took at least half of the time. The slices are too short to tell the kernel's
    /// part from the program's.
    ProcessorTime = "processor-time", "processor time";
    /// The slices take one of two times, far apart: "35 ms (60%) and 150 ms (40%)". Neither a mean
    /// nor a median describes that. The report names the kind of time that makes the difference.
    /// Named when at least a fifth of the slices is on each side and the medians are 25% apart.
    TwoModes = "two-modes", "slices in two modes";
    /// Other programs, the hypervisor or a processor quota took at least 5% of the time. Measure
    /// when the machine is quiet. Use of the processor's caches by others is not seen.
    OutsideNoise = "outside-noise", "other programs";
    /// Two ways differ, and no other cause explains a tenth of it. The text says what was looked at
    /// and what could not be read.
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
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
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
    fn each_cause_is_explained() {
        for code in CauseCode::KNOWN {
            assert!(code.about().len() > 50, "{code} says too little: {}", code.about());
        }
    }
}
