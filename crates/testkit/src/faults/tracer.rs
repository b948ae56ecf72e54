//! Follows a program and all that it starts, call by call, and has calls fail.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::calls::{Call, Fault, call_of};
use super::injection::{Injection, Site};
use super::object;
use super::registers::{self, Entry};
use super::watchdog::{Late, Watchdog};

/// Interruptions come one at a time, and a call that is made again goes through at last:
/// so many in a row are the most that is tried.
const INTERRUPTIONS_MAX: u64 = 100;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(Signal),
    /// Not within its time.
    Never,
}

/// What a traced run did.
#[derive(Debug)]
pub struct Traced {
    /// How the program ended.
    pub ended: Ended,
    /// How often each call was made that may fail; of the injection's site alone where
    /// there is one.
    pub sites: BTreeMap<Site, u64>,
    /// Calls of programs of ours that have no line in the table.
    pub unknown: BTreeMap<i64, u64>,
    /// How often the injection struck.
    pub injected: u64,
    /// What programs of ours died of that is a defect's mark.
    pub deaths: Vec<Signal>,
    /// Processes that outlived the program.
    pub left_behind: usize,
}

/// Why nothing can be traced here, if that is so.
pub fn unavailable() -> Option<String> {
    let tried = trace(&mut Command::new("true"), Path::new("/"), None, Duration::from_secs(10));
    match tried {
        Ok(Traced { ended: Ended::Code(0), .. }) => None,
        Ok(traced) => Some(format!("a traced true(1) ended with {:?}", traced.ended)),
        Err(error) => Some(format!("ptrace(2): {error}")),
    }
}

/// Runs a command to its end, in a folder whose name is not part of what sites are
/// called; one that takes longer than `within` is killed with all that it started.
pub fn trace(
    command: &mut Command,
    root: &Path,
    injection: Option<&Injection>,
    within: Duration,
) -> io::Result<Traced> {
    // As the kernel will name it.
    let program = PathBuf::from(command.get_program());
    let program = program.canonicalize().unwrap_or(program);
    sys::start::be_traced(command);
    let child = command.spawn()?;
    let watchdog = Watchdog::over(within);
    let mut following = Tracer {
        program,
        root,
        injection,
        first: Pid::from_raw(child.id() as i32),
        threads: HashMap::new(),
        processes: HashMap::new(),
        watchdog: &watchdog,
        seen: 0,
        traced: Traced {
            ended: Ended::Never,
            sites: BTreeMap::new(),
            unknown: BTreeMap::new(),
            injected: 0,
            deaths: Vec::new(),
            left_behind: 0,
        },
    };
    let followed = following.follow();
    let Tracer { first, mut traced, .. } = following;
    if followed.is_err() {
        // It must not stay stopped for ever; one that is gone needs no telling.
        let _ = kill(first, Signal::SIGKILL);
    }
    let late = watchdog.close();
    followed?;
    if late == Some(Late::Program) {
        traced.ended = Ended::Never;
    }
    Ok(traced)
}

/// A process among those that are followed.
#[derive(Clone, Copy, Debug)]
struct Process {
    /// Whether its program is ours.
    ours: bool,
    /// Whether its own code has begun.
    begun: bool,
}

/// What a thread is in the middle of.
#[derive(Clone, Copy, Debug)]
enum State {
    Outside,
    Inside(Pending),
}

/// What is to be done when a call returns.
#[derive(Clone, Copy, Debug)]
enum Pending {
    Nothing,
    Return(Errno),
    GiveBack { argument: usize, value: u64 },
}

struct Thread {
    process: Pid,
    state: State,
}

struct Tracer<'a> {
    program: PathBuf,
    root: &'a Path,
    injection: Option<&'a Injection>,
    first: Pid,
    threads: HashMap<Pid, Thread>,
    processes: HashMap<Pid, Process>,
    watchdog: &'a Watchdog,
    /// Calls of the injection's site so far.
    seen: u64,
    traced: Traced,
}

impl Tracer<'_> {
    fn follow(&mut self) -> io::Result<()> {
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        waitpid(self.first, Some(flags))?;
        let options = Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_EXITKILL;
        ptrace::setoptions(self.first, options)?;
        self.watchdog.know(self.first);
        // This first stop is behind execve(2), those of later ones are within.
        self.executed(self.first, State::Outside);
        go_on(self.first, None);
        loop {
            match waitpid(None, Some(flags)) {
                Ok(status) => self.see(status),
                Err(Errno::EINTR) => {}
                Err(Errno::ECHILD) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn see(&mut self, status: WaitStatus) {
        match status {
            WaitStatus::PtraceSyscall(thread) => {
                // A thread that is killed meanwhile answers no more, and is seen to end.
                let _ = self.call(thread);
                go_on(thread, None);
            }
            WaitStatus::PtraceEvent(thread, _, event) => {
                if event == libc::PTRACE_EVENT_EXEC {
                    self.executed(thread, State::Inside(Pending::Nothing));
                }
                go_on(thread, None);
            }
            WaitStatus::Stopped(thread, signal) => {
                let is_new = self.meet(thread);
                let stops = matches!(
                    signal,
                    Signal::SIGSTOP | Signal::SIGTSTP | Signal::SIGTTIN | Signal::SIGTTOU
                );
                // Its first stop is the tracer's doing, and one of a whole group is no signal.
                let is_groups = stops && ptrace::getsiginfo(thread) == Err(Errno::EINVAL);
                go_on(thread, (!is_new && !is_groups).then_some(signal));
            }
            WaitStatus::Exited(thread, code) => self.gone(thread, Ended::Code(code)),
            WaitStatus::Signaled(thread, signal, _) => self.gone(thread, Ended::Signal(signal)),
            _ => {}
        }
    }

    /// Notes a thread that was not seen before; whether it was not.
    fn meet(&mut self, thread: Pid) -> bool {
        if self.threads.contains_key(&thread) {
            return false;
        }
        let [process, parent] = relations(thread).unwrap_or([thread, self.first]);
        let like = self.processes.get(&parent).or_else(|| self.processes.get(&self.first));
        let like = like.copied().unwrap_or(Process { ours: true, begun: true });
        self.processes.entry(process).or_insert(like);
        self.threads.insert(thread, Thread { process, state: State::Outside });
        self.watchdog.know(thread);
        true
    }

    /// A process has another program. Of its threads, one is left, and has its number.
    fn executed(&mut self, process: Pid, state: State) {
        let program = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let ours = program == self.program;
        self.processes.insert(process, Process { ours, begun: false });
        self.threads.insert(process, Thread { process, state });
    }

    fn gone(&mut self, thread: Pid, how: Ended) {
        self.watchdog.forget(thread);
        self.threads.remove(&thread);
        let Some(process) = self.processes.remove(&thread) else { return };
        if thread == self.first {
            self.traced.ended = how;
            self.watchdog.program_ended();
        }
        let Ended::Signal(signal) = how else { return };
        // What ends others in order is no defect; what a program dies of by itself is.
        let orderly = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];
        if process.ours && !orderly.contains(&signal) {
            self.traced.deaths.push(signal);
        }
        if self.watchdog.late() == Some(Late::Others) {
            self.traced.left_behind += 1;
        }
    }

    /// A call is made, or returns.
    fn call(&mut self, thread: Pid) -> nix::Result<()> {
        self.meet(thread);
        let Some(Thread { process, state }) = self.threads.get(&thread) else { return Ok(()) };
        let process = *process;
        let next = match *state {
            State::Outside => State::Inside(self.enter(thread, process)?),
            State::Inside(pending) => {
                match pending {
                    Pending::Nothing => {}
                    Pending::Return(errno) => registers::returns(thread, -(errno as i64))?,
                    Pending::GiveBack { argument, value } => {
                        registers::set_argument(thread, argument, value)?;
                    }
                }
                State::Outside
            }
        };
        if let Some(known) = self.threads.get_mut(&thread) {
            known.state = next;
        }
        Ok(())
    }

    fn enter(&mut self, thread: Pid, process: Pid) -> nix::Result<Pending> {
        let entry = registers::arguments(thread)?;
        let Some(state) = self.processes.get_mut(&process) else { return Ok(Pending::Nothing) };
        // An interpreter has begun when it does something to the run's own files.
        let counts = state.begun || !state.ours;
        state.begun |= entry.number == libc::SYS_sigaltstack;
        let ours = state.ours;
        let Some(call) = call_of(entry.number) else {
            if ours && counts {
                *self.traced.unknown.entry(entry.number).or_default() += 1;
            }
            return Ok(Pending::Nothing);
        };
        let wanted = self.injection.is_none_or(|injection| injection.site.call == call.name);
        if !counts || !wanted || call.faults.is_empty() {
            return Ok(Pending::Nothing);
        }
        let object = object::name(thread, call.on, &entry.arguments, self.root);
        if object == "memory" || (!ours && !object.starts_with("place/work")) {
            return Ok(Pending::Nothing);
        }
        if !may_fail(thread, call, &entry, &object) {
            return Ok(Pending::Nothing);
        }
        let site = Site { call: call.name.to_owned(), object };
        match self.injection {
            None => *self.traced.sites.entry(site).or_default() += 1,
            Some(injection) if injection.site == site => {
                self.seen += 1;
                let over = injection.fault == Fault::Error(Errno::EINTR)
                    && self.traced.injected >= INTERRUPTIONS_MAX;
                if injection.when.has(self.seen) && !over {
                    return self.strike(thread, call, &entry, injection.fault);
                }
            }
            Some(_) => {}
        }
        Ok(Pending::Nothing)
    }

    fn strike(
        &mut self,
        thread: Pid,
        call: &Call,
        entry: &Entry,
        fault: Fault,
    ) -> nix::Result<Pending> {
        let pending = match fault {
            Fault::Error(errno) => {
                registers::cancel(thread)?;
                Pending::Return(errno)
            }
            Fault::Late(errno) => Pending::Return(errno),
            Fault::Short => {
                let Some(argument) = call.length else { return Ok(Pending::Nothing) };
                let value = entry.arguments[argument];
                if value < 2 {
                    return Ok(Pending::Nothing);
                }
                registers::set_argument(thread, argument, value / 2)?;
                Pending::GiveBack { argument, value }
            }
        };
        self.traced.injected += 1;
        Ok(pending)
    }
}

/// Whether such a call can fail with what it is done to. close(2) does where a file system
/// has something left to write, and never for folders, pipes and the kernel's own files;
/// fcntl(2) does where it locks, and not where it asks for a descriptor's flags.
fn may_fail(thread: Pid, call: &Call, entry: &Entry, object: &str) -> bool {
    match call.name {
        "close" => {
            let file = fs::metadata(format!("/proc/{thread}/fd/{}", entry.arguments[0]));
            file.is_ok_and(|file| file.is_file())
                && (object.starts_with("place/") || object == "result.json")
        }
        "fcntl" => {
            let flags = [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL];
            !flags.contains(&(entry.arguments[1] as i32))
        }
        _ => true,
    }
}

/// Lets a thread run to its next call. One that was killed meanwhile is seen to end.
fn go_on(thread: Pid, signal: Option<Signal>) {
    let _ = ptrace::syscall(thread, signal);
}

/// A thread's process, and that one's parent.
fn relations(thread: Pid) -> Option<[Pid; 2]> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok().map(Pid::from_raw)
    };
    Some([number("Tgid:")?, number("PPid:")?])
}
