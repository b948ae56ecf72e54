//! On which devices a way of doing it pays that writes less for more work.
//!
//! An operation works, and waits until the device has what it wrote: B bytes at a bandwidth W,
//! after which a sync takes L. Another way writes less and works longer. What it works longer
//! does not depend on the device, and is known block by block; so is the bandwidth at which
//! that is made up for. With L it gets harder to save a share of the whole, which is what a
//! verdict is about:
//!
//! ```text
//! saved(W) = (B - B') / W - work added
//! whole(W) = work + B / W + L
//! ```
//!
//! L is taken from the device that was measured, by two points: what both ways wrote, and what
//! they waited.

use std::collections::BTreeMap;

use model::arm::Pair;
use model::cause::{Cause, CauseCode, Scope};
use model::description::{BreakEvenDescription, StudyDescription};
use model::slice::Slice;
use stats::{median, median_interval};
use units::{percent, rough_size, time};

use crate::indexed::Indexed;

/// What the two ways of a pair come to by the study's figures, for each pair of figures that
/// it names; nothing where the other way does not write less, by more than worth.
pub(crate) fn of_pair(run: &Indexed<'_>, pair: Pair, study: &StudyDescription) -> Vec<Cause> {
    let each = study.break_evens.iter();
    each.filter_map(|figures| Some(Trade::of(run, pair, figures)?.cause(figures, study))).collect()
}

/// What an operation comes to in one block.
#[derive(Clone, Copy, Default)]
struct Sides {
    bytes: f64,
    device_ns: f64,
    work_ns: f64,
}

/// What the other way writes less, and works longer, in an operation.
struct Trade {
    base: Sides,
    other: Sides,
    /// The median over the blocks, and between which two it lies.
    added_ns: [f64; 3],
    pays_below: f64,
}

impl Trade {
    fn of(run: &Indexed<'_>, pair: Pair, figures: &BreakEvenDescription) -> Option<Self> {
        let [base, other] = [pair.base, pair.other].map(|arm| by_block(run, arm, figures));
        let both = base.iter().filter_map(|(block, base)| Some((*base, *other.get(block)?)));
        let (base, other): (Vec<Sides>, Vec<Sides>) = both.unzip();
        let mut added: Vec<f64> =
            base.iter().zip(&other).map(|(base, other)| other.work_ns - base.work_ns).collect();
        let (low, high) = median_interval(&mut added, run.plan.error_rate)?;
        let trade = Self {
            base: Sides::over(&base, median),
            other: Sides::over(&other, median),
            added_ns: [median(&mut added), low, high],
            pays_below: run.plan.threshold,
        };
        (trade.saved_bytes() > trade.pays_below * trade.base.bytes).then_some(trade)
    }

    fn saved_bytes(&self) -> f64 {
        self.base.bytes - self.other.bytes
    }

    /// The bytes that the device takes in a nanosecond, and what a sync takes besides.
    fn device(&self) -> (f64, f64) {
        let ns_per_byte = (self.base.device_ns - self.other.device_ns) / self.saved_bytes();
        let ns_per_byte = ns_per_byte.max(0.0);
        let sync_ns = self.other.device_ns - ns_per_byte * self.other.bytes;
        (1.0 / ns_per_byte, sync_ns.max(0.0))
    }

    /// Below which bandwidth, in bytes per second, so much more work saves this share of the
    /// whole; infinite where it does at any.
    fn bandwidth(&self, added_ns: f64, share: f64, sync_ns: f64) -> f64 {
        let bytes = self.saved_bytes() - share * self.base.bytes;
        let ns = added_ns + share * (self.base.work_ns + sync_ns);
        if ns > 0.0 { bytes * 1e9 / ns } else { f64::INFINITY }
    }

    fn cause(&self, figures: &BreakEvenDescription, study: &StudyDescription) -> Cause {
        let (here, sync_ns) = self.device();
        let [added_ns, ..] = self.added_ns;
        // More work, less bandwidth.
        let [even, high, low] = self.added_ns.map(|added| self.bandwidth(added, 0.0, 0.0));
        let [pays_below, pays_below_high, pays_below_low] =
            self.added_ns.map(|added| self.bandwidth(added, self.pays_below, sync_ns));
        let evidence = [
            ("saved_bytes_per_op", self.saved_bytes()),
            ("work_added_ns_per_op", added_ns),
            ("break_even_bytes_per_s", even),
            ("break_even_bytes_per_s_low", low),
            ("break_even_bytes_per_s_high", high),
            ("worth_bytes_per_s", pays_below),
            ("worth_bytes_per_s_low", pays_below_low),
            ("worth_bytes_per_s_high", pays_below_high),
            ("sync_ns_here", sync_ns),
            ("bytes_per_s_here", here * 1e9),
        ];
        let known = evidence.into_iter().filter(|(_, value)| value.is_finite());
        let pays = if low.is_infinite() {
            "which pays on any device".to_owned()
        } else {
            format!(
                "which pays on a device that writes {}, and by more than {} where it writes {} and \
                 a sync takes no longer than {}, as here",
                range(even, low, high),
                percent(self.pays_below),
                range(pays_below, pays_below_low, pays_below_high),
                time(sync_ns)
            )
        };
        Cause {
            code: CauseCode::OfStudy(figures.code.clone()),
            scope: Scope::Arm,
            evidence: known.map(|(name, value)| (name.to_owned(), value)).collect(),
            text: format!(
                "A {} writes {} less and works {}, {pays}.",
                study.operation,
                rough_size(self.saved_bytes().round() as u64),
                longer(added_ns)
            ),
        }
    }
}

/// `187 µs longer`, or `187 µs less`.
fn longer(added_ns: f64) -> String {
    let word = if added_ns < 0.0 { "less" } else { "longer" };
    format!("{} {word}", time(added_ns.abs()))
}

/// `less than 2.1 GB/s (1.9 GB/s to 2.3 GB/s)`.
fn range(bytes_per_s: f64, low: f64, high: f64) -> String {
    let speed = |bytes_per_s: f64| format!("{}/s", rough_size(bytes_per_s.round() as u64));
    let (middle, low) = (speed(bytes_per_s), speed(low));
    match (bytes_per_s.is_finite(), high.is_finite()) {
        (true, true) => format!("less than {middle} ({low} to {})", speed(high)),
        (true, false) => format!("less than {middle} ({low} at least)"),
        (false, _) => format!("up to {low} or more"),
    }
}

/// What an operation of an arm comes to in each block, slices that are doubted aside.
fn by_block(
    run: &Indexed<'_>,
    arm: usize,
    figures: &BreakEvenDescription,
) -> BTreeMap<usize, Sides> {
    let mut blocks: BTreeMap<usize, Vec<Sides>> = BTreeMap::new();
    for slice in run.slices_of(arm).filter(|slice| slice.outcome.untrusted.is_none()) {
        let Some((block, sides)) = slice.block().zip(sides(slice, figures)) else { continue };
        blocks.entry(block).or_default().push(sides);
    }
    let mean = |parts: &mut [f64]| parts.iter().sum::<f64>() / parts.len() as f64;
    blocks.into_iter().map(|(block, sides)| (block, Sides::over(&sides, mean))).collect()
}

fn sides(slice: &Slice, figures: &BreakEvenDescription) -> Option<Sides> {
    let per_op = |total: f64| total / slice.operations.max(1) as f64;
    let device: Option<f64> = figures.device.iter().map(|name| slice.figure(name)).sum();
    let device_ns = per_op(device?);
    Some(Sides {
        bytes: per_op(slice.figure(&figures.bytes)?),
        device_ns,
        work_ns: slice.time_per_op_ns() - device_ns,
    })
}

impl Sides {
    /// Each part by itself, over all of them.
    fn over(all: &[Self], fold: impl Fn(&mut [f64]) -> f64) -> Self {
        let of = |part: fn(&Self) -> f64| fold(&mut all.iter().map(part).collect::<Vec<_>>());
        Self {
            bytes: of(|sides| sides.bytes),
            device_ns: of(|sides| sides.device_ns),
            work_ns: of(|sides| sides.work_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::arm::Axis;

    use super::*;
    use crate::testing;

    const PAIR: Pair = Pair { base: 0, other: 1, axis: Axis::Strategy };

    fn figures() -> BreakEvenDescription {
        let device = vec!["wait_ns".to_owned()];
        BreakEvenDescription { code: "even".to_owned(), bytes: "bytes".to_owned(), device }
    }

    /// A device of 1 GB/s with a sync of 300 µs; the first arm writes 400 kB and works
    /// 100 µs, the other writes `bytes` and works so much longer.
    fn cause(bytes: f64, added_ns: f64, blocks: usize) -> Option<Cause> {
        let slice = |arm, block: usize, bytes: f64, work_ns: f64| {
            let mut slice = testing::slice(arm, block);
            let wait_ns = bytes + 300e3;
            let noise_ns = 1e3 * ((block * (7 + 4 * arm)) % 5) as f64;
            slice.spent.elapsed_ns = (100.0 * (wait_ns + work_ns + noise_ns)) as u64;
            slice.outcome.figures =
                [("bytes".to_owned(), 100.0 * bytes), ("wait_ns".to_owned(), 100.0 * wait_ns)]
                    .into();
            slice
        };
        let both =
            |block| [slice(0, block, 400e3, 100e3), slice(1, block, bytes, 100e3 + added_ns)];
        let run = testing::run(2, (0..blocks).flat_map(both).collect());
        let study = StudyDescription { break_evens: vec![figures()], ..testing::study() };
        of_pair(&Indexed::of(&run), PAIR, &study).pop()
    }

    fn near(cause: &Cause, name: &str, expected: f64) {
        let found = cause.evidence[name];
        assert!((found / expected - 1.0).abs() < 0.03, "{name}: {found} and not {expected}");
    }

    #[test]
    fn the_bandwidth_at_which_it_is_even_follows_from_bytes_and_work() {
        let cause = cause(40e3, 180e3, 20).unwrap_or_else(|| panic!("none"));
        near(&cause, "saved_bytes_per_op", 360e3);
        near(&cause, "work_added_ns_per_op", 180e3);
        near(&cause, "break_even_bytes_per_s", 2e9);
        near(&cause, "bytes_per_s_here", 1e9);
        near(&cause, "sync_ns_here", 300e3);
        // 340 kB in what is added and 5% of what does not depend on bytes.
        near(&cause, "worth_bytes_per_s", 340e3 / 200e3 * 1e9);
        let (low, high) = (
            cause.evidence["break_even_bytes_per_s_low"],
            cause.evidence["break_even_bytes_per_s_high"],
        );
        assert!(low < 2e9 && high > 2e9 && high < 2.1e9, "{low} to {high}");
        assert!(cause.text.starts_with("A step writes 360 kB less and works"), "{}", cause.text);
    }

    #[test]
    fn what_works_no_longer_pays_anywhere_and_what_saves_nothing_is_no_trade() {
        let less = cause(40e3, -20e3, 20).unwrap_or_else(|| panic!("none"));
        assert!(less.text.contains("less, which pays on any device"), "{}", less.text);
        assert!(!less.evidence.contains_key("break_even_bytes_per_s"));
        // As much work, as far as could be told.
        let even = cause(40e3, 0.0, 20).unwrap_or_else(|| panic!("none"));
        assert!(even.evidence.contains_key("break_even_bytes_per_s_low"), "{even:?}");
        assert!(even.text.contains("at least") || even.text.contains("or more"), "{}", even.text);
        assert_eq!(cause(390e3, 180e3, 20), None);
        assert_eq!(cause(500e3, 180e3, 20), None);
        assert_eq!(cause(40e3, 180e3, 5), None, "too few blocks");
    }
}
