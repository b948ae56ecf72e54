//! One selftest, from its settings to its result.

use std::sync::atomic::Ordering;

use host::clock::Clock;
use model::plan::PlanError;
use model::run::Invocation;
use model::selftest::{PlaceSelftest, SCHEMA, SelftestResult};

use super::clock_check::ClockWatch;
use super::place::PlaceTest;
use super::selftest_failures::objections;
use super::settings::Settings;
use crate::error::StudyError;
use crate::folders::{Folders, Open};
use crate::run::{Environment, Header};

/// What a selftest found, and whether it could remove what it made for that.
pub struct Selftested<E> {
    /// What it found.
    pub result: SelftestResult,
    /// The first failure to remove a place's folders, if there was one.
    pub removed: Result<(), E>,
}

/// Tests the environment's places one after another, each with an even share of
/// the budget. `open` makes the folders of one place's two arms; `progress` takes
/// a line for whoever watches.
///
/// # Errors
/// Where folders cannot be made, or the study cannot be timed here.
/// An arm that fails is part of the result.
pub fn selftest<F: Folders>(
    settings: &Settings<'_>,
    header: Header,
    environment: &mut dyn Environment,
    open: &mut Open<'_, F>,
    progress: &mut dyn FnMut(&str),
) -> Result<Selftested<F::Error>, F::Error>
where
    F::Error: From<PlanError> + From<StudyError>,
{
    let clock_watch = ClockWatch::start(Clock::new());
    let machine = environment.machine();
    let mut test = PlaceTest::new(settings, &machine, progress);
    let places = environment.places();
    let shares = places.len() as u32;
    let mut tested: Vec<PlaceSelftest> = Vec::new();
    let mut removed = Ok(());
    for (place, share) in places.into_iter().zip(1..) {
        if !settings.stop.load(Ordering::Relaxed) {
            let of_place = test.run(place, settings.budget * share / shares, open)?;
            tested.push(of_place.found);
            removed = removed.and(of_place.removed);
        }
    }
    let clock = clock_watch.finish(test.floor());
    let watch = environment.watch();
    let ended_early = environment.cut_short();
    let result = SelftestResult {
        schema: SCHEMA.to_owned(),
        run: Invocation {
            id: header.id,
            started: header.started,
            seconds: (settings.elapsed)().as_secs_f64(),
            seed: settings.seed,
            version: header.version,
            interrupted: settings.stop.load(Ordering::Relaxed) && ended_early.is_none(),
            ended_early,
            ..Invocation::default()
        },
        machine,
        noise: analysis::noise_between(&watch.before, &watch.after),
        objections: objections(&tested, &clock),
        clock,
        places: tested,
    };
    Ok(Selftested { result, removed })
}
