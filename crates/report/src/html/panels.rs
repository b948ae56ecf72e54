//! The combinations of a study that do the same work, and so share an axis.

use model::analysis::ArmResult;

use crate::subject::Subject;

/// Combinations that are compared with each other.
pub(super) struct Panel<'a> {
    /// The parameters in which it differs from the study's other panels.
    pub(super) heading: String,
    /// Each with its position among all of the run.
    pub(super) arms: Vec<(usize, &'a ArmResult)>,
}

/// Those of a study, in the order of the plan.
pub(super) fn panels<'a>(subject: Subject<'a>, study: &str) -> Vec<Panel<'a>> {
    let arms = subject.arms_of(study);
    let mut groups: Vec<Vec<(usize, &ArmResult)>> = arms.map(|arm| vec![arm]).collect();
    for comparison in &subject.analysis.comparisons {
        let group_of = |groups: &[Vec<(usize, &ArmResult)>], id: &str| {
            groups.iter().position(|group| group.iter().any(|(_, arm)| arm.id == id))
        };
        let base = group_of(&groups, &comparison.base);
        let other = group_of(&groups, &comparison.other);
        if let (Some(base), Some(other)) = (base, other)
            && base != other
        {
            let [into, from] = [base.min(other), base.max(other)];
            let moved = groups.remove(from);
            groups[into].extend(moved);
        }
    }
    for group in &mut groups {
        group.sort_by_key(|(position, _)| *position);
    }
    let headings: Vec<String> = groups.iter().map(|group| heading(group, &groups)).collect();
    let panel = |(arms, heading)| Panel { heading, arms };
    groups.into_iter().zip(headings).map(panel).collect()
}

/// What all of a group have in common and another group does not: `operation=write`.
fn heading(group: &[(usize, &ArmResult)], groups: &[Vec<(usize, &ArmResult)>]) -> String {
    let Some((_, first)) = group.first() else { return String::new() };
    let is_shared = |name: &str, value: &String| {
        let has = |(_, arm): &(usize, &ArmResult)| arm.params.get(name) == Some(value);
        group.iter().all(has) && !groups.iter().flatten().all(has)
    };
    let label = first
        .label
        .iter()
        .filter(|label| groups.iter().flatten().any(|(_, arm)| arm.label.as_ref() != Some(*label)));
    let params = first.params.iter().filter(|(name, value)| is_shared(name, value));
    let params = params.map(|(name, value)| format!("{name}={value}"));
    label.cloned().chain(params).collect::<Vec<_>>().join(", ")
}
