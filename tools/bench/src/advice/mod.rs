//! `cargo xtask bench advice`: is what `iotoll try` advises right, and by how much?
//!
//! Each program of `bench/advice.toml` is tried, and before and after that really moved: its folder is made
//! on the disk and in memory, and the bare command is timed in both, in turns. Of a small program with a habit,
//! its twin without is timed as well. The list was there before the code that it judges. With
//! `--kills`, trials are killed at random moments instead, and nothing of the user's may change.

mod kills;
mod listed;
mod tried;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use self::listed::{Listed, Remedy};
use self::tried::Tried;
use crate::replay::{Folders, Program, original_ns};
use crate::spread::{ROUNDS_MIN, Spread, enough};
use crate::turns::in_any_order;
use xtask::process;

/// A saving matters from here on, as for `iotoll try`.
const MATTERS: f64 = 0.05;
/// What is promised of advice, of all that is advised and of all that pays.
const PRECISION_MIN: f64 = 0.95;
const RECALL_MIN: f64 = 0.8;
/// Of more rounds the interval is narrow enough.
const ROUNDS_MAX: usize = 60;
/// How often an interval holds what moving really saves.
const HELD_MIN: f64 = 0.95;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Rounds at the least, in each of which a program runs on disk and in memory
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = enough)]
    rounds: usize,
    /// What `iotoll try` may take for each program, and the rounds if they are many
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::parse_duration)]
    budget: Duration,
    /// A folder on the disk
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    disk: PathBuf,
    /// A folder in memory
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    ram: PathBuf,
    /// Programs whose name has this in it
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// The program that is judged [default: it is built]
    #[arg(long, value_name = "FILE")]
    iotoll: Option<PathBuf>,
    /// Go by what was measured, and fail for nothing
    #[arg(long)]
    no_target: bool,
    /// Kill so many trials at random moments, and do nothing else
    #[arg(long, value_name = "N")]
    kills: Option<u64>,
    /// Seed of the moments
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let iotoll = args.iotoll.clone().map_or_else(process::build_release_iotoll, Ok)?;
    if let Some(kills) = args.kills {
        return kills::run(&iotoll, kills, args.seed, &args.disk);
    }
    let mut tally = Tally::default();
    line(["program", "at most", "try says", "RAM saves", "twin saves", "as it is", "right"]);
    for Listed { program, twin } in listed::all()? {
        if !program.name.contains(&args.only) || !program.can_run() {
            continue;
        }
        // Each has folders of its own, removed before the next: none is slowed by another's.
        match judged(args, &iotoll, &program, twin.as_ref()) {
            Ok(row) => tally.take(&row),
            Err(error) => println!("{:<35}failed: {error:#}", program.name),
        }
    }
    tally.finish(args.no_target)
}

/// What came of one program.
struct Row {
    tried: Tried,
    /// What moving its folder to memory really saves.
    moved: Spread,
    /// What the twin without the habit saves, and how that is had.
    twin: Option<(Spread, Remedy)>,
    /// What the command takes as it is in a private view, over what it takes by itself.
    overhead: Option<f64>,
}

fn judged(
    args: &Args,
    iotoll: &Path,
    program: &Program,
    twin: Option<&(Program, Remedy)>,
) -> Result<Row> {
    let mut folders = Folders::default();
    let mut took = Took::default();
    took.add(args, &mut folders, program, twin)?;
    let command = |folder: &Path| tried::tried(iotoll, program, folder, args.budget);
    let tried = command(folders.prepared(program, &args.disk)?).context("iotoll try")?;
    took.add(args, &mut folders, program, twin)?;
    let Took([disk, ram, fixed]) = &took;
    let bare_ns = Spread::of(disk.iter().copied()).median;
    let overhead = tried.as_now_ns.map(|now_ns| now_ns / bare_ns);
    let saved = |other: &[f64]| Spread::of(disk.iter().zip(other).map(|(a, b)| 1.0 - b / a));
    let twin = twin.map(|(_, remedy)| (saved(fixed), *remedy));
    let row = Row { tried, moved: saved(ram), twin, overhead };
    row.print(&program.name);
    Ok(row)
}

/// How long the program took on disk and in memory, and its twin, round by round.
#[derive(Default)]
struct Took([Vec<f64>; 3]);

impl Took {
    /// Half of the rounds. One half is before the trial and the other one after it: the disk is not as fast
    /// at one minute as at the next.
    fn add(
        &mut self,
        args: &Args,
        folders: &mut Folders,
        program: &Program,
        twin: Option<&(Program, Remedy)>,
    ) -> Result<()> {
        let (began, before) = (Instant::now(), self.0[0].len());
        let [least, most] = [args.rounds, ROUNDS_MAX].map(|rounds| rounds.div_ceil(2));
        let is_more = |done| done < least || (done < most && began.elapsed() < args.budget / 2);
        while is_more(self.0[0].len() - before) {
            for turn in in_any_order(self.0.len()) {
                let (program, place) = match (turn, twin) {
                    (0, _) => (program, &args.disk),
                    (1, _) => (program, &args.ram),
                    (_, Some((twin, _))) => (twin, &args.disk),
                    (_, None) => continue,
                };
                self.0[turn].push(original_ns(program, folders.prepared(program, place)?)?);
            }
        }
        Ok(())
    }
}

impl Row {
    /// Whether moving pays, surely enough to be judged by.
    fn pays(&self) -> Option<bool> {
        pays(&self.moved)
    }

    fn print(&self, name: &str) {
        let right = match (self.pays(), self.tried.verdict_is_faster) {
            (None, _) => "too close",
            (Some(pays), advised) if pays == advised => "yes",
            _ => "no",
        };
        line([
            name,
            &percent(self.tried.bound),
            &self.tried.saves.as_ref().map_or("not decided".to_owned(), percents),
            &percents(&self.moved),
            &self.twin.as_ref().map_or(String::new(), |(twin, _)| percents(twin)),
            &self.overhead.map_or_else(String::new, |overhead| format!("×{overhead:.2}")),
            right,
        ]);
    }
}

/// A line of the table.
fn line([name, cells @ ..]: [&str; 7]) {
    let widths = [7, 14, 14, 14, 8, 9];
    let cells = cells.iter().zip(widths).map(|(cell, width)| format!("  {cell:>width$}"));
    println!("{name:<35}{}", cells.collect::<String>());
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// `22% (15–29)`
fn percents(saved: &Spread) -> String {
    let Spread { median, low, high } = saved;
    format!("{} ({:.0}–{:.0})", percent(*median), low * 100.0, high * 100.0)
}

fn pays(saved: &Spread) -> Option<bool> {
    if saved.low > MATTERS { Some(true) } else { (saved.high < MATTERS).then_some(false) }
}

/// How right advice is, over all programs.
#[derive(Default)]
struct Tally {
    /// Advised and right, advised and wrong, not advised and yet paying.
    right: u64,
    wrong: u64,
    missed: u64,
    held: u64,
    intervals: u64,
    beyond_bound: Vec<f64>,
    errors: Vec<f64>,
    overheads: Vec<f64>,
}

impl Tally {
    fn take(&mut self, row: &Row) {
        self.overheads.extend(row.overhead);
        let by_twin =
            row.twin.as_ref().map(|(twin, remedy)| (pays(twin), row.tried.found(*remedy)));
        let moved = (row.pays(), row.tried.verdict_is_faster);
        for (pays, advised) in [Some(moved), by_twin].into_iter().flatten() {
            match (pays, advised) {
                (Some(true), true) => self.right += 1,
                (Some(false), true) => self.wrong += 1,
                (Some(true), false) => self.missed += 1,
                _ => {}
            }
        }
        if row.tried.bound_complete && row.moved.low > row.tried.bound {
            self.beyond_bound.push(row.moved.low - row.tried.bound);
        }
        if let Some(saves) = &row.tried.saves {
            self.intervals += 1;
            self.held += u64::from(saves.low <= row.moved.high && row.moved.low <= saves.high);
            self.errors.push((saves.median - row.moved.median).abs());
        }
    }

    fn finish(&self, no_target: bool) -> Result<()> {
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let precision = share(self.right, self.right + self.wrong);
        let recall = share(self.right, self.right + self.missed);
        let held = share(self.held, self.intervals);
        let error = self.errors.iter().sum::<f64>() / self.errors.len().max(1) as f64;
        println!(
            "\nprecision {precision:.2} ({} of {}), recall {recall:.2} ({} of {}), intervals hold {} of \
             {}, mean error of savings {:.1} points, {} beyond the bound",
            self.right,
            self.right + self.wrong,
            self.right,
            self.right + self.missed,
            self.held,
            self.intervals,
            100.0 * error,
            self.beyond_bound.len(),
        );
        if self.overheads.len() >= ROUNDS_MIN {
            let overhead = Spread::of(self.overheads.iter().copied());
            println!("as it is, over bare: {}", overhead.show(|ratio| format!("×{ratio:.3}")));
        }
        let is_met = precision >= PRECISION_MIN
            && recall >= RECALL_MIN
            && held >= HELD_MIN
            && self.beyond_bound.is_empty();
        ensure!(is_met || no_target, "advice is not as right as is promised");
        Ok(())
    }
}
