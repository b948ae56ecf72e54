//! Every rule, and what they find in an arm.

mod application_cpu;
mod bound_by_sync;
mod clearing_huge_pages;
mod copying;
mod device_discards;
mod first_touch;
mod memory_pressure;
mod metadata;
mod outside_noise;
mod page_cache;
mod page_faults;
mod processor_time;
mod reads_from_device;
mod system_calls;
mod throttled_writeback;
mod two_modes;
mod waiting_for_lock;
mod writes_to_device;

use model::cause::CauseCode;

use super::own;
use super::parts::Parts;
use super::rule::{Role, Rule, Weighed};
use crate::totals::ArmTotals;

/// Declares the rules: each with its cause, its file, its role and, where the cause is time
/// spent, what that was spent on.
macro_rules! rules {
    ($($cause:ident = $file:ident, $role:ident, $what:literal;)*) => {
        /// Every cause that any study may have.
        static RULES: &[Rule] = &[$(Rule {
            code: CauseCode::$cause,
            what: $what,
            weigh: $file::weigh,
            role: Role::$role,
        }),*];
    };
}

rules! {
    AbsorbedByPageCache = page_cache, Shield, "";
    BoundBySync = bound_by_sync, Cost, "forcing data to the device (fsync)";
    WaitingForLock = waiting_for_lock, Cost, "waiting for locks held by other threads or processes";
    ThrottledWriteback = throttled_writeback, Cost, "waiting for writeback (dirty page throttling)";
    ReadsFromDevice = reads_from_device, Cost, "waiting for reads from the device";
    WritesToDevice = writes_to_device, Cost, "waiting for the device to take writes";
    DeviceDiscards = device_discards, Cost, "waiting for the device to discard freed blocks";
    MemoryPressure = memory_pressure, Disturbance, "";
    SystemCalls = system_calls, Cost, "system call overhead in the kernel";
    Copying = copying, Cost, "moving data to and from the page cache, or freeing it there,";
    ClearingHugePages = clearing_huge_pages, Cost, "clearing huge pages";
    Metadata = metadata, Cost, "creating, renaming and removing files in the kernel";
    PageFaults = page_faults, Cost, "handling page faults";
    FirstTouch = first_touch, Cost, "memory that was used for the first time";
    ApplicationCpu = application_cpu, Cost, "the program's own CPU time";
    ProcessorTime = processor_time, Cost, "CPU time, of the program and of the kernel for it,";
    TwoModes = two_modes, Disturbance, "";
    OutsideNoise = outside_noise, Disturbance, "";
}

/// What every rule, and every cause of the arm's study, finds in it, given where its time
/// went.
pub(super) fn weigh<'a>(totals: &'a ArmTotals, parts: &Parts) -> Vec<Weighed<'a>> {
    let general = RULES.iter().filter_map(|rule| {
        let finding = (rule.weigh)(totals, parts)?;
        let Rule { code, what, role, .. } = rule;
        Some(Weighed { code: code.clone(), what, role: *role, finding })
    });
    general.chain(own::weigh(totals)).collect()
}
