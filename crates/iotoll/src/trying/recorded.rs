//! The recorded run of a trial.

use std::fs::{self, File};
use std::io::Seek as _;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use host::process::Stat;
use host::root::Root;
use load::Address;
use process::StopFlag;
use record::{PassedOver, Recorder};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use trace::{Bill, Mechanism, TraceReader, TraceWriter};
use trial::{Inhabitants, Recorded, Serving, Trial};

use super::grounds::Grounds;
use crate::commands::TryArgs;
use crate::recording::{self, billed};
use crate::terminal::output;

/// What came of it.
pub(crate) struct RecordedRun {
    pub(crate) bill: Bill,
    pub(crate) found: Recorded,
    /// Why the recording costs more than it could.
    pub(crate) passed_over: Vec<String>,
}

impl RecordedRun {
    /// Runs the command as now, and records it. The first run took so long; `own_users` is whether it
    /// runs in a user namespace.
    pub(crate) fn of(
        args: &TryArgs,
        trial: &Trial,
        grounds: &Grounds,
        took: Duration,
        own_users: bool,
    ) -> anyhow::Result<Self> {
        output::note(&format!("recording it, some {}", units::time(took.as_nanos() as f64)));
        let mut recorder = recorder(args, trial, own_users)?;
        recorder.check(&trial.command())?;
        let calibrated = recording::calibrate(&mut recorder)?;
        let file = |name: &str| {
            let path = grounds.work().path().join(name);
            let _ = fs::remove_file(&path);
            let opened = File::options().read(true).write(true).create_new(true).open(&path);
            opened.with_context(|| format!("making {}", path.display()))
        };
        let (printed, mut traced) = (file("output")?, file("trace")?);
        let (view, mut command) = trial.to_be_recorded(&printed)?;
        command.stderr(Stdio::null());
        let header = recorder.header(command.get_program(), false);
        let writer = TraceWriter::new(traced.try_clone()?, &header)?;
        sys::start::end_with_parent(&mut command);
        if trial.serving.is_some() {
            // A shell and its server are stopped together.
            command.process_group(0);
        }
        let recording = |begun: &dyn Fn(u32)| recorder.record(&mut command, writer, begun);
        let outcome = stoppable(trial, view.inhabitants(), recording)?;
        calibrated.renew(&mut recorder);
        if trial.is_stopped() {
            return Err(trial::Error::Stopped.into());
        }
        if let Some(error) = outcome.cut {
            bail!("the recording ended before the command did: {error}");
        }
        let status = as_shell(outcome.summary.status.unwrap_or_default());
        let output = fs::read(grounds.work().path().join("output"))?;
        trial.recorded(&view, status, output)?.map_err(|why| super::cannot_run_again(&why))?;
        drop(view);
        traced.rewind()?;
        let bill = billed::bill_in(traced.try_clone()?)?;
        traced.rewind()?;
        let mut reader = TraceReader::new(traced)?;
        let found = Recorded::read(&mut reader, &bill).map_err(|error| anyhow!(error))?;
        let passed_over = recorder.passed_over().iter();
        let passed_over = passed_over.map(|PassedOver { mechanism, why }| {
            format!("Recording by {mechanism} would have cost less, but {why}.")
        });
        Ok(Self { bill, found, passed_over: passed_over.collect() })
    }
}

/// A recorder that sees what is in a view.
fn recorder(args: &TryArgs, trial: &Trial, own_users: bool) -> anyhow::Result<Recorder> {
    let by = |mechanism| Recorder::new(mechanism, Some(&trial.command()));
    if args.mechanism.0.is_none() && own_users {
        // A library is in this process's memory, which nothing in another user namespace may open.
        return Ok(by(Some(Mechanism::Ebpf)).or_else(|_| by(Some(Mechanism::Ptrace)))?);
    }
    Ok(by(args.mechanism.0)?)
}

/// Between two looks at whether it was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// Records, and ends the command once the trial is told to end, or a server once it was loaded.
fn stoppable<T>(
    trial: &Trial,
    inhabitants: Inhabitants,
    record: impl FnOnce(&dyn Fn(u32)) -> T,
) -> T {
    let (process, is_over) = (AtomicI32::new(0), AtomicBool::new(false));
    let (is_stopped, serving) = (StopFlag::clone(&trial.stop), trial.serving.clone());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut is_loaded = false;
            while !is_over.load(Ordering::Relaxed) {
                let process = Pid::from_raw(process.load(Ordering::Relaxed));
                if let (Some(serving), Some(_), false) = (&serving, process, is_loaded) {
                    is_loaded = load_when_ready(serving, &is_stopped, &is_over);
                }
                if let (true, Some(process)) =
                    (is_stopped.load(Ordering::Relaxed) || is_loaded, process)
                {
                    let of = if serving.is_some() { kill_process_group } else { kill_process };
                    let _ = of(process, Signal::TERM);
                }
                // By ptrace, what it leaves behind is waited for.
                if process.is_some_and(has_ended) && serving.is_none() {
                    inhabitants.end();
                }
                thread::sleep(LOOK);
            }
        });
        let recorded = record(&|begun| process.store(begun.cast_signed(), Ordering::Relaxed));
        is_over.store(true, Ordering::Relaxed);
        recorded
    })
}

/// Whether a process is a zombie or gone.
fn has_ended(process: Pid) -> bool {
    let stat = Stat::read(&Root::real(), process.as_raw_nonzero().get());
    stat.is_none_or(|stat| matches!(stat.state, 'Z' | 'X'))
}

/// Loads a server that somebody else started; that is over in any case.
fn load_when_ready(serving: &Serving, is_stopped: &StopFlag, is_over: &AtomicBool) -> bool {
    let began = Instant::now();
    let ends = || is_stopped.load(Ordering::Relaxed) || is_over.load(Ordering::Relaxed);
    while began.elapsed() < serving.patience && !ends() {
        let accepts = match &serving.ready {
            Address::Tcp(host, port) => TcpStream::connect((host.as_str(), *port)).is_ok(),
            Address::Unix(path) => UnixStream::connect(path).is_ok(),
        };
        if accepts {
            // What it answers, the next runs say.
            let _ = serving.load(None, is_stopped);
            break;
        }
        thread::sleep(LOOK);
    }
    true
}

/// An exit status of wait(2) as a shell has it.
fn as_shell(status: i32) -> i32 {
    const BY_SIGNAL: i32 = 128;
    let signal = status & 0x7f;
    if signal == 0 { status >> 8 & 0xff } else { BY_SIGNAL + signal }
}
