//! What was measured of a place, with intervals: of quantiles from how the values of slices
//! scatter, of times per operation from the stretches.

use model::check::{CheckedArm, FromDevice, Measured, Range};
use model::figure::RESIDENT_BEFORE;
use model::place::StorageKind;
use stats::{Exceedances, Settings, Stretches};

use super::Subject;
use crate::indexed::Indexed;

/// Less than this share of what was read came from the devices: it came from elsewhere.
const PROVED_PERCENT: f64 = 90.0;
/// More of the file than this in memory may have been read from there.
const RESIDENT_PERCENT_MAX: f64 = 2.0;

/// An arm's latencies, as far as they are known by stretches.
pub(super) struct ArmLatencies<'a> {
    run: &'a Indexed<'a>,
    arm: usize,
    exceedances: Option<Exceedances>,
}

impl<'a> ArmLatencies<'a> {
    pub(super) fn of(run: &'a Indexed<'a>, arm: usize) -> Self {
        let slices = run.slices_of(arm).map(|slice| slice.latencies.buckets.as_slice());
        let exceedances = Exceedances::of(&slices.collect::<Vec<_>>());
        Self { run, arm, exceedances }
    }

    /// Whether a quantile is at or below a limit in nanoseconds; none if that is not sure.
    pub(super) fn is_at_most(&self, q: f64, limit_ns: f64) -> Option<bool> {
        let ticks = (limit_ns / self.run.floor.tick_ns) as u64;
        self.exceedances.as_ref()?.is_at_most(q, ticks, self.run.plan.error_rate)
    }

    /// Where a quantile lies; of too few slices to tell, from 0 on.
    fn quantile(&self, q: f64) -> Option<Range> {
        let latencies = self.run.latencies_of(self.arm);
        if latencies.count() == 0 {
            return None;
        }
        let ns = |ticks: f64| ticks * self.run.floor.tick_ns;
        let estimate = ns(latencies.quantile(q));
        let Some(exceedances) = &self.exceedances else {
            return Some(Range { estimate, low: 0.0, high: None });
        };
        let bounds = exceedances.bounds(q, self.run.plan.error_rate);
        let high = bounds.high.map(|high| ns(high as f64).max(estimate));
        Some(Range { estimate, low: ns(bounds.low as f64).min(estimate), high })
    }

    /// The time per operation, from the stretches.
    fn time_per_op(&self) -> Option<Range> {
        // Of all slices, or of those of a stretch.
        let mean = |stretch: Option<usize>| {
            let slices = self.run.slices_of(self.arm);
            let own = slices.filter(|slice| stretch.is_none() || slice.stretch == stretch);
            let (spent, operations) = own.fold((0, 0), |(spent, operations), slice| {
                (spent + slice.spent.elapsed_ns, operations + slice.operations)
            });
            (operations > 0).then(|| spent as f64 / operations as f64)
        };
        let estimate = mean(None)?;
        let error_rate = self.run.plan.error_rate;
        let mut stretches = Stretches::new(Settings { threshold: 0.0, error_rate });
        let known = (0..stats::STRETCHES).filter_map(|stretch| mean(Some(stretch)));
        known.for_each(|ns| stretches.push(ns.ln()));
        let interval = stretches.interval_of_this_run();
        let high = interval.high.exp().max(estimate);
        let low = interval.low.exp().min(estimate);
        Some(Range { estimate, low, high: high.is_finite().then_some(high) })
    }
}

/// What an arm measured.
pub(super) fn of(subject: &Subject<'_>, arm: usize, of: &CheckedArm) -> Measured {
    let latencies = &subject.latencies[arm];
    Measured {
        of: of.clone(),
        arm,
        operations: subject.arms.get(arm).map_or(0, |arm| arm.operations),
        time_per_op_ns: latencies.time_per_op(),
        p50_ns: latencies.quantile(0.5),
        p99_ns: latencies.quantile(0.99),
        p999_ns: latencies.quantile(0.999),
        from_device: of.measure.reads_device().then(|| from_device(subject, arm)),
        failure: subject.run.failure(arm).map(str::to_owned),
    }
}

/// Whether reads came from the device, by the devices' counters and the page cache.
fn from_device(subject: &Subject<'_>, arm: usize) -> FromDevice {
    let slices = || subject.run.slices_of(arm);
    let (mut asked, mut read) = (0, Some(0));
    for slice in slices() {
        asked += slice.spent.requested_bytes;
        read = read.zip(slice.spent.device).map(|(sum, device)| sum + device.read_bytes);
    }
    let count = slices().count().max(1) as f64;
    let resident = slices().filter_map(|slice| slice.figure(RESIDENT_BEFORE)).sum::<f64>() / count;
    let facts = &subject.run.places[subject.run.plan.arms[arm].place];
    let in_memory = facts.kind == StorageKind::Memory;
    let read = read.filter(|_| facts.bottom_devices().next().is_some());
    let device_percent = read.filter(|_| asked > 0).map(|read| 100.0 * read as f64 / asked as f64);
    let is_evicted = resident <= RESIDENT_PERCENT_MAX;
    let from_devices = device_percent.is_some_and(|percent| percent >= PROVED_PERCENT);
    let devices: Vec<&str> = facts.bottom_devices().map(|device| device.name.as_str()).collect();
    let devices = devices.join(", ");
    let text = match (in_memory, is_evicted, device_percent) {
        (true, ..) => "there is no device to read from: its files are in memory".to_owned(),
        (_, false, _) => format!("{resident:.0}% of the file was still in memory"),
        (_, _, None) => "not proved: the counters of what it stands on cannot be read".to_owned(),
        (.., Some(percent)) if from_devices => {
            format!("{devices} read {percent:.0}% of what was asked for, and memory held none")
        }
        (.., Some(percent)) => format!(
            "not proved: {devices} read {percent:.0}% of what was asked for, so most of it came \
             from a cache below the file system"
        ),
    };
    FromDevice {
        proved: !in_memory && is_evicted && from_devices,
        device_percent,
        resident_percent: Some(resident),
        text,
    }
}
