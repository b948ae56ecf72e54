//! What a cause is: its rule, what the rule finds in an arm, and how that is worded.

use model::cause::{Cause, CauseCode, Scope};
use units::{capitalised, percent, time};

use super::parts::Parts;
use crate::totals::ArmTotals;

/// What takes at least this share of the time, everything else being less
/// together, is what the arm is bound by.
pub(super) const BOUND: f64 = 0.5;
/// Waiting of a kind that takes at least this share of the time is worth a
/// sentence: to be rid of it would pay four times the usual threshold.
pub(super) const NOTABLE: f64 = 0.2;
/// A cause mentions waits for a processor if the time without them is less than this share.
const UNDISTURBED: f64 = 0.95;

/// One cause: what it is called and when it is named.
pub(super) struct Rule {
    /// Its stable name in results.
    pub(super) code: CauseCode,
    /// What takes the time, where the cause is time spent: "waiting for a lock".
    pub(super) what: &'static str,
    /// Weighs the evidence; nothing where it could not be read.
    pub(super) weigh: fn(&ArmTotals, &Parts) -> Option<Finding>,
    /// How it bears on a comparison.
    pub(super) role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Takes time in each operation, and explains a difference by its size.
    Cost,
    /// Keeps the places' storage out of the time per operation, and explains why they are alike.
    Shield,
    /// Disturbs: it explains why nothing could be decided.
    Disturbance,
}

impl Role {
    /// What disturbs one arm disturbs the run.
    pub(super) fn scope(self) -> Scope {
        if self == Self::Disturbance { Scope::Run } else { Scope::Arm }
    }
}

/// What a rule finds in an arm.
pub(super) struct Finding {
    /// Whether it is enough to name the cause of the arm by itself.
    pub(super) named: bool,
    /// The share of the time.
    pub(super) share: f64,
    /// The same in nanoseconds per operation.
    pub(super) cost_ns_per_op: f64,
    /// The figures, each with its unit in its name.
    pub(super) evidence: Vec<(String, f64)>,
    /// More about it; the whole of it where it is not time spent.
    pub(super) detail: String,
}

/// A finding with what it is a finding of.
pub(super) struct Weighed<'a> {
    pub(super) code: CauseCode,
    pub(super) what: &'a str,
    pub(super) role: Role,
    pub(super) finding: Finding,
}

impl Weighed<'_> {
    pub(super) fn cause(&self, totals: &ArmTotals) -> Cause {
        Cause {
            code: self.code.clone(),
            scope: self.role.scope(),
            evidence: self.finding.evidence.iter().cloned().collect(),
            text: capitalised(&self.sentence(totals)),
        }
    }

    /// One arm's finding in words.
    pub(super) fn sentence(&self, totals: &ArmTotals) -> String {
        let Finding { detail, .. } = &self.finding;
        if self.role != Role::Cost {
            return format!("{detail}.");
        }
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        format!("{} took {}{detail}.", self.what, self.finding.figures(totals))
    }
}

impl Finding {
    /// A part of the undisturbed time, which names the cause from this share on. Its figures are
    /// called after `name`: `sync_time_percent`, `sync_ns_per_op`.
    pub(super) fn of_time(totals: &ArmTotals, part_ns: f64, least_share: f64, name: &str) -> Self {
        let mut finding = Self::of_part(totals, part_ns, least_share);
        finding.evidence = vec![
            (format!("{name}_time_percent"), finding.share * 100.0),
            (format!("{name}_ns_per_op"), finding.cost_ns_per_op),
        ];
        finding
    }

    /// The same without figures.
    pub(super) fn of_part(totals: &ArmTotals, part_ns: f64, least_share: f64) -> Self {
        let share = totals.undisturbed_share(part_ns);
        Self {
            named: share >= least_share,
            share,
            cost_ns_per_op: totals.ns_per_op(part_ns),
            evidence: Vec::new(),
            detail: String::new(),
        }
    }

    /// Something other than time spent, of this weight between 0 and 1, in words.
    pub(super) fn of_state(named: bool, share: f64, detail: String) -> Self {
        Self { named, share, cost_ns_per_op: 0.0, evidence: Vec::new(), detail }
    }

    /// With the figures that show it.
    pub(super) fn with(mut self, evidence: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        self.evidence.extend(evidence.into_iter().map(|(name, value)| (name.to_owned(), value)));
        self
    }

    /// With more about it.
    pub(super) fn detailed(self, detail: String) -> Self {
        Self { detail, ..self }
    }

    /// `97% of the time (1.21 ms per record)`.
    pub(super) fn figures(&self, totals: &ArmTotals) -> String {
        // The share is of less than what the cost is a part of.
        let is_disturbed = totals.undisturbed_ns() < UNDISTURBED * totals.time_ns();
        let but = if is_disturbed { " without waits for a CPU" } else { "" };
        format!("{} of the time{but} ({})", percent(self.share), self.cost(totals))
    }

    /// `1.21 ms per record`; where tables have another time, which one it is.
    pub(super) fn cost(&self, totals: &ArmTotals) -> String {
        let of = if totals.is_scored { " of elapsed time" } else { "" };
        format!("{}{of} per {}", time(self.cost_ns_per_op), totals.operation)
    }
}

#[cfg(test)]
mod tests {
    use model::spent::Spent;

    use super::*;

    #[test]
    fn a_cost_says_of_which_time_it_is_a_part() {
        let spent = Spent { elapsed_ns: 100_000, ..Spent::default() };
        let mut totals = ArmTotals { operation: "step".to_owned(), spent, ..ArmTotals::default() };
        totals.operations = 1;
        let figures = |totals: &ArmTotals| Finding::of_part(totals, 90e3, BOUND).figures(totals);
        assert_eq!(figures(&totals), "90% of the time (90.0 µs per step)");
        totals.is_scored = true;
        assert_eq!(figures(&totals), "90% of the time (90.0 µs of elapsed time per step)");
        totals.spent.elapsed_ns = 200_000;
        totals.spent.run_queue_ns = Some(100_000);
        assert!(figures(&totals).starts_with("90% of the time without waits for a CPU ("));
    }
}
