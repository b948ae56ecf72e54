//! Every rule, and what they find in an arm.

use super::parts::Parts;
use super::rule::{Rule, Weighed};
use super::{
    application_cpu, bound_by_sync, copying, device_discards, first_touch, memory_pressure,
    metadata, outside_noise, own, page_cache, page_faults, processor_time, reads_from_device,
    system_calls, throttled_writeback, waiting_for_lock, writes_to_device,
};
use crate::totals::ArmTotals;

/// Every cause that any study may have. Adding one is a file and a line here.
static RULES: [Rule; 16] = [
    page_cache::RULE,
    bound_by_sync::RULE,
    waiting_for_lock::RULE,
    throttled_writeback::RULE,
    reads_from_device::RULE,
    writes_to_device::RULE,
    device_discards::RULE,
    memory_pressure::RULE,
    system_calls::RULE,
    copying::RULE,
    metadata::RULE,
    page_faults::RULE,
    first_touch::RULE,
    application_cpu::RULE,
    processor_time::RULE,
    outside_noise::RULE,
];

/// What every rule, and every cause of the arm's study, finds in it, given where its time
/// went.
pub(super) fn weigh<'a>(totals: &'a ArmTotals, parts: &Parts) -> Vec<Weighed<'a>> {
    let general = RULES.iter().filter_map(|rule| {
        let finding = (rule.weigh)(totals, parts)?;
        let Rule { code, what, role, scope, .. } = rule;
        Some(Weighed { code: code.clone(), what, role: *role, scope: *scope, finding })
    });
    general.chain(own::weigh(totals)).collect()
}
