//! The machine's memory and its writeback, from `/proc/vmstat`.

use model::counters::Level;
use model::probes::MemoryTraffic;

use crate::probes::file::KernelFile;

const KIB: u64 = 1024;

pub(crate) struct MemoryProbe {
    vmstat: KernelFile,
    page_bytes: u64,
}

impl MemoryProbe {
    pub(crate) fn open(unread: &mut Vec<String>) -> Option<Self> {
        let vmstat = KernelFile::open("/proc/vmstat", "writeback and swapping", unread)?;
        Some(Self { vmstat, page_bytes: rustix::param::page_size() as u64 })
    }

    pub(crate) fn read(&self) -> Option<MemoryTraffic> {
        self.vmstat.with_text(|text| Some(parse(text, self.page_bytes)))
    }
}

/// A counter that this kernel lacks stays 0; it is never the sole evidence of anything.
fn parse(text: &str, page: u64) -> MemoryTraffic {
    let mut seen = MemoryTraffic::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(' ') else { continue };
        let Ok(value) = value.trim().parse::<u64>() else { continue };
        match name {
            "nr_dirty" => seen.dirty_bytes = Level(value * page),
            "nr_writeback" => seen.writeback_bytes = Level(value * page),
            "nr_dirty_threshold" => seen.dirty_limit_bytes = Level(value * page),
            "nr_dirtied" => seen.dirtied_bytes = value * page,
            "nr_written" => seen.written_bytes = value * page,
            "pgpgin" => seen.paged_in_bytes = value * KIB,
            "pgpgout" => seen.paged_out_bytes = value * KIB,
            "pswpin" => seen.swapped_in_bytes = value * page,
            "pswpout" => seen.swapped_out_bytes = value * page,
            "pgscan_kswapd" | "pgscan_direct" => seen.scanned_bytes += value * page,
            "workingset_refault_anon" | "workingset_refault_file" | "workingset_refault" => {
                seen.refaulted_bytes += value * page;
            }
            name if name.starts_with("allocstall") => seen.allocation_stalls += value,
            _ => {}
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use model::counters::Counters as _;

    use super::*;

    #[test]
    fn counters_are_found_by_name_and_those_of_zones_are_summed() {
        let text = "nr_dirty 1\nnr_dirtied 2\nnr_dirty_threshold 3\npgpgin 4\nallocstall_dma 5\n\
                    allocstall_normal 6\npgscan_direct 7\npgscan_kswapd 8\npgscan_anon 99\n";
        let seen = parse(text, 4096);
        assert_eq!((seen.dirty_bytes.0, seen.dirtied_bytes), (4096, 8192));
        assert_eq!((seen.dirty_limit_bytes.0, seen.paged_in_bytes), (3 * 4096, 4096));
        assert_eq!((seen.allocation_stalls, seen.scanned_bytes), (11, 15 * 4096));
    }

    #[test]
    fn traffic_is_a_difference_and_a_state_is_not() {
        let then = MemoryTraffic { dirty_bytes: Level(9), dirtied_bytes: 5, ..Default::default() };
        let now = MemoryTraffic { dirty_bytes: Level(7), dirtied_bytes: 8, ..Default::default() };
        let passed = now.since(then);
        assert_eq!((passed.dirty_bytes.0, passed.dirtied_bytes), (7, 3));
    }
}
