//! All that was found of one study, each thing once: its tables, why its arms differ,
//! data integrity, and what the ways of doing it promise.

use model::analysis::{Analysis, ArmResult};
use model::description::{ParamForm, StudyDescription};
use model::grouped::in_groups;
use model::printable::shortened;

use crate::columns::{self, GAP, Table};
use crate::subject::Subject;
use crate::table::Strategies;
use crate::text::{Width, heading, paragraph};
use crate::{figures, integrity, parts, scaling, table, why};

/// A value has at most so many characters: a command may be as long as it likes.
const VALUE_MAX: usize = 40;

/// The studies' sections, with their tables' columns below one another.
pub(crate) fn all(subject: Subject, width: Width) -> String {
    let mut studies = sections(subject, width, Strategies::Beside);
    let is_wide = |group: &Group| GAP + group.table.width() > width;
    if studies.iter().flat_map(|section| &section.groups).any(is_wide) {
        studies = sections(subject, width, Strategies::Above);
    }
    studies.iter().map(|section| section.text(subject, width)).collect()
}

fn sections(subject: Subject, width: Width, strategies: Strategies) -> Vec<Section> {
    let mut studies: Vec<Section> = Vec::new();
    for arms in by_study_and_params(subject.analysis) {
        let Some(study) = arms.first().and_then(|arm| subject.study_of(arm)) else { continue };
        let table = table::by_place(subject, &arms, width, strategies);
        let group = Group { arms, table };
        match studies.iter_mut().find(|section| section.study.name == study.name) {
            Some(section) => section.groups.push(group),
            None => studies.push(Section { study, groups: vec![group] }),
        }
    }
    let groups = studies.iter_mut().flat_map(|section| &mut section.groups);
    columns::align(&mut groups.map(|group| &mut group.table).collect::<Vec<_>>());
    studies
}

/// The arms in groups that share a study and its parameters.
fn by_study_and_params(analysis: &Analysis) -> Vec<Vec<&ArmResult>> {
    let groups = in_groups(analysis.arms.iter().map(|arm| ((arm.subject(), &arm.params), arm)));
    groups.into_iter().map(|(_, arms)| arms).collect()
}

struct Section<'a> {
    study: &'a StudyDescription,
    groups: Vec<Group<'a>>,
}

/// Arms with the same parameters.
struct Group<'a> {
    arms: Vec<&'a ArmResult>,
    table: Table,
}

impl Section<'_> {
    fn text(&self, subject: Subject, width: Width) -> String {
        let Self { study, groups } = self;
        let mut out = format!("\n{}", heading(&format!("{}: {}", study.name, study.about)));
        for (position, group) in groups.iter().enumerate() {
            out += if position > 0 { "\n" } else { "" };
            out += &group.text(subject, study, width);
        }
        let arms: Vec<&ArmResult> = groups.iter().flat_map(|group| &group.arms).copied().collect();
        out += &parts::section(study, &arms, width);
        out += &figures::evidence(&arms, width);
        out += &scaling::section(study, subject.analysis, subject.run.plan.threshold, width);
        out += &why::study(subject, &arms, width);
        out += &integrity::section(study, &arms, width);
        out + &integrity::promises(study, &arms, width)
    }
}

impl Group<'_> {
    fn text(&self, subject: Subject, study: &StudyDescription, width: Width) -> String {
        let Self { arms, table } = self;
        let params = telling_params(arms, study).join(", ");
        let mut out = String::new();
        if let Some(arm) = arms.first().filter(|arm| arm.label.is_some()) {
            let taken_for = subject.taken_for(arm).map(|text| format!(": {text}"));
            let called = subject.called(arm) + &taken_for.unwrap_or_default();
            out += &paragraph("  ", "  ", &called, width);
        }
        if !params.is_empty() {
            out += &paragraph("  ", "  ", &params, width);
        }
        // Arms with the same parameters work on the same.
        if let Some(material) = arms.first().and_then(|arm| subject.material(arm)) {
            out += &paragraph("  ", "  ", &material.to_string(), width);
        }
        out += &table.indented();
        let ways = table::by_strategy(subject, arms, width);
        let figures = figures::tables(study, arms, width);
        for more in [ways, figures] {
            out += if more.is_empty() { "" } else { "\n" };
            out += &more;
        }
        out
    }
}

/// The parameters that are not at their defaults, and always the first, of those that mean
/// something to any of these arms, which have the same.
fn telling_params(arms: &[&ArmResult], study: &StudyDescription) -> Vec<String> {
    let Some(arm) = arms.first() else { return Vec::new() };
    let applies =
        |name: &str| arms.iter().any(|arm| study.applies(name, &arm.strategy, &arm.params));
    // What a name stands for need not be said beside it.
    let named = study.params.iter().any(|param| {
        let given = arm.params.get(&param.name).is_some_and(|value| !value.is_empty());
        param.kind == ParamForm::Name && given
    });
    let first = study.params.iter().map(|param| &param.name).find(|name| applies(name));
    let telling = arm.params.iter().filter(|(name, value)| {
        if !applies(name) {
            return false;
        }
        let Some(param) = study.param(name) else { return true };
        let is_default = param.is_default(value) && Some(*name) != first;
        !(is_default || named && param.kind == ParamForm::Shell)
    });
    telling.map(|(name, value)| format!("{name} {}", shortened(value, VALUE_MAX))).collect()
}
