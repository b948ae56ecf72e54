//! What came of trying a command, as a screen.

use anstyle::Style;
use model::analysis::Verdict;
use model::trial::{TriedAdvice, TriedCondition, TriedRow, TriedVariant, TryResult};
use units::{counted, percent, time};

use crate::columns::{Cell, Table};
use crate::difference::{Difference, range};
use crate::text::{Width, heading, paragraph};

/// So many paths are named.
const NAMED_MAX: usize = 4;
/// Under a row.
const CAUSE: &str = "    ";
/// Under the headings of what to do.
const INDENT: &str = "           ";

/// The screen; with `apply`, what to type as well.
pub fn report(result: &TryResult, apply: bool, width: Width) -> String {
    let mut out = heading(&title(result));
    out += &rows(result, width);
    for row in &result.rows {
        out += &doubt(row, result, width);
    }
    out += &advice(result, apply, width);
    out += &outside(result, width);
    for note in &result.notes {
        out += &paragraph("", "  ", note, width);
    }
    out
}

fn title(result: &TryResult) -> String {
    let decided = result.rows.iter().filter(|row| row.verdict.is_some());
    let (sure, all) = decided.fold((0, 0), |(sure, all), row| {
        let is_sure = !matches!(row.verdict, Some(Verdict::Unclear | Verdict::Invalid));
        (sure + u64::from(is_sure), all + 1)
    });
    let sure = if sure == all { "all sure".to_owned() } else { format!("{sure} of {all} sure") };
    let cut = if result.interrupted { ", interrupted" } else { "" };
    format!(
        "iotoll try -- {}   {}, {:.0} s, {sure}{cut}",
        result.command.join(" "),
        counted(result.rounds, "round"),
        result.seconds
    )
}

/// A line for each, with what explains it below.
fn rows(result: &TryResult, width: Width) -> String {
    let mut table = Table::new(std::iter::empty::<Cell>());
    for row in &result.rows {
        let bold = if is_sure_saving(row) { Style::new().bold() } else { Style::new() };
        table.add_row([
            Cell::new(name(row, result)),
            Cell::new(row.time_ns.map_or_else(|| "-".to_owned(), time)),
            Cell::new(change(row)).styled(bold),
        ]);
    }
    table.align_right([1]);
    // There are no heads.
    let table = table.flush();
    let explained = |(line, row): (&str, &TriedRow)| {
        let cause = match row.cause.as_str() {
            "" => String::new(),
            cause => paragraph(CAUSE, CAUSE, cause, width),
        };
        format!("{line}\n{cause}")
    };
    table.trim_start_matches('\n').lines().zip(&result.rows).map(explained).collect()
}

fn is_sure_saving(row: &TriedRow) -> bool {
    row.verdict == Some(Verdict::Faster) && !row.is_bound
}

fn name(row: &TriedRow, result: &TryResult) -> String {
    let has_all = result.rows.iter().any(|row| row.variant == TriedVariant::AllInRam);
    let folder = row.folder.as_deref().unwrap_or_default();
    match row.variant {
        TriedVariant::AsNow => "as it is".to_owned(),
        TriedVariant::AllInRam => "files in ram".to_owned(),
        TriedVariant::InRam if has_all => format!("  of which {folder} alone"),
        TriedVariant::InRam => format!("{folder} in ram"),
        TriedVariant::SyncsFree => "syncs free (a bound)".to_owned(),
        TriedVariant::Cold => "cold files".to_owned(),
    }
}

fn change(row: &TriedRow) -> String {
    match row.verdict {
        None => String::new(),
        Some(Verdict::Invalid) => "not comparable".to_owned(),
        Some(Verdict::Same) => "same".to_owned(),
        Some(Verdict::Unclear) if row.ratio_low.is_none() => "not decided".to_owned(),
        Some(Verdict::Unclear) => format!("not decided: {}", range(row.ratio_low, row.ratio_high)),
        Some(Verdict::Faster | Verdict::Slower) => {
            let difference = Difference::new(row.ratio, row.ratio_low, row.ratio_high);
            format!("{}{}", difference.ratio, difference.in_brackets())
        }
    }
}

/// Why a row cannot be compared.
fn doubt(row: &TriedRow, result: &TryResult, width: Width) -> String {
    match (row.verdict, &row.why) {
        (Some(Verdict::Invalid), Some(why)) => {
            let text = format!("{}: {why}", name(row, result).trim_start());
            paragraph("", "  ", &text, width)
        }
        _ => String::new(),
    }
}

fn advice(result: &TryResult, apply: bool, width: Width) -> String {
    let mut out = String::new();
    let of = |condition| result.advice.iter().filter(move |advice| advice.condition == condition);
    for one in of(TriedCondition::None) {
        out += &entry("DO         ", one, apply, width);
    }
    if of(TriedCondition::None).next().is_none() {
        out += &paragraph("DO         ", INDENT, &nothing(result), width);
    }
    for (condition, text) in [
        (TriedCondition::CanBeMadeAgain, "the files can be made again after a reboot"),
        (TriedCondition::NotAfterCrash, "it does not go on from these files after a crash"),
    ] {
        for (number, one) in of(condition).enumerate() {
            if number == 0 {
                out += &paragraph("ONLY IF    ", INDENT, &format!("{text}:"), width);
            }
            out += &entry(INDENT, one, apply, width);
        }
    }
    out
}

fn entry(first: &str, advice: &TriedAdvice, apply: bool, width: Width) -> String {
    let mut out = paragraph(first, INDENT, &advice.text, width);
    if apply {
        for (what, lines) in [("change", &advice.apply), ("undo", &advice.undo)] {
            for (number, line) in lines.iter().enumerate() {
                let what = if number == 0 { what } else { "" };
                // A line to type is never wrapped.
                out += &format!("{INDENT}{what:<8}{}\n", model::printable::printable(line));
            }
        }
    }
    out
}

/// Why there is nothing to do without a condition.
fn nothing(result: &TryResult) -> String {
    if result.rows.iter().any(is_sure_saving) {
        return "nothing: each change has a condition.".to_owned();
    }
    let may_pay = !result.bound_complete || result.bound >= result.threshold;
    let undecided = |row: &&TriedRow| {
        let is_move = matches!(row.variant, TriedVariant::AllInRam | TriedVariant::InRam);
        is_move && row.verdict == Some(Verdict::Unclear)
    };
    if let Some(row) = result.rows.iter().find(undecided).filter(|_| may_pay) {
        // Of too few rounds nothing is known of how runs vary.
        let why = row.why.as_deref().filter(|_| row.ratio_low.is_none());
        return match why {
            Some(why) => format!("nothing yet: {why}."),
            None => "nothing yet: a longer --budget may decide what is not decided.".to_owned(),
        };
    }
    let rest = (1.0 - result.bound).max(0.0);
    if rest >= 0.5 && result.bound_complete {
        return format!("nothing: {} of its time is not files.", percent(rest));
    }
    "nothing: moving its files saves nothing that is sure.".to_owned()
}

fn outside(result: &TryResult, width: Width) -> String {
    if result.outside.is_empty() {
        return String::new();
    }
    let named = result.outside.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    let more = result.outside.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text =
        format!("It also writes outside of its working folder, to copies here: {named}{more}.");
    paragraph("", "  ", &text, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(variant: TriedVariant, ratio: Option<f64>, verdict: Option<Verdict>) -> TriedRow {
        TriedRow {
            variant,
            folder: None,
            time_ns: Some(3.4e8 * ratio.unwrap_or(1.0)),
            ratio,
            ratio_low: ratio.map(|ratio| ratio * 0.98),
            ratio_high: ratio.map(|ratio| ratio * 1.02),
            verdict,
            why: None,
            cause: String::new(),
            is_bound: variant == TriedVariant::SyncsFree,
            scratch: None,
        }
    }

    fn result() -> TryResult {
        let in_ram = TriedRow {
            folder: Some("data/".to_owned()),
            cause: "its 300 syncs take 80% of its time".to_owned(),
            ..row(TriedVariant::InRam, Some(0.2), Some(Verdict::Faster))
        };
        TryResult {
            schema: model::trial::SCHEMA.to_owned(),
            version: "0.1.0".to_owned(),
            started: "2026-01-01T00:00:00Z".to_owned(),
            command: vec!["make".to_owned(), "-j2".to_owned()],
            folder: "/p".to_owned(),
            seconds: 92.4,
            rounds: 5,
            interrupted: false,
            status: 0,
            threshold: 0.05,
            seed: 7,
            bound: 0.06,
            bound_complete: true,
            syncs: model::trial::TriedSyncs::default(),
            rows: vec![
                row(TriedVariant::AsNow, None, None),
                in_ram,
                row(TriedVariant::SyncsFree, Some(0.1), Some(Verdict::Faster)),
                row(TriedVariant::Cold, Some(1.0), Some(Verdict::Same)),
            ],
            advice: vec![TriedAdvice {
                condition: TriedCondition::CanBeMadeAgain,
                row: 1,
                text: "Put data/ in ram".to_owned(),
                apply: vec!["mount -t tmpfs tmpfs /p/data".to_owned()],
                undo: vec!["umount /p/data".to_owned()],
            }],
            copied: Vec::new(),
            outside: vec!["/tmp/x".to_owned()],
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_bound_never_stands_under_do() {
        let mut result = result();
        let screen = anstream::adapter::strip_str(&report(&result, false, 100)).to_string();
        assert!(screen.contains("DO         nothing: each change has a condition."), "{screen}");
        assert!(screen.contains("ONLY IF    the files can be made again"), "{screen}");
        assert!(
            screen.contains("data/ in ram") && screen.contains("5.0× faster (4.9–5.1)"),
            "{screen}"
        );
        assert!(!screen.contains("umount"), "{screen}");
        result.rows.push(row(TriedVariant::AllInRam, Some(0.1), Some(Verdict::Faster)));
        let screen = anstream::adapter::strip_str(&report(&result, false, 100)).to_string();
        assert!(screen.contains("  of which data/ alone"), "{screen}");
        result.rows.pop();
        result.advice.clear();
        result.rows.remove(1);
        let screen = anstream::adapter::strip_str(&report(&result, false, 100)).to_string();
        assert!(screen.contains("DO         nothing: 94% of its time is not files."), "{screen}");
    }

    #[test]
    fn what_too_few_rounds_do_not_decide_is_not_called_unsure() {
        let mut result = result();
        result.bound = 0.99;
        result.advice.clear();
        let why = "the budget ended after 1 of the 5 stretches that a verdict takes";
        result.rows[1].verdict = Some(Verdict::Unclear);
        let say = |result: &TryResult| {
            anstream::adapter::strip_str(&report(result, false, 120)).to_string()
        };
        assert!(say(&result).contains("nothing yet: a longer --budget"), "{}", say(&result));
        result.bound = 0.02;
        assert!(say(&result).contains("nothing: 98% of its time is not files"), "{}", say(&result));
        result.bound = 0.99;
        (result.rows[1].ratio_low, result.rows[1].why) = (None, Some(why.to_owned()));
        let screen = say(&result);
        assert!(screen.contains(&format!("DO         nothing yet: {why}.")), "{screen}");
    }

    #[test]
    fn a_change_comes_with_its_undo() {
        let screen = anstream::adapter::strip_str(&report(&result(), true, 60)).to_string();
        assert!(screen.contains("change  mount -t tmpfs") && screen.contains("undo    umount"));
    }
}
