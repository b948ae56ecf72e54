//! A process between ours and the server's, which sees to it that nothing of
//! the server is left behind, even when ours is killed with signal 9.
//!
//! The keeper holds the reading end of a pipe that only our process can write
//! to. When that end is closed, for whatever reason, the keeper asks all of
//! the server to stop, waits a little, and kills what is left. As the
//! subreaper of all its descendants (prctl(2), `PR_SET_CHILD_SUBREAPER`) it
//! inherits what leaves the process group or becomes a daemon. Should the
//! keeper itself be killed, `PR_SET_PDEATHSIG` takes the server's first
//! process with it.
//!
//! It is forked off where the standard library lets code run between fork and
//! exec: the child becomes the keeper, and its own child goes on to become
//! the server. Only system calls that are safe there are made, and nothing is
//! allocated.

use std::{
    io,
    os::{
        fd::{AsRawFd, OwnedFd, RawFd},
        unix::process::CommandExt,
    },
    process::{Child, Command},
    ptr,
};

/// How long the server may take to stop when asked to.
const GRACE_MS: libc::c_int = 2000;
/// Time between two looks at what is left after killing.
const LOOK_MS: libc::c_int = 10;
/// Descriptor of the pipe in the keeper.
const PIPE: RawFd = 3;

/// Starts `command` under a keeper, in a process group of their own. The
/// server lives as long as the returned pipe end is open, at most.
pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let reader_fd = reader.as_raw_fd();
    command.process_group(0);
    // SAFETY: the closure runs between fork and exec; it makes only system
    // calls that are safe there and allocates nothing. `reader` outlives the
    // spawning below, so that its descriptor is open in the child.
    unsafe { command.pre_exec(move || become_keeper(reader_fd)) };
    let child = command.spawn()?;
    drop(reader);
    Ok((child, writer))
}

/// Forks: the parent never returns, the child returns to be the server.
fn become_keeper(pipe: RawFd) -> io::Result<()> {
    // SAFETY: plain system calls on values of our own; sigset_t is valid when
    // zeroed and is filled by sigfillset. `fork` is safe because this process
    // has a single thread, being itself the child of a fork.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::sigprocmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
                Ok(())
            }
            server => keep(pipe, server, &all),
        }
    }
}

/// The keeper's whole life.
fn keep(pipe: RawFd, server: libc::pid_t, all: &libc::sigset_t) -> ! {
    // SAFETY: plain system calls on descriptors of this process's own. All
    // other descriptors are closed, above all the one by which the standard
    // library waits to hear that exec succeeded.
    let signals = unsafe {
        if pipe != PIPE {
            libc::dup2(pipe, PIPE);
        }
        libc::syscall(libc::SYS_close_range, PIPE + 1, libc::c_uint::MAX, 0);
        libc::signalfd(-1, all, libc::SFD_NONBLOCK)
    };
    let mut status = 0;
    while has_children(server, &mut status) {
        if wait_for(signals, -1) {
            ask_to_stop();
            let mut left = GRACE_MS;
            while left > 0 && has_children(server, &mut status) {
                wait_for_signal(signals, LOOK_MS);
                left -= LOOK_MS;
            }
            while has_children(server, &mut status) {
                for_each_child(libc::SIGKILL);
                wait_for_signal(signals, LOOK_MS);
            }
        }
    }
    let code = if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        128 + libc::WTERMSIG(status)
    };
    // SAFETY: ends this process without running anything of the other's.
    unsafe { libc::_exit(code) }
}

/// Buries the dead; false when nobody is left.
fn has_children(server: libc::pid_t, server_status: &mut libc::c_int) -> bool {
    loop {
        let mut status = 0;
        // SAFETY: the pointer is to a live integer.
        match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
            0 => return true,
            -1 => return false,
            pid if pid == server => *server_status = status,
            _ => {}
        }
    }
}

/// Waits for a child's death or the end of the pipe; true for the latter.
fn wait_for(signals: RawFd, timeout_ms: libc::c_int) -> bool {
    let mut fds = [
        libc::pollfd { fd: PIPE, events: libc::POLLIN, revents: 0 },
        libc::pollfd { fd: signals, events: libc::POLLIN, revents: 0 },
    ];
    // SAFETY: the pointer and count are those of a live array.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) };
    drain(signals);
    fds[0].revents != 0
}

fn wait_for_signal(signals: RawFd, timeout_ms: libc::c_int) {
    let mut fd = libc::pollfd { fd: signals, events: libc::POLLIN, revents: 0 };
    // SAFETY: the pointer is to one live pollfd.
    unsafe { libc::poll(&raw mut fd, 1, timeout_ms) };
    drain(signals);
}

fn drain(signals: RawFd) {
    let mut buffer = [0_u8; 1024];
    // SAFETY: the pointer and length are those of a live array.
    while unsafe { libc::read(signals, buffer.as_mut_ptr().cast(), buffer.len()) } > 0 {}
}

/// Asks the group, and what has left it, to stop. The keeper is in the group
/// too, but has all signals blocked.
fn ask_to_stop() {
    // SAFETY: sends a signal to this process's own group.
    unsafe { libc::kill(0, libc::SIGTERM) };
    for_each_child(libc::SIGTERM);
}

/// Sends a signal to every child; grandchildren become children when those
/// die, and get their turn then.
fn for_each_child(signal: libc::c_int) {
    let mut buffer = [0_u8; 4096];
    // SAFETY: the path ends with a zero, pointer and length are those of a
    // live array, and the descriptor is closed once.
    let length = unsafe {
        let file = libc::open(c"/proc/thread-self/children".as_ptr(), libc::O_RDONLY);
        let length = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
        libc::close(file);
        length
    };
    let Ok(length) = usize::try_from(length) else {
        // Without the list (a kernel without it) the whole group goes, this
        // process included.
        // SAFETY: sends a signal to this process's own group.
        unsafe { libc::kill(0, signal) };
        return;
    };
    let mut pid: libc::pid_t = 0;
    for &byte in &buffer[..length] {
        if byte.is_ascii_digit() {
            pid = pid.wrapping_mul(10).wrapping_add(libc::pid_t::from(byte - b'0'));
        } else if pid > 0 {
            // SAFETY: the process is a child that has not been waited for, so
            // that the number is still its own.
            unsafe { libc::kill(pid, signal) };
            pid = 0;
        }
    }
}
