//! Whether storage is good enough: what a run that checks it says of each place.

mod fits;
mod kinds;
mod measured;
mod why;

use model::analysis::ArmResult;
use model::check::{Check, CheckRequest, Measure, Measured, PlaceCheck, ReadsAtMost};
use model::noise::Noise;
use model::place::StorageKind;

use self::measured::ArmLatencies;
use crate::indexed::Indexed;

/// The rate of reads grows with the depth if it grows by at least this factor.
const GROWS: f64 = 1.1;

/// The findings of a check; none if the run is no check.
pub(crate) fn of(run: &Indexed<'_>, arms: &[ArmResult], noise: &Noise) -> Option<Check> {
    let request = run.checks.as_ref()?;
    let latencies: Vec<ArmLatencies<'_>> =
        (0..run.plan.arms.len()).map(|arm| ArmLatencies::of(run, arm)).collect();
    let subject = Subject { run, request, arms, noise, latencies: &latencies };
    Some(Check { places: (0..run.places.len()).map(|place| subject.place(place)).collect() })
}

/// What is looked at.
#[derive(Clone, Copy)]
struct Subject<'a> {
    run: &'a Indexed<'a>,
    request: &'a CheckRequest,
    arms: &'a [ArmResult],
    noise: &'a Noise,
    latencies: &'a [ArmLatencies<'a>],
}

impl Subject<'_> {
    fn place(&self, place: usize) -> PlaceCheck {
        let facts = &self.run.places[place];
        let of_place = self.run.plan.arms.iter().zip(&self.request.arms).enumerate();
        let measured: Vec<Measured> = of_place
            .filter(|(_, (arm, _))| arm.place == place)
            .map(|(arm, (_, of))| measured::of(self, arm, of))
            .collect();
        let kinds = kinds::like(&measured, facts);
        let in_memory = facts.kind == StorageKind::Memory;
        let mut found = PlaceCheck {
            place: facts.label.clone(),
            in_memory,
            reads_at_most: reads_at_most(&measured),
            fits: fits::of(self, &measured, in_memory),
            measured,
            kinds,
            why: Vec::new(),
        };
        found.why = why::of(self, place, &found);
        found
    }
}

/// The depth beyond which the rate of reads stops growing.
fn reads_at_most(measured: &[Measured]) -> Option<ReadsAtMost> {
    let mut rates: Vec<(u64, f64)> = measured
        .iter()
        .filter(|measured| measured.of.measure == Measure::Read)
        .filter_map(|read| Some((read.of.depth?, 1e9 / read.time_per_op_ns?.estimate)))
        .collect();
    rates.sort_by_key(|(depth, _)| *depth);
    let grows = |pair: &[(u64, f64)]| pair[1].1 >= GROWS * pair[0].1;
    let last = rates.windows(2).take_while(|pair| grows(pair)).count();
    let (depth, per_second) = *rates.get(last)?;
    Some(ReadsAtMost { depth, per_second, grows: last + 1 == rates.len() && last > 0 })
}
