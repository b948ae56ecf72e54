//! Whether a replay has what takes the program's time. Where it lacks a part, its answer would be
//! about the rest.

use units::{counted, percent, time};

use super::plan::not_replayed::NotReplayed;
use super::plan::program::Facts;
use crate::drop_cache::Cache;

/// A share of the recorded time that may be missing without a word.
const MISSING_MAX: f64 = 0.02;

/// A replay takes at least this part of the recorded time: a machine's speed changes by less within
/// minutes.
const SHORTEST: f64 = 0.7;

/// Why a replay says nothing of the program's time, if so.
pub(super) fn untrusted(facts: &Facts) -> Option<String> {
    let stretch_ns = facts.stretch_ns.max(1) as f64;
    let NotReplayed { ring_operations, mapped_pages, msyncs } = facts.not_replayed;
    let parts = [
        (ring_operations, "operation", "on io_uring"),
        (mapped_pages, "page fault", "of mapped files"),
        (msyncs, "sync", "of mapped files"),
    ];
    let mut lacking = parts.iter().filter(|(part, ..)| part.ns as f64 / stretch_ns > MISSING_MAX);
    if let Some((part, what, of)) = lacking.next() {
        let share = part.ns as f64 / stretch_ns;
        // Nobody may know.
        let share =
            if share > 1.0 { String::new() } else { format!(", {} of its time", percent(share)) };
        return Some(format!(
            "it lacks {} {of}{share}, which no replay makes again",
            counted(part.number, what)
        ));
    }
    let files = facts.files_ns as f64 / stretch_ns;
    let replayed = (1.0 - facts.shortest.ns / stretch_ns).clamp(0.0, files);
    let missing = (files - replayed).min(facts.shortest.asleep_ns / stretch_ns);
    (missing > MISSING_MAX).then(|| {
        let advice =
            if facts.sees_wakers { "" } else { "; record it as root, so that eBPF can see that" };
        format!(
            "file calls take {} of the recorded time, but a replay can save no more than {}: it is \
             not known what threads waited for meanwhile{advice}",
            percent(files),
            percent(replayed)
        )
    })
}

/// Why a replay that should take as long as the program did says nothing of its time, if so: it
/// does not have what took the rest.
pub(super) fn too_short(facts: &Facts, took_ns: f64, cache: Cache) -> Option<String> {
    let stretch_ns = facts.stretch_ns as f64;
    (took_ns < stretch_ns * SHORTEST).then(|| {
        let advice = match cache {
            Cache::Warm => "; if that was reading from the device: --set replay.cache=cold",
            Cache::Cold => "",
        };
        format!(
            "where it was recorded it takes {} instead of {}, and what took the rest is not \
             replayed{advice}",
            time(took_ns),
            time(stretch_ns)
        )
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::plan::not_replayed::Count;
    use super::super::plan::program::Shortest;
    use super::*;

    fn facts(files_ns: u64, ns: f64, asleep_ns: f64) -> Facts {
        let shortest = Shortest { ns, asleep_ns };
        Facts { stretch_ns: 1_000_000_000, files_ns, shortest, ..Facts::default() }
    }

    /// Fails where time that is only waited for is taken for time that files do not take.
    #[test]
    fn sleep_beside_file_calls_is_no_verdict_and_computing_is_one() {
        let why = untrusted(&facts(900_000_000, 950e6, 900e6)).unwrap();
        assert!(why.starts_with("file calls take 90% of the recorded time"), "{why}");
        assert!(why.contains("no more than 5%") && why.contains("eBPF"), "{why}");
        // Another thread computes meanwhile, or all of it is replayed.
        assert_eq!(untrusted(&facts(900_000_000, 950e6, 0.0)), None);
        assert_eq!(untrusted(&facts(900_000_000, 100e6, 100e6)), None);
    }

    /// Fails where a replay of half of what took the program's time is taken for the program.
    #[test]
    fn a_replay_that_takes_much_less_where_it_was_recorded_says_nothing() {
        let facts = facts(900_000_000, 100e6, 100e6);
        let why = |took_ns| too_short(&facts, took_ns, Cache::Warm);
        assert!(why(450e6).unwrap().contains("450 ms instead of 1.00 s"), "{:?}", why(450e6));
        assert_eq!((why(750e6), why(1.5e9)), (None, None));
    }

    #[test]
    fn what_is_not_replayed_is_said_if_it_takes_time() {
        let [few, many] = [10_000_000, 100_000_000].map(|ns| Count { number: 1200, ns });
        let said = |not_replayed| untrusted(&Facts { not_replayed, ..facts(0, 1e9, 0.0) });
        let ring = |ring_operations| NotReplayed { ring_operations, ..NotReplayed::default() };
        assert_eq!(said(ring(few)), None);
        assert!(said(ring(many)).unwrap().contains("lacks 1,200 operations on io_uring"));
        let pages = |mapped_pages| NotReplayed { mapped_pages, ..NotReplayed::default() };
        assert_eq!(said(pages(few)), None);
        assert!(said(pages(many)).unwrap().contains("1,200 page faults of mapped files"));
    }
}
