//! The title of a report: what was found, in one line.

use model::advice::Group;
use model::analysis::Verdict;
use units::{listed, percent, two_digits};

use super::entry::{self, Entry, is_move};
use crate::check;
use crate::difference::FACTOR_FROM;
use crate::subject::Subject;

/// A title has no room for more names.
const NAMES_MAX: usize = 3;

/// `sqlite: 15 times faster (one transaction per request); page warm is slower in ram`;
/// nothing where no round was complete.
pub(crate) fn headline(subject: Subject) -> Option<String> {
    if subject.analysis.blocks == 0 {
        return None;
    }
    if let Some(told) = subject.analysis.check.as_ref().and_then(check::in_short) {
        return Some(told);
    }
    let entries = entry::all(subject);
    if entries.iter().all(|entry| entry.advice.change.is_none()) {
        return Some(measured(&entries));
    }
    let of_group = |group| entries.iter().filter(move |entry| entry.advice.group == group);
    let best = |group| {
        let sure = of_group(group).filter_map(|entry| Some((entry, entry.advice.ratio?)));
        sure.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let gain = best(Group::Do).or_else(|| best(Group::OnlyIf)).map(gain);
    let slower = slower(&entries);
    let parts: Vec<String> = gain.into_iter().chain(slower).collect();
    if !parts.is_empty() {
        return Some(parts.join("; "));
    }
    let open: Vec<&str> = of_group(Group::Undecided).map(|entry| entry.name.as_str()).collect();
    Some(match open.as_slice() {
        [] => "No change that was tried pays".to_owned(),
        names => format!("Not decided yet: {}", few(names)),
    })
}

/// `log takes 2.49 µs; page takes 15 µs`.
fn measured(entries: &[Entry]) -> String {
    let told = entries.iter().map(|entry| format!("{} takes {}", entry.name, entry.now()));
    let told: Vec<String> = told.collect();
    match told.len().saturating_sub(NAMES_MAX) {
        0 => told.join("; "),
        more => format!("{}; and {more} more", told[..NAMES_MAX].join("; ")),
    }
}

fn gain((entry, ratio): (&Entry, f64)) -> String {
    let change = entry.change();
    let change = if is_move(&change) { change } else { format!("({change})") };
    let condition = entry.advice.condition.as_ref();
    let condition = condition.map_or_else(String::new, |condition| format!(" if {condition}"));
    format!("{}: {} {change}{condition}", entry.name, faster(ratio))
}

fn faster(ratio: f64) -> String {
    match 1.0 / ratio {
        factor if factor >= 10.0 => format!("{factor:.0} times faster"),
        factor if factor >= FACTOR_FROM => format!("{} times faster", two_digits(factor)),
        _ => format!("{} less time", percent(1.0 - ratio)),
    }
}

/// Moves to another place that surely cost time: `page warm is slower in ram`.
fn slower(entries: &[Entry]) -> Option<String> {
    let is_slower = |entry: &&Entry| {
        let is_sure = entry.comparisons().any(|c| c.verdict == Verdict::Slower);
        entry.advice.group == Group::Leave && is_sure && entry.advice.ratio > Some(1.0)
    };
    let change = |entry: &Entry| entry.advice.change.clone().filter(|change| is_move(change));
    let slower: Vec<&Entry> = entries.iter().filter(is_slower).collect();
    let first = slower.iter().find_map(|entry| change(entry))?;
    let alike = slower.into_iter().filter(|entry| change(entry).as_ref() == Some(&first));
    let names: Vec<&str> = alike.map(|entry| entry.name.as_str()).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    Some(format!("{} {verb} slower {first}", few(&names)))
}

fn few(names: &[&str]) -> String {
    match names.len().saturating_sub(NAMES_MAX) {
        0 => listed(names, "and"),
        more => format!("{} and {more} others", names[..NAMES_MAX].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_a_factor_or_a_share() {
        assert_eq!(faster(0.0664), "15 times faster");
        assert_eq!(faster(0.227), "4.4 times faster");
        assert_eq!(faster(0.69), "31% less time");
    }

    #[test]
    fn a_title_names_three_at_the_most() {
        assert_eq!(few(&["a"]), "a");
        assert_eq!(few(&["a", "b", "c"]), "a, b and c");
        assert_eq!(few(&["a", "b", "c", "d", "e"]), "a, b, c and 2 others");
    }
}
