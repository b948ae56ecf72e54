//! What is tried: strategies, how they are told to sync, and how much is written.

use anyhow::{Context as _, Result};
use model::study::Params;

/// A strategy with its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) study: &'static str,
    pub(super) strategy: &'static str,
    /// Those that are not the study's defaults.
    pub(super) set: &'static [(&'static str, &'static str)],
    /// What of these a reader has to know.
    pub(super) shown: &'static str,
    /// Operations of a recording.
    pub(super) operations: u64,
}

const fn log(
    strategy: &'static str,
    set: &'static [(&'static str, &'static str)],
    shown: &'static str,
    operations: u64,
) -> Row {
    Row { study: "log", strategy, set, shown, operations }
}

const fn files(strategy: &'static str) -> Row {
    let set = &[("operation", "write"), ("size", "40000 B"), ("folders", "4")];
    Row { study: "files", strategy, set, shown: "40 kB", operations: 60 }
}

const fn blocks(
    strategy: &'static str,
    set: &'static [(&'static str, &'static str)],
    shown: &'static str,
    operations: u64,
) -> Row {
    Row { study: "blocks", strategy, set, shown, operations }
}

const fn cache(strategy: &'static str) -> Row {
    let set = &[
        ("operation", "rebuild"),
        ("templates", "4"),
        ("template", "20000 B"),
        ("classes", "2"),
        ("used", "1"),
    ];
    Row { study: "cache", strategy, set, shown: "20 kB", operations: 40 }
}

const fn sqlite(strategy: &'static str, operations: u64) -> Row {
    Row { study: "sqlite", strategy, set: &[("rows", "60")], shown: "", operations }
}

const fn journal(
    strategy: &'static str,
    set: &'static [(&'static str, &'static str)],
    shown: &'static str,
) -> Row {
    Row { study: "journal", strategy, set, shown, operations: 60 }
}

pub(super) const ROWS: &[Row] = &[
    log("held", &[("record", "700 B")], "", 1500),
    log("held", &[("record", "700 B"), ("sync", "each")], "sync=each", 200),
    log("held", &[("record", "700 B"), ("sync", "every 20")], "sync=every 20", 1200),
    log("reopen", &[("record", "700 B"), ("sync", "each")], "sync=each", 200),
    log("dsync", &[("record", "700 B")], "", 200),
    log("batched", &[("record", "700 B")], "", 1500),
    log("batched", &[("record", "700 B"), ("sync", "each")], "sync=each", 200),
    log("batched", &[("record", "700 B"), ("sync", "every 64")], "sync=every 64", 3000),
    log("uring", &[("record", "700 B"), ("sync", "every 64")], "sync=every 64", 3000),
    log("queued", &[("record", "700 B"), ("sync", "each")], "sync=each", 200),
    blocks("buffered", &[("access", "write"), ("file", "2 MiB"), ("depth", "1")], "", 500),
    blocks(
        "buffered",
        &[("access", "write"), ("file", "2 MiB"), ("depth", "1"), ("sync", "each")],
        "sync=each",
        200,
    ),
    blocks("direct", &[("access", "write"), ("file", "2 MiB"), ("depth", "1")], "", 500),
    blocks(
        "direct",
        &[("access", "write"), ("file", "2 MiB"), ("depth", "1"), ("sync", "each")],
        "sync=each",
        200,
    ),
    blocks(
        "uring-direct",
        &[("access", "write"), ("file", "2 MiB"), ("depth", "1"), ("sync", "each")],
        "sync=each",
        200,
    ),
    files("direct"),
    files("rename"),
    files("rename-fsync"),
    cache("direct"),
    cache("rename"),
    cache("rename-fsync"),
    sqlite("delete-full", 6),
    sqlite("delete-full-tx", 40),
    sqlite("truncate-full", 6),
    sqlite("truncate-full-tx", 40),
    sqlite("wal-full", 12),
    sqlite("wal-full-tx", 100),
    sqlite("wal-normal", 120),
    sqlite("wal-normal-tx", 300),
    sqlite("delete-normal", 6),
    sqlite("delete-off", 30),
    sqlite("off", 30),
    sqlite("off-tx", 100),
    journal("pages", &[("start", "empty"), ("segment", "256 KiB"), ("checkpoint", "1 MiB")], ""),
    journal("pages-lz4", &[("start", "empty"), ("space", "growing")], "growing"),
    journal(
        "differences-zstd",
        &[("start", "empty"), ("writing", "dsync"), ("space", "recycled")],
        "dsync",
    ),
    journal("differences", &[("start", "empty"), ("writing", "direct")], "direct"),
];

impl Row {
    /// As it is named on the command line and in the table.
    pub(super) fn name(&self) -> String {
        let Self { study, strategy, shown, .. } = self;
        let gap = if shown.is_empty() { "" } else { " " };
        format!("{study}/{strategy}{gap}{shown}")
    }

    /// What the strategy promises with these parameters, in its own words.
    pub(super) fn promise(&self) -> Result<String> {
        let study = studies::find(self.study).context(self.study)?.spec();
        study.strategy(self.strategy).context(self.strategy)?;
        Ok(study.promise_of(self.strategy, &self.params()?.written()).to_owned())
    }

    /// All of the study's parameters.
    pub(super) fn params(&self) -> Result<Params> {
        let study = studies::find(self.study).context(self.study)?.spec();
        study.params_with(self.set.iter().copied()).map_err(anyhow::Error::msg)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_row_is_an_arm_that_can_be_tried() {
        for row in ROWS {
            let trial = studies::power_trial(row.study, row.strategy, &row.params().unwrap());
            assert!(trial.unwrap().is_some(), "{}", row.name());
            let promise = row.promise().unwrap();
            assert!(!promise.is_empty());
            let is_synced = row.shown == "sync=each" && row.strategy != "queued";
            let is_safe = promise.contains("power failure: nothing acknowledged is lost");
            assert!(is_safe || !is_synced, "{}: {promise}", row.name());
        }
    }
}
