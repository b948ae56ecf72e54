//! Every kind of breakage, planted.

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
fn what_is_no_record_at_all_breaks_nothing_and_is_foreign() {
    let format = format(70);
    let mut lines = lines(format);
    lines.insert(7, vec![0; 3 << 20]);
    lines.insert(8, b"\n\n".to_vec());
    let found = check(format, &lines);
    // The buffer's worth of zeros, the rest with a line's end, and an empty line.
    assert_eq!(found.kinds().collect::<Vec<_>>(), [("foreign", 3)]);
    assert!(found.example.is_some());
    // Where records may be there or not, so may parts of them.
    let begun = [Expected { acknowledged: EACH, begun: EACH + 1 }; WRITERS as usize];
    let found = account(Cursor::new(lines.concat()), format, &begun).unwrap();
    assert!(found.integrity.is_intact() && found.broken_lines == 3);
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
