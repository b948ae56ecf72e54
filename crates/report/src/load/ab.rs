//! `ApacheBench`'s layout (`support/ab.c`, `output_results`), one block for each
//! step.
//!
//! ab's "Time per request" is concurrency over throughput. An open loop has no
//! concurrency; its time per request is printed as the mean connection time,
//! and the level as the most connections that were open.

use std::fmt::Write;

use super::seconds;

use model::load::{LoadRun, Step, StepAnalysis, Times};

pub(super) fn block(
    out: &mut String,
    run: &LoadRun,
    step: &Step,
    seen: &StepAnalysis,
) -> std::fmt::Result {
    let software = run.server_software.as_deref().unwrap_or("");
    writeln!(out, "Server Software:        {software}")?;
    writeln!(out, "Server Hostname:        {}", run.plan.host)?;
    writeln!(out, "Server Port:            {}\n", run.plan.port.unwrap_or(0))?;
    writeln!(out, "Document Path:          {}", run.plan.path)?;
    let length = step.bytes.received_bodies as f64 / step.replies.max(1) as f64;
    writeln!(out, "Document Length:        {length:.0} bytes\n")?;
    totals(out, run, step, seen)?;
    rates(out, step, seen)?;
    connection_times(out, step, seen)?;
    percentages(out, total_times(step))?;
    if let Some(why) = &seen.why_invalid {
        writeln!(out, "\nINVALID: {why}")?;
    }
    Ok(())
}

/// What was done, counted.
fn totals(out: &mut String, run: &LoadRun, step: &Step, seen: &StepAnalysis) -> std::fmt::Result {
    let level = step.concurrency.map_or(step.open_connections.max, u64::from);
    writeln!(out, "Concurrency Level:      {level}")?;
    writeln!(out, "Time taken for tests:   {:.3} seconds", seconds(seen))?;
    writeln!(out, "Complete requests:      {}", step.replies)?;
    let statuses = step.errors.http_4xx + step.errors.http_5xx;
    writeln!(out, "Failed requests:        {}", step.errors.total.saturating_sub(statuses))?;
    if statuses + step.status.redirect > 0 {
        writeln!(out, "Non-2xx responses:      {}", statuses + step.status.redirect)?;
    }
    if run.plan.requests_per_connection != Some(1) {
        let kept = step.replies.saturating_sub(step.completed);
        writeln!(out, "Keep-Alive requests:    {kept}")?;
    }
    writeln!(out, "Total transferred:      {} bytes", transferred(step))?;
    writeln!(out, "HTML transferred:       {} bytes", step.bytes.received_bodies)
}

fn transferred(step: &Step) -> u64 {
    step.bytes.received_heads + step.bytes.received_bodies
}

fn rates(out: &mut String, step: &Step, seen: &StepAnalysis) -> std::fmt::Result {
    let rate = step.replies as f64 / seconds(seen);
    writeln!(out, "Requests per second:    {rate:.2} [#/sec] (mean)")?;
    let each_ms = step.concurrency.map_or_else(
        || seen.connection_ms.map_or(0.0, |s| s.mean),
        |c| f64::from(c) * 1e3 / rate.max(1e-9),
    );
    writeln!(out, "Time per request:       {each_ms:.3} [ms] (mean)")?;
    let across_ms = 1e3 / rate.max(1e-9);
    writeln!(
        out,
        "Time per request:       {across_ms:.3} [ms] (mean, across all concurrent requests)"
    )?;
    let kib = transferred(step) as f64 / 1024.0 / seconds(seen);
    writeln!(out, "Transfer rate:          {kib:.2} [Kbytes/sec] received\n")
}

/// Whether there is a connection for each request; else replies are counted.
fn has_connection_each(step: &Step) -> bool {
    step.phases.connection.count() == step.phases.reply.count()
}

fn total_times(step: &Step) -> &Times {
    if has_connection_each(step) { &step.phases.connection } else { &step.phases.reply }
}

fn connection_times(out: &mut String, step: &Step, seen: &StepAnalysis) -> std::fmt::Result {
    writeln!(out, "Connection Times (ms)")?;
    writeln!(out, "              min  mean[+/-sd] median   max")?;
    let total = if has_connection_each(step) { seen.connection_ms } else { seen.reply_ms };
    for (name, summary) in [
        ("Connect:", seen.connect_ms),
        ("Processing:", seen.reply_ms),
        ("Waiting:", seen.response_ms),
        ("Total:", total),
    ] {
        let Some(s) = summary else { continue };
        writeln!(
            out,
            "{name:<11} {:5.0} {:4.0} {:5.1} {:6.0} {:7.0}",
            s.min, s.mean, s.stddev, s.p50, s.max
        )?;
    }
    Ok(())
}

fn percentages(out: &mut String, total: &Times) -> std::fmt::Result {
    let total = total.histogram();
    writeln!(out, "\nPercentage of the requests served within a certain time (ms)")?;
    for percent in [50, 66, 75, 80, 90, 95, 98, 99, 100] {
        let ms = total.quantile(f64::from(percent) / 100.0) / 1e6;
        let longest = if percent == 100 { " (longest request)" } else { "" };
        writeln!(out, " {percent:3}%  {ms:5.0}{longest}")?;
    }
    Ok(())
}
