//! `iotoll load`: an open-loop HTTP client.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use host::input;
use load::{Expect, Gap, Permission, Plan, Request, Reuse, Steps, Target, Version, analyse_load};
use model::address::Address;
use model::load::{LoadRun, Run, ServerMeter};
use process::{Port, Server, ServerWatch};
use report::load::{Layout, render};
use store::Kind;

use crate::cli::{GapArg, HttpArg, LayoutArg, LoadArgs, Rate};
use crate::delivery::deliver;
use crate::destination::Destination;
use crate::exit::{Exit, UsageError};
use crate::saving::{self, Finished};
use crate::{output, progress, session, signals};

/// A longer body would be held as a whole and sent with every request.
const BODY_BYTES_MAX: u64 = 16 << 20;
/// More steps than anyone reads.
const STEPS_MAX: usize = 1000;
/// How long a server that is started here may take to listen.
const SERVE_PATIENCE: Duration = Duration::from_secs(30);

/// Runs the command.
pub(crate) fn run(args: &LoadArgs) -> anyhow::Result<Exit> {
    let stop = signals::stop_flag()?;
    let (url, reserved) = url_and_port(args)?;
    let plan = plan(args, Target::parse(&url)?)?;
    let json = args.json.as_deref().map(Destination::open).transpose()?;
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
    let document = run.with_analysis(&analysis);
    let finished = Finished {
        kind: Kind::Load,
        id: &run.run.id,
        started: &run.run.started,
        subject: run.plan.url.clone(),
        places: Vec::new(),
        seconds: run.run.seconds,
    };
    saving::keep(store, &finished, &document);
    let delivered = deliver(json, &document, |_| render(layout_of(args.layout), &run, &analysis));
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
    plan.gap = match args.gap {
        GapArg::Constant => Gap::Constant,
        GapArg::Uniform => Gap::Uniform,
        GapArg::Exponential => Gap::Exponential,
    };
    Ok(plan)
}

fn steps(args: &LoadArgs) -> anyhow::Result<Steps> {
    if let (Some(concurrency), Some(requests)) = (args.concurrency, args.requests) {
        return Ok(Steps::Closed { concurrency, requests });
    }
    let connections = args.connections;
    if args.rate == [Rate::Max] {
        return Ok(Steps::MaxRate { connections });
    }
    let rates: Option<Vec<f64>> = args
        .rate
        .iter()
        .map(|rate| match rate {
            Rate::PerSecond(rate) => Some(*rate),
            Rate::Max => None,
        })
        .collect();
    let rates = rates.ok_or_else(|| {
        UsageError(String::from("--rate max cannot be combined with other rates"))
    })?;
    if rates.len() > STEPS_MAX {
        let what = format!(
            "--rate: {} rates were given, but at most {STEPS_MAX} are allowed",
            rates.len()
        );
        return Err(UsageError(what).into());
    }
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
    request.version = match args.http {
        HttpArg::Http10 => Version::Http10,
        HttpArg::Http11 => Version::Http11,
    };
    for header in &args.headers {
        request.add_header(header)?;
    }
    Ok(request)
}

pub(crate) fn layout_of(layout: LayoutArg) -> Layout {
    match layout {
        LayoutArg::Plain => Layout::Plain,
        LayoutArg::Httperf => Layout::Httperf,
        LayoutArg::Ab => Layout::Ab,
    }
}
