//! `cargo xtask faults`: every system call that a run makes is failed in turn, and
//! nothing may hang, panic, lie or be left behind.
//!
//! Each subject is first run without a fault, to see which calls there are. Then each of
//! its calls is failed in each of its ways at several moments, a run for each. Calls on
//! what is outside of the slices' files (`/proc`, standard output, folders) are made by the
//! same code in every study: they are failed under the first subject that makes them.

// It speaks to the developer who runs it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Parser;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use testkit::faults::{
    Defect, Expectation, Injection, Judged, List, Program, Scene, Site, Subject, When, call_named,
    subjects, unavailable,
};
use units::count;

use xtask::process;

/// Where the lists of what is expected are.
const LISTS: &str = "crates/iotoll/tests/faults";
/// Columns of defects, as [`Defect::column`] numbers them.
const COLUMNS: [&str; 6] = ["hangs", "panics", "unexplained", "left", "wrong", "silent"];
/// The last of them is not a defect of the run by itself: the list expected to be told.
const SILENT: usize = COLUMNS.len() - 1;
/// A failure in the middle is no later than that, so that every run comes so far.
const MIDDLE_MAX: u64 = 50;
/// A run without a fault is made so often: calls differ a little from run to run.
const BASELINES: usize = 3;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("faults: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Fail every system call that a run makes, in turn
#[derive(Parser)]
#[command(name = "cargo xtask faults")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct Args {
    /// Only these studies
    #[arg(long, value_delimiter = ',')]
    study: Vec<String>,
    /// Only the subjects whose name, such as log/held, contains this
    #[arg(long)]
    subject: Option<String>,
    /// Only this system call
    #[arg(long)]
    call: Option<String>,
    /// Only what studies do to their slices' files and say to their processes; with --subject, to
    /// files, for a study's subjects share the rest
    #[arg(long)]
    own: bool,
    /// Only so many trials of each subject, drawn at random
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// What the draw is made from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Trials at the same time
    #[arg(long, default_value_t = 4)]
    jobs: usize,
    /// The directory that the places are made in
    #[arg(long, default_value = "/dev/shm")]
    place: PathBuf,
    /// Print the calls, and how often they are made, and fail none
    #[arg(long)]
    list: bool,
    /// Write what came of the failures to the lists of what is expected
    #[arg(long, conflicts_with_all = ["sample", "list"])]
    write: bool,
    /// Print what was said in each trial
    #[arg(long)]
    verbose: bool,
}

fn run(args: &Args) -> Result<()> {
    if let Some(why) = unavailable() {
        anyhow::bail!("system calls cannot be failed here: {why}");
    }
    // A build that is made meanwhile does not change what is run.
    let copy = tempfile::tempdir()?;
    let iotoll = copy.path().join("iotoll");
    std::fs::copy(process::built_iotoll(), &iotoll)?;
    let mut chore = Chore::new(args, iotoll)?;
    println!("{}", Row::head());
    for subject in subjects(&studies::ALL).iter().filter(|subject| args.wants(subject)) {
        if let Some(program) = subject.needs.filter(|name| process::find_program(name).is_none()) {
            println!("{}: skipped, for there is no {program}", name(subject));
            continue;
        }
        chore.subject(subject)?;
    }
    println!("{}", chore.total.line("together"));
    ensure!(chore.total.defects.iter().all(|n| *n == 0), "defects were found: see above");
    Ok(())
}

impl Args {
    fn wants(&self, subject: &Subject) -> bool {
        (self.study.is_empty() || self.study.iter().any(|study| subject.study == study))
            && self.subject.as_ref().is_none_or(|part| name(subject).contains(part.as_str()))
    }
}

fn name(subject: &Subject) -> String {
    format!("{}/{}", subject.study, subject.name)
}

struct Chore<'a> {
    args: &'a Args,
    iotoll: PathBuf,
    /// Sites that are everyone's, or a study's, and were failed already.
    covered: BTreeSet<(Option<&'static str>, Site)>,
    /// What is expected, by study.
    lists: BTreeMap<&'static str, List>,
    total: Row,
}

/// A site's calls in one run without a fault, at the least, and in how many of such runs
/// there were any.
#[derive(Clone, Copy, Default)]
struct SiteVisits {
    times: u64,
    runs: usize,
}

impl<'a> Chore<'a> {
    fn new(args: &'a Args, iotoll: PathBuf) -> Result<Self> {
        let mut lists = BTreeMap::new();
        for subject in subjects(&studies::ALL) {
            let list = fs::read_to_string(list_file(subject.study)).unwrap_or_default();
            let list = List::read(&list).map_err(|line| anyhow!("{}: {line}", subject.study))?;
            lists.insert(subject.study, list);
        }
        Ok(Self { args, iotoll, covered: BTreeSet::new(), lists, total: Row::default() })
    }

    fn write(&self, study: &str) -> Result<()> {
        let file = list_file(study);
        fs::create_dir_all(process::root().join(LISTS))?;
        fs::write(&file, self.lists[study].to_string()).with_context(|| file.display().to_string())
    }

    fn subject(&mut self, subject: &Subject) -> Result<()> {
        let flags = subject.flags.clone();
        let program = Program { iotoll: self.iotoll.clone(), arguments: flags, budget_s: 1 };
        let sites = self.sites(subject, &program)?;
        if self.args.list {
            for (site, seen) in &sites {
                println!("  {:>6} × {site}", seen.times);
            }
            return Ok(());
        }
        let mut trials: Vec<Injection> = Vec::new();
        for (site, seen) in &sites {
            let is_shared = site.is_between_processes() && self.args.subject.is_none();
            let is_own = site.is_slices_own() || is_shared;
            let wanted = self.args.call.as_ref().is_none_or(|call| site.call == *call)
                && (is_own || !self.args.own);
            let whose = site.is_between_processes().then_some(subject.study);
            let is_new = site.is_slices_own() || self.covered.insert((whose, site.clone()));
            if wanted && is_new {
                trials.extend(trials_of(site, seen.times));
            }
        }
        if let Some(sample) = self.args.sample {
            trials.shuffle(&mut ChaCha8Rng::seed_from_u64(self.args.seed));
            trials.truncate(sample);
        }
        let mut row = Row { sites: sites.len(), ..Row::default() };
        let began = Instant::now();
        if self.args.write {
            let list = self.lists.entry(subject.study).or_default();
            let expected = list.0.entry(name(subject)).or_default();
            expected.retain(|site, _| self.args.call.as_ref().is_some_and(|c| site.call != *c));
            expected.extend(expectations(&sites, &trials));
        }
        self.all(subject, &program, &trials, &mut row)?;
        row.seconds = began.elapsed().as_secs();
        if self.args.write {
            self.write(subject.study)?;
            self.tell_untried(subject);
        }
        println!("{}", row.line(&name(subject)));
        self.total.add(&row);
        Ok(())
    }

    /// Says which calls are listed without an outcome.
    fn tell_untried(&self, subject: &Subject) {
        let listed = self.lists[subject.study].0.get(&name(subject)).into_iter().flatten();
        for (site, _) in listed.filter(|(_, expected)| expected.faults.is_empty()) {
            println!("{}: {site}: untried, for no trial came to it: write again", name(subject));
        }
    }

    /// Which calls are made, and how often at the least.
    fn sites(&self, subject: &Subject, program: &Program) -> Result<BTreeMap<Site, SiteVisits>> {
        let mut sites: BTreeMap<Site, SiteVisits> = BTreeMap::new();
        for _ in 0..BASELINES {
            let scene = Scene::within(&self.args.place)?;
            let Judged { traced, said, defects, .. } = judged(&scene, program, None)?;
            let name = name(subject);
            ensure!(defects.is_empty(), "{name}, with no fault: {defects:?}\n{said}");
            ensure!(
                traced.unknown.is_empty(),
                "{name} makes system calls that CALLS in crates/testkit/src/faults/calls.rs does \
                 not name; add them there, by number and how often: {:?}",
                traced.unknown
            );
            for (site, times) in traced.sites {
                let seen = sites.entry(site).or_insert(SiteVisits { times, runs: 0 });
                *seen = SiteVisits { times: times.min(seen.times), runs: seen.runs + 1 };
            }
        }
        Ok(sites)
    }

    /// Makes all trials, several at once.
    fn all(
        &mut self,
        subject: &Subject,
        program: &Program,
        trials: &[Injection],
        row: &mut Row,
    ) -> Result<()> {
        let args = self.args;
        let list = self.lists.entry(subject.study).or_default();
        let mut none = BTreeMap::new();
        let expected = list.0.get_mut(&name(subject)).unwrap_or(&mut none);
        let next = AtomicUsize::new(0);
        let counted = Mutex::new((row, expected));
        let work = || -> Result<()> {
            let scene = Scene::within(&args.place)?;
            while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
                let judged = judged(&scene, program, Some(trial))?;
                let mut counted = counted.lock().map_err(|_| anyhow!("another job failed"))?;
                let (row, expected) = &mut *counted;
                let is_silent =
                    is_silent(args.write, expected.get_mut(&trial.site), trial, &judged);
                row.count(&judged, is_silent);
                if args.verbose || is_silent || !judged.defects.is_empty() {
                    tell(subject, trial, &judged);
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let jobs: Vec<_> = (0..args.jobs).map(|_| scope.spawn(work)).collect();
            jobs.into_iter().try_for_each(|job| job.join().ok().context("a job panicked")?)
        })
    }
}

/// A trial. One verdict in twenty may be wrong by chance, and more on a machine that is
/// kept busy, so a wrong one is only that where it is wrong each time.
fn judged(scene: &Scene, program: &Program, trial: Option<&Injection>) -> Result<Judged> {
    let by_chance = |judged: &Judged| matches!(judged.defects[..], [Defect::WrongVerdict(_)]);
    let mut judged = scene.run(program, trial)?;
    for _ in 0..2 {
        if by_chance(&judged) {
            judged = scene.run(program, trial)?;
        }
    }
    Ok(judged)
}

/// Whether a failure should have been told and was not; learns instead where that is
/// what the trials are for.
fn is_silent(
    learns: bool,
    expected: Option<&mut Expectation>,
    trial: &Injection,
    judged: &Judged,
) -> bool {
    let Some(expected) = expected.filter(|_| judged.traced.injected > 0) else { return false };
    if learns {
        expected.learn(trial.fault, judged.told);
    }
    !learns && !expected.allows(trial.fault, judged.told)
}

/// What there is to be expected of, and nothing yet.
fn expectations(
    sites: &BTreeMap<Site, SiteVisits>,
    trials: &[Injection],
) -> BTreeMap<Site, Expectation> {
    let is_tried = |site: &Site| trials.iter().any(|trial| trial.site == *site);
    let listed = sites.iter().filter(|(site, _)| {
        (site.is_slices_own() || site.is_between_processes()) && is_tried(site)
    });
    let expectation = |(site, seen): (&Site, &SiteVisits)| {
        let now_and_then = seen.runs < BASELINES;
        (site.clone(), Expectation { now_and_then, ..Expectation::default() })
    };
    listed.map(expectation).collect()
}

fn list_file(study: &str) -> PathBuf {
    process::root().join(LISTS).join(format!("{study}.txt"))
}

fn tell(subject: &Subject, trial: &Injection, judged: &Judged) {
    let Injection { site, fault, when } = trial;
    let Judged { traced, said, told, defects } = judged;
    let (ended, injected) = (traced.ended, traced.injected);
    let name = name(subject);
    println!(
        "{name}: {site}: {fault} {when}: {defects:?} ({ended:?}, struck {injected} times, \
         told: {told})"
    );
    said.lines().for_each(|line| println!("    {line}"));
}

/// How a site is failed: in each way, once at the beginning and for good, and what a
/// subject does itself in its middle, too.
fn trials_of(site: &Site, times: u64) -> Vec<Injection> {
    // A run beside others makes fewer calls than one by itself.
    let middle = (times / 4).clamp(2, MIDDLE_MAX);
    let whens = match times {
        1 => vec![When::Nth(1)],
        _ if site.is_slices_own() => vec![When::Nth(1), When::Nth(middle), When::From(middle)],
        _ => vec![When::Nth(1), When::From(1)],
    };
    let faults = call_named(&site.call).map_or(&[][..], |call| call.faults);
    let ways = faults.iter().flat_map(|&fault| whens.iter().map(move |&when| (fault, when)));
    ways.map(|(fault, when)| Injection { site: site.clone(), fault, when }).collect()
}

/// A row of the table.
#[derive(Default)]
struct Row {
    sites: usize,
    trials: u64,
    struck: u64,
    told: u64,
    defects: [u64; COLUMNS.len()],
    seconds: u64,
}

impl Row {
    fn count(&mut self, judged: &Judged, is_silent: bool) {
        self.defects[SILENT] += u64::from(is_silent);
        self.trials += 1;
        self.struck += u64::from(judged.traced.injected > 0);
        self.told += u64::from(judged.told);
        for defect in &judged.defects {
            self.defects[defect.column()] += 1;
        }
    }

    fn add(&mut self, other: &Self) {
        self.sites += other.sites;
        self.trials += other.trials;
        self.struck += other.struck;
        self.told += other.told;
        self.seconds += other.seconds;
        for (sum, more) in self.defects.iter_mut().zip(other.defects) {
            *sum += more;
        }
    }

    fn head() -> String {
        let columns = COLUMNS.map(|column| format!("{column:>12}")).concat();
        format!(
            "{:<28}{:>7}{:>8}{:>8}{:>8}{columns}{:>8}",
            "", "calls", "trials", "struck", "told", "seconds"
        )
    }

    fn line(&self, name: &str) -> String {
        let defects = self.defects.map(|n| format!("{n:>12}")).concat();
        let [trials, struck, told] = [self.trials, self.struck, self.told].map(count);
        let (sites, seconds) = (self.sites, self.seconds);
        format!("{name:<28}{sites:>7}{trials:>8}{struck:>8}{told:>8}{defects}{seconds:>8}")
    }
}
