//! What became of the records: which arms corrupted any, and how sure it is that
//! the others corrupt none.

use model::analysis::ArmResult;
use model::description::StudyDescription;
use model::grouped::{group_of, push_new};
use model::integrity::{Checks, Integrity};
use model::printable::printable;
use units::{count, percent};

use crate::risk;
use crate::text::{BOLD_RED, Width, bullet, heading, list, paragraph, styled_paragraph};

/// The section; nothing where no records were checked.
pub(crate) fn section(study: &StudyDescription, arms: &[&ArmResult], width: Width) -> String {
    let [intact, broken] = checked(arms);
    let notes = arms.iter().flat_map(|arm| notes(study, arm));
    let notes: String = notes.map(|text| bullet(&text, width)).collect();
    if intact.is_empty() && broken.is_empty() {
        return if notes.is_empty() { notes } else { format!("\n{notes}") };
    }
    let mut out = format!("\n{}", heading("  Data integrity"));
    for (arm, integrity) in &broken {
        out += &corrupted(&format!("{}@{}", arm.strategy, arm.place), integrity, width);
    }
    let limits = broken.iter().chain(&intact).find_map(|(_, i)| limit(i.checks));
    let more = intact_arms(&intact, broken.is_empty()).into_iter();
    out.extend(more.chain(limits.map(str::to_owned)).map(|text| bullet(&text, width)));
    out + &notes
}

/// The same in sentences, for a page.
pub(crate) fn sentences(study: &StudyDescription, arms: &[&ArmResult]) -> Vec<String> {
    let [intact, broken] = checked(arms);
    let corrupted = broken.iter().flat_map(|(arm, integrity)| {
        let text = corruption(&format!("{}@{}", arm.strategy, arm.place), "corrupted", integrity);
        let example = integrity.example.iter().map(|line| format!("For example: {line}"));
        std::iter::once(text).chain(example).collect::<Vec<_>>()
    });
    let limits = broken.iter().chain(&intact).find_map(|(_, i)| limit(i.checks));
    corrupted
        .chain(intact_arms(&intact, broken.is_empty()))
        .chain(limits.map(str::to_owned))
        .chain(arms.iter().flat_map(|arm| notes(study, arm)))
        .collect()
}

/// An arm whose records were checked, with what became of them.
type Checked<'a> = (&'a ArmResult, &'a Integrity);

/// The arms whose records are intact, and those of which some broke.
fn checked<'a>(arms: &[&'a ArmResult]) -> [Vec<Checked<'a>>; 2] {
    let checked = arms.iter().filter_map(|arm| Some((*arm, arm.integrity.as_ref()?)));
    checked.partition(|(_, integrity)| integrity.is_intact()).into()
}

fn corrupted(arm: &str, integrity: &Integrity, width: Width) -> String {
    let text = corruption(&printable(arm), &format!("{BOLD_RED}corrupted{BOLD_RED:#}"), integrity);
    let mut out = styled_paragraph("  • ", "    ", &text, width);
    if let Some(example) = &integrity.example {
        out += &paragraph("    ", "    ", &format!("For example: {example}"), width);
    }
    out
}

fn corruption(arm: &str, corrupted: &str, integrity: &Integrity) -> String {
    let kinds: Vec<String> =
        integrity.kinds().map(|(kind, n)| format!("{} {kind}", count(n))).collect();
    format!(
        "{arm} {corrupted} {} of {} records ({}): {}.",
        count(integrity.broken()),
        count(integrity.records),
        percent(integrity.broken() as f64 / integrity.records.max(1) as f64),
        kinds.join(", ")
    )
}

fn intact_arms(intact: &[Checked], all: bool) -> Option<String> {
    let (_, fewest) = intact.iter().min_by_key(|(_, integrity)| integrity.records)?;
    let total: u64 = intact.iter().map(|(_, integrity)| integrity.records).sum();
    let whose = if all { "every combination" } else { "all other combinations" };
    let bound = fewest.share_at_most().map_or_else(String::new, |share| {
        format!(
            " At least {} were checked for each; with that many, a failure rate below 1 in {} \
             cannot be ruled out (95% confidence).",
            count(fewest.records),
            count((1.0 / share) as u64)
        )
    });
    Some(format!("All {} records of {whose} are intact and in order.{bound}", count(total)))
}

/// What small records leave unseen.
fn limit(checks: Checks) -> Option<&'static str> {
    match checks {
        Checks::Full => None,
        Checks::Short => Some(
            "Records shorter than 38 bytes only have room for a writer, a sequence number and a \
             12-bit checksum: 1 in 4,096 corrupted records would go undetected.",
        ),
        Checks::Count => Some(
            "Records shorter than 11 bytes have no room for a sequence number: lines were only \
             counted, and a record replaced by another would go undetected.",
        ),
    }
}

/// What the study has to say of an arm, in sentences made of its figures.
fn notes(study: &StudyDescription, arm: &ArmResult) -> Vec<String> {
    let shown = |name: &str| {
        let value = arm.metrics.get(name)?;
        Some(study.figure(name)?.unit.show(*value))
    };
    let of_arm = study.notes.iter().filter_map(|note| note.filled_in(shown));
    of_arm.map(|text| format!("{}@{}: {text}", arm.strategy, arm.place)).collect()
}

/// What the strategies of a study promise, those together that promise the same, and what of
/// it their places do not keep.
pub(crate) fn promises(study: &StudyDescription, arms: &[&ArmResult], width: Width) -> String {
    list("  Durability", &promised(study, arms), width)
}

/// The same in sentences.
pub(crate) fn promised(study: &StudyDescription, arms: &[&ArmResult]) -> Vec<String> {
    let mut by_promise = Vec::new();
    for arm in arms {
        let promise = study.promise_of(&arm.strategy, &arm.params);
        if promise.is_empty() {
            continue;
        }
        push_new(group_of(&mut by_promise, promise), promising(study, arm, arms));
    }
    let sentence =
        |(promise, names): (&str, Vec<String>)| format!("{}: {promise}", names.join(", "));
    let promised = by_promise.into_iter().map(sentence);
    let unkept = risk::unkept(arms.iter().copied(), |arm| arm.strategy.clone());
    promised.chain(unkept).collect()
}

/// Who promises: a strategy, with the values of parameters where others of its arms promise
/// something else.
fn promising(study: &StudyDescription, arm: &ArmResult, arms: &[&ArmResult]) -> String {
    let promise = |arm: &ArmResult| study.promise_of(&arm.strategy, &arm.params);
    let of_strategy = arms.iter().filter(|other| other.strategy == arm.strategy);
    let others: Vec<&&ArmResult> =
        of_strategy.filter(|other| promise(other) != promise(arm)).collect();
    let decides = |name: &str| {
        let mut conditions = study.promise_when.iter().flat_map(|rule| &rule.when.params);
        conditions.any(|condition| condition.param == name)
            && others.iter().any(|other| other.params.get(name) != arm.params.get(name))
    };
    let deciding = arm.params.iter().filter(|(name, _)| decides(name));
    let values: Vec<String> = deciding.map(|(name, value)| format!("{name}={value}")).collect();
    if values.is_empty() {
        arm.strategy.clone()
    } else {
        format!("{}({})", arm.strategy, values.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corruption_is_red_and_what_others_wrote_is_not_obeyed() {
        let example = Some("a\u{1b}[2J".to_owned());
        let integrity = Integrity { records: 10, torn: 1, example, ..Integrity::default() };
        assert_eq!(
            corrupted("held@\u{1b}[2J", &integrity, 80),
            "  • held@\\u{1b}[2J \u{1b}[1m\u{1b}[31mcorrupted\u{1b}[0m 1 of 10 records (10%): 1 \
             torn.\n    For example: a\\u{1b}[2J\n"
        );
    }
}
