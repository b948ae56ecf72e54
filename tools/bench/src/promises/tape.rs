//! What was done to a disk, in order, and what a power failure leaves of it.
//!
//! A disk with a cache of its own promises one thing: when it has answered a flush, what
//! it had taken before is on it for good. Of what it took since, anything may be there
//! and anything may not: the rest may have been written in any order, and a write that
//! was under way may have changed some of its sectors and not others. A [`Tape`] makes
//! such disks, as many as are wanted.

use std::collections::HashMap;
use std::sync::Arc;

use rand::{Rng, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

const PAGE: usize = 4096;
/// How often a write that is there is there in part.
const TORN: f64 = 0.1;

/// A disk's contents; what was never written is zeros.
#[derive(Clone, Default)]
pub(super) struct Image {
    pages: HashMap<u64, Arc<[u8; PAGE]>>,
}

impl Image {
    pub(super) fn read(&self, offset: u64, into: &mut [u8]) {
        each_page(offset, into.len(), |page, within, range| match self.pages.get(&page) {
            Some(page) => into[range].copy_from_slice(&page[within]),
            None => into[range].fill(0),
        });
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        each_page(offset, bytes.len(), |page, within, range| {
            let bytes = &bytes[range];
            if !self.pages.contains_key(&page) && bytes.iter().all(|byte| *byte == 0) {
                return;
            }
            let page = self.pages.entry(page).or_insert_with(|| Arc::new([0; PAGE]));
            Arc::make_mut(page)[within].copy_from_slice(bytes);
        });
    }
}

/// Calls `piece` with each page that is touched, the bytes of it, and those of the whole.
fn each_page(
    offset: u64,
    length: usize,
    mut piece: impl FnMut(u64, std::ops::Range<usize>, std::ops::Range<usize>),
) {
    let mut done = 0;
    while done < length {
        let at = offset + done as u64;
        let within = (at % PAGE as u64) as usize;
        let size = (PAGE - within).min(length - done);
        piece(at / PAGE as u64, within..within + size, done..done + size);
        done += size;
    }
}

/// Something that happened.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Write {
        offset: u64,
        bytes: Box<[u8]>,
    },
    /// A flush was answered.
    Flush,
    /// The application was told that so many of its operations are done.
    Acknowledged(u64),
}

/// What kind of disk it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Disk {
    /// Whether it keeps what it had taken when it answers a flush; one that lies keeps
    /// nothing for sure.
    pub(super) honest: bool,
    /// What it writes whole or not at all, in bytes.
    pub(super) sector: usize,
}

/// A moment at which the power may fail: before an event of the disk, or at the end.
/// Between two of these nothing changes on the disk, and no more is acknowledged than
/// right before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Moment {
    /// Events that have happened.
    pub(super) events: usize,
    /// Operations that were acknowledged by then.
    pub(super) acknowledged: u64,
}

/// All that happened to a disk since it was as `base` has it.
#[derive(Clone, Default)]
pub(super) struct Tape {
    base: Image,
    events: Vec<Event>,
    /// What is safe, and after how many events.
    safe: (Image, usize),
}

impl Tape {
    pub(super) fn new(base: Image) -> Self {
        Self { safe: (base.clone(), 0), base, events: Vec::new() }
    }

    pub(super) fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// When the power may fail, in order.
    pub(super) fn moments(&self) -> Vec<Moment> {
        let mut moments = Vec::new();
        let mut acknowledged = 0;
        for (events, event) in self.events.iter().enumerate() {
            match event {
                Event::Acknowledged(operations) => acknowledged = *operations,
                Event::Write { .. } | Event::Flush => {
                    moments.push(Moment { events, acknowledged });
                }
            }
        }
        moments.push(Moment { events: self.events.len(), acknowledged });
        moments
    }

    /// The disk with all that was written.
    pub(super) fn whole(&self) -> Image {
        let mut image = self.base.clone();
        write_all(&mut image, &self.events);
        image
    }

    /// A disk as it may be found when the power failed after so many events; which of
    /// all those follows from the seed.
    pub(super) fn cut(&mut self, events: usize, seed: u64, disk: Disk) -> Image {
        let happened = &self.events[..events];
        let flushed = happened.iter().rposition(|event| matches!(event, Event::Flush));
        let safe = flushed.filter(|_| disk.honest).unwrap_or(0);
        if self.safe.1 > safe {
            self.safe = (self.base.clone(), 0);
        }
        write_all(&mut self.safe.0, &happened[self.safe.1..safe]);
        self.safe.1 = safe;
        let mut image = self.safe.0.clone();
        let unsafe_writes: Vec<(u64, &[u8])> = writes(&happened[safe..]).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        keep_some(&mut image, &unsafe_writes, disk.sector, &mut rng);
        image
    }
}

fn writes(events: &[Event]) -> impl Iterator<Item = (u64, &[u8])> {
    events.iter().filter_map(|event| match event {
        Event::Write { offset, bytes } => Some((*offset, &**bytes)),
        Event::Flush | Event::Acknowledged(_) => None,
    })
}

fn write_all(image: &mut Image, events: &[Event]) {
    writes(events).for_each(|(offset, bytes)| image.write(offset, bytes));
}

/// Some of what a disk had in its cache: as far as it came where it keeps the order, or
/// few, half or most of it, in any order; with writes torn here and there.
fn keep_some(image: &mut Image, writes: &[(u64, &[u8])], sector: usize, rng: &mut impl Rng) {
    let in_order = rng.random_bool(0.25);
    let share = [0.1, 0.5, 0.9][rng.random_range(0..3)];
    let first = if in_order { rng.random_range(0..=writes.len()) } else { 0 };
    writes[..first].iter().for_each(|(offset, bytes)| image.write(*offset, bytes));
    let rest = if in_order { &writes[first..(first + 1).min(writes.len())] } else { writes };
    for (offset, bytes) in rest {
        if in_order || rng.random_bool(TORN) {
            let sectors = bytes.chunks(sector).enumerate();
            for (number, bytes) in sectors.filter(|_| rng.random_bool(0.5)) {
                image.write(offset + (number * sector) as u64, bytes);
            }
        } else if rng.random_bool(share) {
            image.write(*offset, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTOR: usize = 512;
    const HONEST: Disk = Disk { honest: true, sector: SECTOR };
    const LYING: Disk = Disk { honest: false, sector: SECTOR };

    fn write(offset: u64, byte: u8, length: usize) -> Event {
        Event::Write { offset, bytes: vec![byte; length].into() }
    }

    fn byte(image: &Image, offset: u64) -> u8 {
        let mut byte = [0];
        image.read(offset, &mut byte);
        byte[0]
    }

    /// Pages 0 to 9 written, a flush, and pages 10 to 29 written.
    fn tape() -> Tape {
        let mut base = Image::default();
        base.write(0, &vec![1; 100 * PAGE]);
        let mut tape = Tape::new(base);
        for page in 0..30 {
            if page == 10 {
                tape.push(Event::Flush);
            }
            tape.push(write(page * PAGE as u64, 2, PAGE));
            tape.push(Event::Acknowledged(page + 1));
        }
        tape
    }

    #[test]
    fn images_hold_what_was_written_across_pages() {
        let mut image = Image::default();
        image.write(PAGE as u64 - 3, &[7; 6]);
        let mut bytes = [9; 10];
        image.read(PAGE as u64 - 5, &mut bytes);
        assert_eq!(bytes, [0, 0, 7, 7, 7, 7, 7, 7, 0, 0]);
        image.write(PAGE as u64, &[0; 2]);
        assert_eq!((byte(&image, PAGE as u64), byte(&image, PAGE as u64 + 2)), (0, 7));
    }

    #[test]
    fn moments_are_the_latest_at_which_the_disk_was_so() {
        let moments = tape().moments();
        assert_eq!(moments.len(), 32);
        assert_eq!(moments[0], Moment { events: 0, acknowledged: 0 });
        assert_eq!(moments[10], Moment { events: 20, acknowledged: 10 });
        assert_eq!(moments[31], Moment { events: 61, acknowledged: 30 });
    }

    #[test]
    fn what_was_flushed_is_always_there_and_the_rest_in_any_part() {
        let mut tape = tape();
        let end = tape.events.len();
        let mut seen = [[false; 2]; 30];
        let mut torn = 0;
        for seed in 0..200 {
            let image = tape.cut(end, seed, HONEST);
            for (page, seen) in seen.iter_mut().enumerate() {
                let sectors: Vec<u8> = (0..PAGE / SECTOR)
                    .map(|sector| byte(&image, (page * PAGE + sector * SECTOR) as u64))
                    .collect();
                seen[usize::from(sectors[0] == 2)] = true;
                torn += usize::from(sectors.iter().any(|byte| *byte != sectors[0]));
                assert!(page >= 10 || sectors.iter().all(|byte| *byte == 2), "{seed}, {page}");
            }
        }
        assert!(seen[10..].iter().all(|seen| *seen == [true, true]));
        assert!(torn > 100, "{torn}");
    }

    #[test]
    fn a_disk_of_large_sectors_tears_nothing_within_them() {
        let mut tape = tape();
        let large = Disk { honest: true, sector: PAGE };
        for seed in 0..200 {
            let image = tape.cut(tape.events.len(), seed, large);
            let at =
                |page: usize, sector: usize| byte(&image, (page * PAGE + sector * SECTOR) as u64);
            assert!((0..30).all(|page| (1..8).all(|sector| at(page, sector) == at(page, 0))));
        }
    }

    #[test]
    fn what_comes_after_a_cut_is_not_there_whatever_was_cut_before() {
        let mut tape = tape();
        let end = tape.events.len();
        tape.cut(end, 1, HONEST);
        let image = tape.cut(4, 2, HONEST);
        assert!((2..100).all(|page| byte(&image, page * PAGE as u64) == 1));
        let first: Vec<u8> = (0..50).map(|s| byte(&tape.cut(2, s, HONEST), 0)).collect();
        assert!(first.contains(&1) && first.contains(&2), "{first:?}");
    }

    #[test]
    fn a_disk_that_lies_keeps_nothing_for_sure() {
        let mut tape = tape();
        let end = tape.events.len();
        let lost = (0..100).filter(|seed| byte(&tape.cut(end, *seed, LYING), 0) == 1);
        assert!(lost.count() > 10);
        assert!((0..30).all(|page| byte(&tape.whole(), page * PAGE as u64) == 2));
    }

    #[test]
    fn a_seed_names_one_disk() {
        let mut tape = tape();
        let mut bytes = |seed| {
            let image = tape.cut(61, seed, HONEST);
            (0..240).map(|sector| byte(&image, sector * SECTOR as u64)).collect::<Vec<u8>>()
        };
        assert_eq!(bytes(5), bytes(5));
        assert_ne!(bytes(5), bytes(6));
    }
}
