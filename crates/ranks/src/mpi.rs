//! Messages by MPI.
//!
//! By mpi-sys, the C interface of rsmpi, rather than by rsmpi itself, whose functions drop
//! what MPI returns: that a rank is gone would go unnoticed. MPI's error handler is set to
//! return, and every call's answer is looked at. Waiting sleeps between two looks (`idle.rs`).
#![expect(unsafe_code, reason = "it is the interface to a library in C")]

use std::ffi::{c_char, c_int};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::{Duration, Instant};

use mpi_sys as ffi;

use crate::comm::{Comm, Failure};
use crate::idle::Idle;

/// All messages are of one kind.
const TAG: c_int = 0;
/// What is not taken by then never will be.
const SENDING_MAX: Duration = Duration::from_secs(60);

/// All ranks that the launcher started. Used by the thread that made it alone, which is what
/// `MPI_THREAD_FUNNELED` allows.
#[derive(Debug)]
pub struct World {
    rank: usize,
    ranks: usize,
    _of_one_thread: PhantomData<*const ()>,
}

impl World {
    /// Starts MPI, once in a process.
    ///
    /// # Errors
    /// Where it cannot be, or allows no other threads beside the one that uses it.
    pub fn init() -> Result<Self, Failure> {
        let mut provided = 0;
        // SAFETY: MPI is started once, by the first thread, and may be given no arguments.
        let code = unsafe {
            ffi::MPI_Init_thread(
                ptr::null_mut(),
                ptr::null_mut(),
                ffi::RSMPI_THREAD_FUNNELED,
                &raw mut provided,
            )
        };
        checked(code, "starting")?;
        let (mut rank, mut ranks) = (0, 0);
        // SAFETY: MPI is started, and the calls write to these two alone.
        let code = unsafe {
            ffi::MPI_Comm_set_errhandler(ffi::RSMPI_COMM_WORLD, ffi::RSMPI_ERRORS_RETURN);
            ffi::MPI_Comm_rank(ffi::RSMPI_COMM_WORLD, &raw mut rank);
            ffi::MPI_Comm_size(ffi::RSMPI_COMM_WORLD, &raw mut ranks)
        };
        // From here on it is ended when this is dropped.
        let (rank, ranks) = (rank as usize, ranks as usize);
        let world = Self { rank, ranks, _of_one_thread: PhantomData };
        checked(code, "counting the ranks")?;
        // SAFETY: a constant of the library.
        let wanted = unsafe { ffi::RSMPI_THREAD_FUNNELED };
        if provided < wanted {
            return Err(Failure(
                "this MPI allows no threads beside its own (MPI_THREAD_FUNNELED): use one that \
                 was built with them, as Debian's Open MPI is"
                    .to_owned(),
            ));
        }
        Ok(world)
    }
}

impl Comm for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), Failure> {
        // MPI reads it until it is sent; where it never is, the memory is left to it.
        let length = message.len() as c_int;
        let kept: *mut [u8] = Box::into_raw(Box::from(message));
        let mut request = MaybeUninit::<ffi::MPI_Request>::uninit();
        // SAFETY: the message stays where it is until it is sent, and the request is written.
        let code = unsafe {
            ffi::MPI_Isend(
                kept.cast(),
                length,
                ffi::RSMPI_UINT8_T,
                to as c_int,
                TAG,
                ffi::RSMPI_COMM_WORLD,
                request.as_mut_ptr(),
            )
        };
        checked(code, "sending")?;
        // SAFETY: the call succeeded and has written it.
        let mut request = unsafe { request.assume_init() };
        let (since, idle) = (Instant::now(), Idle::new());
        loop {
            let mut is_sent = 0;
            let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
            // SAFETY: the request is under way, and the call writes to what it is given.
            let code =
                unsafe { ffi::MPI_Test(&raw mut request, &raw mut is_sent, status.as_mut_ptr()) };
            checked(code, "sending")?;
            if is_sent != 0 {
                // SAFETY: it came out of a box above, and MPI is done with it.
                drop(unsafe { Box::from_raw(kept) });
                return Ok(());
            }
            if since.elapsed() > SENDING_MAX {
                let seconds = SENDING_MAX.as_secs();
                return Err(Failure(format!("rank {to} did not take a message for {seconds} s")));
            }
            idle.wait();
        }
    }

    fn receive(&self, from: usize) -> Result<Option<Vec<u8>>, Failure> {
        let (mut has_come, mut length) = (0, 0);
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        // SAFETY: the call writes to what it is given.
        let code = unsafe {
            ffi::MPI_Iprobe(
                from as c_int,
                TAG,
                ffi::RSMPI_COMM_WORLD,
                &raw mut has_come,
                status.as_mut_ptr(),
            )
        };
        checked(code, "looking for a message")?;
        if has_come == 0 {
            return Ok(None);
        }
        // SAFETY: a message has come, so the status is written; so is the length.
        let code =
            unsafe { ffi::MPI_Get_count(status.as_ptr(), ffi::RSMPI_UINT8_T, &raw mut length) };
        checked(code, "measuring a message")?;
        let mut message = vec![0_u8; usize::try_from(length).unwrap_or_default()];
        // SAFETY: the message that was found is the next one of that rank, and has so many
        // bytes, for which there is room.
        let code = unsafe {
            ffi::MPI_Recv(
                message.as_mut_ptr().cast(),
                length,
                ffi::RSMPI_UINT8_T,
                from as c_int,
                TAG,
                ffi::RSMPI_COMM_WORLD,
                status.as_mut_ptr(),
            )
        };
        checked(code, "receiving")?;
        Ok(Some(message))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: MPI was started, by this thread, and nothing is under way.
        unsafe { ffi::MPI_Finalize() };
    }
}

/// MPI's own words where a call failed.
fn checked(code: c_int, doing: &str) -> Result<(), Failure> {
    if code == 0 {
        return Ok(());
    }
    // More than any implementation needs (Open MPI: 256, MPICH: 512).
    let (mut text, mut length) = ([0_u8; 2048], 0);
    // SAFETY: there is room for the longest text, and the call writes to these two alone.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &raw mut length) };
    let text = &text[..usize::try_from(length).unwrap_or_default().min(2048)];
    Err(Failure(format!("{doing} failed: {}", String::from_utf8_lossy(text))))
}
