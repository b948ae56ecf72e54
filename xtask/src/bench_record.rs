//! `cargo xtask bench record`: what recording costs the program that is recorded.
//!
//! A loop of small appends runs bare, recorded by each mechanism, under strace, and beside a
//! recording of something else, in turns and in random order. The loop times itself, so that what
//! starts it does not count. Switches between threads are timed beside a recording, too. Then losses
//! are looked for where calls come as fast as they can, and a program that uses SQLite is timed.

mod switches;

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rand::rng;
use rand::seq::SliceRandom as _;
use trace::{Entry, TraceReader};

use crate::process::{self, find_program};
use crate::spread::{ROUNDS_MIN, Spread};

/// A line of a log.
const LINE_BYTES: usize = 70;
/// What a call may cost by eBPF.
const EBPF_NS_MAX: f64 = 450.0;
/// By how much a program may become slower that uses SQLite.
const SQLITE_MAX: f64 = 1.05;
/// How many transactions it makes.
const TRANSACTIONS: usize = 400;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How often each is timed
    #[arg(long, value_name = "N", default_value_t = 15)]
    rounds: usize,
    /// How long calls come as fast as they can, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    seconds: u64,
}

#[derive(clap::Args)]
pub(crate) struct LoopArgs {
    /// The file that is appended to
    file: PathBuf,
    /// How many calls
    calls: u32,
}

#[derive(clap::Args)]
pub(crate) struct StormArgs {
    /// How long, in seconds
    seconds: u64,
    /// How many calls a second
    rate: u64,
}

/// A way to run a program.
struct Way {
    name: &'static str,
    before: Vec<String>,
    calls: u32,
    /// Whether a program that does nothing is recorded meanwhile.
    beside: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(args.rounds >= ROUNDS_MIN, "at least {ROUNDS_MIN} rounds, for an interval");
    let iotoll = process::release_iotoll()?.display().to_string();
    let folder =
        tempfile::tempdir_in(process::root().join("target")).or_else(|_| tempfile::tempdir())?;
    let ways = ways(&iotoll);
    let added = appends(&iotoll, &ways, folder.path(), args.rounds)?;
    switches::run(&iotoll, args.rounds)?;
    let lost = storm(&iotoll, folder.path(), args.seconds)?;
    // Syncs of a device are of very different lengths.
    let slower = sqlite(&ways, folder.path(), 3 * args.rounds)?;
    let too_much = added.is_some_and(|ns| ns > EBPF_NS_MAX)
        || lost > 0
        || slower.is_some_and(|ratio| ratio > SQLITE_MAX);
    if too_much {
        bail!("a target was missed");
    }
    Ok(())
}

fn ways(iotoll: &str) -> Vec<Way> {
    let record = |mechanism: &str| {
        let words = [iotoll, "record", "--mechanism", mechanism, "-o", "/dev/null", "--"];
        words.map(str::to_owned).to_vec()
    };
    let mut ways = vec![
        Way { name: "bare", before: Vec::new(), calls: 200_000, beside: false },
        Way { name: "beside", before: Vec::new(), calls: 200_000, beside: true },
        Way { name: "ebpf", before: record("ebpf"), calls: 200_000, beside: false },
        Way { name: "ptrace", before: record("ptrace"), calls: 5_000, beside: false },
    ];
    if find_program("strace").is_some() {
        let before = ["strace", "-f", "-o", "/dev/null"].map(str::to_owned).to_vec();
        ways.push(Way { name: "strace", before, calls: 5_000, beside: false });
    } else {
        eprintln!("without strace, which is not installed");
    }
    ways
}

impl Way {
    fn command(&self, program: &str, arguments: &[String]) -> Command {
        let mut words = self.before.iter().map(String::as_str).chain([program]);
        let mut command = Command::new(words.next().unwrap_or(program));
        command.args(words).args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// A recording of a program that does nothing.
struct Neighbour(Child);

impl Neighbour {
    fn new(iotoll: &str) -> Result<Self> {
        let mut command = Command::new(iotoll);
        command.args(["record", "--mechanism", "ebpf", "-o", "/dev/null", "--", "cat"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let neighbour = Self(command.spawn()?);
        // It calibrates itself first.
        std::thread::sleep(Duration::from_secs(1));
        Ok(neighbour)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// This program's own hidden commands.
fn own(arguments: &[String]) -> Result<(String, Vec<String>)> {
    let program = std::env::current_exe()?.display().to_string();
    Ok((program, [&["bench".to_owned()], arguments].concat()))
}

/// What an append costs more, each way; that of eBPF.
fn appends(iotoll: &str, ways: &[Way], folder: &Path, rounds: usize) -> Result<Option<f64>> {
    let mut times = vec![Vec::new(); ways.len()];
    let mut order: Vec<usize> = (0..ways.len()).collect();
    for _ in 0..rounds {
        order.shuffle(&mut rng());
        for way in &order {
            let file = folder.join("log").display().to_string();
            let arguments = ["record-loop".to_owned(), file, ways[*way].calls.to_string()];
            let (program, arguments) = own(&arguments)?;
            let neighbour = ways[*way].beside.then(|| Neighbour::new(iotoll)).transpose()?;
            let said = process::output(&mut ways[*way].command(&program, &arguments))?;
            drop(neighbour);
            times[*way].push(said.trim().parse::<f64>().context("the loop says its time")?);
        }
    }
    println!("an append of {LINE_BYTES} bytes, in {rounds} rounds, median and 95% interval");
    let bare = times[0].clone();
    println!("{:<7} {:.0} ns", "bare", Spread::of(bare.iter().copied()).median);
    let mut of_ebpf = None;
    for (way, times) in ways.iter().zip(&times).skip(1) {
        let added = Spread::of(times.iter().zip(&bare).map(|(time, bare)| time - bare));
        println!("{:<7} {} ns more", way.name, added.show(|ns| format!("{ns:.0}")));
        if way.name == "ebpf" {
            of_ebpf = Some(added.median);
        }
    }
    Ok(of_ebpf)
}

/// How many calls are lost where a million come each second.
fn storm(iotoll: &str, folder: &Path, seconds: u64) -> Result<u64> {
    const RATE: u64 = 1_000_000;
    let trace = folder.join("storm.trace");
    let arguments = ["record-storm".to_owned(), seconds.to_string(), RATE.to_string()];
    let (program, arguments) = own(&arguments)?;
    let mut command = Command::new(iotoll);
    command.args(["record", "--mechanism", "ebpf", "-o"]).arg(&trace).arg("--").arg(program);
    let said = process::output(command.args(arguments).stderr(Stdio::null()))?;
    let mut reader = TraceReader::new(File::open(&trace)?)?;
    let (mut kept, mut lost) = (0_u64, 0);
    while let Some(entry) = reader.next_entry()? {
        match entry {
            Entry::Call(_) => kept += 1,
            Entry::Lost { count } => lost += count,
            _ => {}
        }
    }
    let bytes = fs::metadata(&trace)?.len() as f64 / kept.max(1) as f64;
    println!("{} calls a second for {seconds} s: {kept} kept, {lost} lost", said.trim());
    println!("{bytes:.2} bytes for each call");
    Ok(lost)
}

/// By how much a program that uses SQLite becomes slower; that of eBPF.
fn sqlite(ways: &[Way], folder: &Path, rounds: usize) -> Result<Option<f64>> {
    if find_program("sqlite3").is_none() {
        println!("SQLite is not timed: sqlite3 is not installed");
        return Ok(None);
    }
    let ways: Vec<&Way> = ways.iter().filter(|way| ["bare", "ebpf"].contains(&way.name)).collect();
    let mut times = vec![Vec::new(); ways.len()];
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..ways.len()).collect();
        order.shuffle(&mut rng());
        for way in order {
            let database = folder.join(format!("{round}-{way}.db"));
            times[way].push(transactions(ways[way], &database)?.as_secs_f64());
            fs::remove_file(&database)?;
        }
    }
    let ratio = Spread::of(times[1].iter().zip(&times[0]).map(|(way, bare)| way / bare));
    let percent = |ratio: f64| format!("{:+.1}%", (ratio - 1.0) * 100.0);
    println!("SQLite, {TRANSACTIONS} transactions by eBPF: {}", ratio.show(percent));
    Ok(Some(ratio.median))
}

/// From the first transaction's beginning to the last one's end: the shell says when each is.
fn transactions(way: &Way, database: &Path) -> Result<Duration> {
    let mut script =
        String::from("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT);\n.print ready\n");
    for _ in 0..TRANSACTIONS {
        script += "INSERT INTO t (v) VALUES (hex(randomblob(100)));\n";
        script +=
            "SELECT count(*), max(length(v)) FROM (SELECT v FROM t ORDER BY k DESC LIMIT 50);\n";
    }
    script += ".print done\n";
    let mut child = way
        .command("sqlite3", &[database.display().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().context("its input is a pipe")?;
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let lines = std::io::BufRead::lines(std::io::BufReader::new(
        child.stdout.take().context("its output is a pipe")?,
    ));
    let (mut began, mut took) = (None, None);
    for line in lines {
        match line?.as_str() {
            "ready" => began = Some(Instant::now()),
            "done" => took = began.map(|began: Instant| began.elapsed()),
            _ => {}
        }
    }
    ensure!(child.wait()?.success(), "sqlite3 failed");
    writer.join().map_err(|_| anyhow::anyhow!("the script was not written"))??;
    took.context("sqlite3 did not say that it was done")
}

/// Appends lines to a file, and prints how many nanoseconds each took.
pub(crate) fn run_loop(args: &LoopArgs) -> Result<()> {
    let mut file = File::options().append(true).create(true).open(&args.file)?;
    file.set_len(0)?;
    let line = [b'x'; LINE_BYTES];
    let began = Instant::now();
    for _ in 0..args.calls {
        file.write_all(black_box(&line))?;
    }
    println!("{:.1}", began.elapsed().as_nanos() as f64 / f64::from(args.calls));
    Ok(())
}

/// Makes so many calls a second, or as many as it can, and prints how many those were.
pub(crate) fn run_storm(args: &StormArgs) -> Result<()> {
    let mut file = tempfile::tempfile()?;
    let (began, mut calls) = (Instant::now(), 0_u64);
    while began.elapsed() < Duration::from_secs(args.seconds) {
        let due = began.elapsed().as_nanos() as u64 * args.rate / 1_000_000_000;
        while calls < due {
            black_box(file.stream_position()?);
            calls += 1;
        }
    }
    println!("{:.0}", calls as f64 / began.elapsed().as_secs_f64());
    Ok(())
}
