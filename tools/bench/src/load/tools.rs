//! The clients that are compared: how each is called and what it prints.

use anyhow::{Context, bail};
use std::{
    io::{Read, Seek},
    path::PathBuf,
    process::{Command, Stdio},
    time::Instant,
};
use xtask::process::find_program;

/// Clients at a time in a closed loop.
const CONCURRENCY: &str = "32";
/// No closed loop may take longer.
const CLOSED_LIMIT_S: u32 = 1800;

/// A client in one of its modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Iotoll,
    IotollKept,
    IotollRate,
    Wrk,
    Ab,
    AbKept,
    Oha,
    OhaKept,
    Httperf,
}

impl Tool {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Iotoll | Self::IotollKept | Self::IotollRate => "iotoll",
            Self::Wrk => "wrk",
            Self::Ab | Self::AbKept => "ab",
            Self::Oha | Self::OhaKept => "oha",
            Self::Httperf => "httperf",
        }
    }

    pub(super) fn is_installed(self) -> bool {
        find_program(self.name()).is_some()
    }
}

/// The program that is compared, and the server that all clients ask.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) iotoll: PathBuf,
    pub(super) url: String,
    pub(super) port: u16,
}

/// What one run of a client came to.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    pub(super) replies: u64,
    pub(super) errors: u64,
    pub(super) started_per_s: f64,
    pub(super) lag_p99_us: f64,
    pub(super) cpu_s: f64,
    pub(super) wall_s: f64,
    pub(super) memory_mib: f64,
}

impl Run {
    /// Whether nothing failed and the rate was kept.
    pub(super) fn is_clean(&self, rate: u32) -> bool {
        self.errors == 0 && self.replies > 0 && self.started_per_s >= 0.99 * f64::from(rate)
    }
}

impl Setting {
    /// Runs a closed loop of so many requests.
    pub(super) fn run(&self, tool: Tool, requests: u64) -> anyhow::Result<Run> {
        let url = self.url.as_str();
        let n = requests.to_string();
        let closed = ["load", url, "--concurrency", CONCURRENCY, "--json", "-", "--requests", &n];
        let arguments: Vec<&str> = match tool {
            Tool::Iotoll => closed.to_vec(),
            Tool::IotollKept => [&closed[..], &["--keep-alive"]].concat(),
            // wrk knows no number of requests, only a time.
            Tool::Wrk => vec!["-t1", "-c", CONCURRENCY, "-d", "2s", url],
            Tool::Ab => vec!["-q", "-c", CONCURRENCY, "-n", &n, url],
            Tool::AbKept => vec!["-q", "-k", "-c", CONCURRENCY, "-n", &n, url],
            Tool::Oha => vec!["--no-tui", "--disable-keepalive", "-c", CONCURRENCY, "-n", &n, url],
            Tool::OhaKept => vec!["--no-tui", "-c", CONCURRENCY, "-n", &n, url],
            Tool::IotollRate | Tool::Httperf => bail!("{} needs a rate", tool.name()),
        };
        let (text, mut run) = self.measure(tool, &arguments, CLOSED_LIMIT_S)?;
        read(tool, &text, &mut run)?;
        if matches!(tool, Tool::Oha | Tool::OhaKept) {
            run.replies = requests;
        }
        Ok(run)
    }

    /// Runs an open loop with a connection for each request.
    pub(super) fn run_rate(&self, tool: Tool, rate: u32, seconds: u32) -> anyhow::Result<Run> {
        let (url, port, connections) = (&self.url, self.port, rate * seconds);
        let arguments = match tool {
            Tool::Httperf => format!(
                "--hog --timeout 5 --server 127.0.0.1 --port {port} --uri / --rate {rate} \
                 --num-conns {connections}"
            ),
            Tool::IotollRate => {
                format!("load {url} --rate {rate} --connections {connections} --json -")
            }
            _ => bail!("{} has no open loop", tool.name()),
        };
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let (text, mut run) = self.measure(tool, &arguments, 2 * seconds + 10)?;
        if text.is_empty() {
            // It was ended at its time limit, and so was not clean.
            return Ok(Run::default());
        }
        read(tool, &text, &mut run)?;
        Ok(run)
    }

    /// Runs a client on core 1; its standard output and what it used.
    fn measure(
        &self,
        tool: Tool,
        arguments: &[&str],
        limit_s: u32,
    ) -> anyhow::Result<(String, Run)> {
        let program = match tool {
            Tool::Iotoll | Tool::IotollKept | Tool::IotollRate => self.iotoll.as_os_str(),
            _ => tool.name().as_ref(),
        };
        let mut output = tempfile::tempfile().context("cannot make a temporary file")?;
        let begin = Instant::now();
        // httperf may hang for ever once it has run out of descriptors.
        let child = Command::new("timeout")
            .args(["-s", "KILL", &limit_s.to_string(), "taskset", "-c", "1"])
            .arg(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(Stdio::null())
            .spawn()
            .context("cannot run timeout and taskset")?;
        let usage = sys::wait::wait_for_end(child.id())?.usage;
        let wall_s = begin.elapsed().as_secs_f64();
        let mut text = String::new();
        output.rewind()?;
        output.read_to_string(&mut text)?;
        let run = Run {
            cpu_s: (usage.user_ns + usage.system_ns) as f64 / 1e9,
            wall_s,
            memory_mib: usage.memory_max_kib as f64 / 1024.0,
            ..Run::default()
        };
        Ok((text, run))
    }
}

/// Reads what a client printed into what its run came to.
fn read(tool: Tool, text: &str, run: &mut Run) -> anyhow::Result<()> {
    figures(tool, text, run).with_context(|| format!("{} printed: {text}", tool.name()))
}

fn figures(tool: Tool, text: &str, run: &mut Run) -> anyhow::Result<()> {
    match tool {
        Tool::Iotoll | Tool::IotollKept | Tool::IotollRate => {
            let result: serde_json::Value = serde_json::from_str(text)?;
            let step = &result["steps"][0];
            run.replies = step["replies"].as_u64().context("no replies")?;
            run.errors = step["errors"]["total"].as_u64().context("no errors")?;
            run.started_per_s = step["achieved_rate"].as_f64().context("no rate")?;
            run.lag_p99_us = step["schedule_lag_us"]["p99"].as_f64().unwrap_or(0.0);
        }
        Tool::Wrk => run.replies = number_before(text, " requests in")?,
        Tool::Ab | Tool::AbKept => {
            run.replies = number_after(text, "Complete requests:")? as u64;
            run.errors = number_after(text, "Failed requests:")? as u64;
        }
        Tool::Oha | Tool::OhaKept => {}
        Tool::Httperf => {
            run.replies = number_after(text, " replies ")? as u64;
            run.errors = number_after(text, "Errors: total ")? as u64;
            run.started_per_s = number_after(text, "Connection rate: ")?;
        }
    }
    Ok(())
}

fn number_after(text: &str, label: &str) -> anyhow::Result<f64> {
    let rest = text.split_once(label).with_context(|| format!("no {label:?}"))?.1;
    let word = rest.split_whitespace().next().context("no number")?;
    Ok(word.parse()?)
}

fn number_before(text: &str, label: &str) -> anyhow::Result<u64> {
    let rest = text.split_once(label).with_context(|| format!("no {label:?}"))?.0;
    let word = rest.split_whitespace().next_back().context("no number")?;
    Ok(word.parse()?)
}
