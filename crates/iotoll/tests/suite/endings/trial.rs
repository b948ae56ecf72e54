//! One run of the binary, and a look at who is alive after it.
#![expect(unsafe_code, reason = "the test says what its command does between fork and exec")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use tempfile::TempDir;

/// A hang is one that lasts this long, and nothing else.
pub(crate) const HANG: Duration = Duration::from_secs(60);
/// What is alive after this long was left.
pub(crate) const LEFT_AFTER: Duration = Duration::from_secs(3);
/// The variable by which processes are known that a run has started, whatever session they
/// are in by now. Those that are started without it, as workers are, stay in the run's.
const MARK: &str = "IOTOLL_TEST_MARK";

/// A system call that is refused, with this error.
pub(crate) type Refused = (&'static str, i64, i32);

/// A run that is yet to be started, with a mark that its servers inherit, in a session that
/// its workers are in, and a folder that is its place.
pub(crate) struct Trial {
    pub(crate) command: Command,
    pub(crate) mark: String,
    /// Whether its session is its own, and not that of others beside it, too.
    pub(crate) has_session: bool,
    pub(crate) folder: TempDir,
}

impl Trial {
    /// The binary, started by way of another program, if any is given.
    pub(crate) fn through(starter: &[&str]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("iotoll-mark-{}-{number}", std::process::id());
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let words = [starter, &[env!("CARGO_BIN_EXE_iotoll")]].concat();
        let mut command = Command::new(words[0]);
        // Programs themselves, and nothing that stands before them in a user's path.
        let path = "/usr/sbin:/usr/bin:/sbin:/bin";
        command.args(&words[1..]).env(MARK, &mark).env("PATH", path).current_dir("/");
        command.env("IOTOLL_DIR", folder.path().join("data"));
        sys::start::default_signals(&mut command);
        let begin_session = || Ok(rustix::process::setsid().map(drop)?);
        // SAFETY: between fork and exec the closure makes one system call.
        unsafe { command.pre_exec(begin_session) };
        command.stdout(File::create(folder.path().join("out")).unwrap());
        command.stderr(File::create(folder.path().join("err")).unwrap());
        Self { command, mark, has_session: true, folder }
    }

    pub(crate) fn new() -> Self {
        Self::through(&[])
    }

    /// Refuses it a call.
    pub(crate) fn refused(self, refused: Refused) -> Self {
        self.refused_by(refused, Vec::new())
    }

    /// Refuses it a call with these bits in one of its arguments.
    pub(crate) fn refused_with(self, refused: Refused, argument: u8, bits: u64) -> Self {
        let is_set = SeccompCmpOp::MaskedEq(bits);
        let with = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is_set, bits);
        self.refused_by(refused, vec![SeccompRule::new(vec![with.unwrap()]).unwrap()])
    }

    fn refused_by(mut self, (_, call, error): Refused, rules: Vec<SeccompRule>) -> Self {
        let rules = BTreeMap::from([(call, rules)]);
        let arch = std::env::consts::ARCH.try_into().unwrap();
        let refuse = SeccompAction::Errno(error.cast_unsigned());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap();
        let program = BpfProgram::try_from(filter).unwrap();
        let apply = move || apply_filter(&program).map_err(|_| std::io::ErrorKind::Other.into());
        // SAFETY: between fork and exec the closure makes two system calls.
        unsafe { self.command.pre_exec(apply) };
        self
    }

    /// A load on a server that is hard to end: something of it is in a session of its
    /// own, has lost its parent and ignores requests to stop.
    pub(crate) fn load(mut self, connections: u64, server: &str) -> Self {
        let connections = connections.to_string();
        self.command.args(["load", "http://127.0.0.1:{port}/", "--rate", "100"]);
        self.command.args(["--connections", &connections, "--serve", server]);
        self
    }

    pub(crate) fn compare(mut self, args: &[&str]) -> Self {
        let place = format!("ram={}", self.folder.path().join("place").display());
        fs::create_dir(self.folder.path().join("place")).unwrap();
        self.command.arg("compare").arg(place).args(args);
        self
    }

    pub(crate) fn start(mut self) -> Running {
        let child = self.command.spawn().unwrap();
        let session = self.has_session.then(|| child.id());
        Running { child, mark: self.mark, session, folder: self.folder }
    }
}

/// A run that was started.
pub(crate) struct Running {
    pub(crate) child: Child,
    mark: String,
    session: Option<u32>,
    pub(crate) folder: TempDir,
}

impl Running {
    /// Waits until a process that it started has this in its command.
    pub(crate) fn await_process(&mut self, part: &str) -> Marked {
        let began = Instant::now();
        loop {
            let all = self.alive();
            let is_it = |process: &&Marked| !process.is_the_run() && process.command.contains(part);
            if let Some(found) = all.iter().find(is_it) {
                return found.clone();
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?} without {part}: {}", self.said());
            assert!(began.elapsed() < HANG, "no {part} in {all:?}: {}", self.said());
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits for its end.
    pub(crate) fn await_end(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if began.elapsed() > HANG {
                let alive = self.alive();
                alive.iter().for_each(Marked::kill);
                panic!("it hangs: {alive:?}; it said: {}", self.said());
            }
            sleep(Duration::from_millis(5));
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Who is alive of what it started, itself included.
    pub(crate) fn alive(&self) -> Vec<Marked> {
        let marked = format!("{MARK}={}", self.mark);
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid| Marked::read(pid, &marked, self.session)).collect()
    }

    /// Nothing that it started may be alive after three seconds.
    pub(crate) fn assert_gone(&self) {
        let since = Instant::now();
        while since.elapsed() < LEFT_AFTER && !self.alive().is_empty() {
            sleep(Duration::from_millis(20));
        }
        let left = self.alive();
        left.iter().for_each(Marked::kill);
        assert!(left.is_empty(), "left: {left:?}; it said: {}", self.said());
    }

    pub(crate) fn out(&self) -> String {
        fs::read_to_string(self.folder.path().join("out")).unwrap()
    }

    pub(crate) fn err(&self) -> String {
        fs::read_to_string(self.folder.path().join("err")).unwrap()
    }

    pub(crate) fn said(&self) -> String {
        format!("{}\n{}", self.out(), self.err())
    }
}

/// A process of a run.
#[derive(Clone, Debug)]
pub(crate) struct Marked {
    pub(crate) pid: i32,
    pub(crate) command: String,
}

impl Marked {
    /// A process that has gone meanwhile, and one that is dead and unburied, is none.
    fn read(pid: i32, marked: &str, session: Option<u32>) -> Option<Self> {
        let file = |name: &str| fs::read(PathBuf::from(format!("/proc/{pid}/{name}"))).ok();
        let environment = file("environ")?;
        let is_marked = environment.split(|byte| *byte == 0).any(|it| it == marked.as_bytes());
        let stat = String::from_utf8_lossy(&file("stat")?).into_owned();
        // Whatever its name has in it, the last bracket ends it.
        let (_, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        let (state, its_session) = (*fields.first()?, fields.get(3)?.parse().ok());
        let is_dead = matches!(state, "Z" | "X");
        let is_of_session = session.is_some() && its_session == session;
        let command = String::from_utf8_lossy(&file("cmdline")?).replace('\0', " ");
        (!is_dead && (is_marked || is_of_session)).then_some(Self { pid, command })
    }

    /// Whether it is the run itself, whoever starts that, or its server's keeper.
    pub(crate) fn is_the_run(&self) -> bool {
        self.command.contains(env!("CARGO_BIN_EXE_iotoll"))
    }

    /// Whether `pkill iotoll` means it.
    pub(crate) fn is_ours(&self) -> bool {
        let name = fs::read_to_string(format!("/proc/{}/comm", self.pid)).unwrap_or_default();
        name.contains("iotoll")
    }

    pub(crate) fn kill(&self) {
        // It may have gone meanwhile.
        let _ = kill_process(Pid::from_raw(self.pid).unwrap(), Signal::KILL);
    }
}
