//! What explains a toll, a difference or the absence of one.
//!
//! Pure functions over the readings around an arm's slices. Each cause is a
//! [`Rule`]: it weighs one arm's [`Tally`] and says whether the evidence is
//! enough to name the cause, by a threshold that is written down with its
//! reason. A reading that could not be had names nothing. `docs/causes.md`
//! tells the same to whoever reads a report.

mod application_cpu;
mod bound_by_sync;
mod memory_pressure;
mod outside_noise;
mod page_cache;
mod reads_from_device;
mod system_calls;
mod tally;
mod throttled_writeback;
mod waiting_for_lock;

use std::collections::BTreeMap;

use model::arm::Axis;
use model::result::{Cause, Verdict};
use model::units::{percent, time};

pub(crate) use tally::Tally;

/// What takes at least this share of the time, everything else being less
/// together, is what the arm is bound by.
const BOUND: f64 = 0.5;
/// Waiting of a kind that takes at least this share of the time is worth a
/// sentence: to be rid of it would pay four times the usual `worth`.
const NOTABLE: f64 = 0.2;
/// What explains less of a difference than this does not explain it.
const EXPLAINS: f64 = 0.1;
/// More explanations than this would not be read.
const EXPLANATIONS_MAX: usize = 3;

/// One cause: how it is told and when it is named.
struct Rule {
    /// Its stable name in results.
    code: &'static str,
    /// What takes the time, where it is time that is told of: "waiting for a lock".
    what: &'static str,
    /// Weighs the evidence; nothing where it could not be read.
    weigh: fn(&Tally) -> Option<Finding>,
    /// How it bears on a comparison.
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
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
    /// More about it; the whole of it where it is not told as time.
    detail: String,
}

/// Every cause that there is. Adding one is a file and a line here.
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

/// One side of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    /// What tells it from the other: `on disk`, or `with held`.
    pub(crate) label: &'a str,
    /// Its readings.
    pub(crate) tally: &'a Tally,
}

/// What an arm's time went into, by itself, the largest share first.
pub(crate) fn of_arm(tally: &Tally) -> Vec<Cause> {
    let mut found: Vec<(f64, Cause)> = RULES
        .iter()
        .filter_map(|rule| {
            let finding = (rule.weigh)(tally).filter(|finding| finding.named)?;
            let evidence = finding.evidence.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
            let text = capitalised(&rule.sentence(&finding, tally));
            Some((finding.share, Cause { code: rule.code.to_owned(), evidence, text }))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, cause)| cause).collect()
}

/// What explains how two arms compare, what explains most first.
pub(crate) fn of_pair(base: Side, other: Side, axis: Axis, verdict: Verdict) -> Vec<Cause> {
    let mut found: Vec<(f64, Cause)> = RULES
        .iter()
        .filter_map(|rule| {
            let pair = PairFinding {
                rule,
                base,
                other,
                in_base: (rule.weigh)(base.tally),
                in_other: (rule.weigh)(other.tally),
            };
            let weight = pair.weight(axis, verdict)?;
            Some((weight, pair.cause()))
        })
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

impl Rule {
    /// One arm's finding in words, without a capital or a full stop's company.
    fn sentence(&self, finding: &Finding, tally: &Tally) -> String {
        if self.role != Role::Cost {
            return format!("{}.", finding.detail);
        }
        let detail =
            if finding.detail.is_empty() { String::new() } else { format!(": {}", finding.detail) };
        format!("{} took {}{detail}.", self.what, figures(finding, tally))
    }
}

/// `97% of the time (1.21 ms a record)`.
fn figures(finding: &Finding, tally: &Tally) -> String {
    format!("{} of the time ({})", percent(finding.share), cost(finding, tally))
}

fn cost(finding: &Finding, tally: &Tally) -> String {
    format!("{} a {}", time(finding.cost_ns_per_op), tally.operation)
}

/// A rule's findings on both sides.
struct PairFinding<'a> {
    rule: &'static Rule,
    base: Side<'a>,
    other: Side<'a>,
    in_base: Option<Finding>,
    in_other: Option<Finding>,
}

impl PairFinding<'_> {
    fn sides(&self) -> [(&Side<'_>, Option<&Finding>); 2] {
        [(&self.base, self.in_base.as_ref()), (&self.other, self.in_other.as_ref())]
    }

    fn named(&self) -> impl Iterator<Item = (&Side<'_>, &Finding)> {
        self.sides().into_iter().filter_map(|(side, found)| {
            let finding = found.filter(|finding| finding.named)?;
            Some((side, finding))
        })
    }

    /// How much it explains; nothing where it explains nothing.
    fn weight(&self, axis: Axis, verdict: Verdict) -> Option<f64> {
        let share = self.named().map(|(_, finding)| finding.share).reduce(f64::max)?;
        let differs = matches!(verdict, Verdict::Faster | Verdict::Slower);
        match self.rule.role {
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
        let cost = |found: &Option<Finding>| found.as_ref().map_or(0.0, |f| f.cost_ns_per_op);
        let part_ns = cost(&self.in_other) - cost(&self.in_base);
        let toll_ns = |side: Side| side.tally.per_op(side.tally.undisturbed_ns());
        part_ns / (toll_ns(self.other) - toll_ns(self.base))
    }

    fn cause(&self) -> Cause {
        let evidence = [("base", &self.in_base), ("other", &self.in_other)]
            .into_iter()
            .filter_map(|(side, found)| Some((side, found.as_ref()?)))
            .flat_map(|(side, found)| {
                found.evidence.iter().map(move |(name, value)| (format!("{side}_{name}"), *value))
            })
            .collect::<BTreeMap<_, _>>();
        Cause { code: self.rule.code.to_owned(), evidence, text: self.text() }
    }

    fn text(&self) -> String {
        if self.rule.role != Role::Cost {
            let told: Vec<String> = self
                .named()
                .map(|(side, finding)| format!("{}, {}", side.label, finding.detail))
                .collect();
            return format!("{}.", capitalised(&told.join("; ")));
        }
        let told: Vec<String> = self
            .sides()
            .into_iter()
            .filter_map(|(side, found)| {
                let (finding, tally) = (found?, side.tally);
                let figures =
                    if finding.named { figures(finding, tally) } else { cost(finding, tally) };
                Some(format!("{figures} {}", side.label))
            })
            .collect();
        let most = self.named().max_by(|a, b| a.1.share.total_cmp(&b.1.share));
        let detail = most.filter(|(_, finding)| !finding.detail.is_empty());
        let detail = detail
            .map(|(side, finding)| format!("; {}, {}", side.label, finding.detail))
            .unwrap_or_default();
        format!("{} took {}{detail}.", capitalised(self.rule.what), told.join(" and "))
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
