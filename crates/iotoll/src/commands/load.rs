//! `iotoll load`: an open-loop HTTP client.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;
use host::input;
use load::{
    Expect, Gap, HALF_WIDTH_MAX, HALF_WIDTH_MIN, Permission, Plan, Request, Reuse, Steps, Target,
    Version, analyse_load,
};
use model::address::Address;
use model::load::{LoadRun, Run, ServerMeter};
use process::{Port, Server, ServerWatch};
use report::formats::Content;
use report::load::{Layout, render};
use store::{Entry, Kind};
use units::{parse_duration, parse_share, percent};

use crate::cli::{FormatsOfLoad, LAYOUTS, one_of};
use crate::exit::{Exit, UsageError};
use crate::measuring::session;
use crate::results::{Targets, deliver, saving};
use crate::signals;
use crate::terminal::{output, progress};

const GAPS: [(&str, Gap); 3] =
    [("constant", Gap::Constant), ("uniform", Gap::Uniform), ("exponential", Gap::Exponential)];
const VERSIONS: [(&str, Version); 2] = [("1.0", Version::Http10), ("1.1", Version::Http11)];
/// A longer body would be held as a whole and sent with every request.
const BODY_BYTES_MAX: u64 = 16 << 20;
/// More steps than anyone reads.
const STEPS_MAX: usize = 1000;
/// How long a server that is started here may take to listen.
const SERVE_PATIENCE: Duration = Duration::from_secs(30);

/// Load an HTTP server in an open loop and report what its users would see
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 success, even if there were errors or invalid steps, which \
    are reported; 1 the load could not be run; 2 invalid usage; 130 interrupted; what was \
    measured so far has been reported.\n\nExamples:\n  \
    iotoll load http://127.0.0.1:8080/ --rate 200,300\n  \
    iotoll load http://127.0.0.1:8080/ --rate 500 --until 5%\n  \
    iotoll load http://127.0.0.1:8080/ --rate max\n  \
    iotoll load unix:/run/app.sock:/page --concurrency 8 --requests 10000 --keep-alive\n  \
    iotoll load 'http://127.0.0.1:{port}/' --rate 300 --serve 'python3 -m http.server {port}'")]
// Each is a flag of the command line.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct LoadArgs {
    #[arg(help = "http://HOST[:PORT]/PATH or unix:/SOCKET[:/PATH]; with --serve, {port} is \
        replaced by a free port")]
    url: String,

    /// Open loop: connections started per second, one step for each rate; `max`
    /// searches for the highest rate that the server holds
    #[arg(
        long,
        value_name = "R[,R...]|max",
        value_delimiter = ',',
        value_parser = parse_rate,
        conflicts_with = "concurrency",
        required_unless_present = "concurrency"
    )]
    rate: Vec<Rate>,

    /// Connections in each step [default: ten seconds' worth]
    #[arg(long, value_name = "N", requires = "rate", value_parser = at_least_one())]
    connections: Option<u64>,

    /// End a step once p50, p90 and p99 are known within this, such as 5%; then --connections
    /// and --requests are its most [default with --rate: 100 seconds' worth]
    #[arg(long, value_name = "SHARE", value_parser = half_width)]
    until: Option<f64>,

    /// Distribution of the gaps between starts, whose mean is 1/rate
    #[arg(long, value_name = "GAP", default_value = "constant", value_parser = one_of(&GAPS))]
    gap: Gap,

    /// Seed of the random gaps
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Closed loop: number of clients, each waiting for its reply
    #[arg(long, value_name = "C", requires = "requests",
        value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,

    /// Closed loop: total number of requests
    #[arg(long, value_name = "N", requires = "concurrency", value_parser = at_least_one())]
    requests: Option<u64>,

    /// Send several requests on each connection
    #[arg(long)]
    keep_alive: bool,

    /// Requests on each connection [default: 10; unlimited in a closed loop]
    #[arg(long, value_name = "N", requires = "keep_alive", value_parser = at_least_one())]
    requests_per_connection: Option<u64>,

    /// Time limit of a request, from connecting to the last byte of its reply
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    timeout: Duration,

    /// Check every body: text:TEXT (contains TEXT), sha256:HEX, or first (same
    /// as the first reply's)
    #[arg(long, value_name = "WHAT")]
    expect: Option<String>,

    /// Method of the request [default: GET, or POST with --body]
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,

    /// A header to send, as 'Name: value'; may be repeated
    #[arg(long = "header", short = 'H', value_name = "HEADER")]
    headers: Vec<String>,

    /// Send this file as the request's body
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// Version of HTTP
    #[arg(long, value_name = "HTTP", default_value = "1.1", value_parser = one_of(&VERSIONS))]
    http: Version,

    /// Allow a server outside this machine and private networks
    #[arg(long)]
    remote: bool,

    /// Lift the limits: 100,000 connections a second and 20,000 clients on this machine,
    /// 10,000 and 2,000 in private networks, 100 and 20, in steps of at most 10,000
    /// requests, elsewhere
    #[arg(long)]
    unlimited: bool,

    /// Measure CPU, I/O and memory of the server with this process id
    #[arg(long, value_name = "PID", conflicts_with = "serve")]
    server_pid: Option<i32>,

    /// Start this server with the shell, wait until it listens, measure it, and
    /// stop it with its children; {port} is the URL's port
    #[arg(long, value_name = "COMMAND")]
    serve: Option<String>,

    #[command(flatten)]
    formats: FormatsOfLoad,

    /// Do not keep the run for `iotoll show`
    #[arg(long)]
    no_save: bool,

    /// How to print the result
    #[arg(long, value_name = "LAYOUT", default_value = "plain", value_parser = one_of(&LAYOUTS))]
    layout: Layout,
}

pub(crate) fn run(args: &LoadArgs) -> anyhow::Result<Exit> {
    let stop = signals::stop_flag()?;
    let (url, reserved) = url_and_port(args)?;
    let plan = plan(args, Target::parse(&url)?)?;
    let targets = Targets::open(args.formats.files())?;
    let store = saving::open(args.no_save);
    let mut server = None;
    let mut watch = args.server_pid.map(ServerWatch::of).transpose()?;
    if let Some(command) = &args.serve {
        let mut started = Server::start(command, port_for_server(&plan.target, reserved)?)?;
        if let Err(error) = started.await_ready(&plan.target.address, SERVE_PATIENCE, &stop) {
            if !stop.load(Ordering::Relaxed) {
                return Err(error.into());
            }
            output::note(&error.to_string());
            return Ok(Exit::Interrupted);
        }
        watch = Some(started.watch());
        server = Some(started);
    }
    let run = measure(&plan, watch.as_ref(), &stop)?;
    let analysis = analyse_load(&run);
    let Run { id, started, seconds, .. } = &run.run;
    let entry = saving::finished(Kind::Load, id, started, *seconds);
    let entry = Entry { subject: run.plan.url.clone(), ..entry };
    saving::keep(store, &entry, &run.with_analysis(&analysis));
    let delivered = deliver(targets, Content::Load { run: &run, analysis: &analysis }, |_| {
        render(args.layout, &run, &analysis)
    });
    // It may take seconds to end, or not be to be ended: the result does not wait for it.
    drop(server);
    delivered?;
    Ok(if run.run.interrupted { Exit::Interrupted } else { Exit::Done })
}

/// Runs the load; what disturbed it from outside is seen in its own lateness.
fn measure(plan: &Plan, watch: Option<&ServerWatch>, stop: &AtomicBool) -> anyhow::Result<LoadRun> {
    let (header, began) = (session::header(), Instant::now());
    let meter = watch.map(|watch| watch as &dyn ServerMeter);
    let measured = progress::of_load(|events| load::run(plan, meter, events, stop))?;
    let run = Run {
        id: header.id,
        started: header.started,
        seconds: began.elapsed().as_secs_f64(),
        version: header.version,
        interrupted: measured.interrupted,
    };
    Ok(measured.into_record(run, host::machine::describe()))
}

/// The URL, with the port that was reserved for `{port}` in it.
fn url_and_port(args: &LoadArgs) -> anyhow::Result<(String, Option<Port>)> {
    if !args.url.contains("{port}") {
        return Ok((args.url.clone(), None));
    }
    if args.serve.is_none() {
        return Err(UsageError(String::from("{port} in the URL requires --serve")).into());
    }
    let port = Port::reserve()?;
    Ok((args.url.replace("{port}", &port.number().to_string()), Some(port)))
}

/// The port that a server's command is given: the URL's, or for a socket any that is free.
fn port_for_server(target: &Target, reserved: Option<Port>) -> Result<Port, process::Error> {
    match &target.address {
        Address::Tcp(_, number) => {
            let reserved = reserved.filter(|port| port.number() == *number);
            Ok(reserved.unwrap_or_else(|| Port::from(*number)))
        }
        Address::Unix(_) => reserved.map_or_else(Port::reserve, Ok),
    }
}

fn plan(args: &LoadArgs, target: Target) -> anyhow::Result<Plan> {
    let mut plan = Plan::new(target, steps(args)?);
    plan.request = request(args)?;
    plan.permission = Permission { remote: args.remote, unlimited: args.unlimited };
    plan.reuse = match (args.keep_alive, args.requests_per_connection, args.concurrency) {
        (false, ..) => Reuse::Never,
        (true, Some(n), _) => Reuse::Requests(n),
        (true, None, Some(_)) => Reuse::Always,
        (true, None, None) => Reuse::Requests(10),
    };
    plan.timeout = args.timeout;
    plan.expect = args.expect.as_deref().map_or(Ok(Expect::Anything), Expect::parse)?;
    plan.seed = args.seed;
    plan.gap = args.gap;
    plan.until = args.until;
    ensure!(
        plan.until.is_none() || !matches!(plan.steps, Steps::MaxRate { .. }),
        UsageError(String::from(
            "--until cannot be combined with --rate max: find the rate first, then load the \
             server at it with --until"
        ))
    );
    Ok(plan)
}

fn steps(args: &LoadArgs) -> anyhow::Result<Steps> {
    if let (Some(concurrency), Some(requests)) = (args.concurrency, args.requests) {
        return Ok(Steps::Closed { concurrency, requests });
    }
    let connections = args.connections;
    if args.rate == [None] {
        return Ok(Steps::MaxRate { connections });
    }
    let rates: Option<Vec<f64>> = args.rate.iter().copied().collect();
    let rates = rates.ok_or_else(|| {
        UsageError(String::from("--rate max cannot be combined with other rates"))
    })?;
    let given = rates.len();
    ensure!(
        given <= STEPS_MAX,
        UsageError(format!(
            "--rate: {given} rates were given, but at most {STEPS_MAX} are allowed"
        ))
    );
    Ok(Steps::Rates { rates, connections })
}

fn request(args: &LoadArgs) -> anyhow::Result<Request> {
    let mut request = Request::default();
    if let Some(path) = &args.body {
        request.body = input::read(path, BODY_BYTES_MAX)
            .map_err(|e| UsageError(format!("cannot read the body {}: {e}", path.display())))?;
    }
    let default = if args.body.is_some() { "POST" } else { "GET" };
    let method = args.method.as_deref().unwrap_or(default);
    request.method = method.parse().map_err(|_| {
        UsageError(format!("--method {method}: not an HTTP method; give one such as GET or POST"))
    })?;
    request.version = args.http;
    for header in &args.headers {
        request.add_header(header)?;
    }
    Ok(request)
}

/// Connections per second; nothing where the highest rate is to be found.
type Rate = Option<f64>;

fn parse_rate(given: &str) -> Result<Rate, &'static str> {
    match given.parse::<f64>() {
        _ if given == "max" => Ok(None),
        Ok(rate) if (0.001..=1e6).contains(&rate) => Ok(Some(rate)),
        _ => Err("not a rate; expected connections per second, or max"),
    }
}

fn half_width(given: &str) -> Result<f64, String> {
    let share = parse_share(given).map_err(|e| e.to_string())?;
    if (HALF_WIDTH_MIN..=HALF_WIDTH_MAX).contains(&share) {
        Ok(share)
    } else {
        Err(format!("must be between {} and {}", percent(HALF_WIDTH_MIN), percent(HALF_WIDTH_MAX)))
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
