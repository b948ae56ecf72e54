//! What explains how two arms compare.

use std::collections::BTreeMap;

use model::analysis::Verdict;
use model::arm::Axis;
use model::cause::{Cause, CauseCode, Scope};
use units::{capitalised, time};

use super::parts::Parts;
use super::rule::{Role, Weighed};
use super::rules::weigh;
use super::side::Side;
use super::{none_found, second_thread, small_pages};
use crate::totals::ArmTotals;

/// What explains less of a difference than this does not explain it.
const EXPLAINS: f64 = 0.1;
/// More explanations than this would not be read.
const EXPLANATIONS_MAX: usize = 3;

/// What explains how two arms compare, what explains most first. Where they differ and
/// nothing explains it, that is said.
pub(crate) fn of_pair(base: Side, other: Side, axis: Axis, verdict: Verdict) -> Vec<Cause> {
    let parts = Parts::of_pair(base.totals, other.totals, axis);
    let compared = Compared { axis, verdict, base, other };
    let pairs = findings(base, other, &parts);
    let mut found: Vec<(f64, Cause)> =
        pairs.iter().filter_map(|pair| compared.weighed(pair)).collect();
    let second_thread = second_thread::between(base, other, verdict);
    let explains = |pair: &PairFinding| {
        let role = pair.about().map(|about| about.role);
        let weighed = compared.weighed(pair);
        weighed.is_some_and(|(_, cause)| match role {
            Some(Role::Cost) => true,
            Some(Role::Disturbance) => cause.scope == Scope::Arm,
            _ => false,
        })
    };
    if let Some(cause) = second_thread {
        // Whatever else takes longer, takes longer for it.
        found.push((f64::MAX, cause));
    } else if compared.differs() && !pairs.iter().any(explains) {
        found.push((f64::MAX, none_found::cause(base, other, &parts, verdict)));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    // What disturbs is always told: it bears on all else.
    let mut explanations = 0;
    found.retain(|(weight, _)| {
        explanations += 1;
        *weight <= 0.0 || explanations <= EXPLANATIONS_MAX
    });
    found.into_iter().map(|(_, cause)| cause).collect()
}

/// Two arms, and how they compare.
struct Compared<'a> {
    axis: Axis,
    verdict: Verdict,
    base: Side<'a>,
    other: Side<'a>,
}

impl Compared<'_> {
    fn differs(&self) -> bool {
        matches!(self.verdict, Verdict::Faster | Verdict::Slower)
    }

    /// The two times' difference; waiting for a processor is left out, for it is chance.
    /// Nothing where it goes against the verdict, which may rest on medians: then the
    /// readings explain nothing.
    fn difference_ns_per_op(&self) -> Option<f64> {
        let difference_ns = self.other.undisturbed_ns_per_op() - self.base.undisturbed_ns_per_op();
        let slower = self.verdict == Verdict::Slower;
        (difference_ns != 0.0 && (difference_ns > 0.0) == slower).then_some(difference_ns)
    }

    /// A cause with how much it explains; nothing where it explains nothing.
    fn weighed(&self, pair: &PairFinding) -> Option<(f64, Cause)> {
        if pair.about()?.code == CauseCode::Copying
            && self.axis == Axis::Place
            && self.differs()
            && let Some((ns, cause)) = small_pages::between(self.base, self.other, pair.more_ns())
        {
            let share = ns / self.difference_ns_per_op()?;
            return (share >= EXPLAINS).then_some((share, cause));
        }
        let cause = pair.cause(self.by_place(pair));
        if cause.code == CauseCode::OutsideNoise
            && let Some((share, queued)) = self.queued()
        {
            let text = format!("{queued} {}", cause.text);
            return Some((share, Cause { scope: Scope::Arm, text, ..cause }));
        }
        Some((self.weight(pair)?, cause))
    }

    /// The part of the whole times' difference that was spent waiting for a processor, and
    /// the same in words; nothing where that is less than half. A program that sleeps often
    /// waits whenever it wakes, and one that does not hardly ever.
    fn queued(&self) -> Option<(f64, String)> {
        /// What makes more than all else together is why the two differ.
        const MOST: f64 = 0.5;
        let slower = (self.verdict == Verdict::Slower).then_some(1.0);
        let sign = slower.or((self.verdict == Verdict::Faster).then_some(-1.0))?;
        let per_op = |of: fn(&ArmTotals) -> f64| {
            let [base, other] = [self.base, self.other].map(|s| s.totals.per_op(of(s.totals)));
            sign * (other - base)
        };
        let whole_ns = per_op(ArmTotals::time_ns);
        let queued_ns = per_op(|totals| totals.time_ns() - totals.undisturbed_ns());
        let share = queued_ns / whole_ns;
        let text = format!(
            "Waiting for a CPU accounts for {} of the difference of {} per {}.",
            time(queued_ns),
            time(whole_ns),
            self.base.totals.operation
        );
        (whole_ns > 0.0 && share >= MOST).then_some((share, text))
    }

    /// How much a pair of findings explains; nothing where it explains nothing.
    fn weight(&self, pair: &PairFinding) -> Option<f64> {
        let role = pair.about()?.role;
        if role == Role::Cost && self.differs() {
            let share = pair.more_ns() / self.difference_ns_per_op()?;
            return (share >= EXPLAINS).then_some(share);
        }
        let share = pair.named().map(|(_, found)| found.finding.share).reduce(f64::max)?;
        match role {
            Role::Cost if self.verdict == Verdict::Same => Some(share),
            // What is not known to differ, or to be the same, is not explained.
            Role::Cost => None,
            // Strategies at one place share its cache; it tells them apart only
            // where one uses it and the other does not.
            Role::Shield if self.axis == Axis::Strategy && pair.named().count() == 2 => None,
            Role::Shield if self.differs() => Some(EXPLAINS),
            Role::Shield => Some(2.0),
            Role::Disturbance if self.verdict == Verdict::Unclear => Some(3.0),
            Role::Disturbance if self.differs() && pair.named().count() == 1 => Some(EXPLAINS),
            Role::Disturbance => Some(0.0),
        }
    }

    /// Whether the same work costs the kernel more at one place than at the other, which
    /// is the file systems' doing.
    fn by_place(&self, pair: &PairFinding) -> bool {
        let in_kernel = pair.about().is_some_and(|about| {
            let code = &about.code;
            matches!(code, CauseCode::SystemCalls | CauseCode::Copying | CauseCode::Metadata)
        });
        self.axis == Axis::Place && self.differs() && in_kernel
    }
}

/// One cause's findings on both sides; at least one of them has one.
struct PairFinding<'a> {
    base: Side<'a>,
    other: Side<'a>,
    in_base: Option<Weighed<'a>>,
    in_other: Option<Weighed<'a>>,
}

/// The findings of both sides, those of the same cause together.
fn findings<'a>(base: Side<'a>, other: Side<'a>, parts: &[Parts; 2]) -> Vec<PairFinding<'a>> {
    let mut of_other = weigh(other.totals, &parts[1]);
    let mut pairs: Vec<PairFinding> = Vec::new();
    for in_base in weigh(base.totals, &parts[0]) {
        let same = of_other.iter().position(|found| found.code == in_base.code);
        let in_other = same.map(|index| of_other.remove(index));
        pairs.push(PairFinding { base, other, in_base: Some(in_base), in_other });
    }
    let alone = |found| PairFinding { base, other, in_base: None, in_other: Some(found) };
    pairs.extend(of_other.into_iter().map(alone));
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

    /// By how much more of this kind of time the other arm takes, per operation.
    fn more_ns(&self) -> f64 {
        let cost = |found: &Option<Weighed>| {
            found.as_ref().map_or(0.0, |weighed| weighed.finding.cost_ns_per_op)
        };
        cost(&self.in_other) - cost(&self.in_base)
    }

    fn cause(&self, by_place: bool) -> Cause {
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
        let text = if by_place { self.text_by_place(about) } else { self.text(about) };
        Cause { code: about.code.clone(), scope: about.role.scope(), evidence, text }
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
        format!("{} took {}{}.", capitalised(about.what), told.join(" and "), self.detail())
    }

    /// The same of work that costs the kernel more at one of two places.
    fn text_by_place(&self, about: &Weighed) -> String {
        let told: Vec<String> = self
            .sides()
            .map(|(side, found)| {
                let place = side.totals.place.as_ref();
                let filesystem = place.map_or_else(String::new, |p| format!(" ({})", p.filesystem));
                format!("{} {}{filesystem}", found.finding.cost(side.totals), side.label)
            })
            .collect();
        let tells = |side: &Side| side.totals.tells_kernel_from_program();
        let own = if tells(&self.base) || tells(&self.other) {
            ""
        } else {
            " (with the program's own work, which is the same on both sides)"
        };
        let what = capitalised(about.what);
        format!("{what} differs by place: {}{own}{}.", told.join(" and "), self.detail())
    }

    /// What more there is to say of the side that has most of it.
    fn detail(&self) -> String {
        let cost = |found: &Weighed| found.finding.cost_ns_per_op;
        let most = self.named().max_by(|a, b| cost(a.1).total_cmp(&cost(b.1)));
        let detail = most.filter(|(_, found)| !found.finding.detail.is_empty());
        detail.map_or_else(String::new, |(side, found)| {
            format!("; {}, {}", side.label, found.finding.detail)
        })
    }
}
