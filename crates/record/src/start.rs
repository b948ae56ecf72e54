//! A command that is started, and waits for leave to become its program.
//!
//! `std::process::Command::spawn` returns when the program runs, which is too late to follow
//! it from its first call on.
#![expect(unsafe_code, reason = "only what the child does makes it safe to fork")]

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use host::clock::monotonic_ns;
use rustix::io::retry_on_intr;
use rustix::net::{RecvFlags, recv};
use sys::fork::in_child;

/// What shells use for a command that cannot be run.
const CANNOT_RUN: i32 = 127;

/// A process that has not become its program yet.
pub(crate) struct Held {
    process: u32,
    leave: Option<PipeWriter>,
    refusal: UnixStream,
}

impl Held {
    /// Starts the process. It ends when this is dropped without leave.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let (leave_reader, leave) = io::pipe()?;
        let (refusal, refusal_writer) = UnixStream::pair()?;
        let mut ours = Some((leave, refusal));
        let parents = &mut ours;
        let work = move || {
            // Otherwise it would wait for itself if we die.
            drop(parents.take());
            become_program(command, leave_reader, refusal_writer)
        };
        // SAFETY: the child goes on with a copy of this thread alone. What it needs of others'
        // is the allocator, which glibc makes usable after fork; nothing else here is shared.
        let process = unsafe { in_child(work) }?;
        let (leave, refusal) = ours.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { process, leave: Some(leave), refusal })
    }

    pub(crate) fn process(&self) -> u32 {
        self.process
    }

    /// Lets it become its program.
    pub(crate) fn release(&mut self) -> io::Result<()> {
        let Some(mut leave) = self.leave.take() else { return Ok(()) };
        leave.write_all(&[0])
    }

    /// When it became its program, once it has: the kernel closes the socket by which it would tell
    /// why it did not.
    pub(crate) fn became_at(&self) -> io::Result<BecameAt> {
        let refusal = self.refusal()?;
        let at_ns = BecameAt::default();
        let known = at_ns.clone();
        let wait = move || {
            if refusal.read().is_none() {
                known.0.store(monotonic_ns(), Ordering::Relaxed);
            }
        };
        thread::Builder::new().spawn(wait)?;
        Ok(at_ns)
    }

    /// Where to read why it did not become its program.
    pub(crate) fn refusal(&self) -> io::Result<Refusal> {
        self.refusal.try_clone().map(Refusal)
    }
}

/// A moment on `CLOCK_MONOTONIC`, once it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct BecameAt(Arc<AtomicU64>);

impl BecameAt {
    pub(crate) fn ns(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|at_ns| *at_ns > 0)
    }
}

/// Has the reason why a command did not become its program, if so, for all who ask.
pub(crate) struct Refusal(UnixStream);

impl Refusal {
    /// Waits until it is known.
    pub(crate) fn read(&self) -> Option<io::Error> {
        let mut code = [0; 4];
        let whole = RecvFlags::PEEK | RecvFlags::WAITALL;
        let (length, _) = retry_on_intr(|| recv(&self.0, &mut code, whole)).ok()?;
        (length == code.len()).then(|| io::Error::from_raw_os_error(i32::from_ne_bytes(code)))
    }
}

fn become_program(command: &mut Command, mut leave: PipeReader, mut refusal: UnixStream) -> i32 {
    if matches!(leave.read(&mut [0]), Ok(1)) {
        let error = command.exec();
        let code = error.raw_os_error().unwrap_or(libc::EINVAL);
        // Whoever held us may be gone.
        let _ = refusal.write_all(&code.to_ne_bytes());
    }
    CANNOT_RUN
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use super::*;
    use sys::wait::wait_for_end;

    #[test]
    fn it_runs_once_it_has_leave_and_not_without() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made");
        let mut command = Command::new("touch");
        command.arg(&file);
        let mut held = Held::start(&mut command).unwrap();
        let became = held.became_at().unwrap();
        assert!(!file.exists() && became.ns().is_none());
        let before_ns = monotonic_ns();
        held.release().unwrap();
        assert!(held.refusal().unwrap().read().is_none());
        assert_eq!(wait_for_end(held.process()).unwrap().status, 0);
        assert!(file.exists());
        let is_known = || became.ns().is_some_and(|at_ns| at_ns > before_ns);
        assert!((0..1000).any(|_| is_known() || {
            thread::sleep(Duration::from_millis(1));
            false
        }));
        let held = Held::start(&mut Command::new("true")).unwrap();
        let process = held.process();
        drop(held);
        assert_eq!(libc::WEXITSTATUS(wait_for_end(process).unwrap().status), CANNOT_RUN);
    }

    #[test]
    fn what_cannot_be_run_says_why() {
        let mut held = Held::start(&mut Command::new("/no/such/program")).unwrap();
        // Who waits for the moment and who asks for the reason may come in any order.
        let became = held.became_at().unwrap();
        held.release().unwrap();
        assert_eq!(held.refusal().unwrap().read().unwrap().kind(), io::ErrorKind::NotFound);
        assert_eq!(held.refusal().unwrap().read().unwrap().kind(), io::ErrorKind::NotFound);
        wait_for_end(held.process()).unwrap();
        assert!(became.ns().is_none());
    }
}
