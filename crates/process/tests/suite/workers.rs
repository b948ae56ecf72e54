//! Workers over pipes: threads of this process, and processes that run a script.

#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use host::clock::{Clock, monotonic_ns};
use iotoll_process::worker::{
    Assignment, Program, Report, RunningGroup, Session, WorkerGroup, WorkerKind, WorkerPool,
    span_ns, spent,
};
use iotoll_process::{Error, StopFlag};
use model::spent::{Calls, Spent};
use serde_json::{Value, json};

/// A program of the shell, as a worker.
macro_rules! script {
    ($text:literal) => {
        Program { command: "sh", args: &["-c", $text], install: "install a shell" }
    };
}

/// Does nothing, and says who did it.
const IDLE: Program = script!(
    "while read line; do case $line in *work*) echo '\"ready\"';; *start*) echo \
     '{\"done\":{\"acknowledged\":1,\"started_after_ns\":2,\"ended_after_ns\":9,\
     \"unit_ns\":1.0,\"latencies\":[[7,1]],\"latency_max\":7,\
     \"spent\":{\"elapsed_ns\":7,\"user_ns\":5},\
     \"figures\":{\"pid\":'$$'}}}';; esac; done"
);

fn assignments(workers: u64) -> Vec<Assignment> {
    let assignment = |n| Assignment::of("test", &json!({ "number": n })).unwrap();
    (0..workers).map(assignment).collect()
}

fn group(kind: WorkerKind, workers: u64, pool: &WorkerPool) -> Result<WorkerGroup, Error> {
    WorkerGroup::ready(kind, &assignments(workers), pool, &Clock::new(), &StopFlag::default())
}

fn reports(kind: WorkerKind, workers: u64, pool: &WorkerPool) -> Result<Vec<Report>, Error> {
    group(kind, workers, pool)?.start().and_then(RunningGroup::reports)
}

fn pids(reports: &[Report]) -> Vec<u64> {
    let mut pids: Vec<u64> = reports.iter().map(|r| r.figures["pid"] as u64).collect();
    pids.sort_unstable();
    pids
}

fn is_there(pid: u64) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn processes_serve_many_slices_and_end_with_their_pool() {
    let pool = WorkerPool::new();
    let first = reports(WorkerKind::Processes(IDLE), 2, &pool).unwrap();
    // What a process spent is its own, and stays in its report.
    assert_eq!((spent(&first).user_ns, spent(&first).elapsed_ns, span_ns(&first)), (10, 14, 7));
    let again = reports(WorkerKind::Processes(IDLE), 2, &pool.clone()).unwrap();
    assert_eq!(pids(&first), pids(&again));
    let three = reports(WorkerKind::Processes(IDLE), 3, &pool).unwrap();
    assert!(pids(&first).iter().all(|pid| pids(&three).contains(pid)));
    drop(pool);
    assert!(pids(&three).iter().all(|pid| !is_there(*pid)));
}

#[test]
fn a_group_that_is_killed_or_dropped_leaves_no_process_in_the_pool() {
    let pool = WorkerPool::new();
    let first = pids(&reports(WorkerKind::Processes(IDLE), 1, &pool).unwrap());
    group(WorkerKind::Processes(IDLE), 1, &pool).unwrap().start().unwrap().kill();
    assert!(!is_there(first[0]));
    let second = pids(&reports(WorkerKind::Processes(IDLE), 1, &pool).unwrap());
    assert_ne!(first, second);
    drop(group(WorkerKind::Processes(IDLE), 1, &pool).unwrap());
    assert!(!is_there(second[0]));
}

/// Is ready after a while that its number makes its own, and reports between which two
/// moments of `CLOCK_MONOTONIC` its group was started, as it knows.
fn punctual(assignment: &Assignment, session: Session<'_>) -> Result<Report, String> {
    let number = assignment.read::<Value>()?["number"].as_u64().ok_or("no number")?;
    thread::sleep(Duration::from_millis(20 * number));
    let started = session.start().map_err(|e| e.to_string())?;
    // So few bits that a float keeps them exactly.
    let now = || monotonic_ns() % (1 << 50);
    let (before_ns, elapsed_ns, after_ns) = (now(), started.elapsed_ns(), now());
    let [earliest, latest] = [before_ns, after_ns].map(|ns| (ns - elapsed_ns) as f64);
    Ok(Report {
        // Counted by the process that these threads are of.
        spent: Spent {
            user_ns: 3,
            system_ns: 4,
            minor_faults: 5,
            calls: Some(Calls { writes: 6, ..Calls::default() }),
            lock_calls: number,
            run_queue_ns: Some(8),
            ..Spent::default()
        },
        figures: [("earliest".to_owned(), earliest), ("latest".to_owned(), latest)].into(),
        ..Report::default()
    })
}

#[test]
fn threads_start_together_once_the_last_is_ready() {
    let began = Instant::now();
    let reports = reports(WorkerKind::Threads(punctual), 4, &WorkerPool::new()).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(60), "somebody was not waited for");
    // There is a moment that all of them may have been started at.
    let earliest = reports.iter().map(|r| r.figures["earliest"]).fold(f64::MIN, f64::max);
    let latest = reports.iter().map(|r| r.figures["latest"]).fold(f64::MAX, f64::min);
    assert!(earliest <= latest, "{reports:?}");
    assert_eq!(reports.iter().map(|r| r.spent.lock_calls).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn what_the_process_counts_itself_is_left_out_of_a_threads_report() {
    let reports = reports(WorkerKind::Threads(punctual), 2, &WorkerPool::new()).unwrap();
    let own = Spent {
        lock_calls: 1,
        run_queue_ns: Some(16),
        calls: Some(Calls::default()),
        ..Spent::default()
    };
    assert_eq!(spent(&reports), own);
}

fn failing(assignment: &Assignment, session: Session<'_>) -> Result<Report, String> {
    if assignment.read::<Value>()?["number"] == 1 {
        return Err("the disk is full".to_owned());
    }
    session.start().map_err(|e| e.to_string())?;
    Ok(Report::default())
}

fn panicking(_: &Assignment, _: Session<'_>) -> Result<Report, String> {
    std::panic::resume_unwind(Box::new("told to"))
}

#[test]
fn what_keeps_workers_from_their_work_is_told() {
    let why = |kind: WorkerKind, workers: u64| {
        reports(kind, workers, &WorkerPool::new()).unwrap_err().to_string()
    };
    assert_eq!(why(WorkerKind::Threads(failing), 2), "the disk is full");
    assert_eq!(why(WorkerKind::Threads(panicking), 1), "a worker thread ended early");
    let run = |program: Program| why(WorkerKind::Processes(program), 1);
    assert_eq!(run(script!("exit 3")), "sh exited early (exit status: 3)");
    assert_eq!(run(script!("kill -9 $$")), "sh was killed; the machine may be out of memory");
    assert_eq!(run(script!("kill $$")), "sh was told to end by a signal (SIGTERM)");
    let limit = "sh was killed by SIGXFSZ: a limit on file sizes is in force: see `ulimit -f`";
    assert_eq!(run(script!("kill -XFSZ $$; sleep 10")), limit);
    let babble = run(script!("read line; echo hello; read line"));
    assert!(babble.starts_with("sh broke the workers' protocol") && babble.contains("hello"));
    let endless = run(script!("read line; exec cat /dev/zero"));
    assert_eq!(endless, "sh broke the workers' protocol: a line of more than 4194304 bytes");
    let early = run(script!("read line; echo '{\"failed\": \"no such folder\"}'; read line"));
    assert_eq!(early, "no such folder");
    let missing = Program { command: "/no/such/program", args: &[], install: "get it" };
    assert_eq!(run(missing), "/no/such/program is not installed; get it");
    let folder = Program { command: "/", args: &[], install: "" };
    assert!(run(folder).starts_with("cannot start / as a worker: Permission denied"));
}

#[test]
fn what_a_worker_started_ends_with_it() {
    let parent = script!(
        "sleep 1000 & while read line; do case $line in *work*) echo '\"ready\"';; *start*) echo \
         '{\"done\":{\"acknowledged\":1,\"started_after_ns\":0,\"ended_after_ns\":0,\
         \"unit_ns\":1.0,\"latencies\":[],\"latency_max\":0,\"figures\":{\"pid\":'$!'}}}';; esac; done"
    );
    let pool = WorkerPool::new();
    let pids = pids(&reports(WorkerKind::Processes(parent), 1, &pool).unwrap());
    assert!(is_there(pids[0]));
    drop(pool);
    let deadline = Instant::now() + Duration::from_secs(60);
    while is_there(pids[0]) {
        assert!(Instant::now() < deadline, "process {} was left behind", pids[0]);
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_that_is_stopped_waits_for_nobody() {
    stops(script!("read line; exec sleep 1000"));
    // In the middle of a message.
    stops(script!("read line; printf '\"rea'; exec sleep 1000"));
}

fn stops(silent: Program) {
    let silent = WorkerKind::Processes(silent);
    let stop = StopFlag::default();
    let setter = StopFlag::clone(&stop);
    let set = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        setter.store(true, Ordering::Relaxed);
    });
    let pool = WorkerPool::new();
    let stopped = WorkerGroup::ready(silent, &assignments(2), &pool, &Clock::new(), &stop);
    assert!(matches!(stopped.err().unwrap(), Error::Stopped));
    set.join().unwrap();
}

fn reading(assignment: &Assignment, session: Session<'_>) -> Result<Report, String> {
    session.start().map_err(|e| e.to_string())?;
    let work: Value = assignment.read()?;
    let path = work["file"].as_str().ok_or("no file")?;
    let mut text = String::new();
    File::open(path).and_then(|mut f| f.read_to_string(&mut text)).map_err(|e| e.to_string())?;
    Ok(Report { acknowledged: text.len() as u64, ..Report::default() })
}

#[test]
fn workers_reach_what_they_are_handed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "five!").unwrap();
    let file: OwnedFd = File::open(folder.path().join("a")).unwrap().into();
    // It has no name any more by which anybody could find it.
    std::fs::remove_file(folder.path().join("a")).unwrap();
    let kind = WorkerKind::Threads(reading);
    let work = json!({ "file": kind.path_to(&file) });
    let assignment = Assignment::of("test", &work).unwrap();
    let stop = StopFlag::default();
    let group =
        WorkerGroup::ready(kind, &[assignment], &WorkerPool::new(), &Clock::new(), &stop).unwrap();
    let reports = group.start().unwrap().reports().unwrap();
    assert_eq!(reports[0].acknowledged, 5);
    let handle = File::open(folder.path()).unwrap();
    let by_descriptor = kind.path_to(&handle);
    let moved = folder.path().with_extension("moved");
    std::fs::write(folder.path().join("b"), "").unwrap();
    std::fs::rename(folder.path(), &moved).unwrap();
    assert!(std::fs::exists(format!("{by_descriptor}/b")).unwrap());
    std::fs::rename(&moved, folder.path()).unwrap();
}

/// A file system on which every write waits in the kernel, until this is dropped.
struct Frozen {
    folder: tempfile::TempDir,
}

impl Frozen {
    /// Nothing where there is no right to make one.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        let made = sh(&format!(
            "cd {at} && truncate -s 16M image && mkfs.ext4 -q image && \
             mkdir mounted && mount -o loop image mounted && fsfreeze -f mounted"
        ));
        made.then_some(Self { folder })
    }

    fn thaw(&self) {
        sh(&format!("fsfreeze -u {}/mounted", self.folder.path().display()));
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.thaw();
        sh(&format!("umount {}/mounted", self.folder.path().display()));
    }
}

fn sh(script: &str) -> bool {
    let output = Command::new("sh").args(["-c", script]).output().unwrap();
    output.status.success()
}

#[test]
#[allow(clippy::print_stderr)]
fn workers_that_do_not_die_are_told_of_and_not_waited_for_one_by_one() {
    let Some(frozen) = Frozen::new() else {
        eprintln!("SKIPPED: no file system can be mounted and frozen here");
        return;
    };
    let script = format!(
        "while read line; do case $line in *work*) echo '\"ready\"';; *) echo > {}/mounted/$$;; \
         esac; done",
        frozen.folder.path().display()
    );
    let args: &'static [&'static str] = Box::leak(Box::new(["-c", &*script.leak()]));
    let program = Program { command: "sh", args, install: "install a shell" };
    let kind = WorkerKind::Processes(program);
    let running = group(kind, 3, &WorkerPool::new()).unwrap().start().unwrap();
    thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    running.kill();
    assert!(began.elapsed() < Duration::from_secs(5), "waited {:?}", began.elapsed());
    let left = iotoll_process::take_left_behind();
    assert_eq!(left.len(), 3, "{left:?}");
    for process in &left {
        let pid = process.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(process.contains("(sh) was killed but has not exited"), "{process}");
        assert!(is_there(pid), "{process}");
    }
    frozen.thaw();
}
