//! One timed slice, as it is kept in the record of a run: raw readings, from
//! which everything else is computed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stats::Histogram;

use crate::bounded;
use crate::counters;
use crate::figure::WRITTEN_ON_DEVICE;
use crate::integrity::Integrity;
use crate::probes::Surroundings;
use crate::spent::{DeviceTraffic, Spent};

/// One timed slice. Times in nanoseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slice {
    /// The arm, as an index into the plan's arms.
    pub arm: usize,
    /// What the slice was run for.
    pub phase: Phase,
    /// The slice's place within its block, from 0.
    pub position: usize,
    /// The stretch of the run that its block is part of, from 0; `null` where it counts for
    /// none, and in a record of before runs had stretches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<usize>,
    /// Operations done.
    pub operations: u64,
    /// What they took.
    pub spent: Spent,
    /// The operations' latencies.
    pub latencies: Latencies,
    /// What was left to do when the clock stopped.
    pub deferred: Deferred,
    /// What the slice was like around its own work.
    pub surroundings: Surroundings,
    /// What the devices of other places did meanwhile, for anyone; those that did nothing are
    /// left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub other_places: Vec<PlaceTraffic>,
    /// What the slice came to.
    pub outcome: Outcome,
}

/// What a slice was run for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// To learn how many operations fill a slice.
    #[default]
    Calibration,
    /// To warm up; it counts for nothing else.
    Warmup,
    /// As part of the block of this number, from 0.
    Block(usize),
    /// As part of a block that the run's end cut short; it counts for nothing.
    Unfinished,
}

/// Latencies of single operations within 1%, as a sparse histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latencies {
    /// A value within each bucket that holds any, in ticks of the run's clock,
    /// smallest first, and how many operations took about as long.
    #[serde(deserialize_with = "bounded::list")]
    pub buckets: Vec<(u64, u64)>,
    /// The longest, exactly, in ticks.
    pub max: u64,
}

/// What the devices behind a place did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceTraffic {
    /// The place, as an index into the run's places.
    pub place: usize,
    /// What they read and wrote.
    pub bytes: u64,
}

counters! {
    /// What was forced to the device after the timed span, and was timed by itself.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct Deferred {
        /// How long that took.
        pub sync_ns: u64,
        /// What the devices behind the place did meanwhile, for anyone.
        pub device: Option<DeviceTraffic>,
    }
}

/// What a slice came to, as its study tells once its data is checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// What became of the slice's records; `null` where they were not checked.
    pub integrity: Option<Integrity>,
    /// Figures of the study's own, by the names that its description has them under.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[serde(deserialize_with = "bounded::map")]
    pub figures: BTreeMap<String, f64>,
    /// Figures that an application told of itself, by its own names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[serde(deserialize_with = "bounded::map")]
    pub evidence: BTreeMap<String, f64>,
    /// What the slice is judged by, where that is not its mean time per operation:
    /// the median, or the time between operations at the highest rate held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_ns: Option<f64>,
    /// Operations that failed, where they may; `null` where one that fails ends the arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Whether the 99th percentile is not the arm's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tail_untrusted: bool,
    /// Why the slice's figures are not the arm's own, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<String>,
}

impl Latencies {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, times)| times).sum()
    }

    /// The value, in ticks, below or at which the fraction `q` (0 to 1) of them lies,
    /// within 1%; 0 where there are none. This is the nearest-rank quantile.
    pub fn quantile(&self, q: f64) -> f64 {
        let count = self.count();
        let rank = (q.clamp(0.0, 1.0) * count as f64).ceil().max(1.0) as u64;
        if rank >= count {
            return self.max as f64;
        }
        let mut seen = 0;
        let found = self.buckets.iter().find(|(_, times)| {
            seen += times;
            seen >= rank
        });
        found.map_or(self.max, |(value, _)| (*value).min(self.max)) as f64
    }

    /// Those of all slices together.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let (mut unmerged, mut max): (Vec<(u64, u64)>, u64) = (Vec::new(), 0);
        for latencies in all {
            unmerged.extend(&latencies.buckets);
            max = max.max(latencies.max);
        }
        // Each slice's are in order, which a stable sort makes use of.
        unmerged.sort_by_key(|(value, _)| *value);
        let mut buckets: Vec<(u64, u64)> = Vec::new();
        for (value, times) in unmerged {
            match buckets.last_mut() {
                Some((last, sum)) if *last == value => *sum += times,
                _ => buckets.push((value, times)),
            }
        }
        Self { buckets, max }
    }
}

impl From<&Histogram> for Latencies {
    fn from(histogram: &Histogram) -> Self {
        Self { buckets: histogram.buckets(), max: histogram.max() }
    }
}

impl Slice {
    /// The block that it is part of; nothing where it counts for none.
    pub fn block(&self) -> Option<usize> {
        match self.phase {
            Phase::Block(number) => Some(number),
            Phase::Calibration | Phase::Warmup | Phase::Unfinished => None,
        }
    }

    /// An arm's slices within one block as one; nothing of none. Its outcome has what
    /// comparisons are made of: scores, failures and doubts.
    pub fn joined<'a>(slices: &[&'a Self]) -> Option<Cow<'a, Self>> {
        let (first, rest) = slices.split_first()?;
        if rest.is_empty() {
            return Some(Cow::Borrowed(first));
        }
        let outcomes = || slices.iter().map(|slice| &slice.outcome);
        let scores: Option<Vec<f64>> = outcomes().map(|outcome| outcome.score_ns).collect();
        let outcome = Outcome {
            score_ns: scores.map(|scores| scores.iter().sum::<f64>() / scores.len() as f64),
            failed: outcomes().map(|outcome| outcome.failed).sum(),
            tail_untrusted: outcomes().any(|outcome| outcome.tail_untrusted),
            untrusted: outcomes().find_map(|outcome| outcome.untrusted.clone()),
            ..Outcome::default()
        };
        Some(Cow::Owned(Self {
            operations: slices.iter().map(|slice| slice.operations).sum(),
            spent: counters::sum(slices.iter().map(|slice| slice.spent)),
            latencies: Latencies::sum(slices.iter().map(|slice| &slice.latencies)),
            outcome,
            arm: first.arm,
            phase: first.phase,
            ..Self::default()
        }))
    }

    /// Each arm's slices of one block as one.
    pub fn by_arm(block: &[Self]) -> BTreeMap<usize, Cow<'_, Self>> {
        let mut arms: BTreeMap<usize, Vec<&Self>> = BTreeMap::new();
        for slice in block {
            arms.entry(slice.arm).or_default().push(slice);
        }
        arms.into_iter().filter_map(|(arm, slices)| Some((arm, Self::joined(&slices)?))).collect()
    }

    /// The slice's mean time per operation.
    pub fn time_per_op_ns(&self) -> f64 {
        self.spent.elapsed_ns as f64 / self.operations.max(1) as f64
    }

    /// What decides about the slice: its time per operation.
    pub fn score_ns(&self) -> f64 {
        self.outcome.score_ns.unwrap_or_else(|| self.time_per_op_ns())
    }

    /// A figure of the study's own, or one that is in the slice's readings.
    pub fn figure(&self, name: &str) -> Option<f64> {
        let read = || {
            let device = self.spent.device.filter(|_| name == WRITTEN_ON_DEVICE)?;
            Some(device.written_bytes as f64)
        };
        self.outcome.figures.get(name).copied().or_else(read)
    }

    /// The share of the operations that failed.
    pub fn failed_share(&self) -> f64 {
        self.outcome.failed.unwrap_or_default() as f64 / self.operations.max(1) as f64
    }
}

impl Outcome {
    /// The same, its study's figures with no more digits than were measured. Fractions beyond
    /// them are half of a record, and whole numbers, as counts are, stay what they are.
    #[must_use]
    pub fn with_measured_digits(mut self) -> Self {
        self.figures.values_mut().for_each(|figure| *figure = with_measured_digits(*figure));
        self
    }
}

/// A clock of nanoseconds tells no more digits of a slice.
const MEASURED_DIGITS: usize = 7;

fn with_measured_digits(figure: f64) -> f64 {
    let whole_digits = figure.abs().log10().floor() + 1.0;
    let places = MEASURED_DIGITS as f64 - whole_digits;
    if figure.fract() == 0.0 || !figure.is_finite() {
        return figure;
    }
    // Text rounds to what is then written, where a product would leave a rest.
    format!("{figure:.*}", places.max(0.0) as usize).parse().unwrap_or(figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_histogram_they_were_made_from() {
        let mut histogram = Histogram::new();
        (1..=5000_u64).for_each(|n| histogram.record(n * n));
        let latencies = Latencies::from(&histogram);
        assert_eq!(latencies.count(), 5000);
        for q in [0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let (sparse, full) = (latencies.quantile(q), histogram.quantile(q));
            assert!((sparse - full).abs() <= 1.0, "{q}: {sparse}, not {full}");
        }
        assert!(Latencies::default().quantile(0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn slices_of_a_block_are_joined_with_what_comparisons_need() {
        let slice = |elapsed_ns, failed, untrusted: Option<&str>| Slice {
            arm: 2,
            phase: Phase::Block(4),
            operations: 10,
            spent: Spent { elapsed_ns, ..Spent::default() },
            outcome: Outcome {
                failed: Some(failed),
                untrusted: untrusted.map(str::to_owned),
                ..Outcome::default()
            },
            ..Slice::default()
        };
        let (a, b) = (slice(100, 1, None), slice(300, 2, Some("late")));
        let joined = Slice::joined(&[&a, &b]).unwrap_or_else(|| panic!("of two slices"));
        assert!((joined.score_ns() - 20.0).abs() < 1e-9);
        assert!((joined.failed_share() - 0.15).abs() < 1e-9);
        assert_eq!(joined.outcome.untrusted.as_deref(), Some("late"));
        assert_eq!((joined.arm, joined.block()), (2, Some(4)));
        assert_eq!(Slice::joined(&[&a]).as_deref(), Some(&a));
        assert_eq!(Slice::joined(&[]), None);
    }

    #[test]
    fn figures_keep_the_digits_that_were_measured_and_all_of_whole_numbers() {
        for (exact, kept) in [
            (2_662_382.370_401_382, 2_662_382.0),
            (388_603.096_701_578, 388_603.1),
            (0.257_450_182_731_335_74, 0.257_450_2),
            (-0.000_012_345_678_9, -0.000_012_345_68),
            (123_456_789.75, 123_456_790.0),
            (9_007_199_254_740_991.0, 9_007_199_254_740_991.0),
            (0.0, 0.0),
            (f64::INFINITY, f64::INFINITY),
        ] {
            let outcome =
                Outcome { figures: [("x".to_owned(), exact)].into(), ..Outcome::default() };
            let rounded = outcome.with_measured_digits().figures["x"];
            assert_eq!(rounded.to_bits(), kept.to_bits(), "{exact} as {rounded}");
        }
    }

    #[test]
    fn a_sum_is_the_histogram_of_all() {
        let histogram = |range: std::ops::Range<u64>| {
            let mut histogram = Histogram::new();
            range.for_each(|n| histogram.record(n * 7));
            histogram
        };
        let parts = [Latencies::from(&histogram(0..400)), Latencies::from(&histogram(300..900))];
        let mut all = histogram(0..400);
        all.merge(&histogram(300..900));
        assert_eq!(Latencies::sum(&parts), Latencies::from(&all));
    }
}
