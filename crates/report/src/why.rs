//! Why the arms of a study differ, or do not: the comparisons' causes, each told
//! once, with the comparisons that share it.

use std::collections::BTreeSet;

use model::analysis::{ArmResult, Comparison, Next};
use model::arm::Axis;
use model::cause::{Cause, CauseCode, Scope};
use model::grouped::each_once;
use model::printable::printable;

use crate::subject::Subject;
use crate::text::{Width, bullet, list};

/// More lines than this about one study would not be read; the rest is in the
/// result file.
const LINES_MAX: usize = 5;

/// A cause with all comparisons that have it.
struct Shared<'a> {
    cause: &'a Cause,
    of: Vec<&'a Comparison>,
}

/// Why the arms of one study with the same parameters compare as they do.
pub(crate) fn study(subject: Subject, arms: &[&ArmResult], width: Width) -> String {
    let causes = causes(subject, arms).into_iter().map(|(text, _)| text);
    match list("  Why", &causes.take(LINES_MAX).collect::<Vec<_>>(), width) {
        none if none.is_empty() => none,
        causes => causes + &next(&nexts(subject, arms), width),
    }
}

/// Every cause of what the arms differ by, in a sentence that tells where it was found,
/// with the figures of the first comparison that has it.
pub(crate) fn causes<'a>(subject: Subject<'a>, arms: &[&ArmResult]) -> Vec<(String, &'a Cause)> {
    let comparisons = of_study(subject, arms);
    let shared = shared(&comparisons, |cause| cause.scope != Scope::Run);
    let told = shared.into_iter().map(|Shared { cause, of }| {
        (format!("{} ({})", cause.text.trim_end_matches('.'), found_in(subject, &of)), cause)
    });
    told.collect()
}

/// What to measure next, each thing once.
pub(crate) fn nexts<'a>(subject: Subject<'a>, arms: &[&ArmResult]) -> Vec<&'a Next> {
    each_once(of_study(subject, arms).into_iter().filter_map(|c| c.next.as_ref()))
}

fn of_study<'a>(subject: Subject<'a>, arms: &[&ArmResult]) -> Vec<&'a Comparison> {
    let is_of = |c: &&Comparison| arms.iter().any(|arm| arm.id == c.other);
    subject.analysis.comparisons.iter().filter(is_of).collect()
}

/// What disturbed the run as a whole: of each kind the first arm's figures.
pub(crate) fn run(subject: Subject, width: Width) -> String {
    list("Interference", &interference(subject), width)
}

/// The same in sentences.
pub(crate) fn interference(subject: Subject) -> Vec<String> {
    let mut told = Vec::new();
    for code in codes_of_run(subject) {
        let mut disturbed = subject.analysis.arms.iter().filter_map(|arm| {
            let cause = arm.causes.iter().find(|cause| cause.code == *code)?;
            Some((arm, cause))
        });
        let Some((arm, cause)) = disturbed.next() else { continue };
        let more = match disturbed.count() {
            0 => String::new(),
            more => format!("; similar in {more} more"),
        };
        told.push(format!("{} ({}{more})", cause.text.trim_end_matches('.'), arm.id));
    }
    told
}

/// The causes that bear on the whole run, each once.
fn codes_of_run(subject: Subject<'_>) -> BTreeSet<&CauseCode> {
    let causes = subject.analysis.arms.iter().flat_map(|arm| &arm.causes);
    causes.filter(|cause| cause.scope == Scope::Run).map(|cause| &cause.code).collect()
}

/// The causes by axis and code, in the order of how much they explain: those
/// that come first in their comparisons, then those that most share.
fn shared<'a>(comparisons: &[&'a Comparison], wanted: impl Fn(&Cause) -> bool) -> Vec<Shared<'a>> {
    let mut shared: Vec<(usize, Shared)> = Vec::new();
    for &comparison in comparisons {
        for (rank, cause) in comparison.causes.iter().filter(|c| wanted(c)).enumerate() {
            let same = |(_, s): &&mut (usize, Shared)| {
                // That nothing was found is said once, whatever it was not found for.
                let alike = cause.code == CauseCode::NoneFound
                    || s.of.iter().any(|c| c.axis == comparison.axis);
                s.cause.code == cause.code && alike
            };
            match shared.iter_mut().find(same) {
                Some((best, group)) => {
                    *best = rank.min(*best);
                    group.of.push(comparison);
                }
                None => shared.push((rank, Shared { cause, of: vec![comparison] })),
            }
        }
    }
    shared.sort_by_key(|(rank, group)| (*rank, std::cmp::Reverse(group.of.len())));
    shared.into_iter().map(|(_, group)| group).collect()
}

/// Which arms a cause was found in: `reopen; also held, flock`.
fn found_in(subject: Subject, of: &[&Comparison]) -> String {
    let several_places = subject.run.places.len() > 2;
    let mut names = of.iter().filter_map(|c| {
        let [base, other] = subject.sides(c)?;
        Some(match c.axis {
            Axis::Place if several_places => format!("{} on {}", other.strategy, other.place),
            Axis::Place => other.strategy.clone(),
            Axis::Strategy | Axis::Both => {
                format!("{} on {}", subject.difference(other, base), other.place)
            }
        })
    });
    let first = names.next().unwrap_or_default();
    let alike: Vec<String> = names.collect();
    match alike.len() {
        0 => first,
        1..=4 => format!("{first}; also {}", alike.join(", ")),
        more => format!("{first} and {more} more"),
    }
}

/// What would have to be otherwise, and how to see it.
fn next(nexts: &[&Next], width: Width) -> String {
    let mut out = String::new();
    for next in nexts {
        out += &bullet(&next.text, width);
        if let Some(command) = &next.command {
            // Not wrapped: it is to be copied.
            out += &format!("    To measure it:\n      {}\n", printable(command));
        }
    }
    out
}
