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
//!
//! Where every record that was begun was acknowledged and all are whole, a line that is
//! no record was written by nobody: it is `foreign`.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};

use memchr::{memchr, memmem};
use model::integrity::{Checks, Integrity};
use model::printable::printable;

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
        let read = match file.read(&mut buffer[filled..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
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
        if self.writers.iter().all(|e| e.begun == e.acknowledged) && account.is_intact() {
            account.foreign = self.broken;
        }
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
        self.ledger.format.write(name, &mut self.scratch);
    }

    fn look_at(&mut self, line: &[u8]) {
        let mut heads = vec![0];
        if let Some(tag) = self.ledger.format.run_tag() {
            heads.extend(memmem::find_iter(line, &tag).filter(|at| *at > 0));
        }
        for at in heads {
            let named = self.ledger.format.name_at(&line[at..]);
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
        let what =
            format!("{lost} of the lines written are missing, and {more} extra lines are there");
        account.example.get_or_insert(what);
    }
    let broken_lines = account.torn + account.interleaved;
    Ok(Account { integrity: account, broken_lines })
}

/// A line as it can be printed, its middle left out where it is long.
fn show(line: &[u8]) -> String {
    let shown = if line.len() <= EXAMPLE_BYTES {
        line.escape_ascii().to_string()
    } else {
        let (start, end) = (&line[..EXAMPLE_BYTES / 2], &line[line.len() - EXAMPLE_BYTES / 2..]);
        let left_out = line.len() - start.len() - end.len();
        format!("{} … {left_out} bytes … {}", start.escape_ascii(), end.escape_ascii())
    };
    printable(&shown).into_owned()
}

#[cfg(test)]
mod tests;
