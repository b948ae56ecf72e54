//! The processes that do a slice's work: this one, and others of ours.
//!
//! `/proc/PID/io` and getrusage(2) count what a child did as its parent's once it
//! has been waited for, so processes that live within a slice need no reading
//! of their own; those that live across slices are named.

use model::counters::Counters as _;
use model::spent::{Calls, Spent};

use crate::file::KernelFile;
use crate::process::{self, Stat};
use crate::root::Root;
use crate::usage;

/// Reading the calls themselves, for the kernel counts a call when it ends, and
/// reading the wait for a processor on both sides.
const OWN_READS: u64 = 3;

/// Reads what the calling thread and its process go through.
#[derive(Debug)]
pub struct WorkerProbe {
    this: Files,
    others: Vec<OtherFiles>,
}

#[derive(Debug)]
struct Files {
    io: Option<KernelFile>,
    schedule: Option<KernelFile>,
}

#[derive(Debug)]
struct OtherFiles {
    files: Files,
    stat: Option<KernelFile>,
}

impl WorkerProbe {
    /// Opens the files of this thread and process, and of other processes.
    pub fn open(root: &Root, processes: &[u32], unread: &mut Vec<String>) -> Self {
        let other = |pid: &u32| OtherFiles {
            files: Files::open(root, &format!("/proc/{pid}"), &format!("/proc/{pid}"), unread),
            stat: root.open(format!("/proc/{pid}/stat"), "a worker's faults", unread),
        };
        let others = processes.iter().map(other).collect();
        // The engine's own thread runs the slices, and need not be the first one.
        Self { this: Files::open(root, "/proc/self", "/proc/thread-self", unread), others }
    }

    /// A reading to be taken before the clock starts. The wait for a processor is
    /// read next to the clock: to lose it between the two readings is likely on
    /// a busy machine, and would count as the slice's.
    pub fn before(&self) -> Spent {
        let others = self.others();
        let calls = self.this.calls(OWN_READS);
        let usage = usage::of_process();
        let run_queue_ns = self.this.run_queue_ns();
        Spent { calls, run_queue_ns, ..usage }.plus(others)
    }

    /// A reading to be taken after the clock stopped.
    pub fn after(&self) -> Spent {
        let run_queue_ns = self.this.run_queue_ns();
        let usage = usage::of_process();
        let calls = self.this.calls(0);
        Spent { calls, run_queue_ns, ..usage }.plus(self.others())
    }

    fn others(&self) -> Spent {
        let calls = Some(Calls::default());
        let none = Spent { calls, run_queue_ns: Some(0), ..Spent::default() };
        self.others.iter().fold(none, |sum, worker| sum.plus(worker.read()))
    }
}

impl OtherFiles {
    /// `/proc/PID/stat` has everything but the switches.
    fn read(&self) -> Spent {
        let stat = self.stat.as_ref().and_then(|stat| stat.with_bytes(Stat::parse).ok()?);
        let times = stat.map(|stat| Spent {
            user_ns: stat.user_ns,
            system_ns: stat.system_ns,
            minor_faults: stat.minor_faults,
            major_faults: stat.major_faults,
            ..Spent::default()
        });
        let (calls, run_queue_ns) = (self.files.calls(0), self.files.run_queue_ns());
        Spent { calls, run_queue_ns, ..times.unwrap_or_default() }
    }
}

impl Files {
    fn open(root: &Root, process: &str, thread: &str, unread: &mut Vec<String>) -> Self {
        let (io, schedule) = (format!("{process}/io"), format!("{thread}/schedstat"));
        Self {
            io: root.open(io, "system calls and bytes read from storage", unread),
            schedule: root.open(schedule, "waiting for a processor", unread),
        }
    }

    /// The calls so far, and those that taking the readings is yet to add.
    fn calls(&self, own_reads: u64) -> Option<Calls> {
        self.io.as_ref()?.with_text(|text| {
            let calls = process::calls(text)?;
            Some(Calls {
                reads: calls.reads + own_reads,
                // What the wait takes is some 50 bytes, and stays in.
                read_bytes: calls.read_bytes + own_reads.min(1) * text.len() as u64,
                ..calls
            })
        })
    }

    fn run_queue_ns(&self) -> Option<u64> {
        self.schedule.as_ref()?.with_text(process::run_queue_ns)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::fixture::{Fixture, MadeProcess};

    #[test]
    fn of_another_process_the_faults_times_and_waits_are_added() {
        let fixture = Fixture::quiet();
        fixture.write("/proc/thread-self/schedstat", "7 100 1\n");
        fixture.write("/proc/42/schedstat", "7 20 1\n");
        fixture.write("/proc/42/io", &fixture.root().text("/proc/self/io").unwrap());
        let worker = |faults, ticks| MadeProcess { faults, ticks, ..Fixture::OTHER };
        fixture.process(&worker([11, 13], [3, 4]));
        let mut unread = Vec::new();
        let probe = WorkerProbe::open(&fixture.root(), &[42], &mut unread);
        assert_eq!(unread, [""; 0]);
        let before = probe.others();
        assert_eq!((before.user_ns, before.system_ns), (30_000_000, 40_000_000));
        fixture.process(&worker([12, 15], [3, 9]));
        fixture.write("/proc/42/schedstat", "7 25 1\n");
        let passed = probe.others().since(before);
        assert_eq!((passed.minor_faults, passed.major_faults), (1, 2));
        assert_eq!((passed.user_ns, passed.system_ns), (0, 50_000_000));
        assert_eq!(passed.run_queue_ns, Some(5));
        assert_eq!(probe.after().run_queue_ns, Some(125));
        assert_eq!(probe.after().calls.map(|calls| calls.reads), Some(2));
    }

    #[test]
    fn exactly_the_calls_between_two_readings_are_counted() {
        let probe = WorkerProbe::open(&Root::real(), &[], &mut Vec::new());
        let mut file = tempfile::tempfile().unwrap();
        let mut between_two_readings = || {
            let before = probe.before();
            for _ in 0..5 {
                file.write_all(b"seven b").unwrap();
            }
            probe.after().calls.unwrap().since(before.calls.unwrap())
        };
        let tries: Vec<Calls> = (0..1000).map(|_| between_two_readings()).collect();
        // Other tests of this process read and write as well, but not all the time.
        let least = |what: fn(&Calls) -> u64| tries.iter().map(what).min();
        assert_eq!(least(|calls| calls.writes), Some(5));
        assert_eq!(least(|calls| calls.written_bytes), Some(35));
        assert_eq!(least(|calls| calls.reads), Some(0));
    }

    #[test]
    fn a_named_worker_is_counted_while_it_lives() {
        let mut child = Command::new("sh")
            .args([
                "-c",
                "read go; i=0; while [ $i -lt 200 ]; do echo $i; i=$((i+1)); done; read end",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut unread = Vec::new();
        let probe = WorkerProbe::open(&Root::real(), &[child.id()], &mut unread);
        assert_eq!(unread, Vec::<String>::new());
        let before = probe.before();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"go\n").unwrap();
        let mut lines = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while line != "199\n" {
            line.clear();
            std::io::BufRead::read_line(&mut lines, &mut line).unwrap();
        }
        let after = probe.after();
        stdin.write_all(b"end\n").unwrap();
        child.wait().unwrap();
        let calls = after.calls.unwrap().since(before.calls.unwrap());
        assert!(calls.writes >= 200, "{calls:?}");
    }
}
