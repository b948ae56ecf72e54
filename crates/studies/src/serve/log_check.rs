//! Whether the log of a server of ours has every line that it said it wrote.

use std::fs::File;
use std::io::{self, BufReader, Read};

use engine::study::{Doing, StudyError};
use model::integrity::Integrity;

use super::built_in::{LINE_BYTES, line};

/// What may be in a log.
#[derive(Clone, Copy)]
pub(crate) struct Logged {
    /// Lines that were written.
    pub(crate) lines: u64,
    /// Requests that were begun, numbered from 0 …
    pub(crate) requests: u64,
    /// … of which one in so many logs, or may log …
    pub(crate) every: u64,
    /// … so many lines.
    pub(crate) of_request: u64,
}

impl Logged {
    /// Which of all lines this is, unless no request of this slice writes it.
    fn index(&self, request: u64, number: u64) -> Option<u64> {
        let is_ours = request < self.requests
            && request.is_multiple_of(self.every)
            && number < self.of_request;
        is_ours.then(|| request * self.of_request + number)
    }
}

/// Accounts for each line: it is whole, and there once.
pub(crate) fn account(log: File, logged: Logged) -> Result<Integrity, StudyError> {
    account_of(BufReader::new(log), logged).doing("reading the log back")
}

fn account_of(mut log: impl Read, logged: Logged) -> io::Result<Integrity> {
    let mut integrity = Integrity { records: logged.lines, ..Integrity::default() };
    let mut seen = SeenNumbers::default();
    let mut whole = 0;
    let mut part = Vec::with_capacity(LINE_BYTES);
    while next_line(&mut log, &mut part)? {
        let parsed = parse(&part);
        match parsed.and_then(|(request, number)| logged.index(request, number)) {
            Some(index) if seen.note(index) => whole += 1,
            Some(_) => integrity.duplicated += 1,
            None if parsed.is_some() => integrity.foreign += 1,
            None => {
                integrity.torn += 1;
                let text = || String::from_utf8_lossy(&part).into_owned();
                integrity.example.get_or_insert_with(text);
            }
        }
    }
    integrity.lost = logged.lines.saturating_sub(whole + integrity.torn);
    integrity.duplicated += whole.saturating_sub(logged.lines);
    Ok(integrity)
}

/// A bit for each line.
#[derive(Default)]
struct SeenNumbers(Vec<u64>);

impl SeenNumbers {
    /// Notes a line; whether it is new.
    fn note(&mut self, index: u64) -> bool {
        let (word, bit) = ((index / 64) as usize, 1 << (index % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }
}

/// Reads the next line, or what is left of one; whether there was any.
fn next_line(log: &mut impl Read, part: &mut Vec<u8>) -> io::Result<bool> {
    part.clear();
    log.take(LINE_BYTES as u64).read_to_end(part)?;
    Ok(!part.is_empty())
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
        let logged = Logged { lines, requests: 9, every: 1, of_request: 2 };
        account(File::open(log).unwrap(), logged).unwrap()
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
        assert_eq!(checked(&whole[..whole.len() - 30], 3).torn, 1);
        // Of another slice, or of a request that does not log.
        assert_eq!(checked(&[&whole[..], &line(9, 0)].concat(), 3).foreign, 1);
        assert_eq!(checked(&[&whole[..], &line(1, 2)].concat(), 3).foreign, 1);
        for (request, number) in [(u64::MAX, 0), (u64::MAX / 2, 5), (1 << 29, 0)] {
            assert_eq!(checked(&line(request, number), 1).foreign, 1);
        }
    }
}
