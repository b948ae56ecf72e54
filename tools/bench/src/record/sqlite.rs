//! By how much recording slows a program that uses SQLite.
//!
//! By the clock, as its user meets it; but how long syncs of a device take differs from one run to
//! the next by more than recording costs. So what it costs in processor time stands beside it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};

use super::{CHEAP, Way, own};
use crate::spread::Spread;
use crate::turns::in_any_order;
use xtask::process::{self, find_program};

/// By how much it may become slower, by the clock.
const SLOWER_MAX: f64 = 1.05;
/// How many transactions it makes.
const TRANSACTIONS: usize = 400;

/// What a run of the program took.
struct Took {
    wall: Duration,
    cpu: Duration,
}

/// By how much it becomes slower, by what is cheap; whether too much.
pub(super) fn run(ways: &[Way], folder: &Path, rounds: usize) -> Result<bool> {
    if find_program("sqlite3").is_none() {
        println!("SQLite is not timed: sqlite3 is not installed");
        return Ok(false);
    }
    let recorded: Vec<&Way> =
        CHEAP.iter().filter_map(|(name, _)| ways.iter().find(|way| way.name == *name)).collect();
    let ways: Vec<&Way> = ways.iter().take(1).chain(recorded).collect();
    let mut took: Vec<Vec<Took>> = ways.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for way in in_any_order(ways.len()) {
            // A recorder measures first what it costs: what runs before is alike.
            if way == 0 {
                process::output(&mut ways[1 + round % CHEAP.len()].command("true", &[]))?;
            }
            rustix::fs::syncfs(File::open(folder)?)?;
            let database = folder.join(format!("{round}-{way}.db"));
            took[way].push(transactions(ways[way], &database)?);
            fs::remove_file(&database)?;
        }
    }
    let mut is_too_much = false;
    for (way, recorded) in ways.iter().zip(&took).skip(1) {
        is_too_much |= tell(way, recorded, &took[0]);
    }
    Ok(is_too_much)
}

/// Prints it of one way; whether it is too much.
fn tell(way: &Way, recorded: &[Took], bare: &[Took]) -> bool {
    let pairs = || recorded.iter().zip(bare);
    let slower = Spread::of(pairs().map(|(way, bare)| way.wall.div_duration_f64(bare.wall)));
    let used = |(way, bare): (&Took, &Took)| {
        1.0 + (way.cpu.as_secs_f64() - bare.cpu.as_secs_f64()) / bare.wall.as_secs_f64()
    };
    let percent = |ratio: f64| format!("{:+.1}%", (ratio - 1.0) * 100.0);
    let (shown, used) = (slower.show(percent), Spread::of(pairs().map(used)).show(percent));
    println!("SQLite, {TRANSACTIONS} transactions by {}: {shown}", way.name);
    println!("    of which processor time {used}");
    slower.median > SLOWER_MAX
}

/// From the first transaction's beginning to the last one's end: the shell says when each is.
fn transactions(way: &Way, database: &Path) -> Result<Took> {
    let script = script()?;
    let database = database.display().to_string();
    let arguments = ["record-used", "--", "sqlite3", &database].map(str::to_owned);
    let mut command = way.command(&own()?, &arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().context("its input is a pipe")?;
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let stdout = BufReader::new(child.stdout.take().context("its output is a pipe")?);
    let (mut began, mut wall, mut cpu) = (None, None, None);
    for line in stdout.lines() {
        match line?.as_str() {
            "ready" => began = Some(Instant::now()),
            "done" => wall = began.map(|began: Instant| began.elapsed()),
            line => cpu = line.strip_prefix("used ").map(str::parse).or(cpu),
        }
    }
    ensure!(child.wait()?.success(), "sqlite3 failed");
    writer.join().map_err(|_| anyhow!("the script was not written"))??;
    let cpu = cpu.context("nobody said how much processor time it used")??;
    let wall = wall.context("sqlite3 did not say that it was done")?;
    Ok(Took { wall, cpu: Duration::from_nanos(cpu) })
}

/// What it is to do.
fn script() -> Result<String> {
    let mut script =
        String::from("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT);\n.print ready\n");
    for _ in 0..TRANSACTIONS {
        writeln!(script, "INSERT INTO t (v) VALUES (hex(randomblob(100)));")?;
        let last = "SELECT v FROM t ORDER BY k DESC LIMIT 50";
        writeln!(script, "SELECT count(*), max(length(v)) FROM ({last});")?;
    }
    script.push_str(".print done\n");
    Ok(script)
}
