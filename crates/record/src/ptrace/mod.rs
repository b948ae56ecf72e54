//! The last resort, which needs no rights: every call of every thread stops at this process
//! (ptrace(2)), which costs some 10 µs each time.
//!
//! A filter (seccomp(2), `RET_TRACE`) would let the calls pass that are not recorded. It stays
//! when the recorder is killed, and from then on makes the others fail (`ENOSYS`): so there is
//! none, and every call stops. A tracer that dies lets go of what it traced, unless it asked
//! for `PTRACE_O_EXITKILL`, which this one does not.

mod follow;
mod stops;
mod thread;
mod wait_interrupter;

use sys::ptrace;
use trace::OverheadNs;

use self::follow::Follower;
use self::wait_interrupter::WaitInterrupter;
use crate::error::{Error, while_};
use crate::followed::Followed;
use crate::inherited;
use crate::raw_call::Sink;
use crate::start::Held;

/// Runs a command to its end. `stop` is what a stop costs, as far as that is known.
pub(crate) fn record<S: Sink>(
    mut held: Held,
    sink: &mut S,
    stop: OverheadNs,
) -> Result<Followed, Error> {
    let first = held.process();
    ptrace::seize(first).map_err(Error::NoMechanism)?;
    let mut follower = Follower::new(sink, first, stop);
    follower.hold(first);
    held.release().map_err(while_("starting the command"))?;
    follow(&mut follower, || false)?;
    follower.take().until_end_of(first)
}

/// Follows running processes and all that they start, until the first ends or it is time to
/// stop.
pub(crate) fn watch<S: Sink>(
    processes: &[u32],
    sink: &mut S,
    stop_ns: OverheadNs,
    stop: impl Fn() -> bool + Sync,
) -> Result<Followed, Error> {
    let mut follower = Follower::new(sink, processes.first().copied().unwrap_or(0), stop_ns);
    for process in processes {
        attach(&mut follower, *process)?;
    }
    follow(&mut follower, stop)?;
    Ok(follower.take())
}

fn follow<S: Sink>(
    follower: &mut Follower<'_, S>,
    stop: impl Fn() -> bool + Sync,
) -> Result<(), Error> {
    let wait_interrupter =
        WaitInterrupter::ring_when(&stop).map_err(while_("preparing to wait"))?;
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| wait_interrupter.watch());
        let outcome = follower.follow(&stop);
        wait_interrupter.silence();
        outcome
    });
    outcome.map_err(while_("waiting for the program"))
}

/// Whether a thread has ended meanwhile, its parent not having asked for its status perhaps,
/// or is this process's already because the thread that made it was.
fn needs_no_attaching(thread: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{thread}/status")) else { return true };
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let has_ended = field("State:").is_some_and(|state| state.starts_with(['Z', 'X']));
    has_ended || field("TracerPid:") == Some(&std::process::id().to_string())
}

/// Attaches to every thread of a process, those included that begin meanwhile.
fn attach<S: Sink>(follower: &mut Follower<'_, S>, process: u32) -> Result<(), Error> {
    loop {
        let mut found_new = false;
        for thread in inherited::threads(process) {
            if follower.knows(thread) {
                continue;
            }
            match ptrace::seize(thread) {
                Ok(()) => {
                    found_new = true;
                    follower.attach(thread, process);
                    // It ends, or stops and says so.
                    let _ = ptrace::interrupt(thread);
                }
                // It has ended, or is followed because the thread that made it is.
                Err(_) if follower.knows_process(process) || needs_no_attaching(thread) => {}
                Err(error) => return Err(Error::MayNot { process, error }),
            }
        }
        if !found_new {
            return Ok(());
        }
    }
}
