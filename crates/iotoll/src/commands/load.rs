//! `iotoll load`: an open-loop HTTP client.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::{Args, ValueHint};
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

use crate::cli::{FormatsOfLoad, LAYOUTS, heading, one_of};
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

const LOAD_EXAMPLES: &str = "\
Examples:
  iotoll load http://127.0.0.1:8080/ --rate 200,300
  iotoll load http://127.0.0.1:8080/ --rate 500 --until 5%
  iotoll load http://127.0.0.1:8080/ --rate max
  iotoll load unix:/run/app.sock:/page --concurrency 8 --requests 10000
  iotoll load 'http://127.0.0.1:{port}/' --rate 300 \\
      --serve 'python3 -m http.server {port}'";

const URL_HELP: &str = "\
Load http://HOST[:PORT]/PATH or unix:/SOCKET[:/PATH]

With --serve, {port} is replaced by a free port.";

const LOAD_NOTES: &str = "\
Exit codes:
  0    success, even if there were errors or invalid steps, which are reported
  1    the load could not be run
  2    invalid usage
  130  interrupted; what was measured so far has been reported";

/// Load an HTTP server at a given rate and report what users see
#[derive(Debug, Args)]
#[command(after_help = LOAD_EXAMPLES)]
#[command(after_long_help = format!("{LOAD_EXAMPLES}\n\n{LOAD_NOTES}"))]
// Each is a flag of the command line.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct LoadArgs {
    #[arg(help = "Load http://HOST[:PORT]/PATH or unix:/SOCKET[:/PATH]", long_help = URL_HELP)]
    url: String,

    /// Start so many connections per second
    ///
    /// This is an open loop, with a step for each rate. `max` searches for the highest rate that
    /// the server holds.
    #[arg(
        long,
        help_heading = heading::WORKLOAD,
        value_name = "R[,R...]|max",
        value_delimiter = ',',
        value_parser = parse_rate,
        conflicts_with = "concurrency",
        required_unless_present = "concurrency"
    )]
    rate: Vec<Rate>,

    /// Make N connections in each step
    ///
    /// [default: those of ten seconds]
    #[arg(help_heading = heading::WORKLOAD)]
    #[arg(long, value_name = "N", requires = "rate", value_parser = at_least_one())]
    connections: Option<u64>,

    /// Stop once percentiles are known so closely
    ///
    /// End a step once p50, p90 and p99 are known within this, such as 5%; then --connections
    /// and --requests are its most [default with --rate: 100 seconds' worth]
    #[arg(long, value_name = "SHARE", value_parser = half_width)]
    #[arg(help_heading = heading::PRECISION)]
    until: Option<f64>,

    /// Space starts by this distribution
    ///
    /// Gaps are constant, uniform or exponential; their mean is 1/rate. [default: constant]
    #[arg(long, value_name = "GAP", default_value = "constant", value_parser = one_of(&GAPS))]
    #[arg(conflicts_with = "concurrency")]
    #[arg(help_heading = heading::WORKLOAD, hide_default_value = true)]
    #[arg(hide_possible_values = true)]
    gap: Gap,

    /// Set the seed of the random gaps
    #[arg(help_heading = heading::WORKLOAD)]
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Have C clients wait for replies in turn
    ///
    /// This is a closed loop: a client sends its next request after the reply to its last.
    #[arg(help_heading = heading::WORKLOAD)]
    #[arg(long, value_name = "C", requires = "requests",
        value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,

    /// Send N requests in a closed loop
    #[arg(help_heading = heading::WORKLOAD)]
    #[arg(long, value_name = "N", requires = "concurrency", conflicts_with = "rate")]
    #[arg(value_parser = at_least_one())]
    requests: Option<u64>,

    /// Send several requests on each connection
    #[arg(long, help_heading = heading::WORKLOAD)]
    keep_alive: bool,

    /// Send N requests on each [default: 10]
    ///
    /// In a closed loop, the default is unlimited.
    #[arg(help_heading = heading::WORKLOAD)]
    #[arg(long, value_name = "N", requires = "keep_alive", value_parser = at_least_one())]
    requests_per_connection: Option<u64>,

    /// Give a request up after this time
    ///
    /// The time counts from connecting to the last byte of the reply.
    #[arg(help_heading = heading::WORKLOAD)]
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    timeout: Duration,

    /// Check the body of every reply
    ///
    /// Give text:TEXT if it must contain TEXT, sha256:HEX, or first if it must be the same as the
    /// first.
    #[arg(long, value_name = "WHAT", help_heading = heading::WORKLOAD)]
    expect: Option<String>,

    /// Set the method [default: GET]
    ///
    /// With --body, the default is POST.
    #[arg(long, value_name = "METHOD", help_heading = heading::WORKLOAD)]
    method: Option<String>,

    /// Send this header, as 'Name: value'
    ///
    /// It may be given several times.
    #[arg(long = "header", short = 'H', value_name = "HEADER", help_heading = heading::WORKLOAD)]
    headers: Vec<String>,

    /// Send this file as the body of requests
    #[arg(long, value_name = "FILE", help_heading = heading::WORKLOAD)]
    #[arg(value_hint = ValueHint::FilePath)]
    body: Option<PathBuf>,

    /// Speak HTTP 1.0 or 1.1 [default: 1.1]
    #[arg(long, value_name = "HTTP", default_value = "1.1", value_parser = one_of(&VERSIONS))]
    #[arg(help_heading = heading::WORKLOAD, hide_default_value = true)]
    #[arg(hide_possible_values = true)]
    http: Version,

    /// Allow a server outside private networks
    #[arg(long, help_heading = heading::SAFETY)]
    remote: bool,

    /// Lift the limits of rates and clients
    ///
    /// They are 100,000 connections a second and 20,000 clients on this machine, 10,000 and 2,000
    /// in private networks, and 100 and 20 elsewhere, in steps of at most 10,000 requests.
    #[arg(long, help_heading = heading::SAFETY)]
    unlimited: bool,

    /// Measure CPU and I/O of this process
    ///
    /// It is the server. Its memory is measured as well.
    #[arg(help_heading = heading::WORKLOAD)]
    #[arg(long, value_name = "PID", conflicts_with = "serve")]
    server_pid: Option<i32>,

    /// Start this server by the shell
    ///
    /// iotoll waits until it listens, measures it, and stops it with its children. {port} is
    /// replaced by the port of the URL.
    #[arg(long, value_name = "COMMAND", help_heading = heading::WORKLOAD)]
    serve: Option<String>,

    #[command(flatten)]
    formats: FormatsOfLoad,

    /// Do not keep the run for `iotoll show`
    #[arg(long, help_heading = heading::OUTPUT)]
    no_save: bool,

    /// Lay it out as plain, httperf or ab
    #[arg(long, value_name = "LAYOUT", default_value = "plain", value_parser = one_of(&LAYOUTS))]
    #[arg(help_heading = heading::OUTPUT, hide_default_value = true)]
    #[arg(hide_possible_values = true)]
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
