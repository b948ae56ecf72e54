//! A turn of fio: a client that has several servers do a job each, at the same time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rand::RngCore as _;
use serde_json::Value;

use super::Kind;
use crate::ended::Ended;
use xtask::process;

/// What each operation moves.
pub(super) const BLOCK: &str = "4096";
/// What each client has of files.
pub(super) const FILE_MIB: u64 = 16;
const SECONDS: u32 = 2;
/// A server that does not listen by then never will.
const LISTENING_MAX: Duration = Duration::from_secs(10);

pub(super) struct Fio {
    folder: PathBuf,
    servers: Vec<Server>,
}

impl Fio {
    /// Makes the files of all clients, and starts a server for each.
    pub(super) fn new(folder: &Path, clients: usize) -> Result<Self> {
        let folder = folder.join("fio");
        fs::create_dir(&folder)?;
        let mut bytes = vec![0; (FILE_MIB << 20) as usize];
        rand::rng().fill_bytes(&mut bytes);
        for client in 0..clients {
            fs::write(folder.join(format!("{client}.bin")), &bytes)?;
        }
        fs::write(folder.join("all.bin"), bytes.repeat(clients))?;
        rustix::fs::sync();
        // Their sockets, whose names must be short.
        let servers = (0..clients).map(|_| Server::start()).collect::<Result<_>>()?;
        Ok(Self { folder, servers })
    }

    /// What an operation takes a client, on average.
    pub(super) fn op_ns(&self, kind: Kind) -> Result<f64> {
        self.turn(kind, "psync")
    }

    /// The same with an engine that does nothing.
    pub(super) fn alone_op_ns(&self, kind: Kind) -> Result<f64> {
        self.turn(kind, "null")
    }

    fn turn(&self, kind: Kind, engine: &str) -> Result<f64> {
        let Kind::Blocks { writes, .. } = kind else { bail!("fio has no log") };
        let mut client = Command::new("fio");
        client.arg("--output-format=json");
        for (number, server) in self.servers.iter().enumerate() {
            let job = self.folder.join(format!("{number}.fio"));
            fs::write(&job, self.job(kind, engine, number))?;
            client.arg(format!("--client=sock:{}", server.socket().display())).arg(job);
        }
        let report = report_in(&process::output(&mut client)?)?;
        let jobs = report["client_stats"].as_array().context("fio's report has no clients")?;
        // The last is the sum of all.
        let own = jobs.iter().filter(|job| job["jobname"] == "job");
        let access = if writes { "write" } else { "read" };
        let rates: Vec<f64> = own.filter_map(|job| job[access]["iops"].as_f64()).collect();
        ensure!(rates.len() == self.servers.len(), "fio tells of {} clients", rates.len());
        ensure!(rates.iter().all(|iops| *iops > 0.0), "a client of fio did nothing");
        Ok(rates.iter().map(|iops| 1e9 / iops).sum::<f64>() / rates.len() as f64)
    }

    fn job(&self, kind: Kind, engine: &str, number: usize) -> String {
        let Kind::Blocks { writes, random, one_file } = kind else { return String::new() };
        let order = if random { "rand" } else { "" };
        let access = if writes { "write" } else { "read" };
        let file = if one_file { "all".to_owned() } else { number.to_string() };
        let from = if one_file { number as u64 * FILE_MIB } else { 0 };
        format!(
            "[job]\nioengine={engine}\ndirect=1\nbs={BLOCK}\nrw={order}{access}\n\
             offset={from}m\nsize={FILE_MIB}m\ntime_based\nruntime={SECONDS}\nrandrepeat=0\n\
             fallocate=none\nthread\nfilename={}\n",
            self.folder.join(format!("{file}.bin")).display()
        )
    }
}

/// The report in what fio's client prints, in front of which it tells what it does.
fn report_in(text: &str) -> Result<Value> {
    let starts = text.match_indices("\n{").map(|(at, _)| &text[at..]);
    let report = |json| {
        let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
        values.next().and_then(Result::ok)
    };
    let mut reports = starts.chain([text]).filter_map(report);
    reports.next().context("fio's client has printed no report")
}

/// A server of fio, ended when it is dropped.
struct Server {
    _process: Ended,
    folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Result<Self> {
        let folder = tempfile::tempdir().context("making a folder for a socket")?;
        let mut fio = Command::new("fio");
        fio.arg(format!("--server=sock:{}", folder.path().join("socket").display()));
        fio.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = Ended(fio.spawn().context("starting fio's server")?);
        let server = Self { _process: process, folder };
        let began = Instant::now();
        while !server.socket().exists() {
            ensure!(began.elapsed() < LISTENING_MAX, "fio's server does not listen");
            sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_report_is_found_behind_what_the_client_tells() {
        let text = "<vm> job: (g=0): {1}\n<vm> Starting 1 thread\n{\n \"client_stats\": []\n}\n";
        assert!(report_in(text).unwrap()["client_stats"].is_array());
        assert!(report_in("hostname=vm, be=0, 64-bit").is_err());
    }
}
