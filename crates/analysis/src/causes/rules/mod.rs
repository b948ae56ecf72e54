//! Every rule, and what they find in an arm.

mod application_cpu;
mod bound_by_sync;
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
mod waiting_for_lock;
mod writes_to_device;

use super::own;
use super::parts::Parts;
use super::rule::{Rule, Weighed};
use crate::totals::ArmTotals;

/// Every cause that any study may have. Adding one is a file, two lines here, one in
/// [`model::cause`] and a section in `docs/causes.md`.
static RULES: &[Rule] = &[
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
