//! What a slice spent: one struct from the worker that did the work to the
//! record of the run, and the sum of an arm's slices.
//!
//! A counter is added here, where it is read, and where it is used; adding up,
//! subtracting, sending and saving follow from the struct.

use crate::counters;

counters! {
    /// What a slice, one of its workers, or all slices of an arm spent. Times in
    /// nanoseconds, sizes in bytes; `null` where a part of it could not be read.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct Spent {
        /// From before the first operation to after the last, and after whatever
        /// sync belongs to the timed work. Of several workers side by side the sum
        /// of what each saw, as all times here are.
        pub elapsed_ns: u64,
        /// Time on a processor, in the program's own code.
        pub user_ns: u64,
        /// Time on a processor, in the kernel.
        pub system_ns: u64,
        /// What the study asked the system to write or read.
        pub requested_bytes: u64,
        /// Files created, emptied, renamed and removed.
        pub name_changes: u64,
        /// Calls that forced data to the device.
        pub sync_calls: u64,
        /// Time within those calls.
        pub sync_ns: u64,
        /// Calls that took a lock.
        pub lock_calls: u64,
        /// Time within those calls.
        pub lock_ns: u64,
        /// How often the clock ran backwards.
        pub clock_backward_steps: u64,
        /// Pages that were touched and that memory already had.
        pub minor_faults: u64,
        /// Pages that were touched and that had to be read from storage.
        pub major_faults: u64,
        /// How often a processor was given up, to wait for something.
        pub voluntary_switches: u64,
        /// How often a processor was taken away.
        pub involuntary_switches: u64,
        /// Time ready to run and waiting for a processor, from
        /// `/proc/PID/schedstat`: the thread that runs the slice, and the first
        /// thread of each worker process.
        pub run_queue_ns: Option<u64>,
        /// Calls and storage traffic, from `/proc/PID/io`.
        pub calls: Option<Calls>,
        /// What the devices behind the place did meanwhile, for anyone.
        pub device: Option<DeviceTraffic>,
    }
}

impl Spent {
    /// Time waiting for a processor within its own time. What lost its processor just outside the timed
    /// span has that in its readings as well, and cannot have lost more time than it had.
    pub fn queued_ns(&self) -> Option<u64> {
        let left_ns = self.elapsed_ns.saturating_sub(self.user_ns + self.system_ns);
        self.run_queue_ns.map(|queued_ns| queued_ns.min(left_ns))
    }
}

counters! {
    /// Calls and storage traffic of processes (`proc_pid_io(5)`).
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct Calls {
        /// Calls of the read(2) kind.
        pub reads: u64,
        /// Calls of the write(2) kind.
        pub writes: u64,
        /// What those calls read, from the cache or not.
        pub read_bytes: u64,
        /// What those calls wrote, to the cache or not.
        pub written_bytes: u64,
        /// What storage had to read.
        pub storage_read_bytes: u64,
        /// What storage was given to write, now or later: whole pages, each counted
        /// when it becomes dirty.
        pub storage_dirtied_bytes: u64,
        /// What of that was thrown away before it was written, by removing a file.
        pub storage_cancelled_bytes: u64,
    }
}

impl Calls {
    /// What storage was given to read and to write.
    pub fn storage_bytes(self) -> u64 {
        self.storage_dirtied_bytes.saturating_add(self.storage_read_bytes)
    }
}

counters! {
    /// What block devices did, for anyone (`/proc/diskstats`).
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct DeviceTraffic {
        /// Bytes read.
        pub read_bytes: u64,
        /// Bytes that they were given to write.
        pub written_bytes: u64,
        /// Requests to flush a device's own cache that it completed; `null` before
        /// Linux 5.5, which does not count them.
        pub flushes: Option<u64>,
        /// Requests to discard freed blocks that it completed; `null` in records that
        /// do not tell it.
        pub discards: Option<u64>,
    }
}
