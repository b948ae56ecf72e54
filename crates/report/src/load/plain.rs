//! Our own layout: one block for each step, within 80 columns, with what
//! makes a step's figures worthless before the figures.

use std::fmt::{Result, Write};

use model::load::{
    Bounds, Gap, InvalidReason, LoadAnalysis, LoadPlan, LoadRun, Mode, PercentileIntervals,
    RateSearch, Sampled, ServerUse, Step, StepAnalysis, Summary,
};
use units::rough_size;

/// Columns of the layout.
const WIDTH: usize = 80;
/// Rows of times, of which one has intervals.
const FROM_INTENDED: &str = "connection, from intended";
const FROM_CONNECT: &str = "connection, from connect";
const REPLY: &str = "reply";

pub(super) fn render(run: &LoadRun, analysis: &LoadAnalysis) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = all(&mut out, run, analysis);
    out
}

fn all(out: &mut String, run: &LoadRun, analysis: &LoadAnalysis) -> Result {
    let software = run.server_software.as_ref().map(|s| format!(" ({s})")).unwrap_or_default();
    writeln!(out, "{}{software}", run.plan.url)?;
    writeln!(out, "{}", drive(&run.plan))?;
    for warning in &run.preflight.warnings {
        wrap(out, &format!("warning: {warning}"))?;
    }
    for (step, seen) in run.steps.iter().zip(&analysis.steps) {
        writeln!(out)?;
        block(out, step, seen)?;
    }
    if let Some(search) = &run.search {
        writeln!(out)?;
        found(out, search)?;
    }
    if run.run.interrupted {
        writeln!(out, "\nInterrupted: the figures cover only what was done until then.")?;
    }
    Ok(())
}

fn drive(plan: &LoadPlan) -> String {
    let requests = match plan.requests_per_connection {
        Some(1) => String::from("one request per connection"),
        Some(n) => format!("{n} requests per connection"),
        None => String::from("connections are kept alive"),
    };
    match (plan.mode, plan.gap) {
        (Mode::Closed, _) => format!(
            "closed loop, {requests}: clients send nothing while they\n\
             wait, so a server that stalls looks better here than it does to its users"
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

fn block(out: &mut String, step: &Step, seen: &StepAnalysis) -> Result {
    match (step.rate, step.concurrency) {
        (Some(rate), _) => write!(out, "{} connections/s", per_second(rate))?,
        (None, clients) => write!(out, "{} clients", clients.unwrap_or(0))?,
    }
    writeln!(
        out,
        ": {} of {} connections completed in {:.1} s, {} replies/s",
        step.completed,
        step.intended.unwrap_or(step.attempted),
        seen.seconds,
        per_second(seen.reply_rate.mean)
    )?;
    if let Some(why) = &seen.why_invalid {
        let of_client = !seen.invalid_reasons.iter().all(InvalidReason::is_drift);
        let says = if of_client {
            "The figures are this client's, not the server's."
        } else {
            "The figures depend on when and how long the server was loaded."
        };
        wrap(out, &format!("INVALID: {why}. {says}"))?;
    }
    errors(out, step)?;
    notes(out, step, seen)?;
    phases(out, step, seen)?;
    narrowness(out, step, seen)?;
    writeln!(
        out,
        "  client: {:.1}% of a core ({:.1}% polling to be on time){}",
        seen.client_cpu_percent,
        seen.client_spin_percent,
        seen.client_cpu_us_per_request
            .map(|us| format!(", {us:.1} µs per request"))
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
    step.first_error.as_ref().map_or(Ok(()), |first| wrap(out, &format!("first error: {first}")))
}

fn notes(out: &mut String, step: &Step, seen: &StepAnalysis) -> Result {
    if seen.kept_pace == Some(false) {
        let open = step.open_connections;
        wrap(
            out,
            &format!(
                "The server fell behind: open connections rose from {} in the middle of the step \
                 to {} at its end.",
                open.middle, open.end
            ),
        )?;
    }
    for (what, count) in [
        ("connections closed by the server before their last request", step.ended_early),
        ("requests sent again because the server closed the connection", step.sent_again),
        ("connections abandoned while still open", step.abandoned),
    ] {
        if count > 0 {
            writeln!(out, "  {what}: {count}")?;
        }
    }
    if step.sources > 1 {
        writeln!(out, "  loopback source addresses used: {}", step.sources)?;
    }
    Ok(())
}

fn phases(out: &mut String, step: &Step, seen: &StepAnalysis) -> Result {
    // A closed loop has no intended times.
    let from_intended = step.rate.and(seen.connection_ms);
    let rows = [
        (FROM_INTENDED, from_intended, "ms"),
        (FROM_CONNECT, seen.connection_from_connect_ms, "ms"),
        ("connect", seen.connect_ms, "ms"),
        (REPLY, seen.reply_ms, "ms"),
        ("  response (first byte)", seen.response_ms, "ms"),
        ("  transfer (the rest)", seen.transfer_ms, "ms"),
        ("schedule lag", seen.schedule_lag_us, "µs"),
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
            write!(out, " {:>7}", cell(value))?;
        }
        writeln!(out, " {unit}")?;
        if let Some(all) = seen.percentile_intervals.filter(|all| row_of(all.of, step) == name) {
            bounds(out, &all)?;
        }
    }
    Ok(())
}

/// The row whose percentiles have intervals.
fn row_of(of: Sampled, step: &Step) -> &'static str {
    match (of, step.rate) {
        (Sampled::Connection, Some(_)) => FROM_INTENDED,
        (Sampled::Connection, None) => FROM_CONNECT,
        (Sampled::Reply, _) => REPLY,
    }
}

/// The intervals of the percentiles above, in two rows.
fn bounds(out: &mut String, all: &PercentileIntervals) -> Result {
    for (word, is_low) in [("from", true), ("to", false)] {
        let name = format!("  {:.0}% interval, {word}", all.confidence * 100.0);
        let end = |bounds: Bounds| cell(if is_low { bounds.low } else { bounds.high });
        write!(out, "  {name:<25} {:>7}", "")?;
        for bounds in all.all() {
            write!(out, " {:>7}", bounds.map_or_else(String::new, end))?;
        }
        writeln!(out, " {:>7} ms", "")?;
    }
    Ok(())
}

/// Whether a step ended by itself, and what it would take where it did not.
fn narrowness(out: &mut String, step: &Step, seen: &StepAnalysis) -> Result {
    let (Some(until), Some(is_narrow)) = (step.until, seen.narrow) else { return Ok(()) };
    let asked = units::percent(until.half_width);
    let all = seen.percentile_intervals.map(|all| [all.p50_ms, all.p90_ms, all.p99_ms]);
    let known = all.and_then(|all| all.into_iter().collect::<Option<Vec<Bounds>>>());
    let Some(known) = known else {
        let text = format!(
            "NOT WITHIN ±{asked}: there are too few requests for an interval of p99, or they \
             depend too much on each other; give more requests."
        );
        return wrap(out, &text);
    };
    let widest = known.iter().map(Bounds::half_width).fold(0.0, f64::max);
    let widest = units::percent((widest * 1000.0).round() / 1000.0);
    wrap(
        out,
        &if is_narrow {
            format!("p50, p90 and p99 are known within ±{widest} (asked for ±{asked})")
        } else {
            format!(
                "NOT WITHIN ±{asked}: p50, p90 and p99 are known within ±{widest}; give more \
                     requests."
            )
        },
    )
}

fn server(out: &mut String, used: &ServerUse) -> Result {
    let each =
        used.cpu_us_per_reply.map(|us| format!(", {us:.0} µs per reply")).unwrap_or_default();
    writeln!(
        out,
        "  server: {:.0}% of a core{each}, {} in {} process{}",
        used.cpu_percent,
        rough_size(used.memory_bytes),
        used.processes,
        if used.processes == 1 { "" } else { "es" }
    )?;
    writeln!(
        out,
        "    read {} in {} calls ({} from devices)",
        rough_size(used.asked_read_bytes),
        used.read_calls,
        rough_size(used.device_read_bytes)
    )?;
    writeln!(
        out,
        "    wrote {} in {} calls ({} to devices)",
        rough_size(used.asked_write_bytes),
        used.write_calls,
        rough_size(used.device_write_bytes)
    )?;
    match (used.sync_calls, &used.sync_note) {
        (Some(calls), _) => writeln!(out, "    {calls} sync calls"),
        (None, Some(why)) => wrap(out, &format!("syncs not counted: {why}")),
        (None, None) => Ok(()),
    }
}

fn found(out: &mut String, search: &RateSearch) -> Result {
    match search.max_rate {
        Some(rate) => writeln!(out, "Highest rate held: {} connections/s", per_second(rate))?,
        None => writeln!(out, "No rate was held.")?,
    }
    if let Some(limit) = &search.limit {
        wrap(out, &format!("limited by: {limit}"))?;
    }
    let tries: Vec<String> = search
        .tries
        .iter()
        .map(|t| format!("{}{}", per_second(t.rate), if t.held { "" } else { " (not held)" }))
        .collect();
    wrap(out, &format!("tried: {}", tries.join(", ")))
}

/// A figure of the table, whose columns have one unit and as many decimals as
/// make three digits, up to three.
fn cell(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

fn per_second(rate: f64) -> String {
    if rate >= 100.0 || rate.fract().abs() < 1e-9 {
        format!("{rate:.0}")
    } else {
        format!("{rate:.1}")
    }
}

/// Writes a paragraph, indented by two.
fn wrap(out: &mut String, text: &str) -> Result {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let options = textwrap::Options::new(WIDTH)
        .initial_indent("  ")
        .subsequent_indent("  ")
        .break_words(false)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    writeln!(out, "{}", textwrap::fill(&one_line, options))
}
