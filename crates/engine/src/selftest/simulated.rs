//! Whole selftests on a simulated machine, sound or with a defect that the test must find.

#![allow(clippy::unwrap_used)]

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use host::clock::Clock;
use model::arm::Arm;
use model::place::{PlaceFacts, StorageKind};
use model::plan::PlanError;
use model::run::{Floor, Writes};
use model::selftest::{PlantedKind, SelftestResult};
use model::slice::{Latencies, Outcome, Slice};
use model::spent::Spent;
use model::study::{Params, StrategyDescription, StudyDescription};
use process::StopFlag;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::run::selftest;
use super::settings::{Planting, Settings, Work};
use crate::error::StudyError;
use crate::folders::Folders;
use crate::run::Header;
use crate::runner::SliceRunner;
use crate::slice_timer::SliceTimer;
use crate::study::{
    About, Footprint, Operations, Ran, Ready, RunsIn, SliceFolders, Study, Workload,
};
use crate::unchanging::Unchanging;

/// Each reading of the clock takes so long, which is what a wait is exact to.
const READING_NS: u64 = 2_000;
/// What an operation takes, about.
const OPERATION_NS: f64 = 100_000.0;
/// A slice's time scatters evenly by so much, as a share of it.
const NOISE: f64 = 0.03;
/// What a slice needs besides its operations.
const AROUND_SLICE_NS: u64 = 1_000_000;

/// What is wrong with how the second arm's slices are timed.
#[derive(Clone, Copy)]
struct Defect {
    /// What its clock shows of the time that passes.
    clock: f64,
    /// What counts of the wait that was planted.
    wait: f64,
    /// What counts of a slice beyond 1.5 times what it took typically.
    stall: f64,
}

const SOUND: Defect = Defect { clock: 1.0, wait: 1.0, stall: 1.0 };

static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| StudyDescription {
    strategies: vec![StrategyDescription::new("plain", "", "")],
    ..StudyDescription::new("simulated", "", "operation")
});

/// A study whose operations let simulated time pass.
struct Simulated {
    clock: Clock,
    workloads: AtomicU64,
}

impl Study for Simulated {
    fn spec(&self) -> &'static StudyDescription {
        &SPEC
    }

    fn workload(&self, _: &str, _: &Params) -> Result<Box<dyn Workload>, StudyError> {
        let seed = self.workloads.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(SimulatedWork {
            clock: self.clock.clone(),
            random: ChaCha8Rng::seed_from_u64(seed),
        }))
    }

    fn cases(&self) -> &'static [model::case::Case] {
        &[]
    }
}

struct SimulatedWork {
    clock: Clock,
    random: ChaCha8Rng,
}

impl Workload for SimulatedWork {
    fn about(&self) -> About {
        About {
            warms_up: false,
            runs_in: RunsIn::ThisProcess,
            ..About::of(Operations { granule: 1, max: 1_000 })
        }
    }

    fn footprint(&self, _: u64) -> Footprint {
        Footprint::NOTHING
    }

    fn ready<'a>(
        &'a mut self,
        _: SliceFolders<'_>,
        operations: u64,
        _: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let mut noise = || self.random.random_range(-NOISE..NOISE);
        let operation_ns = OPERATION_NS * (noise() + noise()).exp();
        Ok(Box::new(SimulatedSlice { clock: &self.clock, operation_ns, operations }))
    }
}

struct SimulatedSlice<'a> {
    clock: &'a Clock,
    operation_ns: f64,
    operations: u64,
}

impl<'a> Ready<'a> for SimulatedSlice<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        for _ in 0..self.operations {
            self.clock.advance(self.operation_ns as u64);
            timer.lap();
        }
        Ok(self)
    }
}

impl Ran for SimulatedSlice<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        Ok(Outcome::default())
    }
}

/// Two folders that nothing is written to.
struct SimulatedFolders {
    clock: Clock,
    defect: Defect,
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Study(#[from] StudyError),
}

impl Folders for SimulatedFolders {
    type Error = Failed;

    fn runner(
        &mut self,
        arms: &[Arm],
        workloads: Vec<Box<dyn Workload>>,
    ) -> Box<dyn SliceRunner + '_> {
        Box::new(SimulatedRunner {
            clock: self.clock.clone(),
            defect: self.defect,
            timer: SliceTimer::new(self.clock.clone(), StopFlag::default()),
            arms: arms.iter().map(|arm| arm.place).zip(workloads).collect(),
        })
    }

    fn close(self) -> Result<(), Failed> {
        Ok(())
    }
}

struct SimulatedRunner {
    clock: Clock,
    defect: Defect,
    timer: SliceTimer,
    arms: Vec<(usize, Box<dyn Workload>)>,
}

impl SliceRunner for SimulatedRunner {
    fn elapsed(&self) -> Duration {
        self.clock.between(0, self.clock.ticks())
    }

    fn end_at(&mut self, _budget: Duration) {}

    fn stopped(&self) -> bool {
        false
    }

    fn floor(&mut self) -> Floor {
        Floor {
            record_ns: 12.0,
            clock: "simulated".to_owned(),
            tick_ns: 1.0,
            clock_off_by: None,
            memory: None,
            places: Vec::new(),
        }
    }

    fn clock_off_by(&self) -> Option<f64> {
        None
    }

    fn unread(&self) -> Vec<String> {
        Vec::new()
    }

    fn writes(&self) -> Option<Writes> {
        None
    }

    fn warms_up(&self, arm: usize) -> bool {
        self.arms[arm].1.about().warms_up
    }

    fn operations(&self, arm: usize) -> Operations {
        self.arms[arm].1.about().operations
    }

    fn begin_stretch(&mut self) {}

    fn end(&mut self) {}

    fn slice(&mut self, arm: usize, operations: u64) -> Result<Slice, StudyError> {
        let (place, workload) = &mut self.arms[arm];
        let folder = std::fs::File::open("/").unwrap();
        let folders = SliceFolders::alone(folder.as_fd(), folder.as_fd(), true);
        let ready = workload.ready(folders, operations, &self.timer)?;
        self.timer.start();
        let ran = ready.run(&mut self.timer)?;
        self.timer.finish();
        let outcome = ran.finish()?;
        self.clock.advance(AROUND_SLICE_NS);
        let spent = self.timer.spent(Spent::default());
        let defect = if *place == 1 { self.defect } else { SOUND };
        let elapsed_ns = defect.shown(spent.elapsed_ns as f64, operations, &outcome) as u64;
        Ok(Slice {
            operations,
            spent: Spent { elapsed_ns, ..spent },
            latencies: Latencies::from(self.timer.latencies()),
            outcome,
            ..Slice::default()
        })
    }
}

impl Defect {
    /// What is shown of the time that a slice took.
    fn shown(self, elapsed_ns: f64, operations: u64, outcome: &Outcome) -> f64 {
        let own_ns = outcome.evidence.get("own_ns").copied().unwrap_or(elapsed_ns);
        let ns = own_ns + (elapsed_ns - own_ns) * self.wait;
        let most_ns = 1.5 * OPERATION_NS * operations as f64;
        let ns = ns.min(most_ns) + (ns - most_ns).max(0.0) * self.stall;
        ns * self.clock
    }
}

/// A machine of one place.
fn one_place() -> Unchanging {
    let disk = PlaceFacts {
        path: PathBuf::from("/"),
        kind: StorageKind::Disk,
        filesystem: "ext4".to_owned(),
        mount_point: PathBuf::from("/"),
        ..PlaceFacts::unknown("disk")
    };
    Unchanging { places: vec![disk], between_runs: Vec::new() }
}

/// A selftest of a simulated minute.
fn tested(defect: Defect) -> SelftestResult {
    let clock = Clock::simulated(READING_NS);
    let study = Simulated { clock: clock.clone(), workloads: AtomicU64::default() };
    let work = Work { study: &study, strategy: "plain", params: &[] };
    let kinds = [PlantedKind::Writing, PlantedKind::Stalls];
    let settings = Settings {
        work,
        plantings: kinds.map(|kind| Planting { kind, work }).into(),
        elapsed: &|| clock.between(0, clock.ticks()),
        budget: Duration::from_secs(60),
        seed: 7,
        stop: StopFlag::default(),
    };
    let mut open = |_: &[PlaceFacts]| Ok(SimulatedFolders { clock: clock.clone(), defect });
    let tested =
        selftest(&settings, Header::default(), &mut one_place(), &mut open, &mut |_| {}).unwrap();
    tested.removed.unwrap();
    tested.result
}

#[test]
fn a_sound_machine_is_trusted_and_every_kind_is_compared_often() {
    let found = tested(SOUND);
    assert_eq!(found.objections, [""; 0]);
    let place = &found.places[0];
    for planted in &place.planted {
        let found = planted.found.as_ref().unwrap();
        assert!(found.missed.of >= 25 && found.unbounded == 0, "{found:?}");
        assert!(found.missed.rate <= 0.05 && found.right > found.unclear, "{found:?}");
        assert_eq!(found.wrong, 0);
    }
    assert_eq!(place.planted[1].found.as_ref().unwrap().hidden_in_totals.unwrap().count, 0);
    let same = place.against_itself.as_ref().unwrap();
    assert!(same.false_verdicts.count == 0 && same.same >= 25, "{same:?}");
}

/// The objections, after checking that they are about intervals that miss.
fn missed(defect: Defect) -> SelftestResult {
    let found = tested(defect);
    let misses = |objection: &String| objection.contains("intervals missed");
    assert!(found.objections.iter().any(misses), "{:?}", found.objections);
    found
}

#[test]
fn half_a_wait_is_missed_and_so_is_one_that_does_not_count() {
    for wait in [0.5, 0.0] {
        let found = missed(Defect { wait, ..SOUND });
        let same = found.places[0].against_itself.as_ref().unwrap();
        assert_eq!(same.false_verdicts.count, 0, "without a wait nothing is wrong");
    }
}

#[test]
fn a_clock_that_shows_too_little_is_caught_where_the_arms_differ_and_where_they_do_not() {
    let found = missed(Defect { clock: 0.9, ..SOUND });
    assert!(found.objections.iter().any(|o| o.contains("compared with itself")), "{found:?}");
    // Too little for a false verdict, and not for an interval.
    let found = missed(Defect { clock: 0.96, ..SOUND });
    assert!(found.places[0].against_itself.as_ref().unwrap().false_verdicts.count == 0);
}

#[test]
fn totals_that_leave_stalls_out_are_caught() {
    let found = tested(Defect { stall: 0.0, ..SOUND });
    assert!(
        found.objections.iter().any(|o| o.contains("do not show them")),
        "{:?}",
        found.objections
    );
}
