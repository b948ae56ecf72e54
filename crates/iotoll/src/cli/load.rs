//! The arguments of `iotoll load`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use units::parse_duration;

/// Load an HTTP server in an open loop and report what its users would see
///
/// Connections start at their intended times whatever the server does, and
/// latency is counted from those times. A step is marked invalid if its figures
/// are this client's rather than the server's.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 success, even if there were errors or invalid steps, which \
    are reported; 1 the load could not be run; 2 invalid usage; 130 interrupted; what was \
    measured so far has been reported.\n\nExamples:\n  \
    iotoll load http://127.0.0.1:8080/ --rate 200,300\n  \
    iotoll load http://127.0.0.1:8080/ --rate max\n  \
    iotoll load unix:/run/app.sock:/page --concurrency 8 --requests 10000 --keep-alive\n  \
    iotoll load 'http://127.0.0.1:{port}/' --rate 300 --serve 'python3 -m http.server {port}'")]
// Each is a flag of the command line.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct LoadArgs {
    #[arg(help = "http://HOST[:PORT]/PATH or unix:/SOCKET[:/PATH]; with --serve, {port} is \
        replaced by a free port")]
    pub(crate) url: String,

    /// Open loop: connections started per second, one step for each rate; `max`
    /// searches for the highest rate that the server holds
    #[arg(
        long,
        value_name = "R[,R...]|max",
        value_delimiter = ',',
        conflicts_with = "concurrency",
        required_unless_present = "concurrency"
    )]
    pub(crate) rate: Vec<Rate>,

    /// Connections in each step [default: ten seconds' worth]
    #[arg(long, value_name = "N", requires = "rate", value_parser = at_least_one())]
    pub(crate) connections: Option<u64>,

    /// Distribution of the gaps between starts, whose mean is 1/rate
    #[arg(long, value_enum, default_value_t = GapArg::Constant)]
    pub(crate) gap: GapArg,

    /// Seed of the random gaps
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Closed loop: number of clients, each waiting for its reply
    #[arg(long, value_name = "C", requires = "requests",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) concurrency: Option<u32>,

    /// Closed loop: total number of requests
    #[arg(long, value_name = "N", requires = "concurrency", value_parser = at_least_one())]
    pub(crate) requests: Option<u64>,

    /// Send several requests on each connection
    #[arg(long)]
    pub(crate) keep_alive: bool,

    /// Requests on each connection [default: 10; unlimited in a closed loop]
    #[arg(long, value_name = "N", requires = "keep_alive", value_parser = at_least_one())]
    pub(crate) requests_per_connection: Option<u64>,

    /// Time limit of a request, from connecting to the last byte of its reply
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) timeout: Duration,

    /// Check every body: text:TEXT (contains TEXT), sha256:HEX, or first (same
    /// as the first reply's)
    #[arg(long, value_name = "WHAT")]
    pub(crate) expect: Option<String>,

    /// Method of the request [default: GET, or POST with --body]
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Option<String>,

    /// A header to send, as 'Name: value'; may be repeated
    #[arg(long = "header", short = 'H', value_name = "HEADER")]
    pub(crate) headers: Vec<String>,

    /// Send this file as the request's body
    #[arg(long, value_name = "FILE")]
    pub(crate) body: Option<PathBuf>,

    /// Version of HTTP
    #[arg(long, value_enum, default_value_t = HttpArg::Http11)]
    pub(crate) http: HttpArg,

    /// Allow a server outside this machine and private networks
    #[arg(long)]
    pub(crate) remote: bool,

    /// Lift the limits: 100,000 connections a second and 20,000 clients on this machine,
    /// 10,000 and 2,000 in private networks, 100 and 20, in steps of at most 10,000
    /// requests, elsewhere
    #[arg(long)]
    pub(crate) unlimited: bool,

    /// Measure CPU, I/O and memory of the server with this process id
    #[arg(long, value_name = "PID", conflicts_with = "serve")]
    pub(crate) server_pid: Option<i32>,

    /// Start this server with the shell, wait until it listens, measure it, and
    /// stop it with its children; {port} is the URL's port
    #[arg(long, value_name = "COMMAND")]
    pub(crate) serve: Option<String>,

    /// Write the result as JSON to FILE; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Do not keep the run for `iotoll show`
    #[arg(long)]
    pub(crate) no_save: bool,

    /// How to print the result
    #[arg(long, value_enum, default_value_t = LayoutArg::Plain)]
    pub(crate) layout: LayoutArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GapArg {
    Constant,
    Uniform,
    Exponential,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum HttpArg {
    #[value(name = "1.0")]
    Http10,
    #[value(name = "1.1")]
    Http11,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LayoutArg {
    Plain,
    Httperf,
    Ab,
}

/// A rate as given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rate {
    PerSecond(f64),
    Max,
}

impl std::str::FromStr for Rate {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        if given == "max" {
            return Ok(Self::Max);
        }
        match given.parse::<f64>() {
            Ok(rate) if (0.001..=1e6).contains(&rate) => Ok(Self::PerSecond(rate)),
            _ => Err(String::from("not a rate; expected connections per second, or max")),
        }
    }
}

fn at_least_one() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

fn duration(given: &str) -> Result<Duration, String> {
    let time = parse_duration(given).map_err(|e| e.to_string())?;
    if (Duration::from_millis(1)..=Duration::from_secs(3600)).contains(&time) {
        Ok(time)
    } else {
        Err(String::from("must be between 1ms and 1h"))
    }
}
