//! The files that finished slices have left at their places, until they are put away.
//!
//! Putting a slice's files away and settling its place takes up to several milliseconds, and nothing
//! may be timed meanwhile. So it is done while another slice is prepared in its own process, as much
//! of it as goes into the time that takes. What did not waits, within bounds: then all of it goes,
//! however long the slice has to wait.

use std::time::{Duration, Instant};

use crate::error::{Doing as _, StudyError};
use crate::ledger::Ledger;
use crate::place_handle::{Places, written_bytes, written_since};
use crate::study::Footprint;

/// At most this many finished slices may have files at a place.
const SLICES_MAX: usize = 16;
/// Settling a disk takes so long, however little was put away.
const SETTLING: Duration = Duration::from_micros(700);

/// What is left at each place, each slice's at the most.
pub(crate) struct Leftovers(Vec<Vec<Footprint>>);

impl Leftovers {
    /// No files at any of the places.
    pub(crate) fn new(places: usize) -> Self {
        Self(vec![Vec::new(); places])
    }

    /// A slice is over at a place.
    pub(crate) fn add(&mut self, place: usize, most: Footprint) {
        self.0[place].push(most);
    }

    /// Whether it is more than there may be when another slice is prepared.
    pub(crate) fn are_too_much(&self, places: &Places<'_>) -> bool {
        !self.may_be(places, 1)
    }

    /// Puts away what goes into the time in which a slice is prepared, or all where that is half of
    /// what may be there.
    pub(crate) fn settle_beside(
        &mut self,
        places: &mut Places<'_>,
        ledger: &mut Ledger,
        preparing: Duration,
    ) -> Result<(), StudyError> {
        let are_many = self.0.iter().any(|left| left.len() >= SLICES_MAX);
        match preparing.checked_sub(SETTLING) {
            _ if are_many || !self.may_be(places, 2) => self.settle(places, ledger),
            None => Ok(()),
            Some(time) => self.settle_until(Some(Instant::now() + time), places, ledger),
        }
    }

    /// Puts all away. A place that cannot be settled does not keep the others from it.
    pub(crate) fn settle(
        &mut self,
        places: &mut Places<'_>,
        ledger: &mut Ledger,
    ) -> Result<(), StudyError> {
        self.settle_until(None, places, ledger)
    }

    /// Whether each place may have `times` times what it has.
    fn may_be(&self, places: &Places<'_>, times: usize) -> bool {
        self.0.iter().zip(places).all(|(left, place)| {
            let all = left.iter().copied().fold(Footprint::NOTHING, Footprint::and);
            place.may_leave(&(1..times).fold(all, |sum, _| sum.and(all)))
        })
    }

    fn settle_until(
        &mut self,
        end: Option<Instant>,
        places: &mut Places<'_>,
        ledger: &mut Ledger,
    ) -> Result<(), StudyError> {
        let is_over = || end.is_some_and(|end| Instant::now() >= end);
        let mut settled = Ok(());
        for (number, (place, left)) in places.iter_mut().zip(&mut self.0).enumerate() {
            if left.is_empty() || is_over() {
                continue;
            }
            let before = written_bytes(&mut **place);
            let mut files = 0_u64;
            while !is_over()
                && let Some(slice) = left.pop()
            {
                settled = settled.and(place.put_away().doing("putting away what a slice left"));
                files = files.saturating_add(slice.files).saturating_add(1);
            }
            settled = settled.and(place.settle().doing("settling what slices left"));
            ledger.count_removal(number, written_since(&mut **place, before), files);
        }
        settled
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::rc::Rc;

    use model::spent::DeviceTraffic;

    use super::*;
    use crate::place_handle::PlaceHandle;

    const SLICE: Footprint = Footprint { space_bytes: 100, files: 2, written_bytes: 100 };

    /// What was done at a place.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Done {
        put_away: usize,
        settled: usize,
    }

    /// A place in which slices may have left so much.
    struct Place {
        left_max: u64,
        is_broken: bool,
        done: Rc<RefCell<Done>>,
    }

    impl PlaceHandle for Place {
        fn fresh_folder(&mut self) -> io::Result<OwnedFd> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn kept_folder(&mut self, _: usize) -> io::Result<OwnedFd> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn leave(&mut self) {}

        fn may_leave(&self, left: &Footprint) -> bool {
            left.space_bytes <= self.left_max
        }

        fn put_away(&mut self) -> io::Result<()> {
            self.done.borrow_mut().put_away += 1;
            if self.is_broken { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn settle(&mut self) -> io::Result<()> {
            self.done.borrow_mut().settled += 1;
            Ok(())
        }

        fn wears(&self) -> bool {
            true
        }

        /// A thousand bytes are written for each slice that is put away.
        fn device_bytes(&mut self) -> Option<DeviceTraffic> {
            let written_bytes = self.done.borrow().put_away as u64 * 1000;
            Some(DeviceTraffic { written_bytes, ..DeviceTraffic::default() })
        }
    }

    /// Two places in which slices may leave up to `left_max` bytes. `slices` left something at each,
    /// and another one takes `preparing` to be prepared: what was done, and what was counted.
    fn beside(left_max: u64, slices: usize, preparing: Duration) -> ([Done; 2], [u64; 2]) {
        let done = [(); 2].map(|()| Rc::<RefCell<Done>>::default());
        let place =
            |done: &Rc<RefCell<Done>>| Place { left_max, is_broken: false, done: Rc::clone(done) };
        let mut places: Places<'_> =
            done.iter().map(|done| Box::new(place(done)) as Box<dyn PlaceHandle>).collect();
        let mut ledger = Ledger::new(u64::MAX, &[true, true], 2);
        let mut left = Leftovers::new(2);
        (0..slices).for_each(|_| (0..2).for_each(|place| left.add(place, SLICE)));
        assert!(left.settle_beside(&mut places, &mut ledger, preparing).is_ok());
        let written = [0, 1].map(|place| ledger.writes().places[place].written_bytes);
        (done.map(|done| done.borrow().clone()), written)
    }

    #[test]
    fn what_was_left_waits_until_there_is_time_or_much_of_it() {
        let all = |put_away| [(); 2].map(|()| Done { put_away, settled: 1 });
        let none = [(); 2].map(|()| Done::default());
        let (short, long) = (Duration::from_micros(300), Duration::from_secs(60));
        assert_eq!(beside(10_000, 5, short), (none.clone(), [0, 0]));
        assert_eq!(beside(10_000, 5, long), (all(5), [5000, 5000]), "there is time");
        assert_eq!(beside(10_000, 16, short), (all(16), [16_000, 16_000]), "they are many");
        assert_eq!(
            beside(1000, 5, short),
            (none.clone(), [0, 0]),
            "it is half of what may be left"
        );
        assert_eq!(beside(999, 5, short), (all(5), [5000, 5000]), "it is more than half");
        assert_eq!(beside(10_000, 0, long), (none, [0, 0]), "there is nothing to settle");
    }

    #[test]
    fn a_place_that_fails_keeps_no_other_from_being_settled_and_is_told() {
        let done = Rc::<RefCell<Done>>::default();
        let place = |is_broken| Place { left_max: 150, is_broken, done: Rc::clone(&done) };
        let mut places: Places<'_> = vec![Box::new(place(true)), Box::new(place(false))];
        let mut ledger = Ledger::new(u64::MAX, &[true, true], 2);
        let mut left = Leftovers::new(2);
        left.add(0, SLICE);
        left.add(1, SLICE);
        assert!(!left.are_too_much(&places));
        left.add(1, SLICE);
        assert!(left.are_too_much(&places));
        let why = left.settle(&mut places, &mut ledger).err().map(|error| error.to_string());
        assert!(why.is_some_and(|why| why.starts_with("putting away what a slice left")));
        assert_eq!(*done.borrow(), Done { put_away: 3, settled: 2 });
        assert!(!left.are_too_much(&places));
    }
}
