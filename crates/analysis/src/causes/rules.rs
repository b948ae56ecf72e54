//! Every rule, and what they find in an arm.

use super::rule::{Rule, Weighed};
use super::{
    application_cpu, bound_by_sync, memory_pressure, outside_noise, own, page_cache,
    reads_from_device, system_calls, throttled_writeback, waiting_for_lock,
};
use crate::totals::ArmTotals;

/// Every cause that any study may have. Adding one is a file and a line here.
static RULES: [Rule; 9] = [
    page_cache::RULE,
    bound_by_sync::RULE,
    waiting_for_lock::RULE,
    throttled_writeback::RULE,
    reads_from_device::RULE,
    memory_pressure::RULE,
    system_calls::RULE,
    application_cpu::RULE,
    outside_noise::RULE,
];

/// What every rule, and every cause of the arm's study, finds in it.
pub(super) fn weigh(totals: &ArmTotals) -> Vec<Weighed<'_>> {
    let general = RULES.iter().filter_map(|rule| {
        let finding = (rule.weigh)(totals)?;
        let Rule { code, what, role, scope, .. } = rule;
        Some(Weighed { code: code.clone(), what, role: *role, scope: *scope, finding })
    });
    general.chain(own::weigh(totals)).collect()
}
