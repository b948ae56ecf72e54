//! `iotoll selftest`: whether verdicts from this machine can be trusted, and
//! how small a difference it can show.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::bail;
use engine::job::Job;
use engine::runner::SliceRunner as _;
use engine::selftest::against_itself::against_itself;
use engine::selftest::clock_check::ClockWatch;
use engine::selftest::planted::{self, planted};
use engine::selftest::resolution::resolution;
use engine::selftest::scatter::scatter;
use engine::selftest::slowed::{Slowed, busy_pause, no_pause};
use engine::selftest::{Ended, Twins, objections};
use engine::study::Workload;
use host::clock::Clock;
use host::machine;
use model::arm::Arm;
use model::place::{PlaceFacts, PlaceRequest};
use model::plan::{DEFAULT_BUDGET, DEFAULT_WORTH, Draft, Plan, StudyPlan};
use model::run::{Floor, Invocation};
use model::selftest::{PlaceSelftest, SCHEMA, SelftestResult};
use process::StopFlag;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::cli::SelftestArgs;
use crate::environment::watched_since;
use crate::exit::{Exit, UsageError};
use crate::output::{self, JsonTarget};
use crate::plan::default_places;
use crate::preflight;
use crate::progress::Progress;
use crate::session::{self, Session};
use crate::signals;

/// What is timed: the study whose operations are the shortest, for there the
/// harness and the machine show most.
const STUDY: &str = "log";
const STRATEGY: &str = "held";
/// The folders in which a place is compared with itself.
const TWINS: [&str; 2] = ["a", "b"];
/// The part of a place's time that goes into learning how blocks scatter.
const SCATTER_SHARE: f64 = 0.15;
/// The part in which the planted slow-down must be found; what is left of it
/// is used for the place against itself.
const PLANTED_SHARE: f64 = 0.20;
/// What either takes at the least, on a slow disk, unless that is more than a
/// third of the time.
const PART_MIN: Duration = Duration::from_millis(1500);

pub(crate) fn run(args: &SelftestArgs) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let places = inspect(args)?;
    let json = args.json.as_deref().map(JsonTarget::open).transpose()?;
    let header = session::header();
    let budget = args.budget.unwrap_or(DEFAULT_BUDGET);
    let seed = args.seed.unwrap_or_else(|| u64::from(rand::random::<u32>()));
    let before = machine::read_now();
    let mut test = Test::start(began, budget, seed, signals::stop_flag()?);
    let tested = test.all(places)?;
    let (clock, interrupted) = test.finish();
    let watch = watched_since(before);
    let result = SelftestResult {
        schema: SCHEMA.to_owned(),
        run: Invocation {
            id: header.id,
            started: header.started,
            seconds: began.elapsed().as_secs_f64(),
            seed,
            version: header.version,
            interrupted,
        },
        machine: machine::describe(),
        noise: analysis::noise_between(&watch.before, &watch.after),
        objections: objections(&tested, &clock),
        clock,
        places: tested,
    };
    output::report(json, &result, |width| report::selftest::report(&result, width))?;
    Ok(exit_code(&result))
}

/// The facts of the places, after checking that there is room to work in them.
fn inspect(args: &SelftestArgs) -> anyhow::Result<Vec<PlaceFacts>> {
    let mut requested = default_places();
    requested.truncate(1);
    if !args.places.is_empty() {
        requested.clone_from(&args.places);
    }
    let mut places: Vec<PlaceFacts> = Vec::new();
    for place in &requested {
        if places.iter().any(|earlier| earlier.label == place.label) {
            bail!(UsageError(format!(
                "the label `{}` is used twice: give each place a label of its own",
                place.label
            )));
        }
        let facts = places::inspect(&place.label, &place.path)?;
        let arms = twins_plan(&facts, 0)?.arms();
        let workloads = preflight::workloads(&arms)?;
        preflight::check_space(&[facts.clone(), facts.clone()], &arms, &workloads)?;
        places.push(facts);
    }
    Ok(places)
}

/// A place compared with itself.
fn twins_plan(place: &PlaceFacts, seed: u64) -> anyhow::Result<Plan> {
    let request = |label: &str| PlaceRequest { label: label.to_owned(), path: place.path.clone() };
    let spec = model::plan::find_study(STUDY, &studies::specs())?;
    let mut study = StudyPlan::new(spec);
    study.strategies.extend(spec.strategy(STRATEGY));
    let draft = Draft {
        worth: Some(DEFAULT_WORTH),
        places: TWINS.map(request).into(),
        studies: vec![study],
        ..Draft::default()
    };
    Ok(draft.finish(seed)?)
}

/// A selftest under way.
struct Test {
    began: Instant,
    budget: Duration,
    stop: StopFlag,
    random: ChaCha8Rng,
    clock: Clock,
    clock_watch: ClockWatch,
    floor: Floor,
    progress: Progress,
}

impl Test {
    fn start(began: Instant, budget: Duration, seed: u64, stop: StopFlag) -> Self {
        let clock = Clock::new();
        Self {
            began,
            budget,
            stop,
            random: ChaCha8Rng::seed_from_u64(seed),
            clock_watch: ClockWatch::start(clock.clone()),
            clock,
            floor: Floor { record_ns: 0.0, clock: String::new(), tick_ns: 1.0, clock_off_by: None },
            progress: Progress::new(began, budget),
        }
    }

    /// One place after another, each with an even share of the time.
    fn all(&mut self, places: Vec<PlaceFacts>) -> anyhow::Result<Vec<PlaceSelftest>> {
        let mut tested = Vec::new();
        let shares = places.len() as u32;
        for (place, share) in places.into_iter().zip(1..) {
            if !self.stop.load(Ordering::Relaxed) {
                tested.push(self.place(place, self.budget * share / shares)?);
            }
        }
        Ok(tested)
    }

    fn finish(self) -> (model::selftest::ClockCheck, bool) {
        self.progress.finish();
        (self.clock_watch.finish(&self.floor), self.stop.load(Ordering::Relaxed))
    }

    fn place(&mut self, place: PlaceFacts, until: Duration) -> anyhow::Result<PlaceSelftest> {
        let job = Job::of(&twins_plan(&place, 0)?);
        let mut tested = PlaceSelftest {
            place,
            workload: format!("{STUDY}/{STRATEGY}"),
            toll_ns: None,
            against_itself: None,
            resolution: None,
            planted: None,
            failure: None,
        };
        let twins_facts =
            TWINS.map(|label| PlaceFacts { label: label.to_owned(), ..tested.place.clone() });
        let machine = machine::describe();
        let twins = Twins { job: &job, places: &twins_facts, machine: &machine };
        let mut session = Session::open(&twins_facts, StopFlag::clone(&self.stop), self.began)?;
        if let Some(Ended::Failed(why)) = self.parts(twins, &mut session, &mut tested, until)? {
            tested.failure = Some(why);
        }
        session.close()?;
        Ok(tested)
    }

    /// The parts of one place's test, into `tested`, until one ends early.
    fn parts(
        &mut self,
        twins: Twins<'_>,
        session: &mut Session,
        tested: &mut PlaceSelftest,
        until: Duration,
    ) -> anyhow::Result<Option<Ended>> {
        let label = tested.place.label.clone();
        let (random, progress) = (&mut self.random, &mut self.progress);
        let mut tell = |text: String| progress.tell(&format!("{label}: {text}"));
        let mut seeds = || random.random();
        let began = self.began;
        let share = until.saturating_sub(began.elapsed());
        let from_now =
            |part: f64| began.elapsed() + share.mul_f64(part).max(PART_MIN.min(share / 3));

        let arms = &twins.job.arms;
        let mut runner = session.runner(arms, preflight::workloads(arms)?);
        self.floor = runner.floor();
        let seen = scatter(
            twins,
            &mut runner,
            &self.floor,
            from_now(SCATTER_SHARE),
            &mut seeds,
            &mut tell,
        );
        drop(runner);
        tested.toll_ns = seen.tolls.map(|tolls| tolls.median_ns);
        if let Some(ended) = seen.ended {
            return Ok(Some(ended));
        }
        let Some(tolls) = seen.tolls else {
            let why =
                "the budget ended before the first block was complete: give a longer --budget";
            return Ok(Some(Ended::Failed(why.to_owned())));
        };
        let (slowed, added_ns) = slowed(arms, tolls.undisturbed_ns, &self.clock)?;
        let mut runner = session.runner(arms, slowed);
        let goal = (added_ns, from_now(PLANTED_SHARE));
        let (planted, ended) = planted(twins, &mut runner, &self.floor, goal, seeds(), &mut tell);
        drop(runner);
        tested.planted = planted;
        if ended.is_some() {
            return Ok(ended);
        }

        tested.resolution = resolution(&seen.log_ratios, seen.block_time, twins.job.worth, seeds());
        let mut runner = session.runner(arms, preflight::workloads(arms)?);
        let (found, ended) =
            against_itself(twins, &mut runner, &self.floor, (&seen, until), seeds, &mut tell);
        tested.against_itself = found;
        Ok(ended)
    }
}

/// The twins' workloads, the second of them slowed down, and by how much an operation.
fn slowed(
    arms: &[Arm],
    toll_ns: f64,
    clock: &Clock,
) -> anyhow::Result<(Vec<Box<dyn Workload>>, f64)> {
    let (pause, added_ns) = busy_pause(toll_ns * planted::ADDED, clock);
    let pauses = [no_pause(), pause];
    let workloads = preflight::workloads(arms)?.into_iter().zip(arms);
    let slowed = workloads.map(|(workload, arm)| {
        let pause = pauses[arm.place].clone();
        Box::new(Slowed::new(workload, pause)) as Box<dyn Workload>
    });
    Ok((slowed.collect(), added_ns))
}

fn exit_code(result: &SelftestResult) -> Exit {
    match (result.run.interrupted, result.objections.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::CouldNot,
    }
}
