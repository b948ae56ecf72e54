//! `cargo xtask bench record`: what recording costs the program that is recorded.
//!
//! A loop of small appends runs bare, recorded by each mechanism, under strace, and beside a
//! recording of something else, in turns and in random order. The loop times itself, so that what
//! starts it does not count. Switches between threads are timed beside a recording, too. Then losses
//! are looked for where calls come as fast as they can, and a program that uses SQLite is timed.

mod own_time;
mod sqlite;
mod switches;

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use host::usage;
use model::counters::Counters as _;
use trace::{Entry, TraceReader};

use crate::spread::{Spread, enough};
use crate::turns::in_any_order;
use xtask::process::{self, find_program};

/// A line of a log.
const LINE_BYTES: usize = 70;
/// The mechanisms that are for programs which should not be slowed, and what a call may cost by each.
const CHEAP: [(&str, f64); 2] = [("ebpf", 450.0), ("preload", 150.0)];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How often each is timed
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = enough)]
    rounds: usize,
    /// How long calls come as fast as they can, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    seconds: u64,
    /// Only this part
    #[arg(long, value_enum)]
    only: Option<Part>,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// What an append costs more
    Appends,
    /// What a switch between threads costs more
    Switches,
    /// How many of a million calls a second are lost
    Losses,
    /// By how much a program that uses SQLite becomes slower
    Sqlite,
    /// How far the own time that a bill says is from that of the bare program
    Own,
}

#[derive(clap::Args)]
pub(crate) struct LoopArgs {
    /// The file that is appended to
    file: PathBuf,
    /// How many calls
    calls: u32,
    /// Without the C library
    #[arg(long)]
    past_libc: bool,
}

#[derive(clap::Args)]
pub(crate) struct UsedArgs {
    /// The command
    #[arg(trailing_var_arg = true, required = true)]
    command: Vec<String>,
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
    /// Whether the program makes its calls without the C library.
    past_libc: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let iotoll = process::build_release_iotoll()?.display().to_string();
    let folder =
        tempfile::tempdir_in(process::root().join("target")).or_else(|_| tempfile::tempdir())?;
    let ways = ways(&iotoll);
    let is_asked = |part| args.only.is_none_or(|only| only == part);
    let mut has_missed = false;
    if is_asked(Part::Appends) {
        has_missed |= appends(&iotoll, &ways, folder.path(), args.rounds)?;
    }
    if is_asked(Part::Switches) {
        switches::run(&iotoll, args.rounds)?;
    }
    if is_asked(Part::Losses) {
        for (mechanism, _) in CHEAP {
            has_missed |= storm(&iotoll, mechanism, folder.path(), args.seconds)? > 0;
        }
    }
    if is_asked(Part::Sqlite) {
        // Syncs of a device are of very different lengths.
        has_missed |= sqlite::run(&ways, folder.path(), 6 * args.rounds)?;
    }
    if is_asked(Part::Own) {
        own_time::run(&iotoll, args.rounds)?;
    }
    ensure!(!has_missed, "a target was missed");
    Ok(())
}

fn ways(iotoll: &str) -> Vec<Way> {
    let record = |mechanism: &str| {
        let words = [iotoll, "record", "--mechanism", mechanism, "-o", "/dev/null", "--"];
        words.map(str::to_owned).to_vec()
    };
    let way = |name, before, calls| Way { name, before, calls, beside: false, past_libc: false };
    let mut ways = vec![
        way("bare", Vec::new(), 200_000),
        Way { beside: true, ..way("beside", Vec::new(), 200_000) },
        way("ebpf", record("ebpf"), 200_000),
        way("preload", record("preload"), 200_000),
        Way { past_libc: true, ..way("signal", record("preload"), 50_000) },
        way("ptrace", record("ptrace"), 5_000),
    ];
    if find_program("strace").is_some() {
        let before = ["strace", "-f", "-o", "/dev/null"].map(str::to_owned).to_vec();
        ways.push(way("strace", before, 5_000));
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

/// This program, which has hidden commands.
fn own() -> Result<String> {
    Ok(std::env::current_exe()?.display().to_string())
}

/// What an append costs more, each way; whether that is too much of one that is cheap.
fn appends(iotoll: &str, ways: &[Way], folder: &Path, rounds: usize) -> Result<bool> {
    let mut times = vec![Vec::new(); ways.len()];
    for _ in 0..rounds {
        for at in in_any_order(ways.len()) {
            let way = &ways[at];
            let file = folder.join("log").display().to_string();
            let mut arguments = vec!["record-loop".to_owned(), file, way.calls.to_string()];
            arguments.extend(way.past_libc.then(|| "--past-libc".to_owned()));
            let neighbour = way.beside.then(|| Neighbour::new(iotoll)).transpose()?;
            let said = process::output(&mut way.command(&own()?, &arguments))?;
            drop(neighbour);
            times[at].push(said.trim().parse::<f64>().context("the loop says its time")?);
        }
    }
    println!("an append of {LINE_BYTES} bytes, in {rounds} rounds, median and 95% interval");
    let bare = times[0].clone();
    println!("{:<7} {:.0} ns", "bare", Spread::of(bare.iter().copied()).median);
    let mut is_too_much = false;
    for (way, times) in ways.iter().zip(&times).skip(1) {
        let added = Spread::of(times.iter().zip(&bare).map(|(time, bare)| time - bare));
        println!("{:<7} {} ns more", way.name, added.show(|ns| format!("{ns:.0}")));
        is_too_much |= CHEAP.iter().any(|(name, most)| *name == way.name && added.median > *most);
    }
    Ok(is_too_much)
}

/// How many calls are lost where a million come each second.
fn storm(iotoll: &str, mechanism: &str, folder: &Path, seconds: u64) -> Result<u64> {
    const RATE: u64 = 1_000_000;
    let trace = folder.join("storm.trace");
    let arguments = ["record-storm".to_owned(), seconds.to_string(), RATE.to_string()];
    let mut command = Command::new(iotoll);
    command.args(["record", "--mechanism", mechanism, "-o"]).arg(&trace).arg("--").arg(own()?);
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
    println!(
        "{mechanism}: {} calls a second for {seconds} s: {kept} kept, {lost} lost",
        said.trim()
    );
    println!("{bytes:.2} bytes for each call");
    Ok(lost)
}

/// Appends lines to a file, and prints how many nanoseconds each took.
pub(crate) fn run_loop(args: &LoopArgs) -> Result<()> {
    let mut file = File::options().append(true).create(true).open(&args.file)?;
    file.set_len(0)?;
    let line = [b'x'; LINE_BYTES];
    let began = Instant::now();
    for _ in 0..args.calls {
        if args.past_libc {
            rustix::io::write(&file, black_box(&line))?;
        } else {
            file.write_all(black_box(&line))?;
        }
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

/// Runs a command, and prints how much processor time it has used, in nanoseconds.
pub(crate) fn run_used(args: &UsedArgs) -> Result<()> {
    let (program, arguments) = args.command.split_first().context("there is no command")?;
    let before = usage::of_process();
    let status = Command::new(program).args(arguments).status()?;
    ensure!(status.success(), "{program} failed");
    let used = usage::of_process().since(before);
    println!("used {}", used.user_ns + used.system_ns);
    Ok(())
}
