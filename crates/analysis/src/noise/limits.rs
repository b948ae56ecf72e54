//! Limits of control groups that the run reached, by what its slices did.

use model::noise::{NoiseCode, NoiseSource};
use model::watch::IoLimit;
use units::{counted, rough_size};

use super::source::source;
use crate::causes;
use crate::indexed::Indexed;
use crate::totals::ArmTotals;

/// Who moves data at between these shares of a limit, and waits, is held up by it. Pauses between
/// slices let a group move more for a moment.
const NEAR: std::ops::Range<f64> = 0.7..2.0;
/// The share of its time that such a program waits for its device.
const WAITS_MIN: f64 = 0.5;

/// The limit of I/O, where an arm moved as much as it allows and waited.
pub(super) fn io(run: &Indexed<'_>, totals: &[ArmTotals]) -> Option<NoiseSource> {
    let limit = run.watch.after.limits.io?;
    let met: Vec<&str> = run
        .plan
        .arms
        .iter()
        .zip(totals)
        .filter(|(_, arm)| is_held_up(arm, &limit))
        .map(|(arm, _)| arm.id.as_str())
        .collect();
    let first = met.first()?;
    let others = met.len() - 1;
    let others = if others == 0 { String::new() } else { format!(" and {others} more") };
    let allowed = [(limit.read_bytes_per_s, "read"), (limit.written_bytes_per_s, "written")];
    let allowed: Vec<String> = allowed
        .into_iter()
        .filter_map(|(bytes, how)| Some(format!("{} {how}", rough_size(bytes?))))
        .collect();
    let evidence = [
        ("limit_read_bytes_per_s", limit.read_bytes_per_s.unwrap_or_default() as f64),
        ("limit_written_bytes_per_s", limit.written_bytes_per_s.unwrap_or_default() as f64),
        ("arms_held_up", met.len() as f64),
    ];
    Some(source(
        NoiseCode::IoLimit,
        &evidence,
        format!(
            "A control group's limit of {} per second on device {}:{} held up {first}{others}.",
            allowed.join(" and "),
            limit.major,
            limit.minor
        ),
        "Lift the limit (io.max, blkio.throttle.*), or give the application the same one.",
    ))
}

/// Whether an arm is on the device, moves about as much as it may, and waits.
pub(super) fn is_held_up(arm: &ArmTotals, limit: &IoLimit) -> bool {
    let on_device = arm.place.as_ref().is_some_and(|place| {
        place
            .devices
            .iter()
            .any(|device| (device.major, device.minor) == (limit.major, limit.minor))
    });
    let Some(calls) = arm.spent.calls.filter(|_| on_device) else { return false };
    let seconds = (arm.time_ns() + arm.deferred.sync_ns as f64) / 1e9;
    let near = |bytes: u64, limit: Option<u64>| {
        limit.is_some_and(|limit| NEAR.contains(&(bytes as f64 / seconds / limit as f64)))
    };
    let is_near = near(calls.storage_read_bytes, limit.read_bytes_per_s)
        || near(calls.storage_dirtied_bytes, limit.written_bytes_per_s);
    is_near && causes::device_wait_share(arm) >= WAITS_MIN
}

/// Adds to the limit on memory whether the slices reached it.
pub(super) fn say_hits(limit: &mut NoiseSource, totals: &[ArmTotals]) {
    let hits = totals.iter().filter_map(|arm| arm.surroundings.group?.memory_limit_hits);
    let Some(hits) = hits.reduce(u64::saturating_add) else { return };
    limit.evidence.insert("limit_hits".to_owned(), hits as f64);
    let met = match hits {
        0 => "The run did not reach it.".to_owned(),
        hits => format!("The run reached it {}.", counted(hits, "time")),
    };
    limit.text = format!("{} {met}", limit.text);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::place::DeviceLayer;
    use model::run::Run;
    use model::spent::Calls;

    use super::*;
    use crate::testing;

    /// A disk's arm that writes so much in a second, half or more of which it waits, under a limit
    /// of 20 MB a second on the device of this number.
    fn limited(written_bytes: u64, limited_major: u32) -> Run {
        let slices = (0..10).flat_map(|block| {
            [0, 1].map(|arm| {
                let mut slice = testing::slice(arm, block);
                slice.spent.elapsed_ns = 1_000_000_000;
                slice.spent.run_queue_ns = Some(0);
                let calls = Calls { storage_dirtied_bytes: written_bytes, ..Calls::default() };
                slice.spent.calls = Some(calls);
                slice
            })
        });
        let mut run = testing::run(2, slices.collect());
        run.places[0].devices = vec![DeviceLayer { major: 254, ..DeviceLayer::default() }];
        run.watch.after.uptime_ns = 1;
        run.watch.after.limits.io = Some(IoLimit {
            major: limited_major,
            written_bytes_per_s: Some(20_000_000),
            ..IoLimit::default()
        });
        run
    }

    #[test]
    fn a_limit_of_io_is_named_where_the_run_met_it() {
        let found = |bytes, major| {
            let sources = crate::analyse(&limited(bytes, major)).noise.sources;
            sources.into_iter().find(|source| source.code == NoiseCode::IoLimit)
        };
        let met = found(19_000_000, 254).unwrap();
        assert!(
            met.text.starts_with(
                "A control group's limit of 20.0 MB written per second on device 254:0 held up a."
            ),
            "{}",
            met.text
        );
        assert_eq!(met.touched, ["b"]);
        assert_eq!(found(1_000_000, 254), None, "far less than it may");
        assert_eq!(found(19_000_000, 8), None, "another device's");
    }

    #[test]
    fn a_limit_on_memory_says_whether_it_was_reached() {
        let said = |hits: u64| {
            let mut run = limited(0, 8);
            let limits = &mut run.watch.after.limits;
            limits.memory_high_bytes = Some(1 << 20);
            let memory = model::watch::MemoryState { total_bytes: 1 << 30, ..Default::default() };
            run.watch.after.memory = Some(memory);
            for slice in &mut run.slices {
                let group = slice.surroundings.group.get_or_insert_default();
                group.memory_limit_hits = Some(hits);
            }
            let sources = crate::analyse(&run).noise.sources;
            let limit = sources.into_iter().find(|s| s.code == NoiseCode::MemoryLimit);
            limit.unwrap().text
        };
        assert!(said(0).contains("The run did not reach it."), "{}", said(0));
        assert!(said(2).contains("The run reached it 40 times."), "{}", said(2));
    }
}
