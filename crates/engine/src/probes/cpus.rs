//! What all processors did, from `/proc/stat` (`proc_stat(5)`).

use model::probes::CpuTimes;

use crate::probes::file::KernelFile;

/// `USER_HZ` is 100 on every architecture that Linux still runs on.
const TICK_NS: u64 = 10_000_000;

pub(crate) struct CpuProbe(KernelFile);

impl CpuProbe {
    pub(crate) fn open(unread: &mut Vec<String>) -> Option<Self> {
        KernelFile::open("/proc/stat", "steal and other load", unread).map(Self)
    }

    pub(crate) fn read(&self) -> Option<CpuTimes> {
        self.0.with_text(parse)
    }
}

/// The first line: `cpu user nice system idle iowait irq softirq steal …`.
fn parse(text: &str) -> Option<CpuTimes> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Option<Vec<u64>> =
        line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    let ticks = ticks.filter(|ticks| ticks.len() >= 8)?;
    Some(CpuTimes {
        busy_ns: (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) * TICK_NS,
        idle_ns: (ticks[3] + ticks[4]) * TICK_NS,
        steal_ns: ticks[7] * TICK_NS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_time_is_read_from_its_position() {
        let ticks = parse("cpu  1 2 4 8 16 32 64 128 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        let expected =
            CpuTimes { busy_ns: 103 * TICK_NS, idle_ns: 24 * TICK_NS, steal_ns: 128 * TICK_NS };
        assert_eq!(ticks, Some(expected));
        assert_eq!(parse("cpu  1 2 3"), None);
    }
}
