//! Several blocks under way at a time, by `io_uring`: whenever some are done, as many
//! follow.

use std::os::fd::AsRawFd as _;

use engine::recorder::Recorder;
use engine::study::StudyError;
use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use rustix::io::Errno;

use super::Turn;
use super::slice::{READING, Slice, WRITING};
use super::store::whole;
use crate::ring;

/// A ring, and the blocks that are under way on it.
pub(super) struct Queue {
    ring: IoUring,
    places: Vec<Place>,
    /// Those that no block is in.
    free: Vec<usize>,
}

/// A place in the queue. It has buffers of its own, so that none is filled that is under
/// way.
#[derive(Clone, Copy, Default)]
struct Place {
    turn: usize,
    /// When it was free, in ticks.
    since: u64,
    /// Which of its buffers was written from last.
    buffer: usize,
}

impl Queue {
    pub(super) fn new(depth: usize) -> Result<Self, StudyError> {
        let ring = IoUring::new(depth.next_power_of_two() as u32).map_err(ring::refused)?;
        let place = |number| Place { buffer: number, ..Place::default() };
        Ok(Self { ring, places: (0..depth).map(place).collect(), free: (0..depth).collect() })
    }

    /// All turns, and none under way when it returns, however it does.
    pub(super) fn run(
        &mut self,
        slice: &mut Slice<'_>,
        recorder: &mut Recorder,
    ) -> Result<(), StudyError> {
        let done = self.turns(slice, recorder);
        let drained = self.drain();
        done.and(drained)
    }

    fn turns(&mut self, slice: &mut Slice<'_>, recorder: &mut Recorder) -> Result<(), StudyError> {
        self.places.iter_mut().for_each(|place| place.since = recorder.last_ticks());
        let mut next = 0;
        while next < slice.turns.len() || self.free.len() < self.places.len() {
            while next < slice.turns.len()
                && let Some(place) = self.free.pop()
            {
                self.push(slice, next, place);
                next += 1;
            }
            self.wait()?;
            while let Some((place, result)) = self.next_done() {
                self.finish(slice, place, result)?;
                recorder.completed(self.places[place].since);
                self.places[place].since = recorder.last_ticks();
            }
            recorder.check_stop()?;
        }
        Ok(())
    }

    fn push(&mut self, slice: &mut Slice<'_>, number: usize, place: usize) {
        let Turn { block, reads } = slice.turns[number];
        let (file, offset) = (Fd(slice.store.file.as_raw_fd()), slice.offset(block));
        self.places[place].turn = number;
        let entry = if reads {
            let into = slice.read.get_mut(place);
            opcode::Read::new(file, into.as_mut_ptr(), into.len() as u32).offset(offset).build()
        } else {
            let from = slice.fill(block, self.buffer(slice, place));
            opcode::Write::new(file, from.as_ptr(), from.len() as u32).offset(offset).build()
        };
        let entry = entry.user_data(place as u64);
        // SAFETY: the file and the buffers are the slice's, which `run` was lent, and it
        // returns when nothing is under way any more. Only this place uses the buffer.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the ring has room for as many entries as there are places");
    }

    /// The next of the place's own buffers to write from.
    fn buffer(&mut self, slice: &Slice<'_>, place: usize) -> usize {
        let next = self.places[place].buffer + self.places.len();
        let buffer = if next < slice.store.buffers.count() { next } else { place };
        self.places[place].buffer = buffer;
        buffer
    }

    /// Submits what is on the ring and waits until at least one block is done.
    fn wait(&mut self) -> Result<(), StudyError> {
        loop {
            match self.ring.submit_and_wait(1) {
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                answer => return answer.map(drop).map_err(ring::refused),
            }
        }
    }

    /// The place of a block that is done, free again, and how its I/O ended.
    fn next_done(&mut self) -> Option<(usize, i32)> {
        let done = self.ring.completion().next()?;
        let place = done.user_data() as usize;
        self.free.push(place);
        Some((place, done.result()))
    }

    /// Takes in how the I/O of a place's block ended.
    fn finish(&self, slice: &mut Slice<'_>, place: usize, result: i32) -> Result<(), StudyError> {
        let Turn { block, reads } = slice.turns[self.places[place].turn];
        let moved = usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
        whole(moved, slice.config.size, if reads { READING } else { WRITING })?;
        if reads {
            slice.look(block, place);
        }
        Ok(())
    }

    /// Waits for all that is under way.
    fn drain(&mut self) -> Result<(), StudyError> {
        while self.free.len() < self.places.len() {
            self.wait()?;
            while self.next_done().is_some() {}
        }
        Ok(())
    }
}
