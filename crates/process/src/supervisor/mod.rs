//! A process between ours and the server's, which sees to it that nothing of
//! the server is left behind, even when ours is killed with signal 9.
//!
//! The keeper holds one end of a socket whose other end only our process has.
//! When that is closed, for whatever reason, the keeper asks all of the server
//! to stop, waits a little, and kills what is left. As the subreaper of all its
//! descendants (prctl(2), `PR_SET_CHILD_SUBREAPER`) it inherits what leaves the
//! process group or becomes a daemon. Should the keeper itself be killed,
//! `PR_SET_PDEATHSIG` takes the server's first process with it.
//!
//! It does not try for ever: a process of another user may not be signalled, and
//! one that waits in the kernel does not die. What is still there after
//! [`ENDING_MAX`] it tells our process through the socket, or, where that is gone,
//! the user on what was its standard error.
//!
//! It is forked off where the standard library lets code run between fork and
//! exec: the child becomes the keeper, and its own child goes on to become
//! the server. Only system calls that are safe there are made, and nothing is
//! allocated. It has a name and a process group of its own, so that what is meant
//! for our process (`pkill iotoll`, Ctrl-C) or done by the server (`kill 0`) does not
//! reach it.
//!
//! No call is relied on that a kernel before 5.9 lacks, or that filters of
//! containers are known to refuse.
#![expect(unsafe_code, reason = "the supervisor is a fork between fork and exec of the server")]

mod descendants;
mod descriptors;
mod text;

use std::fmt::Write as _;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use host::clock::monotonic_ns;
use model::spent::Spent;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::param::page_size;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, kill_process_group,
    set_child_subreaper, set_parent_process_death_signal, setpgid, wait,
};
use rustix::stdio::{stderr, stdin};
use sys::mapping::Mapping;
use sys::signals::interrupt_waits;
use sys::usage::{Usage, User};

use self::descendants::Descendants;
use self::text::Text;

/// How long others may take to end by themselves after a command that is meant alone.
const STRAGGLING: Duration = Duration::from_millis(200);
/// How long the server may take to stop when asked to.
const GRACE: Duration = Duration::from_millis(1500);
/// How long it may take in all, the time after it was killed included.
pub(super) const ENDING_MAX: Duration = Duration::from_millis(2500);
/// Time between two looks at what is left after killing.
const LOOK: Duration = Duration::from_millis(10);
/// What the keeper is called in lists of processes, in fifteen bytes.
const NAME: &std::ffi::CStr = c"server-keeper";

/// When the server was started and when it ended, and what was used until then, as the processes saw
/// it that did so. Forking a large process takes milliseconds, which are no part of what a short
/// command takes.
#[derive(Debug)]
pub(super) struct Moments(Mapping);

impl Moments {
    const WORD: usize = size_of::<u64>();
    /// Each is a time, followed by what was used.
    const BEGAN: usize = 0;
    const ENDED: usize = 7 * Self::WORD;
    /// Whether the end is that of the first process alone.
    const ALONE: usize = 14 * Self::WORD;
    /// Whether others were left then, and had to be ended.
    const LEFT: usize = 15 * Self::WORD;

    fn new(alone: bool) -> io::Result<Self> {
        let moments = Self(Mapping::shared_with_children(page_size())?);
        moments.0.word(Self::ALONE).store(alone.into(), Ordering::Relaxed);
        Ok(moments)
    }

    /// This process becomes the command now.
    fn begin(&self) {
        let time_ns = monotonic_ns();
        self.note(Self::BEGAN, time_ns, Usage::of(User::Process));
    }

    /// It has ended; the first time counts.
    fn end(&self) {
        if self.get(Self::ENDED) == 0 {
            let used = Usage::of(User::Children);
            self.note(Self::ENDED, monotonic_ns(), used);
        }
    }

    fn note(&self, moment: usize, time_ns: u64, used: Usage) {
        let Usage { user_ns, system_ns, minor_faults, major_faults, .. } = used;
        let switches = [used.voluntary_switches, used.involuntary_switches];
        let words = [user_ns, system_ns, minor_faults, major_faults].into_iter().chain(switches);
        for (number, word) in std::iter::once(time_ns).chain(words).enumerate() {
            self.0.word(moment + number * Self::WORD).store(word, Ordering::Relaxed);
        }
    }

    fn get(&self, word: usize) -> u64 {
        self.0.word(word).load(Ordering::Relaxed)
    }

    /// How long it took and what it used, from just before it became the command; until now if its
    /// keeper was killed and could not note that.
    pub(super) fn spent(&self) -> Spent {
        let since = |number: usize| {
            let [began, ended] =
                [Self::BEGAN, Self::ENDED].map(|moment| self.get(moment + number * Self::WORD));
            let ended = if ended == 0 && number == 0 { monotonic_ns() } else { ended };
            ended.saturating_sub(began)
        };
        Spent {
            elapsed_ns: since(0),
            user_ns: since(1),
            system_ns: since(2),
            minor_faults: since(3),
            major_faults: since(4),
            voluntary_switches: since(5),
            involuntary_switches: since(6),
            ..Spent::default()
        }
    }

    /// Whether it left others behind when it ended.
    pub(super) fn left_others(&self) -> bool {
        self.get(Self::LEFT) > 0
    }
}

/// Starts `command` under a keeper, in a process group of its own. The server
/// lives as long as nothing is shut down at the returned end of the socket. What
/// is left of it at last comes in there, a process a line. Where its first process is meant `alone`,
/// what that leaves behind is ended as well.
pub(super) fn spawn(
    command: &mut Command,
    alone: bool,
) -> io::Result<(Child, UnixStream, Arc<Moments>)> {
    let (ours, keepers) = UnixStream::pair()?;
    let moments = Arc::new(Moments::new(alone)?);
    let noted = Arc::clone(&moments);
    let told = io::stderr().as_fd().try_clone_to_owned()?;
    let fds = [keepers.as_raw_fd(), told.as_raw_fd()];
    // SAFETY: the closure runs between fork and exec; it makes only system
    // calls that are safe there and allocates nothing. Both descriptors outlive
    // the spawning below, so that they are open in the child.
    unsafe { command.pre_exec(move || become_keeper(fds, &noted)) };
    let child = command.spawn()?;
    drop((keepers, told));
    Ok((child, ours, moments))
}

/// Forks: the parent never returns, the child returns to be the server.
fn become_keeper(fds: [RawFd; 2], moments: &Moments) -> io::Result<()> {
    let supervisor = getpid();
    // Refused, it is as before: what becomes a daemon is not found.
    let _ = set_child_subreaper(Some(supervisor));
    // SAFETY: plain system calls on values of our own; sigset_t is valid when
    // zeroed and is filled by sigfillset. `fork` is safe because this process
    // has a single thread, being itself the child of a fork.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                setpgid(None, None)?;
                set_parent_process_death_signal(Some(Signal::KILL))?;
                if getppid() != Some(supervisor) {
                    // It died before it was said what should happen then.
                    libc::_exit(libc::EXIT_FAILURE);
                }
                libc::sigprocmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
                moments.begin();
                Ok(())
            }
            server => keep(fds, Pid::from_raw(server), moments),
        }
    }
}

/// The keeper's whole life. All signals are blocked.
fn keep(fds: [RawFd; 2], server: Option<Pid>, moments: &Moments) -> ! {
    let _ = setpgid(None, None);
    // Whichever of the two does it first, it is done before anybody is signalled.
    let _ = setpgid(server, server);
    let _ = rustix::thread::set_name(NAME);
    descriptors::keep_only(fds);
    // A child's death interrupts waits, even where nobody asked for that.
    let _ = interrupt_waits(libc::SIGCHLD);
    let mut code = None;
    let alone = moments.get(Moments::ALONE) > 0;
    let mut left_since = None;
    while has_children(server, &mut code) {
        let mut patience = None;
        if alone && code.is_some() {
            moments.end();
            let waited = left_since.get_or_insert_with(Instant::now).elapsed();
            patience = Some(STRAGGLING.saturating_sub(waited));
        }
        if is_over() || patience == Some(Duration::ZERO) {
            moments.0.word(Moments::LEFT).store(patience.is_some().into(), Ordering::Relaxed);
            end(server, &mut code);
            break;
        }
        wait_for_child_or(&mut [readable_stdin()], patience);
    }
    moments.end();
    // SAFETY: ends this process without running anything of the other's.
    unsafe { libc::_exit(code.unwrap_or_default()) }
}

/// Ends all, or tells what could not be ended.
fn end(server: Option<Pid>, code: &mut Option<libc::c_int>) {
    let begun = Instant::now();
    signal_all(server, Signal::TERM);
    while has_children(server, code) {
        let elapsed = begun.elapsed();
        if elapsed < GRACE {
            wait_for_child_or(&mut [], Some(GRACE.saturating_sub(elapsed)));
        } else if elapsed < ENDING_MAX {
            signal_all(server, Signal::KILL);
            wait_for_child_or(&mut [], Some(LOOK));
        } else {
            return tell();
        }
    }
}

/// Buries the dead; false when nobody is left. `code` is the server's own exit
/// status as a shell tells it, once it has one.
fn has_children(server: Option<Pid>, code: &mut Option<libc::c_int>) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(None) => return true,
            Ok(Some((pid, status))) if Some(pid) == server => {
                let killed_by = status.terminating_signal().map(|signal| 128 + signal);
                *code = status.exit_status().or(killed_by).or(Some(libc::EXIT_FAILURE));
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Whether our process has ended the server, or has gone.
fn is_over() -> bool {
    // Nothing is ever sent.
    match recv(stdin(), &mut [0_u8; 1][..], RecvFlags::DONTWAIT) {
        Err(Errno::AGAIN | Errno::INTR) => false,
        Ok(_) | Err(_) => true,
    }
}

fn readable_stdin() -> libc::pollfd {
    libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 }
}

/// Waits for a child's death or for one of these descriptors.
fn wait_for_child_or(fds: &mut [libc::pollfd], timeout: Option<Duration>) {
    let timespec = |time: Duration| libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: time.subsec_nanos().into(),
    };
    let timeout = timeout.map(timespec);
    // SAFETY: pointers and count are those of live values; sigset_t is valid when
    // zeroed and is filled by sigfillset. A child that died since it was last looked
    // for has its signal pending, and the wait ends at once.
    let outcome = unsafe {
        let mut all_but_children: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all_but_children);
        libc::sigdelset(&raw mut all_but_children, libc::SIGCHLD);
        let count = fds.len() as libc::nfds_t;
        let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
        libc::ppoll(fds.as_mut_ptr(), count, timeout, &raw const all_but_children)
    };
    if outcome < 0 && io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
        // Without it there is looking now and then.
        std::thread::sleep(LOOK);
    }
}

/// Sends a signal to the server's group and to all that descends from it.
fn signal_all(server: Option<Pid>, signal: Signal) {
    // Refusals are seen at last by who is still there.
    if let Some(group) = server {
        let _ = kill_process_group(group, signal);
    }
    for member in Descendants::of_this().members() {
        let _ = kill_process(member.pid, signal);
    }
}

/// Tells our process what is left; where it is gone, the user.
fn tell() {
    let mut is_known = false;
    for member in Descendants::of_this().members() {
        is_known = true;
        match kill_process(member.pid, Signal::KILL) {
            // It has ended meanwhile.
            Err(Errno::SRCH) => {}
            killed => pass_on(&descendants::described(member, killed)),
        }
    }
    if !is_known {
        let mut line = Text::new();
        let _ = line.write_str(
            "some of its processes are still running, but /proc does not show which; look for them \
             with `ps -e f`",
        );
        pass_on(&line);
    }
}

fn pass_on(line: &Text) {
    let mut told = Text::new();
    let _ = writeln!(told, "{line}");
    if send(stdin(), told.as_bytes(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT).is_ok() {
        return;
    }
    let mut told = Text::new();
    let _ = writeln!(told, "iotoll: the server that was started could not be ended: {line}");
    let _ = rustix::io::write(stderr(), told.as_bytes());
}
