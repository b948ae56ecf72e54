//! The processes that do a slice's work: this one, and others of ours.
//!
//! `/proc/PID/io` and getrusage(2) count what a child did as its parent's once it
//! has been waited for, so processes that live within a slice need no reading
//! of their own; those that live across slices are named.

use model::counters::Counters as _;
use model::probes::Calls;

use crate::probes::Usage;
use crate::probes::file::{KernelFile, field};

/// The kernel counts a process's own time in `/proc/PID/stat` in these steps.
const TICK_NS: u64 = 10_000_000;
/// Reading the calls themselves, for the kernel counts a call when it ends, and
/// reading the wait for a processor on both sides.
const OWN_READS: u64 = 3;

/// Reads what the calling thread and its process go through.
pub struct WorkerProbe {
    this: Files,
    others: Vec<OtherFiles>,
}

struct Files {
    io: Option<KernelFile>,
    schedule: Option<KernelFile>,
}

struct OtherFiles {
    files: Files,
    stat: Option<KernelFile>,
}

/// Counters so far, over all workers.
#[derive(Clone, Copy)]
pub struct WorkerReading {
    /// Processor time, faults and switches of the process.
    pub usage: Usage,
    /// Reads and writes of the process.
    pub calls: Option<Calls>,
    /// How long the thread waited for a processor.
    pub run_queue_ns: Option<u64>,
}

impl WorkerProbe {
    /// Opens the files of this thread and process, and of other processes.
    pub fn open(processes: &[u32], unread: &mut Vec<String>) -> Self {
        let other = |pid: &u32| OtherFiles {
            files: Files::open(&format!("/proc/{pid}"), &format!("/proc/{pid}"), unread),
            stat: KernelFile::open(&format!("/proc/{pid}/stat"), "a worker's faults", unread),
        };
        let others = processes.iter().map(other).collect();
        // The engine's own thread runs the slices, and need not be the first one.
        Self { this: Files::open("/proc/self", "/proc/thread-self", unread), others }
    }

    /// A reading to be taken before the clock starts. The wait for a processor is
    /// read next to the clock: to lose it between the two readings is likely on
    /// a busy machine, and would count as the slice's.
    pub fn before(&self) -> WorkerReading {
        let others = self.others();
        let calls = self.this.calls(OWN_READS);
        let usage = Usage::now();
        let run_queue_ns = self.this.run_queue_ns();
        WorkerReading { usage, calls, run_queue_ns }.with(others)
    }

    /// A reading to be taken after the clock stopped.
    pub fn after(&self) -> WorkerReading {
        let run_queue_ns = self.this.run_queue_ns();
        let usage = Usage::now();
        let calls = self.this.calls(0);
        WorkerReading { usage, calls, run_queue_ns }.with(self.others())
    }

    fn others(&self) -> WorkerReading {
        let none = WorkerReading {
            usage: Usage::default(),
            calls: Some(Calls::default()),
            run_queue_ns: Some(0),
        };
        self.others.iter().fold(none, |sum, worker| sum.with(worker.read()))
    }
}

impl OtherFiles {
    fn read(&self) -> WorkerReading {
        let usage = self.stat.as_ref().and_then(|stat| stat.with_text(usage_of));
        WorkerReading {
            usage: usage.unwrap_or_default(),
            calls: self.files.calls(0),
            run_queue_ns: self.files.run_queue_ns(),
        }
    }
}

impl WorkerReading {
    /// What passed since an earlier reading.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let queued = self.run_queue_ns.zip(before.run_queue_ns);
        Self {
            usage: self.usage.since(before.usage),
            calls: self.calls.since(before.calls),
            run_queue_ns: queued.map(|(now, then)| now.saturating_sub(then)),
        }
    }

    fn with(self, other: Self) -> Self {
        let run_queue_ns = self.run_queue_ns.zip(other.run_queue_ns);
        Self {
            usage: self.usage + other.usage,
            calls: self.calls.plus(other.calls),
            run_queue_ns: run_queue_ns.map(|(a, b)| a.saturating_add(b)),
        }
    }
}

impl Files {
    fn open(process: &str, thread: &str, unread: &mut Vec<String>) -> Self {
        let io = format!("{process}/io");
        let schedule = format!("{thread}/schedstat");
        Self {
            io: KernelFile::open(&io, "system calls and bytes read from storage", unread),
            schedule: KernelFile::open(&schedule, "waiting for a processor", unread),
        }
    }

    /// The calls so far, and those that taking the readings is yet to add.
    fn calls(&self, own_reads: u64) -> Option<Calls> {
        self.io.as_ref()?.with_text(|text| {
            Some(Calls {
                reads: field(text, "syscr")? + own_reads,
                writes: field(text, "syscw")?,
                // What the wait takes is some 50 bytes, and stays in.
                read_bytes: field(text, "rchar")? + own_reads.min(1) * text.len() as u64,
                written_bytes: field(text, "wchar")?,
                storage_read_bytes: field(text, "read_bytes")?,
                storage_dirtied_bytes: field(text, "write_bytes")?,
                storage_cancelled_bytes: field(text, "cancelled_write_bytes")?,
            })
        })
    }

    /// Time on a processor, time waiting for one, and how often.
    fn run_queue_ns(&self) -> Option<u64> {
        self.schedule.as_ref()?.with_text(|text| text.split_ascii_whitespace().nth(1)?.parse().ok())
    }
}

/// From `/proc/PID/stat`, which has everything but the switches.
fn usage_of(stat: &str) -> Option<Usage> {
    // The second field is the program's name, which may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let numbers: Vec<&str> = rest.split_ascii_whitespace().collect();
    let at = |field: usize| numbers.get(field - 3)?.parse::<u64>().ok();
    Some(Usage {
        minor_faults: at(10)?,
        major_faults: at(12)?,
        user_ns: at(14)? * TICK_NS,
        system_ns: at(15)? * TICK_NS,
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn exactly_the_calls_between_two_readings_are_counted() {
        let probe = WorkerProbe::open(&[], &mut Vec::new());
        let mut file = tempfile::tempfile().unwrap();
        let before = probe.before();
        for _ in 0..5 {
            file.write_all(b"seven b").unwrap();
        }
        let after = probe.after();
        let calls = after.calls.unwrap().since(before.calls.unwrap());
        assert!(calls.writes >= 5 && calls.written_bytes >= 35, "{calls:?}");
        // Other tests of this process may write as well, but not this much.
        assert!(calls.reads < 1000 && calls.writes < 1000, "{calls:?}");
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
        let probe = WorkerProbe::open(&[child.id()], &mut unread);
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

    #[test]
    fn a_process_name_may_hold_blanks_and_brackets() {
        let stat = "7 (a) b (c) S 1 2 3 4 5 6 11 12 13 14 3 4 0 0";
        let usage = usage_of(stat).unwrap();
        assert_eq!((usage.minor_faults, usage.major_faults), (11, 13));
        assert_eq!((usage.user_ns, usage.system_ns), (30_000_000, 40_000_000));
    }
}
