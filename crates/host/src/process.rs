//! What `/proc` tells about processes and their descendants (proc(5)).
//!
//! `/proc/PID/stat` is parsed by procfs-core, `/proc/PID/io` here: the former is read
//! for a process at a time, the latter twice around each slice, and procfs-core makes a
//! map of owned strings of it.

use std::collections::HashMap;

use model::counters;
use model::counters::Counters as _;
use model::spent::Calls;
use procfs_core::FromRead as _;
use procfs_core::process::StatFlags;

use crate::clock;
use crate::file::field;
use crate::root::Root;

/// A process at one moment, from `/proc/PID/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The program's name, or its thread's.
    pub name: String,
    /// `R`, `S`, `Z`, …
    pub state: char,
    /// The process that is its parent.
    pub parent: i32,
    /// Whether the kernel made it for itself.
    pub kernel_thread: bool,
    /// Faults that needed no storage.
    pub minor_faults: u64,
    /// Faults that did.
    pub major_faults: u64,
    /// Processor time in its own code, in steps of a tick.
    pub user_ns: u64,
    /// Processor time in the kernel, in steps of a tick.
    pub system_ns: u64,
    /// That of its children that have been waited for.
    pub children_user_ns: u64,
    /// That of its children that have been waited for.
    pub children_system_ns: u64,
    /// When it began, from the machine's start: tells it from a later process with the
    /// same number.
    pub started_ns: u64,
}

impl Stat {
    /// From the file's bytes. The name may have any, brackets and blanks included.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        // procfs-core takes both brackets, and the blanks beside them, for granted.
        let (opens, closes) = (text.find('(')?, text.rfind(')')?);
        let is_bracketed = text[..opens].ends_with(' ') && text[closes..].starts_with(") ");
        if closes < opens || !is_bracketed {
            return None;
        }
        let stat = procfs_core::process::Stat::from_read(text.as_bytes()).ok()?;
        Some(Self {
            state: stat.state,
            parent: stat.ppid,
            kernel_thread: stat.flags & StatFlags::PF_KTHREAD.bits() != 0,
            minor_faults: stat.minflt,
            major_faults: stat.majflt,
            user_ns: clock::ticks_ns(stat.utime),
            system_ns: clock::ticks_ns(stat.stime),
            children_user_ns: clock::ticks_ns(u64::try_from(stat.cutime).ok()?),
            children_system_ns: clock::ticks_ns(u64::try_from(stat.cstime).ok()?),
            started_ns: clock::ticks_ns(stat.starttime),
            name: stat.comm,
        })
    }

    /// Of a process; nothing when it is gone.
    pub fn read(root: &Root, pid: i32) -> Option<Self> {
        Self::parse(&root.read(format!("/proc/{pid}/stat")).ok()?)
    }
}

counters! {
    /// What a process, or several together, have used since they began.
    pub struct ProcessUse {
        /// Both modes together, as exactly as is known.
        pub cpu_ns: u64,
        /// In their own code, in steps of a tick.
        pub user_ns: u64,
        /// In the kernel, in steps of a tick.
        pub system_ns: u64,
        /// Calls and storage traffic. The kernel counts read(2), write(2), sendfile(2)
        /// and their like, and not recv(2) and send(2).
        pub calls: Calls,
    }
}

impl ProcessUse {
    /// That of a process and of those of its children that have died and been waited
    /// for; those of the living count for themselves. Nothing when it is gone.
    pub fn read(root: &Root, pid: i32) -> Option<Self> {
        let stat = Stat::read(root, pid)?;
        let io = root.text(format!("/proc/{pid}/io")).unwrap_or_default();
        let calls = calls(&io).unwrap_or_default();
        Some(Self::of(&stat, calls, sys::clock::process_cpu_ns(pid)))
    }

    /// `own_cpu_ns` is the time of the process alone, where it could be read: its
    /// ticks are not as exact. Children that have ended have left ticks only.
    pub(crate) fn of(stat: &Stat, calls: Calls, own_cpu_ns: Option<u64>) -> Self {
        let user_ns = stat.user_ns.plus(stat.children_user_ns);
        let system_ns = stat.system_ns.plus(stat.children_system_ns);
        let children_ns = stat.children_user_ns.plus(stat.children_system_ns);
        let cpu_ns = own_cpu_ns.map_or(user_ns.plus(system_ns), |own| own.plus(children_ns));
        Self { cpu_ns, user_ns, system_ns, calls }
    }
}

/// From the text of `/proc/PID/io`.
pub(crate) fn calls(text: &str) -> Option<Calls> {
    Some(Calls {
        reads: field(text, "syscr")?,
        writes: field(text, "syscw")?,
        read_bytes: field(text, "rchar")?,
        written_bytes: field(text, "wchar")?,
        storage_read_bytes: field(text, "read_bytes")?,
        storage_dirtied_bytes: field(text, "write_bytes")?,
        storage_cancelled_bytes: field(text, "cancelled_write_bytes")?,
    })
}

/// Calls and storage traffic of this process so far; nothing where they cannot be read.
pub(crate) fn own_calls(root: &Root) -> Option<Calls> {
    calls(&root.text("/proc/self/io").ok()?)
}

/// What storage has read for this process so far; nothing where that cannot be read.
pub fn storage_read_bytes() -> Option<u64> {
    Some(own_calls(&Root::real())?.storage_read_bytes)
}

/// Time ready to run and waiting for a processor, from the text of `schedstat`: time on a
/// processor, time waiting for one, and how often.
pub(crate) fn run_queue_ns(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// `ancestor` and all that descend from it; nobody when it is gone.
pub fn tree(root: &Root, ancestor: i32) -> Vec<i32> {
    if !is_alive(root, ancestor) {
        return Vec::new();
    }
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for pid in root.processes().map(u32::cast_signed) {
        if let Some(stat) = Stat::read(root, pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    let mut all = vec![ancestor];
    let mut next = 0;
    while let Some(pid) = all.get(next) {
        all.extend(children.remove(pid).unwrap_or_default());
        next += 1;
    }
    all
}

/// Whether there is such a process, dead but unburied ones apart.
pub fn is_alive(root: &Root, pid: i32) -> bool {
    Stat::read(root, pid).is_some_and(|stat| stat.state != 'Z')
}

/// Why a process's I/O cannot be read, if so: it is another user's.
pub fn check_io(root: &Root, pid: i32) -> std::io::Result<()> {
    root.read(format!("/proc/{pid}/io")).map(drop)
}

/// Descriptors that this process has open; nothing where they cannot be counted.
pub fn open_descriptors(root: &Root) -> Option<usize> {
    Some(std::fs::read_dir(root.locate("/proc/self/fd")).ok()?.count())
}

/// Memory of a process in bytes: its share of what it has (PSS), or all of it
/// (RSS) where the share is not told; and whether it is the share.
pub fn memory_bytes(root: &Root, pid: i32) -> (u64, bool) {
    let file = |name: &str| root.text(format!("/proc/{pid}/{name}")).unwrap_or_default();
    match field(&file("smaps_rollup"), "Pss") {
        Some(kib) => (kib << 10, true),
        None => (field(&file("status"), "VmRSS").unwrap_or(0) << 10, false),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Fixture, MadeProcess};

    const TICK_NS: u64 = 10_000_000;
    const IO: &str = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n\
                      cancelled_write_bytes: 7\n";

    fn made() -> MadeProcess<'static> {
        MadeProcess {
            name: "(a) b (c)) S 9",
            parent: 7,
            faults: [11, 13],
            ticks: [10, 20],
            child_ticks: [30, 40],
            ..MadeProcess::PROGRAM
        }
    }

    #[test]
    fn a_name_with_blanks_and_brackets_does_not_shift_the_fields() {
        let stat = Stat::parse(made().stat().as_bytes()).unwrap();
        let expected = Stat {
            name: "(a) b (c)) S 9".to_owned(),
            state: 'S',
            parent: 7,
            kernel_thread: false,
            minor_faults: 11,
            major_faults: 13,
            user_ns: 10 * TICK_NS,
            system_ns: 20 * TICK_NS,
            children_user_ns: 30 * TICK_NS,
            children_system_ns: 40 * TICK_NS,
            started_ns: 300 * TICK_NS,
        };
        assert_eq!(stat, expected);
    }

    #[test]
    fn what_is_no_process_is_nothing_and_no_panic() {
        for text in ["", "1", "(", "1 (a", "1 )a(", ") (", "1 (a) ", "1 (a) S", "(a) S 1", " () "] {
            assert_eq!(Stat::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_name_that_is_no_text_is_still_a_process() {
        let stat = made().stat().replace("(a) b", "\u{fffd}");
        let mut bytes = stat.into_bytes();
        let at = bytes.windows(3).position(|three| three == "\u{fffd}".as_bytes()).unwrap();
        bytes.splice(at..at + 3, [0xff]);
        assert_eq!(Stat::parse(&bytes).unwrap().parent, 7);
    }

    #[test]
    fn what_a_process_used_includes_its_children_that_have_ended() {
        let fixture = Fixture::empty();
        fixture.process(&made());
        fixture.write("/proc/42/io", IO);
        let calls = Calls {
            reads: 3,
            writes: 4,
            read_bytes: 1,
            written_bytes: 2,
            storage_read_bytes: 5,
            storage_dirtied_bytes: 6,
            storage_cancelled_bytes: 7,
        };
        let stat = Stat::read(&fixture.root(), 42).unwrap();
        let io = super::calls(&fixture.root().text("/proc/42/io").unwrap()).unwrap();
        let expected = ProcessUse {
            cpu_ns: 123 + 70 * TICK_NS,
            user_ns: 40 * TICK_NS,
            system_ns: 60 * TICK_NS,
            calls,
        };
        assert_eq!(ProcessUse::of(&stat, io, Some(123)), expected);
        let in_ticks = ProcessUse { cpu_ns: 100 * TICK_NS, ..expected };
        assert_eq!(ProcessUse::of(&stat, io, None), in_ticks);
        assert_eq!(ProcessUse::read(&fixture.root(), 43), None);
    }

    #[test]
    fn a_tree_has_all_descendants_and_a_dead_root_none() {
        let fixture = Fixture::empty();
        for (pid, parent, state) in
            [(10, 1, 'S'), (11, 10, 'R'), (12, 11, 'S'), (13, 1, 'S'), (14, 1, 'Z'), (15, 14, 'S')]
        {
            fixture.process(&MadeProcess { pid, parent, state, ..MadeProcess::PROGRAM });
        }
        let root = fixture.root();
        assert_eq!(tree(&root, 10), [10, 11, 12]);
        assert_eq!(tree(&root, 14), [0; 0]);
        assert_eq!(tree(&root, 99), [0; 0]);
    }

    #[test]
    fn memory_is_the_share_where_that_is_told() {
        let fixture = Fixture::empty();
        fixture.write("/proc/42/status", "VmSize:  9 kB\nVmRSS:\t  8 kB\n");
        assert_eq!(memory_bytes(&fixture.root(), 42), (8 << 10, false));
        fixture.write("/proc/42/smaps_rollup", "Rss: 8 kB\nPss:      5 kB\nPss_Dirty: 1 kB\n");
        assert_eq!(memory_bytes(&fixture.root(), 42), (5 << 10, true));
    }

    #[test]
    fn this_process_is_found_with_its_counters() {
        let root = Root::real();
        let pid = std::process::id().cast_signed();
        assert!(is_alive(&root, pid) && tree(&root, pid).contains(&pid));
        assert!(ProcessUse::read(&root, pid).is_some_and(|used| used.calls.reads > 0));
        assert!(memory_bytes(&root, pid).0 > 100_000);
        assert!(!is_alive(&root, i32::MAX));
    }

    #[test]
    fn cpu_time_is_told_more_exactly_than_in_ticks_and_with_threads_that_ended() {
        let pid = std::process::id().cast_signed();
        let cpu_ns = || ProcessUse::read(&Root::real(), pid).unwrap().cpu_ns;
        let before = cpu_ns();
        let work = || (0..2_000_000_u64).fold(0, |a, b| std::hint::black_box(a ^ b));
        let used_ns = std::thread::spawn(move || {
            let begun = clock::thread_cpu_ns();
            work();
            clock::thread_cpu_ns() - begun
        });
        let used_ns = used_ns.join().unwrap();
        let after = cpu_ns();
        assert!(after - before >= used_ns, "{} of {used_ns}", after - before);
        // PID_MAX_LIMIT is 2^22.
        assert_eq!(sys::clock::process_cpu_ns(1 << 22 | 1), None);
    }

    #[test]
    fn open_descriptors_are_counted() {
        let fixture = Fixture::empty();
        assert_eq!(open_descriptors(&fixture.root()), None);
        for fd in 0..3 {
            fixture.write(&format!("/proc/self/fd/{fd}"), "");
        }
        assert_eq!(open_descriptors(&fixture.root()), Some(3));
    }

    #[test]
    fn what_storage_read_for_this_process_is_counted() {
        assert!(own_calls(&Root::real()).is_some_and(|calls| calls.read_bytes > 0));
    }
}
