//! Our own layout: one block for each step, within 80 columns, with what
//! makes a step's figures worthless before the figures.

use crate::{Gap, LoadResult, Mode, Search, ServerUse, Step, Summary};
use std::fmt::{Result, Write};

pub(super) fn render(result: &LoadResult) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = all(&mut out, result);
    out
}

fn all(out: &mut String, result: &LoadResult) -> Result {
    let software = result.server_software.as_ref().map(|s| format!(" ({s})")).unwrap_or_default();
    writeln!(out, "{}{software}", result.url)?;
    writeln!(out, "{}", drive(result))?;
    for warning in &result.preflight.warnings {
        wrap(out, &format!("warning: {warning}"))?;
    }
    for step in &result.steps {
        writeln!(out)?;
        block(out, step)?;
    }
    if let Some(search) = &result.search {
        writeln!(out)?;
        found(out, search)?;
    }
    if result.interrupted {
        writeln!(out, "\nInterrupted: these are the figures up to then.")?;
    }
    Ok(())
}

fn drive(result: &LoadResult) -> String {
    let requests = match result.requests_per_connection {
        Some(1) => String::from("a connection for each request"),
        Some(n) => format!("{n} requests on each connection"),
        None => String::from("connections kept"),
    };
    match (result.mode, result.gap) {
        (Mode::Closed, _) => format!(
            "closed loop, {requests}: a client that waits asks for nothing\n\
             meanwhile, so a server that stalls looks better than its users find it"
        ),
        (Mode::Open, gap) => {
            let gap = match gap {
                Some(Gap::Uniform) => "uniform",
                Some(Gap::Exponential) => "exponential",
                Some(Gap::Constant) | None => "constant",
            };
            format!("open loop, {gap} gaps, {requests}")
        }
    }
}

fn block(out: &mut String, step: &Step) -> Result {
    match (step.rate, step.concurrency) {
        (Some(rate), _) => write!(out, "{} connections/s", number(rate))?,
        (None, clients) => write!(out, "{} clients", clients.unwrap_or(0))?,
    }
    writeln!(
        out,
        ": {} of {} connections completed in {:.1} s, {} replies/s",
        step.completed,
        step.intended.unwrap_or(step.attempted),
        step.seconds,
        number(step.reply_rate.mean)
    )?;
    if let Some(why) = &step.why_invalid {
        wrap(out, &format!("INVALID: {why}. The figures are this client's, not the server's."))?;
    }
    errors(out, step)?;
    notes(out, step)?;
    phases(out, step)?;
    writeln!(
        out,
        "  client: {:.1}% of a core ({:.1}% polling to be on time){}",
        step.client_cpu_percent,
        step.client_spin_percent,
        step.client_cpu_us_per_request
            .map(|us| format!(", {us:.1} µs for each request"))
            .unwrap_or_default()
    )?;
    step.server.as_ref().map_or(Ok(()), |used| server(out, used))
}

fn errors(out: &mut String, step: &Step) -> Result {
    if step.errors.total == 0 {
        return writeln!(out, "  no errors");
    }
    let kinds: Vec<String> =
        step.errors.named().iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    wrap(out, &format!("ERRORS: {}: {}", step.errors.total, kinds.join(", ")))?;
    step.errors.first.as_ref().map_or(Ok(()), |first| wrap(out, &format!("the first: {first}")))
}

fn notes(out: &mut String, step: &Step) -> Result {
    if step.kept_pace == Some(false) {
        let open = step.open_connections;
        wrap(
            out,
            &format!(
                "The server did not keep pace: {} connections were open when half had been \
                 started, {} when all had.",
                open.middle, open.end
            ),
        )?;
    }
    if step.ended_early > 0 {
        let n = step.ended_early;
        wrap(out, &format!("The server ended {n} connections before their last request."))?;
    }
    if step.sent_again > 0 {
        let n = step.sent_again;
        wrap(out, &format!("{n} requests crossed with a closing and were sent again."))?;
    }
    if step.abandoned > 0 {
        wrap(out, &format!("{} connections were still open and were given up.", step.abandoned))?;
    }
    if step.sources > 1 {
        wrap(out, &format!("Connections came from {} loopback addresses.", step.sources))?;
    }
    Ok(())
}

fn phases(out: &mut String, step: &Step) -> Result {
    // A closed loop intends no times.
    let from_intended = step.rate.and(step.connection_ms);
    let rows = [
        ("connection, from intended", from_intended, "ms"),
        ("connection, from connect", step.connection_from_connect_ms, "ms"),
        ("connect", step.connect_ms, "ms"),
        ("reply", step.reply_ms, "ms"),
        ("  response (first byte)", step.response_ms, "ms"),
        ("  transfer (the rest)", step.transfer_ms, "ms"),
        ("schedule lag", step.schedule_lag_us, "µs"),
    ];
    if rows.iter().all(|(_, summary, _)| summary.is_none()) {
        return Ok(());
    }
    writeln!(
        out,
        "  {:<25} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "", "mean", "p50", "p90", "p99", "p99.9", "max"
    )?;
    for (name, summary, unit) in rows {
        let Some(Summary { mean, p50, p90, p99, p999, max, .. }) = summary else { continue };
        write!(out, "  {name:<25}")?;
        for value in [mean, p50, p90, p99, p999, max] {
            write!(out, " {:>7}", figures(value))?;
        }
        writeln!(out, " {unit}")?;
    }
    Ok(())
}

fn server(out: &mut String, used: &ServerUse) -> Result {
    let each =
        used.cpu_us_per_reply.map(|us| format!(", {us:.0} µs for each reply")).unwrap_or_default();
    writeln!(
        out,
        "  server: {:.0}% of a core{each}, {} in {} process{}",
        used.cpu_percent,
        bytes(used.memory_bytes),
        used.processes,
        if used.processes == 1 { "" } else { "es" }
    )?;
    writeln!(
        out,
        "    read {} in {} calls ({} from devices)",
        bytes(used.asked_read_bytes),
        used.read_calls,
        bytes(used.device_read_bytes)
    )?;
    writeln!(
        out,
        "    wrote {} in {} calls ({} to devices)",
        bytes(used.asked_write_bytes),
        used.write_calls,
        bytes(used.device_write_bytes)
    )?;
    match (used.sync_calls, &used.sync_note) {
        (Some(calls), _) => writeln!(out, "    waited for storage in {calls} syncs"),
        (None, Some(why)) => wrap(out, &format!("syncs not counted: {why}")),
        (None, None) => Ok(()),
    }
}

fn found(out: &mut String, search: &Search) -> Result {
    match search.max_rate {
        Some(rate) => writeln!(out, "Highest rate held: {} connections/s", number(rate))?,
        None => writeln!(out, "No rate was held.")?,
    }
    if let Some(limit) = &search.limit {
        wrap(out, &format!("above it: {limit}"))?;
    }
    let tries: Vec<String> = search
        .tries
        .iter()
        .map(|t| format!("{}{}", number(t.rate), if t.held { "" } else { " (not held)" }))
        .collect();
    wrap(out, &format!("tried: {}", tries.join(", ")))
}

/// Three significant figures, never in powers of ten.
fn figures(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

fn number(value: f64) -> String {
    if value >= 100.0 || value.fract().abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

fn bytes(count: u64) -> String {
    let (mut value, mut unit) = (count as f64, "B");
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit == "B" { format!("{count} B") } else { format!("{} {unit}", figures(value)) }
}

/// Writes a paragraph, indented by two, within 80 columns.
fn wrap(out: &mut String, text: &str) -> Result {
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 80 {
            writeln!(out)?;
            column = 0;
        }
        if column == 0 {
            write!(out, "  {word}")?;
            column = 2 + width;
        } else {
            write!(out, " {word}")?;
            column += 1 + width;
        }
    }
    writeln!(out)
}
