//! What explains how two arms compare.

use std::collections::BTreeMap;

use model::analysis::Verdict;
use model::arm::Axis;
use model::cause::Cause;

use super::rule::{Role, Weighed, capitalised};
use super::rules::weigh;
use crate::totals::ArmTotals;

/// What explains less of a difference than this does not explain it.
const EXPLAINS: f64 = 0.1;
/// More explanations than this would not be read.
const EXPLANATIONS_MAX: usize = 3;

/// One side of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    /// What tells it from the other: `on disk`, or `with held`.
    pub(crate) label: &'a str,
    /// Its readings.
    pub(crate) totals: &'a ArmTotals,
}

/// What explains how two arms compare, what explains most first.
pub(crate) fn of_pair(base: Side, other: Side, axis: Axis, verdict: Verdict) -> Vec<Cause> {
    let mut found: Vec<(f64, Cause)> = findings(base, other)
        .iter()
        .filter_map(|pair| Some((pair.weight(axis, verdict)?, pair.cause())))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    // What disturbs is always told: it bears on all else.
    let mut explanations = 0;
    found.retain(|(weight, _)| {
        explanations += 1;
        *weight <= 0.0 || explanations <= EXPLANATIONS_MAX
    });
    found.into_iter().map(|(_, cause)| cause).collect()
}

/// One cause's findings on both sides; at least one of them has one.
struct PairFinding<'a> {
    base: Side<'a>,
    other: Side<'a>,
    in_base: Option<Weighed<'a>>,
    in_other: Option<Weighed<'a>>,
}

/// The findings of both sides, those of the same cause together.
fn findings<'a>(base: Side<'a>, other: Side<'a>) -> Vec<PairFinding<'a>> {
    let mut of_other = weigh(other.totals);
    let mut pairs: Vec<PairFinding> = Vec::new();
    for in_base in weigh(base.totals) {
        let same = of_other.iter().position(|found| found.code == in_base.code);
        let in_other = same.map(|index| of_other.remove(index));
        pairs.push(PairFinding { base, other, in_base: Some(in_base), in_other });
    }
    let rest = of_other.into_iter();
    pairs.extend(rest.map(|found| PairFinding {
        base,
        other,
        in_base: None,
        in_other: Some(found),
    }));
    pairs
}

impl PairFinding<'_> {
    /// The cause, by either finding.
    fn about(&self) -> Option<&Weighed<'_>> {
        self.in_base.as_ref().or(self.in_other.as_ref())
    }

    fn sides(&self) -> impl Iterator<Item = (&Side<'_>, &Weighed<'_>)> {
        let sides = [(&self.base, self.in_base.as_ref()), (&self.other, self.in_other.as_ref())];
        sides.into_iter().filter_map(|(side, found)| Some((side, found?)))
    }

    fn named(&self) -> impl Iterator<Item = (&Side<'_>, &Weighed<'_>)> {
        self.sides().filter(|(_, found)| found.finding.named)
    }

    /// How much it explains; nothing where it explains nothing.
    fn weight(&self, axis: Axis, verdict: Verdict) -> Option<f64> {
        let share = self.named().map(|(_, found)| found.finding.share).reduce(f64::max)?;
        let differs = matches!(verdict, Verdict::Faster | Verdict::Slower);
        match self.about()?.role {
            Role::Cost if differs => Some(self.explained()).filter(|share| *share >= EXPLAINS),
            Role::Cost if verdict == Verdict::Same => Some(share),
            // What is not known to differ, or to be the same, is not explained.
            Role::Cost => None,
            // Strategies at one place share its cache; it tells them apart only
            // where one uses it and the other does not.
            Role::Shield if axis == Axis::Strategy && self.named().count() == 2 => None,
            Role::Shield if differs => Some(EXPLAINS),
            Role::Shield => Some(2.0),
            Role::Disturbance if verdict == Verdict::Unclear => Some(3.0),
            Role::Disturbance if differs && self.named().count() == 1 => Some(EXPLAINS),
            Role::Disturbance => Some(0.0),
        }
    }

    /// The part of the two tolls' difference that lies in this kind of time;
    /// waiting for a processor is left out of the tolls, for it is chance.
    fn explained(&self) -> f64 {
        let cost = |found: &Option<Weighed>| {
            found.as_ref().map_or(0.0, |weighed| weighed.finding.cost_ns_per_op)
        };
        let part_ns = cost(&self.in_other) - cost(&self.in_base);
        let toll_ns = |side: Side| side.totals.per_op(side.totals.undisturbed_ns());
        part_ns / (toll_ns(self.other) - toll_ns(self.base))
    }

    fn cause(&self) -> Cause {
        let sides = [("base", &self.in_base), ("other", &self.in_other)];
        let evidence = sides
            .into_iter()
            .filter_map(|(side, found)| Some((side, found.as_ref()?)))
            .flat_map(|(side, found)| {
                let evidence = found.finding.evidence.iter();
                evidence.map(move |(name, value)| (format!("{side}_{name}"), *value))
            })
            .collect::<BTreeMap<_, _>>();
        let about = self.about().unwrap_or_else(|| unreachable!("one side has a finding"));
        Cause { code: about.code.clone(), scope: about.scope, evidence, text: self.text(about) }
    }

    fn text(&self, about: &Weighed) -> String {
        if about.role != Role::Cost {
            let told: Vec<String> = self
                .named()
                .map(|(side, found)| format!("{}, {}", side.label, found.finding.detail))
                .collect();
            return format!("{}.", capitalised(&told.join("; ")));
        }
        let told: Vec<String> = self
            .sides()
            .map(|(side, Weighed { finding, .. })| {
                let totals = side.totals;
                let figures =
                    if finding.named { finding.figures(totals) } else { finding.cost(totals) };
                format!("{figures} {}", side.label)
            })
            .collect();
        let most = self.named().max_by(|a, b| a.1.finding.share.total_cmp(&b.1.finding.share));
        let detail = most.filter(|(_, found)| !found.finding.detail.is_empty());
        let detail = detail
            .map(|(side, found)| format!("; {}, {}", side.label, found.finding.detail))
            .unwrap_or_default();
        format!("{} took {}{detail}.", capitalised(about.what), told.join(" and "))
    }
}
