//! Names and numbers of a bill.

use model::printable::printable;
use trace::{Bill, Kind, Share, Wait};
use units::percent;

/// A file as it is named from the working folder.
pub(super) fn file(bill: &Bill, path: &str) -> String {
    match inner(bill, path) {
        Some("") => ".".to_owned(),
        Some(inner) => inner.to_owned(),
        None => path.to_owned(),
    }
}

/// A folder, the same way.
pub(crate) fn folder(bill: &Bill, path: &str) -> String {
    match inner(bill, path) {
        Some("") => "./".to_owned(),
        Some(inner) => format!("{inner}/"),
        None if path.ends_with('/') => path.to_owned(),
        None => format!("{path}/"),
    }
}

/// What is left of a path behind the working folder.
fn inner<'a>(bill: &Bill, path: &'a str) -> Option<&'a str> {
    // A program that is watched has a folder that is not its watcher's.
    let working_folder = bill.working_folder.as_deref().filter(|_| !bill.header.attached)?;
    trace::inner(working_folder, path)
}

/// The end of a name that is too long, which tells more than its beginning, as it is printed.
pub(super) fn shortened(name: &str, chars_max: usize) -> String {
    let name = printable(name);
    let chars = name.chars().count();
    if chars <= chars_max {
        return name.into_owned();
    }
    let kept = name.chars().skip(chars - chars_max.saturating_sub(1));
    std::iter::once('…').chain(kept).collect()
}

/// What a program does meanwhile, as it goes on after "time spent": whether it waits, and what for,
/// where that is known.
pub(crate) fn doing(kind: Kind, waits: Option<bool>, waits_for: Option<Wait>) -> String {
    let what = match waits_for {
        None | Some(Wait::Device) => return kind.doing(waits).to_owned(),
        Some(Wait::Lock) if kind == Kind::Lock => return kind.doing(waits).to_owned(),
        Some(Wait::Lock) => "a lock",
        Some(Wait::Pipe) => "a pipe or socket",
        Some(Wait::Processor) => "a processor",
    };
    format!("{}, mostly waiting for {what}", kind.doing(Some(false)))
}

/// `12%`, or `11% to 13%` where it is known no better.
pub(super) fn share(share: Share) -> String {
    let [low, high] = [share.low, share.high].map(percent);
    if low == high { high } else { format!("{low} to {high}") }
}

/// The same in a table: `12%`, or `11–13%`.
pub(super) fn brief_share(share: Share) -> String {
    let [low, high] = [share.low, share.high].map(percent);
    if low == high { high } else { format!("{}–{high}", low.trim_end_matches('%')) }
}
