//! `cargo xtask bench ranks`: what clients cost rank 0 however many there are, and whether the
//! verdict is the one that was planted.
//!
//! Whole runs of the study `files` with rank 0 as it is: it plans, draws orders, tells the ranks,
//! takes in what they report and decides. The ranks are simulated ([`ranks::simulated`]): each
//! reports at once what it would have measured, of files that one strategy writes in some time
//! and the other in as much, less or more. What the simulation takes is not counted. Each number
//! of clients is tried with long operations and with a thousand times as many short ones.

mod worker;

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use ::process::StopFlag;
use ::process::worker::Clients;
use anyhow::{Context as _, Result, ensure};
use engine::local::LocalRunner;
use engine::measure::Event;
use engine::study::Workload;
use model::analysis::Verdict;
use model::plan::{Draft, Plan, StudyPlan};
use places::WorkDir;
use ranks::Leader;
use ranks::simulated::{Simulated, Traffic};
use units::{count, rough_size, time};

use crate::harness::memory::BenchPlace;
use worker::{Files, PLANTED, Planted};

const VERSION: &str = "1";
/// Rank 0 may take so long for a block.
const BLOCK_MAX: Duration = Duration::from_millis(50);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory to work in
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    place: PathBuf,

    /// How many clients, most of them simulated
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [10, 100, 1000])]
    clients: Vec<usize>,
}

/// What was found of a run.
struct Row {
    clients: usize,
    planted: Planted,
    operations: u64,
    /// Of a block, at rank 0.
    took: Duration,
    sent_bytes: u64,
    received_bytes: u64,
    peak_bytes: u64,
    verdict: Option<Verdict>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    println!("         operations    rank 0        sent    received    peak  planted");
    println!("clients     a slice   a block  in a block  in a block  memory  and found");
    let mut missed = 0;
    for &clients in &args.clients {
        ensure!(clients > 1, "--clients {clients}: give 2 or more");
        for typical_ns in [2e6, 2e3] {
            for ratio in [0.8, 1.0, 1.3] {
                let row = measured(&args.place, clients, Planted { typical_ns, ratio })?;
                println!("{}", row.shown());
                missed += usize::from(!row.is_met());
            }
        }
    }
    ensure!(missed == 0, "{missed} runs took too long for a block, or found something else");
    Ok(())
}

impl Row {
    fn wanted(&self) -> Verdict {
        match self.planted.ratio {
            ratio if ratio < 1.0 => Verdict::Faster,
            ratio if ratio > 1.0 => Verdict::Slower,
            _ => Verdict::Same,
        }
    }

    fn is_met(&self) -> bool {
        self.took <= BLOCK_MAX && self.verdict == Some(self.wanted())
    }

    fn shown(&self) -> String {
        let found = self.verdict.map_or("nothing", Verdict::as_str);
        format!(
            "{:>7} {:>11} {:>9} {:>11} {:>11} {:>7}  ×{} {found}{}",
            count(self.clients as u64),
            count(self.operations),
            time(self.took.as_nanos() as f64),
            rough_size(self.sent_bytes),
            rough_size(self.received_bytes),
            rough_size(self.peak_bytes),
            self.planted.ratio,
            if self.is_met() { "" } else { "  MISSED" }
        )
    }
}

/// A run of two strategies with so many clients.
fn measured(place: &Path, clients: usize, planted: Planted) -> Result<Row> {
    *PLANTED.lock().map_err(|_| anyhow::anyhow!("a worker ended early"))? = planted;
    let plan = plan(place, clients)?;
    let arms = plan.arms();
    let workloads: Result<Vec<Box<dyn Workload>>, _> = arms
        .iter()
        .map(|arm| {
            let study = studies::find(&arm.study.name).context("there is no such study")?;
            Ok::<_, anyhow::Error>(study.workload(&arm.strategy.name, &arm.params)?)
        })
        .collect();
    let comm = Simulated::<Files>::new(clients, VERSION);
    let traffic = comm.traffic();
    let leader = Leader::greet(Box::new(comm), VERSION, Simulated::<Files>::own())?;
    let work = WorkDir::create("bench", place)?;
    let places = vec![BenchPlace::boxed(&work)];
    let (stop, began) = (StopFlag::default(), Instant::now());
    let runner = LocalRunner::new(&arms, workloads?, places, stop, began);
    let mut runner = runner.with_clients(Some(Rc::new(leader) as Rc<dyn Clients>));
    fs::write("/proc/self/clear_refs", "5").context("forgetting how much memory was used")?;
    let mut blocks: Vec<Moment> = Vec::new();
    let run = testkit::run_watched(&plan, &mut runner, &mut |event| {
        if let Event::Block { .. } = event {
            blocks.push(Moment::now(*traffic.borrow()));
        }
    });
    drop(runner);
    work.remove()?;
    ensure!(run.failures.is_empty(), "{}", run.failures[0].why);
    let of_blocks = |of: fn(&Moment, &Moment) -> f64| {
        let mut each: Vec<f64> = blocks.windows(2).map(|two| of(&two[0], &two[1])).collect();
        stats::median(&mut each)
    };
    let analysis = analysis::analyse(&run);
    Ok(Row {
        clients,
        planted,
        operations: run.slices.last().map_or(0, |slice| slice.operations),
        took: Duration::from_secs_f64(of_blocks(Moment::took_s)),
        sent_bytes: of_blocks(|a, b| (b.traffic.sent_bytes - a.traffic.sent_bytes) as f64) as u64,
        received_bytes: of_blocks(|a, b| {
            (b.traffic.received_bytes - a.traffic.received_bytes) as f64
        }) as u64,
        peak_bytes: crate::harness::memory::peak_kib()? << 10,
        verdict: analysis.comparisons.first().map(|comparison| comparison.verdict),
    })
}

/// The end of a block.
struct Moment {
    at: Instant,
    traffic: Traffic,
}

impl Moment {
    fn now(traffic: Traffic) -> Self {
        Self { at: Instant::now(), traffic }
    }

    /// What rank 0 took from one to another.
    fn took_s(&self, then: &Self) -> f64 {
        let simulating = then.traffic.simulating.saturating_sub(self.traffic.simulating);
        then.at.duration_since(self.at).saturating_sub(simulating).as_secs_f64()
    }
}

/// Files that are written directly, and others that are renamed, in one place.
fn plan(place: &Path, clients: usize) -> Result<Plan> {
    let files = studies::find("files").context("there is no study files")?.spec();
    let places = vec![format!("here={}", place.display()).parse()?];
    let mut draft = Draft { places, studies: vec![StudyPlan::new(files)], ..Draft::default() };
    draft.select_strategies(&["direct", "rename"].map(str::to_owned))?;
    let size = format!("files.clients={clients}");
    draft.set_all(
        &["files.operation=write", "files.size=1KiB", &size].map(str::to_owned),
        &[files],
    )?;
    draft.budget = Some(Duration::from_secs(20));
    Ok(draft.finish(7)?)
}
