//! The machine's memory and its writeback, from `/proc/vmstat`.

use model::counters::{Counters as _, Level};
use model::probes::MemoryTraffic;

use crate::file::{KernelFile, field};
use crate::root::Root;

const KIB: u64 = 1024;

/// The machine's memory, held open to be read around each slice.
#[derive(Debug)]
pub(crate) struct MemoryProbe {
    vmstat: KernelFile,
    page_bytes: u64,
}

impl MemoryProbe {
    pub(crate) fn open(root: &Root, unread: &mut Vec<String>) -> Option<Self> {
        let vmstat = root.open("/proc/vmstat", "writeback and swapping", unread)?;
        Some(Self { vmstat, page_bytes: rustix::param::page_size() as u64 })
    }

    pub(crate) fn read(&self) -> Option<MemoryTraffic> {
        self.vmstat.with_text(|text| Some(parse(text, self.page_bytes)))
    }
}

/// The machine's memory now.
pub(crate) fn read(root: &Root) -> Option<MemoryTraffic> {
    let text = root.text("/proc/vmstat").ok()?;
    // Without these two it is none.
    let known = ["nr_dirty", "nr_writeback"].iter().all(|name| field(&text, name).is_some());
    known.then(|| parse(&text, rustix::param::page_size() as u64))
}

/// A counter that this kernel lacks stays 0; it is never the sole evidence of anything.
pub(crate) fn parse(text: &str, page: u64) -> MemoryTraffic {
    let mut seen = MemoryTraffic::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(' ') else { continue };
        // Most of some 180 lines are not wanted, and are not parsed.
        let number = || value.parse::<u64>().unwrap_or_default();
        let (pages, kibibytes) =
            (|| number().saturating_mul(page), || number().saturating_mul(KIB));
        match name {
            "nr_dirty" => seen.dirty_bytes = Level(pages()),
            "nr_writeback" => seen.writeback_bytes = Level(pages()),
            "nr_dirty_threshold" => seen.dirty_limit_bytes = Level(pages()),
            "nr_dirtied" => seen.dirtied_bytes = pages(),
            "nr_written" => seen.written_bytes = pages(),
            "nr_free_pages" => seen.free_bytes = Some(Level(pages())),
            "pgpgin" => seen.paged_in_bytes = kibibytes(),
            "pgpgout" => seen.paged_out_bytes = kibibytes(),
            "pswpin" => seen.swapped_in_bytes = pages(),
            "pswpout" => seen.swapped_out_bytes = pages(),
            "pgscan_kswapd" | "pgscan_direct" => {
                seen.scanned_bytes = seen.scanned_bytes.plus(pages());
            }
            "workingset_refault_anon" | "workingset_refault_file" | "workingset_refault" => {
                seen.refaulted_bytes = seen.refaulted_bytes.plus(pages());
            }
            "thp_file_alloc" => seen.huge_file_pages = Some(number()),
            name if name.starts_with("pgalloc_") => {
                seen.allocated_bytes = Some(seen.allocated_bytes.unwrap_or_default().plus(pages()));
            }
            name if name.starts_with("allocstall") => {
                seen.allocation_stalls = seen.allocation_stalls.plus(number());
            }
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
                    allocstall_normal 6\npgalloc_dma32 20\npgalloc_normal 30\nthp_file_alloc 8\nnr_free_pages 10\npgscan_direct 7\npgscan_kswapd 8\npgscan_anon 99\n";
        let seen = parse(text, 4096);
        assert_eq!((seen.dirty_bytes.0, seen.dirtied_bytes), (4096, 8192));
        assert_eq!((seen.dirty_limit_bytes.0, seen.paged_in_bytes), (3 * 4096, 4096));
        assert_eq!((seen.allocation_stalls, seen.scanned_bytes), (11, 15 * 4096));
        assert_eq!(seen.free_bytes, Some(Level(10 * 4096)));
        assert_eq!((seen.allocated_bytes, seen.huge_file_pages), (Some(50 * 4096), Some(8)));
    }

    #[test]
    fn traffic_is_a_difference_and_a_state_is_not() {
        let then = MemoryTraffic { dirty_bytes: Level(9), dirtied_bytes: 5, ..Default::default() };
        let now = MemoryTraffic { dirty_bytes: Level(7), dirtied_bytes: 8, ..Default::default() };
        let passed = now.since(then);
        assert_eq!((passed.dirty_bytes.0, passed.dirtied_bytes), (7, 3));
    }
}
