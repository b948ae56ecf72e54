//! What was read around a slice besides its clock: what the process, the machine
//! and its limits went through meanwhile.
//!
//! Everything is a difference over the timed span, unless it says otherwise, in
//! nanoseconds and bytes. What cannot be read on a machine is `null`, and the
//! result's `unread` says why; it is never guessed.

use crate::counters;
use crate::counters::Level;

counters! {
    /// What the page cache held of the slice's files, those in sub-folders included.
    /// Whole pages.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct Residency {
        /// The files' sizes when the clock stopped.
        pub file_bytes: u64,
        /// Held before the clock started.
        pub cached_before_bytes: u64,
        /// Held when the clock stopped.
        pub cached_bytes: u64,
        /// Not yet written to the device when the clock stopped: dirty, or on its way.
        pub unwritten_bytes: u64,
    }

    /// The time of all processors together.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct CpuTimes {
        /// Working, for anyone.
        pub busy_ns: u64,
        /// Of that, in programs' own code, where kernel threads never are; `null` in
        /// records that do not tell it.
        pub user_ns: Option<u64>,
        /// Idle.
        pub idle_ns: u64,
        /// Kept by the hypervisor while this machine wanted it.
        pub steal_ns: u64,
    }

    /// How long at least one task, or every task, waited for a resource.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct Pressure {
        /// Some task waited for a processor.
        pub cpu_some_ns: u64,
        /// Some task waited for storage.
        pub io_some_ns: u64,
        /// All tasks that were not idle waited for storage.
        pub io_full_ns: u64,
        /// Some task waited for memory to be freed or brought back.
        pub memory_some_ns: u64,
        /// All tasks that were not idle did.
        pub memory_full_ns: u64,
    }

    /// The machine's memory: the traffic during the slice, and its state at the end.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct MemoryTraffic {
        /// Waiting to be written back, at the end, by anyone.
        pub dirty_bytes: Level,
        /// Being written back, at the end.
        pub writeback_bytes: Level,
        /// Beyond this, the kernel slows writers down.
        pub dirty_limit_bytes: Level,
        /// Became dirty.
        pub dirtied_bytes: u64,
        /// Was written back.
        pub written_bytes: u64,
        /// Read from block devices.
        pub paged_in_bytes: u64,
        /// Written to block devices.
        pub paged_out_bytes: u64,
        /// Came back from swap.
        pub swapped_in_bytes: u64,
        /// Went to swap.
        pub swapped_out_bytes: u64,
        /// Looked at for something to free.
        pub scanned_bytes: u64,
        /// Read again from storage soon after memory had given it up.
        pub refaulted_bytes: u64,
        /// How often a task had to free memory itself before it got some.
        pub allocation_stalls: u64,
        /// Free, at the end; `null` in records that do not tell it.
        pub free_bytes: Option<Level>,
        /// Given to anyone who asked for memory; `null` in records that do not tell it.
        pub allocated_bytes: Option<u64>,
        /// Huge pages that files in memory were given; `null` in records that do not tell it.
        pub huge_file_pages: Option<u64>,
        /// What the first touch of a page took when the stretch began, in nanoseconds; `null` in
        /// records that do not tell it.
        pub first_touch_ns: Option<Level>,
    }

    /// What a control group allows, and how often it was the limit.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct GroupLimits {
        /// How long the group was kept from running by its processor quota.
        pub throttled_ns: Option<u64>,
        /// The group's memory at the end, its page cache included.
        pub memory_bytes: Option<Level>,
        /// The most that it may have; `null` for no limit.
        pub memory_limit_bytes: Option<Level>,
        /// How often the group had reached its limit when it wanted memory.
        pub memory_limit_hits: Option<u64>,
    }

    /// What was read around a slice besides what it spent: the machine and its
    /// limits meanwhile.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct Surroundings {
        /// What the page cache held of the slice's files, from cachestat(2).
        pub residency: Option<Residency>,
        /// All processors together, from `/proc/stat`, which counts in steps of 10 ms.
        pub cpus: Option<CpuTimes>,
        /// What the whole machine waited for, from `/proc/pressure`.
        pub pressure: Option<Pressure>,
        /// What this process's control group waited for.
        pub group_pressure: Option<Pressure>,
        /// The machine's memory, from `/proc/vmstat`.
        pub memory: Option<MemoryTraffic>,
        /// The limits of this process's control group.
        pub group: Option<GroupLimits>,
    }
}
