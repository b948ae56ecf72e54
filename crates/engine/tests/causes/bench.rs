//! Runs situations in a folder, one run at a time: what a process used, and the
//! children that it has waited for, is counted for the whole process.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use analysis::analyse;
use engine::job::Job;
use engine::local::LocalRunner;
use engine::place_handle::PlaceHandle;
use engine::run::{Environment, Header, run};
use engine::run_limits::RunLimits;
use engine::study::{Footprint, Study as _};
use host::disks::DeviceReader;
use host::root::Root;
use model::analysis::{ArmResult, Comparison};
use model::arm::{Arm, Axis, Pair};
use model::cause::{Cause, CauseCode};
use model::place::{PlaceFacts, StorageKind};
use model::probes::CpuTimes;
use model::run::Run;
use model::slice::Slice;
use model::spent::DeviceTraffic;
use model::study::{ParamValue, Params};
use process::StopFlag;
use tempfile::TempDir;

use crate::study::{SPEC, Situation};

/// Names the folder that a test run again as a child process works in.
pub(crate) const CHILD: &str = "IOTOLL_TEST_FOLDER";

/// Twenty blocks end a run, however long the machine takes for them; this only
/// keeps a device that never answers from holding the test for ever.
const BUDGET: Duration = Duration::from_secs(120);
/// Where two places differ much, far less is needed.
const COMPARE_BUDGET: Duration = Duration::from_secs(10);
/// A run is repeated if the hypervisor took more than this share of the processor time.
const STOLEN_MAX: f64 = 0.05;
/// The number of runs, the repeated ones included.
pub(crate) const ATTEMPTS: usize = 3;
/// The pause before a repeated run: other virtual machines are often busy for several seconds.
const LATER: Duration = Duration::from_secs(10);
const GROUP_BYTES: u64 = 32 << 20;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const SKIPPED: &str = "SKIPPED: ";

/// Says why a test shows nothing here.
pub(crate) fn skipped(why: &str) {
    eprintln!("{SKIPPED}{why}");
}

/// A folder to run situations in.
pub(crate) struct Bench {
    folder: TempDir,
    _alone: Option<Alone>,
}

/// Nothing else runs in this process meanwhile.
pub(crate) type Alone = MutexGuard<'static, ()>;

pub(crate) fn alone() -> Alone {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bench {
    pub(crate) fn at(path: &Path) -> Self {
        let alone = Some(alone());
        Self { folder: tempfile::tempdir_in(path).unwrap(), _alone: alone }
    }

    /// For who holds the lock already.
    pub(crate) fn under(_alone: &Alone, path: &Path) -> Self {
        Self { folder: tempfile::tempdir_in(path).unwrap(), _alone: None }
    }

    /// Beside the test program.
    pub(crate) fn on_disk() -> Option<Self> {
        let program = std::env::current_exe().unwrap();
        Self::on(program.parent().unwrap(), StorageKind::Disk)
    }

    pub(crate) fn in_memory() -> Option<Self> {
        Self::on(Path::new("/dev/shm"), StorageKind::Memory)
    }

    fn on(path: &Path, kind: StorageKind) -> Option<Self> {
        match places::inspect("here", path) {
            Ok(facts) if facts.kind == kind => Some(Self::at(path)),
            other => {
                skipped(&format!("because {} is not {kind:?}: {other:?}", path.display()));
                None
            }
        }
    }

    /// What the strategy `locked` locks.
    pub(crate) fn lock_file(&self) -> File {
        File::create(self.folder.path().join("lock")).unwrap()
    }

    /// Times the strategies, interleaved. Nothing where the hypervisor leaves no run alone,
    /// loudly.
    pub(crate) fn run(&self, strategies: &[&str]) -> Option<CauseReport> {
        self.run_exactly(0, strategies)
    }

    /// Times the strategies with so many operations a slice.
    pub(crate) fn run_exactly(&self, operations: u64, strategies: &[&str]) -> Option<CauseReport> {
        let mut stolen = 0.0;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                thread::sleep(LATER);
            }
            let found = self.once(operations, strategies);
            stolen = found.stolen_share();
            if stolen <= STOLEN_MAX {
                return Some(found);
            }
        }
        let percent = stolen * 100.0;
        skipped(&format!("because the hypervisor took {percent:.0}% of the processor time"));
        None
    }

    fn once(&self, operations: u64, strategies: &[&str]) -> CauseReport {
        let arms: Vec<Arm> = strategies.iter().map(|name| arm(name, operations)).collect();
        let workload = |arm: &Arm| Situation.workload(&arm.strategy.name, &arm.params).unwrap();
        let workloads = arms.iter().map(workload).collect();
        let place = Box::new(FolderPlace::new(self.folder.path())) as Box<dyn PlaceHandle>;
        let (stop, began) = (StopFlag::default(), Instant::now());
        let mut runner = LocalRunner::new(&arms, workloads, vec![place], stop, began);
        let job = Job {
            arms,
            pairs: Vec::new(),
            materials: Vec::new(),
            threshold: 0.05,
            error_rate: 0.05,
            budget: BUDGET,
            rounds: None,
            seed: 1,
            per_second: [].into(),
            taken_for: [].into(),
            shares: Vec::new(),
            run_limits: RunLimits::default(),
        };
        let mut folder = Folders(vec![places::inspect("here", self.folder.path()).unwrap()]);
        let run = run(&job, Header::default(), &mut folder, &mut runner, &mut |_| {});
        CauseReport { arms: analyse(&run).arms, run }
    }

    /// Runs a test of this program again, within a control group that may have
    /// little memory, and returns what it prints.
    pub(crate) fn in_small_memory_group(&self, test: &str) -> Option<String> {
        let Some(group) = MemoryGroup::new() else {
            skipped("because a control group with a memory limit cannot be made here");
            return None;
        };
        let procs = group.0.join("cgroup.procs");
        let command = format!("echo $$ > {} && exec \"$0\" \"$@\"", procs.display());
        let program = std::env::current_exe().unwrap();
        let output = Command::new("sh")
            .args(["-c", &command])
            .arg(program)
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        if output.status.signal() == Some(libc::SIGKILL) {
            skipped("because the kernel killed the test for want of memory in its small group");
            return None;
        }
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{printed}{told}");
        if let Some(line) = told.lines().find(|line| line.starts_with(SKIPPED)) {
            eprintln!("{line}");
            return None;
        }
        Some(printed)
    }
}

fn arm(strategy: &str, operations: u64) -> Arm {
    let strategy = SPEC.strategy(strategy).unwrap();
    let params = Params(vec![("operations", ParamValue::Size(operations))]);
    Arm { id: strategy.name.clone(), study: &SPEC, label: None, strategy, place: 0, params }
}

/// Times a strategy in two folders, interleaved, and compares the second with the first.
pub(crate) fn compare(_alone: &Alone, strategy: &str, folders: [&Path; 2]) -> (Run, Comparison) {
    let folders = folders.map(|folder| tempfile::tempdir_in(folder).unwrap());
    let place =
        |folder: &TempDir| -> Box<dyn PlaceHandle> { Box::new(FolderPlace::new(folder.path())) };
    let arms = [0, 1].map(|place| Arm { id: place.to_string(), place, ..arm(strategy, 0) });
    let workloads = arms.iter().map(|arm| Situation.workload(strategy, &arm.params).unwrap());
    let (stop, began) = (StopFlag::default(), Instant::now());
    // A run of short slices ends for its time, not for the files that each makes in memory.
    let run_limits = RunLimits { write_limit_bytes: u64::MAX, ..RunLimits::default() };
    let mut runner = LocalRunner::new(
        &arms,
        workloads.collect(),
        folders.iter().map(place).collect(),
        stop,
        began,
    )
    .with(run_limits);
    let pairs = vec![Pair { base: 0, other: 1, axis: Axis::Place }];
    let job = Job {
        arms: arms.to_vec(),
        pairs,
        materials: Vec::new(),
        threshold: 0.05,
        error_rate: 0.05,
        budget: COMPARE_BUDGET,
        rounds: None,
        seed: 1,
        per_second: [].into(),
        taken_for: [].into(),
        shares: Vec::new(),
        run_limits,
    };
    let mut around = Folders(
        folders.iter().map(|folder| places::inspect("here", folder.path()).unwrap()).collect(),
    );
    let run = run(&job, Header::default(), &mut around, &mut runner, &mut |_| {});
    let comparison = analyse(&run).comparisons.remove(0);
    (run, comparison)
}

/// What a run found.
pub(crate) struct CauseReport {
    arms: Vec<ArmResult>,
    run: Run,
}

impl CauseReport {
    fn arm(&self, strategy: &str) -> &ArmResult {
        self.arms.iter().find(|arm| arm.strategy == strategy).unwrap()
    }

    fn causes(&self, strategy: &str) -> &[Cause] {
        let arm = self.arm(strategy);
        let (slices, early) = (arm.slices, &self.run.run.ended_early);
        assert!(slices >= 3, "{strategy}: {slices} slices, {:?}, {early:?}", arm.failure);
        &arm.causes
    }

    pub(crate) fn codes(&self, strategy: &str) -> Vec<&str> {
        self.causes(strategy).iter().map(|cause| cause.code.as_str()).collect()
    }

    pub(crate) fn evidence(&self, strategy: &str, code: &str) -> BTreeMap<String, f64> {
        let code = CauseCode::from(code.to_owned());
        let cause = self.causes(strategy).iter().find(|cause| cause.code == code);
        cause.unwrap().evidence.clone()
    }

    /// The processor time that a strategy's slices got.
    pub(crate) fn cpu(&self, strategy: &str) -> Duration {
        let arm = self.arms.iter().position(|arm| arm.strategy == strategy).unwrap();
        Duration::from_nanos(self.run.slices_of(arm).map(cpu_ns).sum())
    }

    /// Asserts which causes are named and which are not.
    pub(crate) fn expect(&self, strategy: &str, named: &[&str], not_named: &[&str]) {
        let codes = self.codes(strategy);
        let told = || format!("{:?}; {:?}", self.causes(strategy), self.arm(strategy).time);
        for code in named {
            assert!(codes.contains(code), "{code} is not in {}", told());
        }
        for code in not_named {
            assert!(!codes.contains(code), "{code} is in {}", told());
        }
    }

    /// The share of all processors that others kept busy or queued for.
    pub(crate) fn others_busy_share(&self) -> f64 {
        let busy_ns = self.sum(|s| cpus(s).busy_ns + cpus(s).steal_ns);
        (busy_ns - self.sum(cpu_ns)) / self.all_cpus_ns()
    }

    /// The share of all processors that the hypervisor took. It looks like time asleep, and is
    /// taken off that: where there is much of it, no cause that is a wait is found.
    fn stolen_share(&self) -> f64 {
        self.sum(|s| cpus(s).steal_ns) / self.all_cpus_ns()
    }

    fn all_cpus_ns(&self) -> f64 {
        self.sum(|s| cpus(s).busy_ns + cpus(s).idle_ns + cpus(s).steal_ns).max(1.0)
    }

    /// Of all slices in blocks.
    fn sum(&self, of: impl Fn(&Slice) -> u64) -> f64 {
        self.run.blocks().flatten().map(of).sum::<u64>() as f64
    }
}

fn cpus(slice: &Slice) -> CpuTimes {
    slice.surroundings.cpus.unwrap()
}

fn cpu_ns(slice: &Slice) -> u64 {
    slice.spent.user_ns + slice.spent.system_ns
}

/// What surrounds a run: places at which nobody looks again.
struct Folders(Vec<PlaceFacts>);

impl Environment for Folders {
    fn machine(&self) -> model::run::Machine {
        model::run::Machine {
            kernel: String::new(),
            cpu: String::new(),
            cpus: 1,
            memory_bytes: 0,
            memory_limit_bytes: None,
        }
    }

    fn places(&self) -> Vec<PlaceFacts> {
        self.0.clone()
    }
}

/// A folder with a fresh one in it for each slice.
struct FolderPlace {
    slice: PathBuf,
    devices: Option<DeviceReader>,
}

impl FolderPlace {
    fn new(folder: &Path) -> Self {
        let facts = places::inspect("here", folder).unwrap();
        Self { slice: folder.join("slice"), devices: DeviceReader::new(&Root::real(), &facts).ok() }
    }
}

impl PlaceHandle for FolderPlace {
    fn fresh_folder(&mut self) -> io::Result<OwnedFd> {
        fs::create_dir(&self.slice)?;
        Ok(File::open(&self.slice)?.into())
    }

    fn kept_folder(&mut self, arm: usize) -> io::Result<OwnedFd> {
        let kept = self.slice.with_file_name(format!("arm-{arm}"));
        if kept.exists() {
            fs::remove_dir_all(&kept)?;
        }
        fs::create_dir_all(&kept)?;
        Ok(File::open(&kept)?.into())
    }

    /// It is settled before the next slice: there is no process of slices here.
    fn leave(&mut self) {}

    fn may_leave(&self, _left: &Footprint) -> bool {
        false
    }

    fn settle(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn put_away(&mut self) -> io::Result<()> {
        match fs::remove_dir_all(&self.slice) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    fn wears(&self) -> bool {
        true
    }

    fn device_bytes(&mut self) -> Option<DeviceTraffic> {
        Some(self.devices.as_ref()?.read().ok()?.traffic())
    }
}

/// A control group of this test's own, removed when dropped.
struct MemoryGroup(PathBuf);

impl MemoryGroup {
    fn new() -> Option<Self> {
        let versions =
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        versions.into_iter().find_map(|(root, limit)| {
            let folder = Path::new(root).join(format!("iotoll-test-{}", std::process::id()));
            fs::create_dir(&folder).ok()?;
            let group = Self(folder);
            fs::write(group.0.join(limit), GROUP_BYTES.to_string()).ok()?;
            Some(group)
        })
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // A group can be removed once its last process has been waited for.
        let _ = fs::remove_dir(&self.0);
    }
}
