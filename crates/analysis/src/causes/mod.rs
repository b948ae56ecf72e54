//! What explains a toll, a difference or the absence of one.
//!
//! Pure functions over the readings around an arm's slices. Each cause is a
//! [`Rule`]: it weighs one arm's [`ArmTotals`] and says whether the evidence is
//! enough to name the cause, by a threshold that is written down with its
//! reason. A reading that could not be had names nothing. A study adds causes of
//! its own by saying which of its figures is time spent on what ([`own`]).
//! `docs/causes.md` tells the same to whoever reads a report.

mod application_cpu;
mod bound_by_sync;
mod memory_pressure;
mod outside_noise;
mod own;
mod page_cache;
mod pair;
mod reads_from_device;
mod system_calls;
mod throttled_writeback;
mod waiting_for_lock;

use model::cause::{Cause, CauseCode, Scope};
use model::units::{percent, time};

pub(crate) use self::pair::{Side, of_pair};
pub(crate) use crate::totals::ArmTotals;

/// What takes at least this share of the time, everything else being less
/// together, is what the arm is bound by.
const BOUND: f64 = 0.5;
/// Waiting of a kind that takes at least this share of the time is worth a
/// sentence: to be rid of it would pay four times the usual `worth`.
const NOTABLE: f64 = 0.2;

/// One cause: what it is called and when it is named.
struct Rule {
    /// Its stable name in results.
    code: CauseCode,
    /// What takes the time, where the cause is time spent: "waiting for a lock".
    what: &'static str,
    /// Weighs the evidence; nothing where it could not be read.
    weigh: fn(&ArmTotals) -> Option<Finding>,
    /// How it bears on a comparison.
    role: Role,
    /// What it bears on.
    scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Takes time in each operation, and explains a difference by its size.
    Cost,
    /// Keeps the places' storage out of the toll, and explains why they are alike.
    Shield,
    /// Disturbs: it explains why nothing could be decided.
    Disturbance,
}

/// What a rule finds in an arm.
struct Finding {
    /// Whether it is enough to name the cause.
    named: bool,
    /// The share of the time.
    share: f64,
    /// The same in nanoseconds per operation.
    cost_ns_per_op: f64,
    /// The figures, each with its unit in its name.
    evidence: Vec<(&'static str, f64)>,
    /// More about it; the whole of it where it is not time spent.
    detail: String,
}

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

/// A finding with what it is a finding of.
struct Weighed<'a> {
    code: CauseCode,
    what: &'a str,
    role: Role,
    scope: Scope,
    finding: Finding,
}

/// What every rule, and every cause of the arm's study, finds in it.
fn weigh(totals: &ArmTotals) -> Vec<Weighed<'_>> {
    let general = RULES.iter().filter_map(|rule| {
        let finding = (rule.weigh)(totals)?;
        let Rule { code, what, role, scope, .. } = rule;
        Some(Weighed { code: code.clone(), what, role: *role, scope: *scope, finding })
    });
    general.chain(own::weigh(totals)).collect()
}

/// What an arm's time went into, by itself, the largest share first.
pub(crate) fn of_arm(totals: &ArmTotals) -> Vec<Cause> {
    let mut named: Vec<Weighed> =
        weigh(totals).into_iter().filter(|weighed| weighed.finding.named).collect();
    named.sort_by(|a, b| b.finding.share.total_cmp(&a.finding.share));
    named.iter().map(|weighed| weighed.cause(totals)).collect()
}

impl Weighed<'_> {
    fn cause(&self, totals: &ArmTotals) -> Cause {
        let evidence = self.finding.evidence.iter();
        Cause {
            code: self.code.clone(),
            scope: self.scope,
            evidence: evidence.map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            text: capitalised(&self.sentence(totals)),
        }
    }

    /// One arm's finding in words.
    fn sentence(&self, totals: &ArmTotals) -> String {
        let Finding { detail, .. } = &self.finding;
        if self.role != Role::Cost {
            return format!("{detail}.");
        }
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        format!("{} took {}{detail}.", self.what, self.finding.figures(totals))
    }
}

impl Finding {
    /// `97% of the time (1.21 ms per record)`.
    fn figures(&self, totals: &ArmTotals) -> String {
        format!("{} of the time ({})", percent(self.share), self.cost(totals))
    }

    /// `1.21 ms per record`.
    fn cost(&self, totals: &ArmTotals) -> String {
        format!("{} per {}", time(self.cost_ns_per_op), totals.operation)
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
