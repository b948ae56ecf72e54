//! Where the time of a sync lies among kinds of storage, by figures that others have published.
//!
//! `docs/check.md` lists what exactly each source measured. A kind of which no source was read
//! is left out.

use model::check::{KindOfStorage, Measure, Measured};
use model::place::{PlaceFacts, StorageKind};

/// A published figure, or two.
struct Published {
    kind: &'static str,
    /// The lowest and the highest time of a sync.
    sync_ns: [f64; 2],
    source: &'static str,
}

/// From the fastest kind to the slowest.
const PUBLISHED: [Published; 4] = [
    Published {
        kind: "NVMe with power-loss protection",
        sync_ns: [12e3, 58e3],
        source: "https://smalldatum.blogspot.com/2026/01/ssds-power-loss-protection-and-fsync.html",
    },
    Published {
        kind: "NVMe without it",
        sync_ns: [891e3, 5636e3],
        source: "https://tanelpoder.com/posts/using-pg-test-fsync-for-testing-low-latency-writes",
    },
    Published {
        kind: "cloud volume (gp3)",
        sync_ns: [1.8e6, 1.8e6],
        source: "https://earezki.com/books/fast-by-design/ch28/",
    },
    Published {
        kind: "disk of 7,200 rpm",
        sync_ns: [8.3e6, 16.7e6],
        source: "https://www.sqlite.org/faq.html#q19",
    },
];
/// A system is like a kind whose published figures lie within this factor of its own.
const WITHIN: f64 = 1.5;

/// The kinds, the nearest to the place's own sync first; none of a place in memory.
pub(super) fn like(measured: &[Measured], facts: &PlaceFacts) -> Vec<KindOfStorage> {
    let sync = measured.iter().find(|measured| measured.of.measure == Measure::Fdatasync);
    let Some(median) = sync.and_then(|sync| sync.p50_ns) else { return Vec::new() };
    if facts.kind == StorageKind::Memory {
        return Vec::new();
    }
    let apart = |published: &Published| {
        let ([low, high], ns) = (published.sync_ns, median.estimate);
        (low / ns).max(ns / high).max(1.0)
    };
    let mut kinds: Vec<&Published> = PUBLISHED.iter().collect();
    kinds.sort_by(|a, b| apart(a).total_cmp(&apart(b)));
    let kind = |published: &Published| KindOfStorage {
        kind: published.kind.to_owned(),
        sync_ns: published.sync_ns,
        holds: apart(published) <= WITHIN,
        source: published.source.to_owned(),
    };
    kinds.into_iter().map(kind).collect()
}
