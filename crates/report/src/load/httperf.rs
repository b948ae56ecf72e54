//! httperf's layout (httperf 0.9, `src/stat/stats_print.c` and the man page's
//! section OUTPUT), one block for each step.
//!
//! Its reply rate is sampled every five seconds; ours more often, which its
//! own "(N samples)" tells. Kinds of errors that httperf does not know are
//! added up under "other", so that its total stays the sum of its kinds.

use std::fmt::Write;

use super::seconds;

use model::load::{LoadRun, Step, StepAnalysis, Summary};

pub(super) fn block(
    out: &mut String,
    run: &LoadRun,
    step: &Step,
    seen: &StepAnalysis,
) -> std::fmt::Result {
    writeln!(out, "iotoll load {} ({})\n", run.plan.url, what(step))?;
    connections(out, step, seen)?;
    replies(out, run, step, seen)?;
    resources(out, step, seen)?;
    errors(out, step)?;
    if let Some(why) = &seen.why_invalid {
        writeln!(out, "\nINVALID: {why}")?;
    }
    Ok(())
}

fn mean_of(summary: Option<Summary>) -> f64 {
    summary.map_or(0.0, |s| s.mean)
}

fn connections(out: &mut String, step: &Step, seen: &StepAnalysis) -> std::fmt::Result {
    let seconds = seconds(seen);
    let per_connection = step.replies as f64 / (step.completed.max(1)) as f64;
    writeln!(
        out,
        "Total: connections {} requests {} replies {} test-duration {seconds:.3} s\n",
        step.attempted, step.requests, step.replies
    )?;
    let rate = step.attempted as f64 / seconds;
    writeln!(
        out,
        "Connection rate: {rate:.1} conn/s ({:.1} ms/conn, <={} concurrent connections)",
        1e3 / rate.max(1e-9),
        step.open_connections.max
    )?;
    let times = |s: Option<Summary>| {
        s.map_or((0.0, 0.0, 0.0, 0.0, 0.0), |s| (s.min, s.mean, s.max, s.p50, s.stddev))
    };
    let (min, mean, max, median, stddev) = times(seen.connection_from_connect_ms);
    writeln!(
        out,
        "Connection time [ms]: min {min:.1} avg {mean:.1} max {max:.1} median {median:.1} \
         stddev {stddev:.1}"
    )?;
    writeln!(out, "Connection time [ms]: connect {:.1}", mean_of(seen.connect_ms))?;
    writeln!(out, "Connection length [replies/conn]: {per_connection:.3}\n")
}

fn replies(out: &mut String, run: &LoadRun, step: &Step, seen: &StepAnalysis) -> std::fmt::Result {
    let requests = step.requests as f64 / seconds(seen);
    writeln!(out, "Request rate: {requests:.1} req/s ({:.1} ms/req)", 1e3 / requests.max(1e-9))?;
    writeln!(out, "Request size [B]: {:.1}\n", run.request_bytes as f64)?;

    let reply = &seen.reply_rate;
    writeln!(
        out,
        "Reply rate [replies/s]: min {:.1} avg {:.1} max {:.1} stddev {:.1} ({} samples)",
        reply.min,
        reply.mean,
        reply.max,
        reply.stddev,
        reply.samples.len()
    )?;
    writeln!(
        out,
        "Reply time [ms]: response {:.1} transfer {:.1}",
        mean_of(seen.response_ms),
        mean_of(seen.transfer_ms)
    )?;
    let replies = step.replies.max(1) as f64;
    let (head, body) =
        (step.bytes.received_heads as f64 / replies, step.bytes.received_bodies as f64 / replies);
    writeln!(
        out,
        "Reply size [B]: header {head:.1} content {body:.1} footer 0.0 (total {:.1})",
        head + body
    )?;
    let status = &step.status;
    writeln!(
        out,
        "Reply status: 1xx=0 2xx={} 3xx={} 4xx={} 5xx={}\n",
        status.success, status.redirect, status.client_error, status.server_error
    )
}

fn resources(out: &mut String, step: &Step, seen: &StepAnalysis) -> std::fmt::Result {
    let seconds = seconds(seen);
    let (total, system) = (seen.client_cpu_percent, seen.client_system_percent);
    let user = total - system;
    writeln!(
        out,
        "CPU time [s]: user {:.2} system {:.2} (user {user:.1}% system {system:.1}% total {total:.1}%)",
        user / 100.0 * seconds,
        system / 100.0 * seconds
    )?;
    let bytes = step.bytes.sent + step.bytes.received_heads + step.bytes.received_bodies;
    let per_second = bytes as f64 / seconds;
    writeln!(
        out,
        "Net I/O: {:.1} KB/s ({:.1}*10^6 bps)\n",
        per_second / 1024.0,
        per_second * 8.0 / 1e6
    )
}

fn what(step: &Step) -> String {
    match (step.rate, step.concurrency) {
        (Some(rate), _) => format!("--rate {rate}"),
        (None, Some(clients)) => format!("closed loop, --concurrency {clients}"),
        (None, None) => String::from("closed loop"),
    }
}

fn errors(out: &mut String, step: &Step) -> std::fmt::Result {
    let e = &step.errors;
    // httperf does not take a status for an error.
    let total = e.total.saturating_sub(e.http_4xx + e.http_5xx);
    let other = e.other + e.closed + e.malformed + e.short_body + e.unexpected_body;
    writeln!(
        out,
        "Errors: total {total} client-timo {} socket-timo {} connrefused {} connreset {}",
        e.client_timo, e.socket_timo, e.connrefused, e.connreset
    )?;
    writeln!(
        out,
        "Errors: fd-unavail {} addrunavail {} ftab-full {} other {other}",
        e.fd_unavail, e.addrunavail, e.ftab_full
    )
}
