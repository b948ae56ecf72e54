//! `ApacheBench`'s layout (`support/ab.c`, `output_results`), one block for each
//! step.
//!
//! ab's "Time per request" is concurrency over throughput. An open loop has no
//! concurrency; its time per request is printed as the mean connection time,
//! and the level as the most connections that were open.

use crate::{Address, LoadResult, Step, Target, result::Phases};
use stats::Histogram;
use std::fmt::Write;

pub(super) fn render(result: &LoadResult) -> String {
    let mut out = String::new();
    for (index, step) in result.steps.iter().enumerate() {
        if index > 0 {
            out.push_str("\n\n");
        }
        // Writing to a string cannot fail.
        let _ = block(&mut out, result, step);
    }
    out
}

fn block(out: &mut String, result: &LoadResult, step: &Step) -> std::fmt::Result {
    let (host, port, path) = place(result);
    let seconds = step.seconds.max(1e-9);
    let replies = step.replies.max(1) as f64;
    let software = result.server_software.as_deref().unwrap_or("");
    writeln!(out, "Server Software:        {software}")?;
    writeln!(out, "Server Hostname:        {host}")?;
    writeln!(out, "Server Port:            {port}\n")?;
    writeln!(out, "Document Path:          {path}")?;
    let length = step.bytes.received_bodies as f64 / replies;
    writeln!(out, "Document Length:        {length:.0} bytes\n")?;
    let level = step.concurrency.map_or(step.open_connections.max, u64::from);
    writeln!(out, "Concurrency Level:      {level}")?;
    writeln!(out, "Time taken for tests:   {seconds:.3} seconds")?;
    writeln!(out, "Complete requests:      {}", step.replies)?;
    let statuses = step.errors.http_4xx + step.errors.http_5xx;
    writeln!(out, "Failed requests:        {}", step.errors.total - statuses)?;
    if statuses + step.status.redirect > 0 {
        writeln!(out, "Non-2xx responses:      {}", statuses + step.status.redirect)?;
    }
    if result.requests_per_connection != Some(1) {
        let kept = step.replies.saturating_sub(step.completed);
        writeln!(out, "Keep-Alive requests:    {kept}")?;
    }
    let total = step.bytes.received_heads + step.bytes.received_bodies;
    writeln!(out, "Total transferred:      {total} bytes")?;
    writeln!(out, "HTML transferred:       {} bytes", step.bytes.received_bodies)?;
    let rate = step.replies as f64 / seconds;
    writeln!(out, "Requests per second:    {rate:.2} [#/sec] (mean)")?;
    let each_ms = step.concurrency.map_or_else(
        || step.connection_ms.map_or(0.0, |s| s.mean),
        |c| f64::from(c) * 1e3 / rate.max(1e-9),
    );
    writeln!(out, "Time per request:       {each_ms:.3} [ms] (mean)")?;
    let across_ms = 1e3 / rate.max(1e-9);
    writeln!(
        out,
        "Time per request:       {across_ms:.3} [ms] (mean, across all concurrent requests)"
    )?;
    let kib = total as f64 / 1024.0 / seconds;
    writeln!(out, "Transfer rate:          {kib:.2} [Kbytes/sec] received\n")?;
    connection_times(out, &step.phases)?;
    percentages(out, total_times(&step.phases))?;
    if let Some(why) = &step.why_invalid {
        writeln!(out, "\nINVALID: {why}")?;
    }
    Ok(())
}

fn place(result: &LoadResult) -> (String, u16, String) {
    match Target::parse(&result.url) {
        Ok(Target { address: Address::Tcp(host, port), path, .. }) => (host, port, path),
        Ok(Target { address: Address::Unix(socket), path, .. }) => {
            (format!("unix:{}", socket.display()), 0, path)
        }
        Err(_) => (result.url.clone(), 0, String::new()),
    }
}

/// Per connection where there is one for each request, else per reply.
fn total_times(phases: &Phases) -> &Histogram {
    if phases.connection.count() == phases.reply.count() {
        &phases.connection
    } else {
        &phases.reply
    }
}

fn connection_times(out: &mut String, phases: &Phases) -> std::fmt::Result {
    writeln!(out, "Connection Times (ms)")?;
    writeln!(out, "              min  mean[+/-sd] median   max")?;
    for (name, histogram) in [
        ("Connect:", &phases.connect),
        ("Processing:", &phases.reply),
        ("Waiting:", &phases.response),
        ("Total:", total_times(phases)),
    ] {
        let Some(s) = crate::Summary::of(histogram, 1e6) else { continue };
        writeln!(
            out,
            "{name:<11} {:5.0} {:4.0} {:5.1} {:6.0} {:7.0}",
            s.min, s.mean, s.stddev, s.p50, s.max
        )?;
    }
    Ok(())
}

fn percentages(out: &mut String, total: &Histogram) -> std::fmt::Result {
    writeln!(out, "\nPercentage of the requests served within a certain time (ms)")?;
    for percent in [50, 66, 75, 80, 90, 95, 98, 99, 100] {
        let ms = total.quantile(f64::from(percent) / 100.0) / 1e6;
        let longest = if percent == 100 { " (longest request)" } else { "" };
        writeln!(out, " {percent:3}%  {ms:5.0}{longest}")?;
    }
    Ok(())
}
