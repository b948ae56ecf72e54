//! What becomes of signals to this process (signal(7)).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, getpid, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use signal_hook::low_level;

/// Has any of these signals raise a flag. One that comes longer after the first than
/// `alike` ends the process with this exit code.
pub fn raise_then_exit(
    signals: impl IntoIterator<Item = i32>,
    flag: &Arc<AtomicBool>,
    alike: Duration,
    exit_code: i32,
) -> io::Result<()> {
    let first = Arc::new(AtomicU64::new(0));
    let alike_ms = alike.as_millis() as u64;
    for signal in signals {
        let (first, flag) = (Arc::clone(&first), Arc::clone(flag));
        let action = move || {
            let now_ms = now_ms();
            match first.compare_exchange(0, now_ms, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => flag.store(true, Ordering::SeqCst),
                Err(begun_ms) if now_ms.saturating_sub(begun_ms) > alike_ms => {
                    low_level::exit(exit_code);
                }
                Err(_) => {}
            }
        };
        // SAFETY: it reads a clock, works on atomics and may call _exit(2), all of which a
        // signal handler may do (signal-safety(7)); it neither allocates, locks nor panics.
        unsafe { low_level::register(signal, action) }?;
    }
    Ok(())
}

/// Has a signal raise a flag, and do nothing else.
pub fn raise(signal: i32, flag: &Arc<AtomicBool>) -> io::Result<()> {
    let flag = Arc::clone(flag);
    // SAFETY: it stores to an atomic.
    unsafe { low_level::register(signal, move || flag.store(true, Ordering::SeqCst)) }?;
    Ok(())
}

/// Has a signal interrupt what waits when it comes, and do nothing else.
pub fn interrupt_waits(signal: i32) -> io::Result<()> {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the structure is valid when zeroed; the handler does nothing, and without
    // `SA_RESTART` it ends a wait. Nothing is allocated, so that a forked process may call it.
    crate::done(unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut())
    })
}

/// Sends a signal to a thread of this process; nothing where it has ended.
pub fn send_to_thread(thread: Pid, signal: i32) {
    let (process, thread) = (getpid().as_raw_nonzero().get(), thread.as_raw_nonzero().get());
    // SAFETY: three numbers, no memory.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
}

/// Has a process be sent each of these signals that comes, once its number is not 0. One that
/// is ignored already stays so.
pub fn pass_on(signals: impl IntoIterator<Item = i32>, process: &Arc<AtomicI32>) -> io::Result<()> {
    pass_on_if(signals, process, |_| true)
}

/// The same of those that another process sent to this one. Those of a terminal, which reach both,
/// do nothing.
pub fn pass_on_sent(
    signals: impl IntoIterator<Item = i32>,
    process: &Arc<AtomicI32>,
) -> io::Result<()> {
    // What a process sends has a code that is not positive (sigaction(2)).
    pass_on_if(signals, process, |info| info.si_code <= 0)
}

fn pass_on_if(
    signals: impl IntoIterator<Item = i32>,
    process: &Arc<AtomicI32>,
    passes: fn(&libc::siginfo_t) -> bool,
) -> io::Result<()> {
    for signal in signals.into_iter().filter(|signal| !is_ignored(*signal)) {
        let process = Arc::clone(process);
        let action = move |info: &libc::siginfo_t| {
            let process = process.load(Ordering::SeqCst);
            if process > 0 && passes(info) {
                // SAFETY: kill(2) may be called in a signal handler (signal-safety(7)).
                unsafe { libc::kill(process, signal) };
            }
        };
        // SAFETY: it reads an atomic and makes one system call.
        unsafe { signal_hook_registry::register_sigaction(signal, action) }?;
    }
    Ok(())
}

/// Ends this process by a signal, as if nobody had caught it, and without a core: whoever
/// started it sees that. Returns where the signal ends nothing.
pub fn end_by(signal: i32) {
    // What would be in it is not what ended.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // SAFETY: the default action runs no code of this process; the set is filled in before it
    // is used; and no other thread is left that could mind.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
        libc::kill(getpid().as_raw_nonzero().get(), signal);
    }
}

/// Since the machine was started, and never 0.
fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    1 + now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// Whether a signal is ignored here, by whoever started this process or by itself.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: with no new action the call only fills in the present one, which is valid
    // when zeroed; where it is refused the zeros, the default action, stay.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_told_from_what_is_not() {
        // The standard library ignores it in every program.
        assert!(is_ignored(libc::SIGPIPE));
        assert!(!is_ignored(libc::SIGTERM));
        assert!(!is_ignored(-1));
    }
}
