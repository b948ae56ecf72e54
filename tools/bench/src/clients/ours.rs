//! A turn of ours: ranks that a launcher starts, or writers of one process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::available_parallelism;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::Kind;
use super::fio::{BLOCK, FILE_MIB};
use xtask::process;

/// About as long as a turn of fio.
const BUDGET: &str = "6s";

/// What ranks came to.
pub(super) struct Done {
    /// Time per operation, as a client sees it.
    pub(super) op_ns: f64,
    /// What of it is the program's own.
    pub(super) own_ns: f64,
    /// Operations of all in a second.
    pub(super) per_s: f64,
    /// Within what they began, slice by slice.
    pub(super) skews_ns: Vec<f64>,
}

pub(super) struct Ours {
    iotoll: PathBuf,
    folder: PathBuf,
    clients: usize,
}

impl Ours {
    pub(super) fn new(iotoll: PathBuf, folder: &Path, clients: usize) -> Self {
        Self { iotoll, folder: folder.to_owned(), clients }
    }

    pub(super) fn turn(&self, kind: Kind) -> Result<Done> {
        let mut mpirun = Command::new("mpirun");
        mpirun.args(["--oversubscribe", "--bind-to", "none", "-n", &self.clients.to_string()]);
        mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let set = |name: &str, value: &str| format!("--set=blocks.{name}={value}");
        let what = match kind {
            Kind::Appends => vec!["--study=log".to_owned(), "--strategy=held".to_owned()],
            Kind::Blocks { writes, random, one_file } => vec![
                "--study=blocks".to_owned(),
                "--strategy=direct".to_owned(),
                set("access", if writes { "write" } else { "read" }),
                set("order", if random { "random" } else { "sequential" }),
                set("clients_file", if one_file { "stretch" } else { "own" }),
                set("size", BLOCK),
                set("file", &format!("{FILE_MIB} MiB")),
            ],
        };
        let result = self.result(mpirun.arg(&self.iotoll).args(self.compare()).args(what))?;
        done(&result, self.clients)
    }

    /// What as many native writers of one process get done in a second.
    pub(super) fn writers_per_s(&self) -> Result<f64> {
        let mut iotoll = Command::new(&self.iotoll);
        iotoll.args(self.compare()).args(["--study=log", "--strategy=held"]);
        let result = self.result(iotoll.arg(format!("--set=log.writers={}", self.clients)))?;
        let rate = result["arms"][0]["metrics"]["records_per_s"].as_f64();
        rate.context("our result has no rate")
    }

    fn compare(&self) -> [String; 6] {
        let place = format!("place={}", self.folder.display());
        ["compare", &place, "--no-save", "--json=-", "--budget", BUDGET].map(str::to_owned)
    }

    fn result(&self, command: &mut Command) -> Result<Value> {
        process::json(command.current_dir(&self.folder))
    }
}

fn done(result: &Value, clients: usize) -> Result<Done> {
    let arm = &result["arms"][0];
    let rate = ["records_per_s", "clients_per_s"].map(|name| arm["metrics"][name].as_f64());
    let record_ns = result["floor"]["record_ns"].as_f64().context("our result has no floor")?;
    // Where clients have no processor each, they wait for those of others as well.
    let processors = available_parallelism().map_or(1, usize::from);
    let waiting = (clients as f64 / processors as f64).max(1.0);
    let slices = result["slices"].as_array().context("our result has no slices")?;
    let counted = slices.iter().filter(|slice| !slice["phase"]["block"].is_null());
    let skews = counted.filter_map(|slice| slice["outcome"]["figures"]["start_skew_ns"].as_f64());
    Ok(Done {
        op_ns: arm["time_per_op_ns"]["mean"].as_f64().context("our result has no time")?,
        own_ns: record_ns * waiting,
        per_s: rate[0].or(rate[1]).context("our result has no rate")?,
        skews_ns: skews.collect(),
    })
}
