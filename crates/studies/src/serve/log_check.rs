//! Whether the log of a server of ours has every line that it said it wrote.

use std::collections::HashSet;
use std::path::Path;

use engine::study::{Doing, StudyError};
use model::integrity::Integrity;

use super::built_in::{LINE_BYTES, line};

/// Accounts for each line: it is whole, and there once.
pub(super) fn account(log: &Path, lines: u64) -> Result<Integrity, StudyError> {
    let bytes = std::fs::read(log).doing("reading the log back")?;
    let mut integrity = Integrity { records: lines, ..Integrity::default() };
    let mut seen = HashSet::new();
    for found in bytes.chunks(LINE_BYTES) {
        match parse(found) {
            Some(line) if seen.insert(line) => {}
            Some(_) => integrity.duplicated += 1,
            None => {
                integrity.torn += 1;
                integrity
                    .example
                    .get_or_insert_with(|| String::from_utf8_lossy(found).into_owned());
            }
        }
    }
    let whole = seen.len() as u64;
    integrity.lost = lines.saturating_sub(whole + integrity.torn);
    integrity.duplicated += whole.saturating_sub(lines);
    Ok(integrity)
}

/// A line's request and number, if it is one that a server of ours writes.
fn parse(found: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(found).ok()?;
    let mut words = text.split(' ');
    let mut number = |word| (words.next()? == word).then(|| words.next()?.parse().ok())?;
    let parsed = (number("request")?, number("line")?);
    (line(parsed.0, parsed.1) == *found).then_some(parsed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn checked(bytes: &[u8], lines: u64) -> Integrity {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, bytes).unwrap();
        account(&log, lines).unwrap()
    }

    #[test]
    fn each_planted_defect_is_found_and_a_whole_log_is_intact() {
        let whole: Vec<u8> = [line(1, 0), line(1, 1), line(7, 0)].concat();
        assert!(checked(&whole, 3).is_intact());
        assert_eq!(checked(&whole[..2 * LINE_BYTES], 3).lost, 1);
        assert_eq!(checked(&[&whole[..], &line(7, 0)].concat(), 3).duplicated, 1);
        assert_eq!(checked(&[&whole[..], &line(8, 0)].concat(), 3).duplicated, 1);
        let mut torn = whole.clone();
        torn[LINE_BYTES + 9] = b'x';
        assert_eq!(checked(&torn, 3).torn, 1);
        assert!(checked(&whole[..whole.len() - 30], 3).torn == 1);
    }
}
