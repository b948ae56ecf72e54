//! Several blocks under way at a time, by `io_uring`: as soon as one is done, the next one
//! follows.
//!
//! Each is handed over by itself, as fio does it unless told otherwise. Where several were
//! done at once, to hand over as many at once would have the device meet them in bursts, and
//! have the kernel merge those that lie side by side.
#![expect(unsafe_code, reason = "the kernel uses the study's own buffers until it has answered")]

use std::io;
use std::os::fd::AsRawFd as _;
use std::thread;
use std::time::Duration;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing as _, StudyError};
use io_uring::types::Fd;
use io_uring::{EnterFlags, IoUring, opcode};
use rustix::io::Errno;

use super::config::Turn;
use super::store::{read_whole, wrote_whole};
use super::turns::{READING, Slice, WRITING};
use crate::ring;

/// Where the kernel does not let itself be waited for, the ring is looked at so often.
const LOOK_EVERY: Duration = Duration::from_millis(1);

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
        let ring = new_ring(depth.next_power_of_two() as u32).map_err(ring::refused)?;
        let place = |number| Place { buffer: number, ..Place::default() };
        Ok(Self { ring, places: (0..depth).map(place).collect(), free: (0..depth).collect() })
    }

    /// All turns, and none under way when it returns, however it does.
    pub(super) fn run(
        &mut self,
        slice: &mut Slice<'_>,
        timer: &mut SliceTimer,
    ) -> Result<(), StudyError> {
        let done = self.turns(slice, timer);
        self.drain();
        done
    }

    fn turns(&mut self, slice: &mut Slice<'_>, timer: &mut SliceTimer) -> Result<(), StudyError> {
        let all_synced = slice.config.is_synced() && !slice.config.reads();
        let mut waited = Duration::ZERO;
        self.places.iter_mut().for_each(|place| place.since = timer.last_ticks());
        let mut next = 0;
        while next < slice.turns.len()
            && let Some(place) = self.free.pop()
        {
            self.push(slice, next, place);
            self.enter(0)?;
            next += 1;
        }
        while self.free.len() < self.places.len() {
            let Some((place, result)) = self.next_done() else {
                let since = all_synced.then(|| timer.clock().ticks());
                self.enter(1)?;
                let took = |since| timer.clock().between(since, timer.clock().ticks());
                waited += since.map_or(Duration::ZERO, took);
                continue;
            };
            self.take_in(slice, place, result)?;
            timer.completed(self.places[place].since);
            self.places[place].since = timer.last_ticks();
            timer.check_stop()?;
            if next < slice.turns.len() {
                self.free.pop();
                self.push(slice, next, place);
                next += 1;
                self.enter(0)?;
            }
        }
        if all_synced {
            timer.synced(slice.turns.len() as u64, waited.as_nanos() as u64);
        }
        Ok(())
    }

    fn push(&mut self, slice: &mut Slice<'_>, number: usize, place: usize) {
        let Turn { block, reads } = slice.turns[number];
        let (file, offset) = (Fd(slice.file.as_raw_fd()), slice.config.offset(block));
        self.places[place].turn = number;
        let entry = if reads {
            let into = slice.read.get_mut(place);
            opcode::Read::new(file, into.as_mut_ptr(), into.len() as u32).offset(offset).build()
        } else {
            let buffer = self.next_buffer(slice.store.buffers.count(), place);
            let from = slice.fill(block, buffer);
            opcode::Write::new(file, from.as_ptr(), from.len() as u32).offset(offset).build()
        };
        let entry = entry.user_data(place as u64);
        // SAFETY: the file and the buffers are the slice's, which `run` was lent, and it
        // returns when nothing is under way any more; dropping the queue, which comes before
        // dropping the slice, waits for the same. Only this place uses the buffer.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the ring has room for as many entries as there are places");
    }

    /// The next of the place's own buffers to write from.
    fn next_buffer(&mut self, buffers: usize, place: usize) -> usize {
        let next = self.places[place].buffer + self.places.len();
        let buffer = if next < buffers { next } else { place };
        self.places[place].buffer = buffer;
        buffer
    }

    /// Hands over what is on the ring, and waits until so many blocks are done. Asks for answers
    /// also where none is waited for: a kernel that was told not to interrupt gives them only then.
    fn enter(&mut self, wanted: u32) -> Result<(), StudyError> {
        let flags = EnterFlags::GETEVENTS.bits();
        loop {
            let handed_over = self.ring.submission().len() as u32;
            // SAFETY: no signal mask is passed. What is on the ring may be handed over: see
            // `push`.
            match unsafe { self.ring.submitter().enter::<()>(handed_over, wanted, flags, None) } {
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                answer => return answer.map(drop).doing("handing blocks to io_uring"),
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
    fn take_in(&self, slice: &mut Slice<'_>, place: usize, result: i32) -> Result<(), StudyError> {
        let Turn { block, reads } = slice.turns[self.places[place].turn];
        let moved = usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
        if reads {
            read_whole(moved, slice.config.size, READING)?;
            slice.look(block, place);
            return Ok(());
        }
        wrote_whole(moved, slice.config.size, WRITING)
    }

    /// Blocks that the kernel has and has not answered. What it never took from the ring
    /// it does not touch.
    fn under_way(&mut self) -> usize {
        self.places.len() - self.free.len() - self.ring.submission().len()
    }

    /// Waits for all that is under way: until then the kernel may write to the buffers.
    fn drain(&mut self) {
        while self.under_way() > 0 {
            if self.enter(1).is_err() {
                // Answers come without being waited for, too.
                thread::sleep(LOOK_EVERY);
            }
            while self.next_done().is_some() {}
        }
    }
}

/// A ring whose answers come when the thread asks for them and never interrupt it, which
/// kernels before Linux 6.1 cannot be told.
fn new_ring(entries: u32) -> io::Result<IoUring> {
    let mut patient = IoUring::builder();
    patient.setup_coop_taskrun().setup_single_issuer().setup_defer_taskrun();
    match patient.build(entries) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => IoUring::new(entries),
        ring => ring,
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.drain();
    }
}
