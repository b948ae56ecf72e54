//! `cargo xtask bench store`: how long people wait for saved runs.
//!
//! A store is filled with a short run many times over, and with one of the usual length,
//! which comes last; then the program itself is timed, from its start to its end.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use store::{Content, Store};

use xtask::process;

/// All that a store of a thousand runs may take to be listed.
const HISTORY_MAX_MS: f64 = 100.0;
/// What the report of a run may take.
const SHOW_MAX_MS: f64 = 50.0;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many runs the store has
    #[arg(long, value_name = "N", default_value_t = 1000)]
    runs: u32,
    /// The budget of the run that is shown
    #[arg(long, value_name = "TIME", default_value = "60s")]
    budget: String,
    /// How often each command is timed
    #[arg(long, value_name = "N", default_value_t = 21)]
    times: usize,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(args.runs > 1 && args.times > 0, "a store of two runs, timed once, at the least");
    let iotoll = process::build_release_iotoll()?;
    let folder = tempfile::tempdir()?;
    let bench = Bench { iotoll, folder: folder.path(), times: args.times };
    bench.compare(&["--study", "log", "--budget", "2s"])?;
    eprintln!("filling the store");
    bench.fill(args.runs - 2)?;
    bench.compare(&["--budget", &args.budget])?;
    let limit = args.runs.to_string();
    let listed = bench.time(&["history", "--limit", &limit])?;
    let shown = bench.time(&["show"])?;
    let full = bench.time(&["show", "--full"])?;
    println!("median of {} of each, in a store of {} runs", args.times, args.runs);
    println!("history of all  {listed:>6.1} ms, at most {HISTORY_MAX_MS} ms");
    println!("show            {shown:>6.1} ms, at most {SHOW_MAX_MS} ms");
    println!("show --full     {full:>6.1} ms");
    ensure!(listed <= HISTORY_MAX_MS && shown <= SHOW_MAX_MS, "a target was missed");
    Ok(())
}

struct Bench<'a> {
    iotoll: PathBuf,
    folder: &'a Path,
    times: usize,
}

impl Bench<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.iotoll);
        command.args(arguments).env("IOTOLL_DIR", self.folder);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn compare(&self, arguments: &[&str]) -> Result<()> {
        eprintln!("measuring a run to save: compare {}", arguments.join(" "));
        process::succeed(self.command(&["compare"]).args(arguments))
    }

    /// Saves the last run so many times more, each under a name of its own.
    fn fill(&self, times: u32) -> Result<()> {
        let store = Store::open(self.folder)?;
        let last = store.find("last")?;
        let Content::Comparison(run) = store.load(&last)? else {
            bail!("the last run is no comparison");
        };
        store.save_copies(&run, last.summary.as_ref(), times)?;
        Ok(())
    }

    /// The median time that a command takes, in milliseconds.
    fn time(&self, arguments: &[&str]) -> Result<f64> {
        let timed = (0..self.times).map(|_| {
            let began = Instant::now();
            process::succeed(&mut self.command(arguments))?;
            Ok(began.elapsed().as_secs_f64() * 1e3)
        });
        Ok(stats::median(&mut timed.collect::<Result<Vec<_>>>()?))
    }
}
