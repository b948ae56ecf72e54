//! What `/proc` tells about processes and their descendants (proc(5)).

use crate::clock;
use rustix::param::clock_ticks_per_second;
use std::{collections::HashMap, fs, ops::AddAssign};

/// Nanoseconds that this thread was ready to run while another had its core.
///
/// The second field of `schedstat`; 0 where the kernel does not count it.
pub(crate) fn thread_run_delay_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// What a process, or several together, have used since they began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Both modes together, as exactly as is known.
    pub(crate) cpu_ns: u64,
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    // `rchar`, `wchar`, `syscr` and `syscw`: the kernel counts them in
    // read(2), write(2), sendfile(2) and their like, and not in recv(2) and
    // send(2).
    pub(crate) asked_read_bytes: u64,
    pub(crate) asked_write_bytes: u64,
    pub(crate) read_calls: u64,
    pub(crate) write_calls: u64,
    pub(crate) device_read_bytes: u64,
    pub(crate) device_write_bytes: u64,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.user_ticks += other.user_ticks;
        self.system_ticks += other.system_ticks;
        self.asked_read_bytes += other.asked_read_bytes;
        self.asked_write_bytes += other.asked_write_bytes;
        self.read_calls += other.read_calls;
        self.write_calls += other.write_calls;
        self.device_read_bytes += other.device_read_bytes;
        self.device_write_bytes += other.device_write_bytes;
    }
}

/// `root` and all that descend from it; nobody when it is gone.
pub(crate) fn tree(root: i32) -> Vec<i32> {
    if !is_alive(root) {
        return Vec::new();
    }
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(parent) = read_stat(pid).and_then(|stat| parent_of(&stat)) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut all = vec![root];
    let mut next = 0;
    while let Some(pid) = all.get(next) {
        all.extend(children.remove(pid).unwrap_or_default());
        next += 1;
    }
    all
}

/// Whether there is such a process, dead but unburied ones apart.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = read_stat(pid);
    stat.and_then(|stat| fields(&stat).next().map(|state| state != "Z")).unwrap_or(false)
}

/// The counters of a process and of those of its children that have died and
/// been waited for; those of the living count for themselves.
pub(crate) fn counters(pid: i32) -> Option<Counters> {
    let stat = read_stat(pid)?;
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    parse_counters(&stat, &io, clock::process_cpu_ns(pid))
}

fn read_stat(pid: i32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/stat")).ok()
}

/// The fields from the third on: the second, the name, may have any
/// characters, parentheses and blanks included, and ends at the last one.
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace()
}

fn parent_of(stat: &str) -> Option<i32> {
    fields(stat).nth(1)?.parse().ok()
}

/// `own_cpu_ns` is the time of the process alone, where it could be read: its
/// ticks are not as exact. Children that have ended have left ticks only.
fn parse_counters(stat: &str, io: &str, own_cpu_ns: Option<u64>) -> Option<Counters> {
    // utime, stime, cutime, cstime are fields 14 to 17.
    let mut times = fields(stat).skip(11).map(|field| field.parse::<u64>().unwrap_or(0));
    let mut next = || times.next();
    let (user, system) = (next()?, next()?);
    let (children_user, children_system) = (next()?, next()?);
    let value = |name: &str| {
        io.lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(key, _)| *key == name)
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(0)
    };
    let ticks_ns = |ticks: u64| ticks * (clock::SECOND_NS / clock_ticks_per_second());
    Some(Counters {
        cpu_ns: own_cpu_ns.unwrap_or_else(|| ticks_ns(user + system))
            + ticks_ns(children_user + children_system),
        user_ticks: user + children_user,
        system_ticks: system + children_system,
        asked_read_bytes: value("rchar"),
        asked_write_bytes: value("wchar"),
        read_calls: value("syscr"),
        write_calls: value("syscw"),
        device_read_bytes: value("read_bytes"),
        device_write_bytes: value("write_bytes"),
    })
}

/// Memory of a process in bytes: its share of what it has (PSS), or all of it
/// (RSS) where the share is not told; and whether it is the share.
pub(crate) fn memory_bytes(pid: i32) -> (u64, bool) {
    let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let kib = |text: &str, key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key))
            .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
    };
    match kib(&file("smaps_rollup"), "Pss:") {
        Some(pss) => (pss << 10, true),
        None => (kib(&file("status"), "VmRSS:").unwrap_or(0) << 10, false),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "42 (a) b (c)) S 7 1 1 0 -1 0 1 2 3 4 10 20 30 40 20 0 1 0";
        assert_eq!(parent_of(stat), Some(7));
        let io = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n\
                  cancelled_write_bytes: 7\n";
        let counters = parse_counters(stat, io, Some(123));
        let expected = Counters {
            cpu_ns: 123 + 70 * (clock::SECOND_NS / clock_ticks_per_second()),
            user_ticks: 40,
            system_ticks: 60,
            asked_read_bytes: 1,
            asked_write_bytes: 2,
            read_calls: 3,
            write_calls: 4,
            device_read_bytes: 5,
            device_write_bytes: 6,
        };
        assert_eq!(counters, Some(expected));
        assert_eq!(parse_counters("", "", None), None);
    }

    #[test]
    fn this_process_is_found_with_its_counters() {
        let pid = std::process::id().cast_signed();
        assert!(is_alive(pid) && tree(pid).contains(&pid));
        assert!(counters(pid).is_some_and(|c| c.read_calls > 0));
        assert!(memory_bytes(pid).0 > 100_000);
        assert!(!is_alive(i32::MAX));
    }

    #[test]
    fn cpu_time_is_told_more_exactly_than_in_ticks_and_with_threads_that_ended() {
        let pid = std::process::id().cast_signed();
        let before = counters(pid).unwrap().cpu_ns;
        let work = || (0..2_000_000_u64).fold(0, |a, b| std::hint::black_box(a ^ b));
        let used_ns = std::thread::spawn(move || {
            let begun = clock::thread_cpu_ns();
            work();
            clock::thread_cpu_ns() - begun
        });
        let used_ns = used_ns.join().unwrap();
        let after = counters(pid).unwrap().cpu_ns;
        assert!(after - before >= used_ns, "{} of {used_ns}", after - before);
        // PID_MAX_LIMIT is 2^22.
        assert_eq!(clock::process_cpu_ns(1 << 22 | 1), None);
    }
}
