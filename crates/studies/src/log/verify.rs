//! Every record accounted for: reads a log back and says what became of each.
//!
//! The file is streamed twice at the most, in bounded memory. The first pass
//! ticks off every whole line by its writer and sequence. Where all are there,
//! that is the end of it. Otherwise the second pass looks at the lines that are
//! not whole: a record can be made again from its name, so a broken line's
//! beginning is held against the record that its header names, and its end
//! against the records that are missing. Of a missing record,
//!
//! * beginning and end are found: it was mixed with another (`interleaved`);
//! * only the beginning: it was cut off (`torn`);
//! * only the end: something was written over it (`overwritten`);
//! * neither: it is `lost`. A record that another of its size has replaced
//!   leaves no trace either, and counts here.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};

use memchr::{memchr, memmem};
use model::integrity::{Checks, Integrity};

use super::records::{FULL_NAME, Format, Name, letter_of};

/// Two of the longest records fit.
const BUFFER_BYTES: usize = 2 << 20;
/// More broken lines than this are not looked at one by one.
const BROKEN_LINES_MAX: usize = 1 << 18;
/// More missing records than this are not looked for one by one.
const MISSING_MAX: usize = 1 << 18;
/// By how many of its last bytes a record's end is recognised.
const TAIL_BYTES: usize = 9;
/// Bytes of a broken line that are shown, from both of its ends.
const EXAMPLE_BYTES: usize = 150;

/// What one writer should have written: its records up to `acknowledged`;
/// those from there up to `begun` may be there or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Records that it was told were written.
    pub acknowledged: u64,
    /// Records that it had, or may have, begun to write.
    pub begun: u64,
}

impl Expected {
    /// All that was begun was acknowledged.
    pub fn all(records: u64) -> Self {
        Self { acknowledged: records, begun: records }
    }
}

/// What became of the records of a file.
pub struct Account {
    /// Of those that were acknowledged.
    pub integrity: Integrity,
    /// Lines that are no whole record, whoever's they are.
    pub broken_lines: u64,
}

/// What became of the records of a file.
pub fn account(
    mut file: impl Read + Seek,
    format: Format,
    writers: &[Expected],
) -> io::Result<Account> {
    if format.checks() == Checks::Count {
        return count_lines(file, format, writers);
    }
    let mut ledger = Ledger::new(format, writers);
    each_line(&mut file, |offset, line| ledger.tick_off(offset, line))?;
    if ledger.broken_lines.is_empty() && ledger.missing() == 0 {
        return Ok(ledger.close(&[]));
    }
    file.seek(SeekFrom::Start(0))?;
    let mut search = Search::new(&ledger);
    let mut broken = ledger.broken_lines.iter().copied().peekable();
    each_line(&mut file, |offset, line| {
        if broken.next_if_eq(&offset).is_some() {
            search.look_at(line);
        }
    })?;
    let Search { missing, duplicated, .. } = search;
    ledger.duplicated += duplicated;
    Ok(ledger.close(&missing))
}

/// Calls `see` with every line, its newline included, and where it begins. What
/// is longer than any record comes in pieces.
fn each_line(file: &mut impl Read, mut see: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut filled, mut offset) = (0, 0);
    loop {
        let read = file.read(&mut buffer[filled..])?;
        filled += read;
        let mut start = 0;
        while let Some(newline) = memchr(b'\n', &buffer[start..filled]) {
            see(offset + start as u64, &buffer[start..=start + newline]);
            start += newline + 1;
        }
        let unended = read == 0 || (start == 0 && filled == buffer.len());
        if unended && start < filled {
            see(offset + start as u64, &buffer[start..filled]);
            start = filled;
        }
        if read == 0 {
            return Ok(());
        }
        buffer.copy_within(start..filled, 0);
        offset += start as u64;
        filled -= start;
    }
}

/// The first pass: which records are whole.
struct Ledger<'a> {
    format: Format,
    writers: &'a [Expected],
    /// A bit for every record that was begun, by writer.
    whole: Vec<Vec<u64>>,
    /// One above the highest sequence so far, by writer.
    next: Vec<u64>,
    /// Where broken lines begin.
    broken_lines: Vec<u64>,
    /// How many there are, those included that are not remembered.
    broken: u64,
    duplicated: u64,
    reordered: u64,
    example: Option<String>,
}

impl<'a> Ledger<'a> {
    fn new(format: Format, writers: &'a [Expected]) -> Self {
        let words = |expected: &Expected| vec![0; expected.begun.div_ceil(64) as usize];
        Self {
            format,
            writers,
            whole: writers.iter().map(words).collect(),
            next: vec![0; writers.len()],
            broken_lines: Vec::new(),
            broken: 0,
            duplicated: 0,
            reordered: 0,
            example: None,
        }
    }

    fn tick_off(&mut self, offset: u64, line: &[u8]) {
        let whole = self.format.name_of_line(line).filter(|name| self.was_begun(*name));
        if let Some(name) = whole {
            return self.found(name);
        }
        self.broken += 1;
        self.example.get_or_insert_with(|| show(line));
        if self.broken_lines.len() < BROKEN_LINES_MAX {
            self.broken_lines.push(offset);
        }
    }

    fn found(&mut self, name: Name) {
        let Name { writer, sequence } = name;
        let word = &mut self.whole[writer as usize][(sequence / 64) as usize];
        let bit = 1 << (sequence % 64);
        let next = &mut self.next[writer as usize];
        if *word & bit != 0 {
            self.duplicated += 1;
            let what = format!("record {sequence} of writer {writer} is there more than once");
            self.example.get_or_insert(what);
        } else if sequence < *next {
            self.reordered += 1;
            let after = *next - 1;
            let what = format!("record {sequence} of writer {writer} comes after its {after}");
            self.example.get_or_insert(what);
        }
        *word |= bit;
        *next = (*next).max(sequence + 1);
    }

    fn was_begun(&self, name: Name) -> bool {
        self.writers.get(name.writer as usize).is_some_and(|e| name.sequence < e.begun)
    }

    fn is_whole(&self, name: Name) -> bool {
        self.whole[name.writer as usize][(name.sequence / 64) as usize] >> (name.sequence % 64) & 1
            == 1
    }

    fn missing(&self) -> u64 {
        self.missing_names().count() as u64
    }

    /// The records that were acknowledged and are not whole.
    fn missing_names(&self) -> impl Iterator<Item = Name> + '_ {
        self.writers.iter().enumerate().flat_map(move |(writer, expected)| {
            let whole = &self.whole[writer];
            (0..expected.acknowledged.div_ceil(64)).flat_map(move |word| {
                let absent = if whole[word as usize] == u64::MAX { 0..0 } else { 0..64 };
                absent
                    .map(move |bit| Name { writer: writer as u32, sequence: word * 64 + bit })
                    .filter(move |n| n.sequence < expected.acknowledged && !self.is_whole(*n))
            })
        })
    }

    /// The account, given what was found of the missing records that were looked for.
    fn close(self, looked_for: &[Missing]) -> Account {
        let mut account = Integrity {
            records: self.writers.iter().map(|e| e.acknowledged).sum(),
            duplicated: self.duplicated,
            reordered: self.reordered,
            checks: self.format.checks(),
            ..Integrity::default()
        };
        for missing in looked_for {
            match missing.fate(self.format.size_of(missing.name)) {
                Fate::Lost => account.lost += 1,
                Fate::Torn => account.torn += 1,
                Fate::Interleaved => account.interleaved += 1,
                Fate::Overwritten => account.overwritten += 1,
            }
        }
        account.lost += self.missing() - looked_for.len() as u64;
        // A broken line is no finding where it harmed nothing acknowledged.
        account.example = self.example.clone().filter(|_| !account.is_intact()).or_else(|| {
            let Name { writer, sequence } = self.missing_names().next()?;
            Some(format!("nothing is left of record {sequence} of writer {writer}"))
        });
        Account { integrity: account, broken_lines: self.broken }
    }
}

/// What was found of a record that is not whole.
struct Missing {
    name: Name,
    /// Bytes of its beginning.
    head: usize,
    /// Bytes of its end.
    tail: usize,
    /// Whether the file ends where the beginning does.
    at_end: bool,
}

enum Fate {
    Lost,
    Torn,
    Interleaved,
    Overwritten,
}

impl Missing {
    fn fate(&self, size: usize) -> Fate {
        // A piece too short to be recognised may stand anywhere.
        let head = self.head > 0 || (self.tail > 0 && size - self.tail <= FULL_NAME);
        let tail = self.tail > 0 || (self.head + TAIL_BYTES > size && !self.at_end);
        match (head, tail) {
            (true, true) => Fate::Interleaved,
            (true, false) => Fate::Torn,
            (false, true) => Fate::Overwritten,
            (false, false) => Fate::Lost,
        }
    }
}

/// The second pass: what is left of the records that are missing.
struct Search<'a> {
    ledger: &'a Ledger<'a>,
    format: Format,
    run_tag: Option<[u8; 9]>,
    missing: Vec<Missing>,
    by_name: HashMap<Name, usize>,
    by_tail: HashMap<[u8; TAIL_BYTES], usize>,
    duplicated: u64,
    scratch: Vec<u8>,
}

impl<'a> Search<'a> {
    fn new(ledger: &'a Ledger<'a>) -> Self {
        let mut search = Self {
            ledger,
            format: ledger.format,
            run_tag: ledger.format.run_tag(),
            missing: Vec::new(),
            by_name: HashMap::new(),
            by_tail: HashMap::new(),
            duplicated: 0,
            scratch: Vec::new(),
        };
        for name in ledger.missing_names().take(MISSING_MAX) {
            search.remember(name);
        }
        search
    }

    fn remember(&mut self, name: Name) {
        let index = self.missing.len();
        self.make(name);
        if let Some(tail) = self.scratch.last_chunk() {
            self.by_tail.insert(*tail, index);
        }
        self.by_name.insert(name, index);
        self.missing.push(Missing { name, head: 0, tail: 0, at_end: false });
    }

    fn make(&mut self, name: Name) {
        self.scratch.clear();
        self.format.write(name, &mut self.scratch);
    }

    fn look_at(&mut self, line: &[u8]) {
        let mut heads = vec![0];
        if let Some(tag) = self.run_tag {
            heads.extend(memmem::find_iter(line, &tag).filter(|at| *at > 0));
        }
        for at in heads {
            let named = self.format.name_at(&line[at..]);
            if let Some(name) = named.filter(|name| self.ledger.was_begun(*name)) {
                self.look_at_head(name, &line[at..]);
            }
        }
        let tail = line.last_chunk().and_then(|tail| self.by_tail.get(tail).copied());
        if let Some(index) = tail {
            self.make(self.missing[index].name);
            let same = line.iter().rev().zip(self.scratch.iter().rev());
            let same = same.take_while(|(a, b)| a == b).count();
            let missing = &mut self.missing[index];
            missing.tail = missing.tail.max(same);
        }
    }

    fn look_at_head(&mut self, name: Name, found: &[u8]) {
        self.make(name);
        let same = found.iter().zip(&self.scratch).take_while(|(a, b)| a == b).count();
        let whole = same == self.scratch.len();
        if self.ledger.is_whole(name) {
            self.duplicated += u64::from(whole);
            return;
        }
        let Some(&index) = self.by_name.get(&name) else { return };
        let missing = &mut self.missing[index];
        missing.head = missing.head.max(same);
        missing.at_end = same == found.len() && found.last() != Some(&b'\n');
        if whole {
            // All of it is there, but on a line that begins with something else.
            missing.tail = same;
        }
    }
}

/// Records too small for a name: lines of each writer's letter, counted.
fn count_lines(mut file: impl Read, format: Format, writers: &[Expected]) -> io::Result<Account> {
    let sizes = format.sizes();
    let mut account = Integrity { checks: Checks::Count, ..Integrity::default() };
    let mut found = vec![0_u64; writers.len()];
    let mut nameless = 0;
    each_line(&mut file, |_, line| {
        let ended = line.last() == Some(&b'\n');
        let letters = &line[..line.len() - usize::from(ended)];
        let size = line.len() as u64;
        let writer = (0..writers.len() as u32).find(|w| letters.first() == Some(&letter_of(*w)));
        let one_writers = letters.windows(2).all(|pair| pair[0] == pair[1]);
        let fits = (sizes.min..=sizes.max).contains(&size);
        match writer {
            Some(writer) if ended && one_writers && fits => found[writer as usize] += 1,
            None if ended && size == 1 && fits => nameless += 1,
            _ => {
                account.example.get_or_insert_with(|| show(line));
                let torn = one_writers && size < sizes.min;
                *(if torn { &mut account.torn } else { &mut account.interleaved }) += 1;
            }
        }
    })?;
    let mut absent = 0;
    for (expected, found) in writers.iter().zip(found) {
        account.records += expected.acknowledged;
        // Lines of a single byte have no letter, and could be anyone's.
        let nobodys = nameless.min(expected.begun.saturating_sub(found));
        nameless -= nobodys;
        let found = found + nobodys;
        absent += expected.acknowledged.saturating_sub(found);
        account.duplicated += found.saturating_sub(expected.begun);
    }
    account.duplicated += nameless;
    account.lost = absent.saturating_sub(account.torn + account.interleaved);
    if !account.is_intact() {
        let (lost, more) = (account.lost, account.duplicated);
        let what = format!("{lost} lines fewer than were written, and {more} more");
        account.example.get_or_insert(what);
    }
    let broken_lines = account.torn + account.interleaved;
    Ok(Account { integrity: account, broken_lines })
}

/// A line as it can be printed, its middle left out where it is long.
fn show(line: &[u8]) -> String {
    if line.len() <= EXAMPLE_BYTES {
        return line.escape_ascii().to_string();
    }
    let (start, end) = (&line[..EXAMPLE_BYTES / 2], &line[line.len() - EXAMPLE_BYTES / 2..]);
    let left_out = line.len() - start.len() - end.len();
    format!("{} … {left_out} bytes … {}", start.escape_ascii(), end.escape_ascii())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Cursor;

    use model::study::Sizes;

    use super::*;

    const WRITERS: u32 = 3;
    const EACH: u64 = 40;

    fn format(size: u64) -> Format {
        Format::new(0xabad_1dea, Sizes { min: size, max: size })
    }

    /// The writers' records taking turns, as a list to break something in.
    fn lines(format: Format) -> Vec<Vec<u8>> {
        (0..EACH)
            .flat_map(|sequence| (0..WRITERS).map(move |writer| Name { writer, sequence }))
            .map(|name| {
                let mut line = Vec::new();
                format.write(name, &mut line);
                line
            })
            .collect()
    }

    fn check(format: Format, lines: &[Vec<u8>]) -> Integrity {
        let expected = [Expected::all(EACH); WRITERS as usize];
        account(Cursor::new(lines.concat()), format, &expected).unwrap().integrity
    }

    /// The kinds that are found once the lines have been tampered with.
    fn kinds(size: u64, tamper: impl Fn(&mut Vec<Vec<u8>>)) -> Vec<(&'static str, u64)> {
        let mut lines = lines(format(size));
        tamper(&mut lines);
        let integrity = check(format(size), &lines);
        assert_eq!(integrity.example.is_some(), !integrity.is_intact());
        integrity.kinds().collect()
    }

    #[test]
    fn what_is_whole_is_found_whole() {
        for size in [1, 2, 10, 11, 37, 38, 70, 4097, 65_537] {
            assert_eq!(kinds(size, |_| {}), [], "{size} B");
        }
    }

    #[test]
    fn a_missing_record_is_lost() {
        for size in [2, 11, 38, 70, 8193] {
            let taken_out = kinds(size, |lines| drop(lines.drain(50..53)));
            assert_eq!(taken_out, [("lost", 3)], "{size} B");
        }
    }

    #[test]
    fn a_record_that_is_there_twice_is_duplicated() {
        for size in [2, 11, 38, 70] {
            let doubled = kinds(size, |lines| lines.insert(60, lines[60].clone()));
            assert_eq!(doubled, [("duplicated", 1)], "{size} B");
        }
    }

    #[test]
    fn a_record_that_comes_late_is_reordered() {
        for size in [11, 38, 70] {
            // Three places on, it is the same writer's next.
            assert_eq!(kinds(size, |lines| lines.swap(60, 63)), [("reordered", 1)], "{size} B");
            // The order between writers is nobody's concern.
            assert_eq!(kinds(size, |lines| lines.swap(60, 61)), [], "{size} B");
        }
    }

    #[test]
    fn a_record_that_is_cut_off_is_torn() {
        for (size, kept) in [(30, 20), (38, 30), (70, 40), (8193, 8192), (8193, 100)] {
            let at_the_end = kinds(size, |lines| lines[119].truncate(kept));
            assert_eq!(at_the_end, [("torn", 1)], "{kept} of {size} B");
        }
        // Whoever comes after a cut finds itself on the same line.
        let within = kinds(70, |lines| lines[60].truncate(40));
        assert_eq!(within, [("torn", 1), ("interleaved", 1)]);
    }

    #[test]
    fn records_whose_halves_lie_among_others_are_interleaved() {
        // Two writers' buffers, each ending within a record.
        for (size, cut) in [(70, 35), (70, 12), (70, 65), (300, 150), (65_537, 8192)] {
            let mixed = kinds(size, |lines| {
                let (rest_a, rest_b) = (lines[60].split_off(cut), lines[61].split_off(cut));
                lines[60].extend_from_slice(&rest_b);
                lines[61].extend_from_slice(&rest_a);
            });
            assert_eq!(mixed, [("interleaved", 2)], "{size} B cut at {cut}");
        }
    }

    #[test]
    fn a_record_of_which_the_end_alone_is_left_was_overwritten() {
        let start_gone = kinds(8193, |lines| {
            let other = lines[0].clone();
            lines[60][..1000].copy_from_slice(&other[..1000]);
        });
        assert_eq!(start_gone, [("overwritten", 1)]);
    }

    #[test]
    fn a_flipped_bit_does_not_pass() {
        for size in [38, 70, 8193] {
            let flipped = kinds(size, |lines| lines[60][size as usize / 2] ^= 1);
            assert_eq!(flipped, [("interleaved", 1)], "{size} B");
        }
    }

    #[test]
    fn tiny_records_mixed_or_cut_are_noticed_by_their_letters() {
        assert_eq!(kinds(8, |l| l[60][3] = b'B'), [("interleaved", 1)]);
        assert_eq!(kinds(8, |l| drop(l[60].drain(2..5))), [("torn", 1)]);
        assert_eq!(kinds(8, |l| l[60].truncate(7)), [("lost", 1), ("interleaved", 1)]);
        assert_eq!(kinds(1, |l| drop(l.pop())), [("lost", 1)]);
        assert_eq!(kinds(1, |l| l.push(vec![b'\n'])), [("duplicated", 1)]);
    }

    #[test]
    fn what_was_begun_and_not_acknowledged_may_be_there_torn_or_not_at_all() {
        let format = format(70);
        let expected = [Expected { acknowledged: 20, begun: EACH }; WRITERS as usize];
        let mut all = lines(format);
        let check =
            |lines: &[Vec<u8>]| account(Cursor::new(lines.concat()), format, &expected).unwrap();
        assert!(check(&all).integrity.is_intact());
        all.truncate(100);
        all[99].truncate(30);
        let cut = check(&all);
        assert!(cut.integrity.is_intact());
        assert_eq!(cut.broken_lines, 1);
        all.truncate(59);
        assert_eq!(check(&all).integrity.lost, 1);
    }

    #[test]
    fn what_is_no_record_at_all_breaks_nothing_but_its_line() {
        let format = format(70);
        let mut lines = lines(format);
        lines.insert(7, vec![0; 3 << 20]);
        lines.insert(8, b"\n\n".to_vec());
        assert!(check(format, &lines).is_intact());
    }

    #[test]
    fn varying_sizes_are_accounted_for_as_fixed_ones_are() {
        let format = Format::new(5, Sizes { min: 50, max: 5000 });
        let mut lines = lines(format);
        assert!(check(format, &lines).is_intact());
        lines.remove(10);
        let tail = lines[20].split_off(45);
        lines.push(tail);
        let kinds: Vec<_> = check(format, &lines).kinds().collect();
        assert_eq!(kinds, [("lost", 1), ("interleaved", 2)]);
    }
}
