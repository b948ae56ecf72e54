//! A mechanism, chosen and calibrated, that records.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use host::process::Stat;
use host::root::Root;
use rustix::param::page_size;
use sys::usage::Usage;
use trace::{Header, Mechanism, Sees, TraceWriter};

use crate::ebpf::Ebpf;
use crate::error::{Error, while_};
use crate::followed::Followed;
use crate::overhead::{Calibration, Overhead, Took, read_rounds};
use crate::preload::{Preload, TimingProgram};
use crate::privileges::{file_of, gives_rights, may_trace_them, program_of};
use crate::ptrace;
use crate::raw_call::Sink;
use crate::recording::{Recorded, Recording};
use crate::start::Held;
use crate::starts::Starts;

const TIMING: &str = "measuring what it costs";
/// The calls are timed without a recorder and with it, in turns: a machine is faster at one moment
/// than at the next. So long, and once at the least: nobody waits for a recording to begin, and turns
/// are kept for the next one.
const TIMING_MAX: Duration = Duration::from_millis(40);

/// Records.
pub struct Recorder {
    means: Means,
    passed_over: Vec<PassedOver>,
    overhead: Overhead,
    sees: Sees,
}

enum Means {
    Ebpf(Box<Ebpf>),
    Preload(Box<Preload>),
    Ptrace,
}

/// A mechanism that would have cost less.
#[derive(Debug)]
pub struct PassedOver {
    /// What it is.
    pub mechanism: &'static str,
    /// Why it cannot be used.
    pub why: String,
}

const EBPF: &str = "eBPF";
const PRELOAD: &str = "a preloaded library";

impl Recorder {
    /// By the mechanism that is asked for, or the cheapest that can be used here, for a command or,
    /// where there is none, for what runs already.
    pub fn new(asked: Option<Mechanism>, command: Option<&Command>) -> Result<Self, Error> {
        let ebpf = || Ebpf::new().map(|ebpf| Means::Ebpf(ebpf.into()));
        let preload = || preload(command).map(|preload| Means::Preload(preload.into()));
        let unavailable = |mechanism| move |why| Error::Unavailable { mechanism, why };
        let mut passed_over = Vec::new();
        let means = match asked {
            Some(Mechanism::Ptrace) => Means::Ptrace,
            Some(Mechanism::Ebpf) => ebpf().map_err(unavailable(EBPF))?,
            Some(Mechanism::Preload) => preload().map_err(unavailable(PRELOAD))?,
            Some(Mechanism::Planted) => {
                return Err(unavailable("no recorder")("it is for tests".to_owned()));
            }
            None => {
                let mut or_why = |mechanism, means: Result<Means, String>| {
                    means.map_err(|why| passed_over.push(PassedOver { mechanism, why })).ok()
                };
                or_why(EBPF, ebpf()).or_else(|| or_why(PRELOAD, preload())).unwrap_or(Means::Ptrace)
            }
        };
        Ok(Self { means, passed_over, overhead: Overhead::default(), sees: Sees::default() })
    }

    /// What it records by.
    pub fn mechanism(&self) -> Mechanism {
        match self.means {
            Means::Ebpf(_) => Mechanism::Ebpf,
            Means::Preload(_) => Mechanism::Preload,
            Means::Ptrace => Mechanism::Ptrace,
        }
    }

    /// The cheaper mechanisms that cannot be used.
    pub fn passed_over(&self) -> &[PassedOver] {
        &self.passed_over
    }

    /// The program that [`calibrate`](Self::calibrate) finds out the cost by.
    pub fn calibrated_by(&self) -> &'static str {
        match self.means {
            Means::Preload(_) => "a small program that takes the library",
            Means::Ebpf(_) | Means::Ptrace => "iotoll itself",
        }
    }

    /// What recording costs for each call, as [`calibrate`](Self::calibrate) found it.
    pub fn overhead(&self) -> Overhead {
        self.overhead
    }

    /// Finds out what recording costs here, by a command that has a number of calls timed
    /// ([`time_calls`](crate::time_calls)) and prints what came of it. A preloaded library is
    /// calibrated by a program that comes with it instead: the command may be a static program.
    /// What is found is added to what earlier recordings on this machine by this mechanism found.
    /// Once they found enough, a recording begins at once, and may [`renew`](Self::renew) it
    /// afterwards.
    pub fn calibrate(
        &mut self,
        timing: impl Fn(u32) -> Command,
        kept: &mut Calibration,
    ) -> Result<(), Error> {
        // Only a first recording shows whether ptrace(2) is refused.
        if !kept.is_full() || matches!(self.means, Means::Ptrace) {
            self.time_calls(timing, kept)?;
        }
        if kept.starts.are_enough() {
            self.observe();
        } else {
            self.time_starts(kept)?;
        }
        let nothing = || io::Error::other("nothing came of it");
        self.overhead = kept.overhead().ok_or_else(nothing).map_err(while_(TIMING))?;
        Ok(())
    }

    /// Adds what recording costs now, for the next one.
    pub fn renew(
        &mut self,
        timing: impl Fn(u32) -> Command,
        kept: &mut Calibration,
    ) -> Result<(), Error> {
        self.time_calls(timing, kept)?;
        self.time_starts(kept)
    }

    /// Attaches what sees more than calls.
    fn observe(&mut self) {
        if let Means::Ebpf(ebpf) = &mut self.means {
            self.sees = ebpf.observe();
        }
    }

    /// Whether as much is kept as can be: another measurement tells more only where it is old.
    pub fn is_settled(&self, kept: &Calibration) -> bool {
        matches!(self.means, Means::Ptrace)
            || kept.is_full() && (kept.starts.are_full() || self.starting_program().is_none())
    }

    /// What starts processes to be timed; none where the recorder says itself for how long it stops
    /// one. It is not made for each processor, and needs a C library that is not everywhere.
    fn starting_program(&self) -> Option<TimingProgram> {
        let says_itself = matches!(self.means, Means::Ptrace);
        let program = (!says_itself).then(TimingProgram::make)?.ok();
        program.filter(TimingProgram::can_run)
    }

    /// Adds what starting a process costs.
    fn time_starts(&mut self, kept: &mut Calibration) -> Result<(), Error> {
        let program = self.starting_program();
        let bare = program.as_ref().map(|program| self.bare(program.starts())).transpose()?;
        self.observe();
        if let (Some(program), Some(bare)) = (program, bare) {
            let recorded = self.timed(program.starts(), &mut Took::default())?;
            kept.starts.add(&Starts::read_rounds(&bare), &Starts::read_rounds(&recorded));
        }
        Ok(())
    }

    fn time_calls(
        &mut self,
        timing: impl Fn(u32) -> Command,
        kept: &mut Calibration,
    ) -> Result<(), Error> {
        let (program, calls) = match self.means {
            Means::Ebpf(_) => (None, 100),
            Means::Preload(_) => (Some(TimingProgram::make().map_err(while_(TIMING))?), 100),
            Means::Ptrace => (None, 1),
        };
        let timing = || match &program {
            Some(program) => program.command(calls),
            None => timing(calls),
        };
        let began = Instant::now();
        let mut before = read_rounds(&self.bare(timing())?);
        loop {
            let mut took = Took::default();
            let recorded = read_rounds(&self.timed(timing(), &mut took)?);
            let after = read_rounds(&self.bare(timing())?);
            kept.add(&before, &recorded, took, &after);
            before = after;
            if kept.is_full() || began.elapsed() > TIMING_MAX {
                return Ok(());
            }
        }
    }

    /// Times the calls while no program is attached: one that is attached slows all, recorded
    /// or not.
    fn bare(&mut self, mut command: Command) -> Result<String, Error> {
        let mut time = || command.stderr(Stdio::null()).output();
        let output = match &mut self.means {
            Means::Ebpf(ebpf) => ebpf.apart(time).and_then(|output| output),
            Means::Preload(_) | Means::Ptrace => time(),
        };
        let output = output.map_err(while_(TIMING))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn timed(&mut self, mut command: Command, took: &mut Took) -> Result<String, Error> {
        let (mut reader, writer) = io::pipe().map_err(while_(TIMING))?;
        command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
        self.prepare(&mut command);
        let held = Held::start(&mut command).map_err(while_(TIMING))?;
        // It has the other end of the pipe by now.
        drop(command);
        self.follow(held, took)?;
        let mut text = String::new();
        reader.read_to_string(&mut text).map_err(while_(TIMING))?;
        Ok(text)
    }

    /// What a command needs beside itself.
    fn prepare(&self, command: &mut Command) {
        if let Means::Preload(preload) = &self.means {
            preload.prepare(command);
        }
    }

    fn follow<S: Sink>(&mut self, held: Held, sink: &mut S) -> Result<Followed, Error> {
        match &mut self.means {
            Means::Ebpf(ebpf) => ebpf.record(held, sink),
            Means::Preload(preload) => preload.record(held, sink),
            Means::Ptrace => ptrace::record(held, sink, self.overhead.within()),
        }
    }

    /// What a trace of this recorder begins with.
    pub fn header(&self, program: &OsStr, attached: bool) -> Header {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let file_name = Path::new(program).file_name().unwrap_or(program);
        let mut header = Header {
            mechanism: self.mechanism(),
            attached,
            program: file_name.to_string_lossy().into_owned(),
            started_s: since_1970.as_secs(),
            kernel: host::machine::kernel_release(),
            processors: host::machine::processors().unwrap_or(1) as u32,
            page_bytes: page_size() as u32,
            sees_waiting: matches!(self.means, Means::Ebpf(_)),
            sees: self.sees,
            divides_waits: matches!(&self.means, Means::Ebpf(ebpf) if ebpf.sees_wakers),
            sees_wakers: matches!(&self.means, Means::Ebpf(ebpf) if ebpf.sees_wakers),
            ..Header::default()
        };
        self.overhead.put(&mut header);
        header
    }

    /// Whether a command can be run and recorded, as far as that can be known before.
    pub fn check(&self, command: &Command) -> Result<(), Error> {
        let file = program_of(command)?;
        let loses_rights = matches!(self.means, Means::Ptrace) && !may_trace_them();
        if loses_rights && gives_rights(&file) {
            let program = command.get_program().to_string_lossy().into_owned();
            return Err(Error::Privileged { program });
        }
        Ok(())
    }

    /// Whether a process can be watched, as far as that can be known before; its program's name.
    pub fn check_process(&self, process: u32) -> Result<OsString, Error> {
        let name = std::fs::read(format!("/proc/{process}/comm"));
        let name = name.map_err(|_| Error::NoProcess(process))?;
        // What may be read of a process by those alone who may trace it (ptrace(2)).
        let may_not = |error| Error::MayNot { process, error };
        std::fs::read_link(format!("/proc/{process}/exe")).map_err(may_not)?;
        Ok(OsString::from_vec(name.trim_ascii().to_vec()))
    }

    /// Runs a command to its end and records it, and ends the trace. `begun` is told the
    /// number of its process.
    pub fn record<W: Write>(
        &mut self,
        command: &mut Command,
        trace: TraceWriter<W>,
        begun: impl FnOnce(u32),
    ) -> Result<Recorded, Error> {
        self.check(command)?;
        self.prepare(command);
        let held = Held::start(command).map_err(while_("starting the command"))?;
        let refusal = held.refusal().map_err(while_("starting the command"))?;
        let mut recording = Recording::new(trace, self.sees);
        recording.hold(held.process()).map_err(while_("writing the trace"))?;
        begun(held.process());
        let followed = self.follow(held, &mut recording)?;
        if let Some(error) = refusal.read() {
            let program = command.get_program().to_string_lossy().into_owned();
            return Err(Error::CannotRun { program, error });
        }
        let usage = followed.end.map(|end| end.usage).unwrap_or_default();
        Ok(recording.end(usage, followed))
    }

    /// Records a running process and all that descend from it until it ends or it is time to
    /// stop, and ends the trace.
    pub fn watch<W: Write>(
        &mut self,
        process: u32,
        trace: TraceWriter<W>,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<Recorded, Error> {
        let tree = host::process::tree(&Root::real(), process.cast_signed());
        let mut tree: Vec<u32> = tree.into_iter().map(i32::cast_unsigned).collect();
        // What this process writes down would be written down.
        tree.retain(|process| *process != std::process::id());
        if tree.is_empty() {
            return Err(Error::NoProcess(process));
        }
        let before = used(&tree);
        let mut recording = Recording::new(trace, self.sees);
        for process in &tree {
            recording.meet(*process).map_err(while_("writing the trace"))?;
        }
        let followed = match &mut self.means {
            Means::Ebpf(ebpf) => ebpf.watch(&tree, &mut recording, stop)?,
            // It is not there for programs that run already.
            Means::Preload(_) | Means::Ptrace => {
                ptrace::watch(&tree, &mut recording, self.overhead.within(), stop)?
            }
        };
        let now = used(&tree);
        let usage = Usage {
            user_ns: now.user_ns.saturating_sub(before.user_ns),
            system_ns: now.system_ns.saturating_sub(before.system_ns),
            major_faults: now.major_faults.saturating_sub(before.major_faults),
            ..Usage::default()
        };
        Ok(recording.end(usage, followed))
    }
}

fn preload(command: Option<&Command>) -> Result<Preload, String> {
    let runs_already = || "the program runs already".to_owned();
    let program = file_of(command.ok_or_else(runs_already)?.get_program());
    Preload::new(program.as_deref())
}

/// What processes have used so far, with their children that have ended.
fn used(processes: &[u32]) -> Usage {
    let root = Root::real();
    let stats = processes.iter().filter_map(|pid| Stat::read(&root, pid.cast_signed()));
    stats.fold(Usage::default(), |sum, stat| Usage {
        user_ns: sum.user_ns + stat.user_ns + stat.children_user_ns,
        system_ns: sum.system_ns + stat.system_ns + stat.children_system_ns,
        major_faults: sum.major_faults + stat.major_faults,
        ..sum
    })
}
