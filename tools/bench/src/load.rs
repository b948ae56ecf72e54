//! What `iotoll load` costs beside other HTTP clients, and how well it keeps
//! time.
//!
//! nginx with one worker has core 0, the client core 1, and the tools that
//! are compared take turns within each round, so that whatever else the
//! machine does meets all of them. CPU time is what the kernel charged to the
//! client's process (wait4(2)); requests are those that the client says were
//! answered. All traffic stays on 127.0.0.1.

mod tools;

use anyhow::{Context, ensure};
use model::address::Address;
use process::{Port, Server};
use std::{fs, path::Path, sync::atomic::AtomicBool, time::Duration};
use tools::{Run, Setting, Tool};
use xtask::process::build_release_iotoll;

/// Rates that are tried for the highest clean one, some 20% apart.
const RATES: [u32; 13] =
    [3000, 4000, 5000, 6000, 8000, 10_000, 12_000, 15_000, 18_000, 22_000, 26_000, 31_000, 36_000];
/// Seconds of each such step.
const RATE_S: u32 = 2;

/// Benchmarks the load generator against others
#[derive(Debug, clap::Args)]
pub(crate) struct BenchLoadArgs {
    /// Rounds, each with every tool once
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Requests in each closed loop
    #[arg(long, default_value_t = 200_000)]
    requests: u64,
    /// Requests of the run that looks at memory
    #[arg(long, default_value_t = 10_000_000)]
    memory_requests: u64,
    /// Put this session, and so server and clients, before all others on a
    /// machine that has other things to do (needs root)
    #[arg(long)]
    priority: bool,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// CPU time for each request
    Cpu,
    /// Highest rate without errors
    Clean,
    /// CPU time at a low rate, and lag
    Pace,
    /// Memory after many requests
    Memory,
}

/// Runs all the comparisons and prints them.
pub(crate) fn run(args: &BenchLoadArgs) -> anyhow::Result<()> {
    if args.priority {
        // Niceness counts only within a session (sched(7), autogroups).
        fs::write("/proc/self/autogroup", "-20").context("cannot raise the priority")?;
    }
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let iotoll = build_release_iotoll()?;
    let reserved = Port::reserve()?;
    let port = reserved.number();
    let _server = start_nginx(folder.path(), reserved)?;
    let setting = Setting { iotoll, url: format!("http://127.0.0.1:{port}/"), port };
    let bench = Bench { setting, rounds: args.rounds };
    println!("| figure | iotoll | other | ratio: median (range) | asked for | |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let wanted = |part| args.only.is_empty() || args.only.contains(&part);
    if wanted(Part::Cpu) {
        bench.cpu_times(args.requests)?;
    }
    if wanted(Part::Clean) {
        bench.highest_clean_rate()?;
    }
    if wanted(Part::Pace) {
        bench.low_rate()?;
        bench.lag()?;
    }
    if wanted(Part::Memory) {
        bench.memory(args.memory_requests)?;
    }
    Ok(())
}

struct Bench {
    setting: Setting,
    rounds: usize,
}

impl Bench {
    fn cpu_times(&self, requests: u64) -> anyhow::Result<()> {
        for other in [Tool::Wrk, Tool::AbKept, Tool::OhaKept] {
            self.cpu(Tool::IotollKept, other, requests, "CPU µs per kept-alive request")?;
        }
        for other in [Tool::Ab, Tool::Oha] {
            self.cpu(Tool::Iotoll, other, requests / 2, "CPU µs per connection-per-request")?;
        }
        Ok(())
    }

    /// CPU time for each request, beside another tool.
    fn cpu(&self, ours: Tool, other: Tool, requests: u64, what: &str) -> anyhow::Result<()> {
        let limit = matches!(other, Tool::Wrk | Tool::Ab).then_some(Limit::AtMost(1.0));
        self.beside(what, [ours, other], limit, |tool| {
            let run = self.setting.run(tool, requests)?;
            ensure!(run.replies > 0, "{} had no reply", tool.name());
            Ok(run.cpu_s * 1e6 / run.replies as f64)
        })
    }

    /// The highest of [`RATES`] at which nothing fails and the rate is kept.
    fn highest_clean_rate(&self) -> anyhow::Result<()> {
        let (tools, limit) = ([Tool::IotollRate, Tool::Httperf], Some(Limit::AtLeast(3.0)));
        let rate = |tool| self.clean_rate(tool).map(f64::from);
        self.beside("highest clean connections/s", tools, limit, rate)
    }

    /// A figure of ours and of another tool, in each round.
    fn beside(
        &self,
        what: &str,
        [ours, other]: [Tool; 2],
        limit: Option<Limit>,
        figure: impl Fn(Tool) -> anyhow::Result<f64>,
    ) -> anyhow::Result<()> {
        if !other.is_installed() {
            println!("| {what} | | {} is not installed | | | |", other.name());
            return Ok(());
        }
        let (mut mine, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..self.rounds {
            // Who goes first changes from round to round.
            let order = if round % 2 == 0 { [ours, other] } else { [other, ours] };
            for tool in order {
                if tool == ours { &mut mine } else { &mut theirs }.push(figure(tool)?);
            }
        }
        compare(what, other.name(), &mine, &theirs, limit);
        Ok(())
    }

    fn clean_rate(&self, tool: Tool) -> anyhow::Result<u32> {
        let mut best = 0;
        let mut failures = 0;
        for rate in RATES {
            let clean = (0..2).try_fold(false, |clean, _| {
                anyhow::Ok(clean || self.setting.run_rate(tool, rate, RATE_S)?.is_clean(rate))
            })?;
            if clean {
                (best, failures) = (rate, 0);
            } else {
                failures += 1;
            }
            // A disturbance fails one rate; two in a row are a limit.
            if failures == 2 {
                break;
            }
        }
        Ok(best)
    }

    /// What a figure of each round comes to, where every round is a run at a rate.
    fn at_rate(
        &self,
        tool: Tool,
        rate: u32,
        figure: impl Fn(Run) -> f64,
    ) -> anyhow::Result<Vec<f64>> {
        let run = |_| Ok(figure(self.setting.run_rate(tool, rate, 5)?));
        (0..self.rounds).map(run).collect()
    }

    /// CPU time at a rate at which a client has next to nothing to do.
    fn low_rate(&self) -> anyhow::Result<()> {
        let percent = |tool| self.at_rate(tool, 300, |run| run.cpu_s * 100.0 / run.wall_s);
        let mine = percent(Tool::IotollRate)?;
        let what = "CPU % of a core at 300 connections/s";
        absolute(what, &mine, 5.0);
        if Tool::Httperf.is_installed() {
            compare(what, "httperf", &mine, &percent(Tool::Httperf)?, None);
        }
        Ok(())
    }

    fn lag(&self) -> anyhow::Result<()> {
        let lags = self.at_rate(Tool::IotollRate, 5000, |run| run.lag_p99_us)?;
        absolute("lag p99, µs, at 5,000 connections/s", &lags, 100.0);
        Ok(())
    }

    fn memory(&self, requests: u64) -> anyhow::Result<()> {
        let run = self.setting.run(Tool::IotollKept, requests)?;
        ensure!(run.replies == requests, "{} of {requests} were answered", run.replies);
        absolute(&format!("MiB after {requests} requests"), &[run.memory_mib], 64.0);
        Ok(())
    }
}

/// What a ratio should be.
#[derive(Clone, Copy)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

fn compare(what: &str, other: &str, mine: &[f64], theirs: &[f64], limit: Option<Limit>) {
    let ratios: Vec<f64> = mine.iter().zip(theirs).map(|(m, t)| m / t).collect();
    let (ratio, low, high) = spread(&ratios);
    let (asked, met) = match limit {
        None => (String::new(), ""),
        Some(Limit::AtMost(most)) => (format!("≤ {most}"), mark(ratio <= most)),
        Some(Limit::AtLeast(least)) => (format!("≥ {least}"), mark(ratio >= least)),
    };
    let (mine, theirs) = (spread(mine).0, spread(theirs).0);
    println!(
        "| {what} | {mine:.2} | {other} {theirs:.2} | {ratio:.2} ({low:.2} to {high:.2}) | {asked} | {met} |"
    );
}

fn absolute(what: &str, values: &[f64], most: f64) {
    let (median, low, high) = spread(values);
    let met = mark(median <= most);
    println!("| {what} | {median:.2} ({low:.2} to {high:.2}) | | | ≤ {most} | {met} |");
}

fn mark(met: bool) -> &'static str {
    if met { "met" } else { "NOT MET" }
}

/// Median and range.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    (at(sorted.len() / 2), at(0), at(sorted.len().saturating_sub(1)))
}

/// nginx with one worker on core 0, which goes when the value is dropped.
fn start_nginx(folder: &Path, reserved: Port) -> anyhow::Result<Server> {
    let port = reserved.number();
    let root = folder.display();
    let temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {root}/{kind}; "))
        .concat();
    let config = format!(
        "worker_processes 1; daemon off; pid {root}/pid; error_log stderr;\n\
         events {{ worker_connections 20000; }}\n\
         http {{ access_log off; keepalive_requests 1000000000; {temps}\n\
         server {{ listen 127.0.0.1:{port} backlog=4096; root {root}; }} }}\n"
    );
    fs::write(folder.join("nginx.conf"), config)?;
    fs::write(folder.join("index.html"), "hello, world\n")?;
    // The worker may run as another user.
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let command = format!("exec taskset -c 0 nginx -p {root} -c {root}/nginx.conf");
    let mut server = Server::start(&command, reserved)?;
    let address = Address::Tcp("127.0.0.1".to_owned(), port);
    server.await_ready(&address, Duration::from_secs(30), &AtomicBool::new(false))?;
    Ok(server)
}
