//! What a server's processes use.

use std::sync::Arc;
use std::time::Instant;

use host::process::{self, ProcessUse};
use host::root::Root;
use host::sync_calls::{SyncCalls, UncountedError};
use model::counters::{self, Counters as _};
use model::load::{ServerMeter, ServerUse};

use crate::Error;

/// Measures a process with its descendants.
#[derive(Debug, Clone)]
pub struct ServerWatch {
    root: i32,
    /// The root is our keeper, which is none of the server.
    without_root: bool,
    syncs: Arc<SyncCalls>,
}

/// What the processes of a server have used until some moment.
#[derive(Debug, Clone)]
pub struct ServerSample {
    at: Instant,
    used: ProcessUse,
    sync_calls: Option<u64>,
}

impl ServerWatch {
    /// Watches a process that runs already.
    pub fn of(pid: i32) -> Result<Self, Error> {
        let failed = |why: &str| Error::Failed(format!("server process {pid}: {why}"));
        if pid <= 0 || !process::is_alive(&Root::real(), pid) {
            return Err(failed("there is no such process"));
        }
        if let Err(source) = process::check_io(&Root::real(), pid) {
            let why = format!("its I/O cannot be read ({source}); run as its user or as root");
            return Err(failed(&why));
        }
        let syncs = SyncCalls::uncounted(UncountedError::RanAlready);
        Ok(Self { root: pid, without_root: false, syncs: Arc::new(syncs) })
    }

    /// Why the syncs of this server cannot be counted, and what to do about
    /// it; `None` when they are counted.
    pub fn sync_note(&self) -> Option<String> {
        self.syncs.why_not().map(ToString::to_string)
    }

    /// Watches a server under its keeper.
    pub(super) fn under_supervisor(supervisor: i32, syncs: Arc<SyncCalls>) -> Self {
        Self { root: supervisor, without_root: true, syncs }
    }

    /// The server's processes.
    pub(super) fn processes(&self) -> Vec<i32> {
        let tree = process::tree(&Root::real(), self.root).into_iter();
        tree.skip(usize::from(self.without_root)).collect()
    }

    /// Reads all counters now.
    pub fn sample(&self) -> ServerSample {
        let root = Root::real();
        let processes = process::tree(&root, self.root).into_iter();
        let used = counters::sum(processes.filter_map(|pid| ProcessUse::read(&root, pid)));
        ServerSample { at: Instant::now(), used, sync_calls: self.syncs.count() }
    }

    /// What was used since `before`, in which there were so many replies.
    pub fn used_since(&self, before: &ServerSample, replies: u64) -> ServerUse {
        let now = self.sample();
        let used = now.used.since(before.used);
        let cpu_ms = used.cpu_ns as f64 / 1e6;
        let wall_ms = (now.at - before.at).as_secs_f64().max(1e-9) * 1e3;
        let memory_of = |pid| process::memory_bytes(&Root::real(), pid);
        let memory: Vec<(u64, bool)> = self.processes().into_iter().map(memory_of).collect();
        ServerUse {
            processes: memory.len() as u64,
            cpu_ms,
            cpu_user_ms: used.user_ns as f64 / 1e6,
            cpu_system_ms: used.system_ns as f64 / 1e6,
            cpu_percent: cpu_ms * 100.0 / wall_ms,
            cpu_us_per_reply: (replies > 0).then(|| cpu_ms * 1e3 / replies as f64),
            asked_read_bytes: used.calls.read_bytes,
            asked_write_bytes: used.calls.written_bytes,
            read_calls: used.calls.reads,
            write_calls: used.calls.writes,
            device_read_bytes: used.calls.storage_read_bytes,
            device_write_bytes: used.calls.storage_dirtied_bytes,
            sync_calls: now
                .sync_calls
                .zip(before.sync_calls)
                .map(|(now, before)| now.saturating_sub(before)),
            sync_note: self.sync_note(),
            memory_bytes: memory.iter().map(|(bytes, _)| bytes).sum(),
            memory_is_pss: memory.iter().all(|(_, pss)| *pss),
        }
    }
}

impl ServerMeter for ServerWatch {
    fn begin(&self) -> Box<dyn FnOnce(u64) -> ServerUse + '_> {
        let before = self.sample();
        Box::new(move |replies| self.used_since(&before, replies))
    }
}
