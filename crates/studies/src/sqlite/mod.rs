//! `sqlite`: a request of a web application that keeps its data in SQLite: 10
//! inserts, 10 updates and 10 selects, the whole table read 5 times and searched 5
//! times, and what was inserted deleted again.
//!
//! Strategies are named by what SQLite is told: journal mode, `synchronous`, and
//! whether the request is one transaction (`-tx`). Each slice starts from the same
//! database. A single connection works in the thread that is timed; several are
//! threads with a connection each, that wait for one another's locks, and the toll
//! is what one request takes.

pub(crate) mod client;
pub(crate) mod database;
pub(crate) mod spec;
mod traffic;

use std::os::fd::{BorrowedFd, OwnedFd};

use engine::recorder::{Elsewhere, Recorder, StopFlag};
use engine::study::{Doing, Operations, Study, StudyError, Task};
use engine::worker::{Crew, Hands, Pool, Report, Ticket};
use model::integrity::Integrity;
use model::study::{Params, StudySpec};
use rustix::fs::OFlags;

use self::client::{Client, WRITES, Work};
use self::database::{BUSY_TIMEOUT, Expected};
use crate::file::{folder_path, name, open_for_writing, write_whole};
use crate::tree::sync_tree;

/// Even the fastest requests fill a slice sooner.
const REQUESTS_MAX: u64 = 1 << 14;
/// What a row takes, in the table, the journal and the write-ahead log together.
const ROW_BYTES: u64 = 1024;
/// SQLite merges its write-ahead log beyond 1,000 pages of 4 KiB; readers delay that.
const LOG_BYTES: u64 = 16 << 20;

/// Threads end with their work, so that nobody waits here.
static POOL: Pool = Pool::new();

/// The study.
pub(crate) struct Sqlite;

impl Study for Sqlite {
    fn spec(&self) -> &'static StudySpec {
        &spec::SPEC
    }

    fn operations(&self, params: &Params) -> Result<Operations, String> {
        let connections = params.count("connections");
        Ok(Operations { granule: connections, max: REQUESTS_MAX / connections * connections })
    }

    fn space_bytes(&self, _strategy: &str, params: &Params, _operations: u64) -> u64 {
        space_bytes(params.count("rows"))
    }

    fn prepare(
        &self,
        strategy: &str,
        params: &Params,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Task>, StudyError> {
        const MAKING: &str = "making the database";
        let folder = folder.try_clone_to_owned().doing("keeping the folder open")?;
        let file = open_for_writing(&folder, &name(database::NAME), OFlags::EXCL).doing(MAKING)?;
        write_whole(file, &database::template(params.count("rows"))?, MAKING)?;
        let work = Work {
            file: folder_path(&folder).doing("finding the folder's path")?.join(database::NAME),
            strategy: strategy.to_owned(),
            author: 1,
            rows: params.count("rows"),
            requests: 0,
            connects_each_time: params.choice("connect") == "request",
            busy_timeout: BUSY_TIMEOUT,
        };
        let connections = params.count("connections");
        Ok(Box::new(Requests {
            work,
            connections,
            folder,
            ready: Ready::Nobody,
            acknowledged: 0,
            requested_bytes: 0,
            figures: Vec::new(),
        }))
    }
}

/// What a database of so many rows takes at the most, its journal or log included.
pub(crate) fn space_bytes(rows: u64) -> u64 {
    rows * ROW_BYTES + LOG_BYTES
}

struct Requests {
    work: Work,
    connections: u64,
    folder: OwnedFd,
    ready: Ready,
    /// Requests that were answered.
    acknowledged: u64,
    requested_bytes: u64,
    figures: Vec<(&'static str, f64)>,
}

enum Ready {
    Nobody,
    Alone(Box<Client>),
    Crew(Crew<'static>),
}

impl Requests {
    fn tickets(&self, operations: u64, recorder: &Recorder) -> Result<Vec<Ticket>, StudyError> {
        let clock = recorder.clock().tell();
        let requests = operations / self.connections;
        (1..=self.connections)
            .map(|author| {
                let work = Work { author, requests, ..self.work.clone() };
                let work = serde_json::to_value(work).map_err(std::io::Error::from);
                let work = work.doing("writing down a connection's work")?;
                Ok(Ticket { study: "sqlite".to_owned(), clock, work })
            })
            .collect()
    }

    fn alone(&mut self, client: &mut Client, recorder: &mut Recorder) -> Result<(), StudyError> {
        let (began, traffic) = (recorder.last_ticks(), client.run(recorder)?);
        recorder.synced(traffic.sync_calls, traffic.sync_ns);
        let took = recorder.clock().between(began, recorder.last_ticks());
        let per_s = self.work.requests as f64 / took.as_secs_f64();
        self.acknowledged = self.work.requests;
        self.requested_bytes = traffic.read_bytes + traffic.written_bytes;
        self.figures = figures(traffic.sync_calls, traffic.written_bytes as f64, per_s);
        Ok(())
    }

    fn together(&mut self, mut crew: Crew<'_>, recorder: &mut Recorder) -> Result<(), StudyError> {
        crew.start();
        let reports = crew.reports();
        recorder.check_stop()?;
        let reports = reports?;
        let sum = |field: fn(&Report) -> u64| reports.iter().map(field).sum::<u64>();
        let elsewhere = Elsewhere {
            elapsed_ns: sum(|r| r.elapsed_ns),
            sync_calls: sum(|r| r.sync_calls),
            sync_ns: sum(|r| r.sync_ns),
            ..Elsewhere::default()
        };
        let tick_ns = recorder.clock().tick_ns();
        recorder.stand_for(elsewhere, reports.iter().flat_map(|r| r.latencies_in(tick_ns)));
        self.acknowledged = sum(|r| r.acknowledged);
        self.requested_bytes = sum(|r| r.requested_bytes);
        let began_ns = reports.iter().map(|r| r.began_ns).min().unwrap_or_default();
        let ended_ns = reports.iter().map(|r| r.ended_ns).max().unwrap_or_default();
        let per_s =
            self.acknowledged as f64 * 1e9 / ended_ns.saturating_sub(began_ns).max(1) as f64;
        let written = reports.iter().filter_map(|r| r.figures.get("written_bytes")).sum();
        self.figures = figures(elsewhere.sync_calls, written, per_s);
        Ok(())
    }
}

fn figures(syncs: u64, written_bytes: f64, per_s: f64) -> Vec<(&'static str, f64)> {
    vec![
        ("syncs_per_request", syncs as f64),
        ("written_bytes_per_request", written_bytes),
        ("requests_per_s", per_s),
    ]
}

impl Task for Requests {
    fn ready(&mut self, operations: u64, recorder: &Recorder) -> Result<(), StudyError> {
        self.work.requests = operations;
        // The first connection settles the journal mode, which is kept in the file.
        let client = Client::ready(self.work.clone())?;
        sync_tree(&self.folder)?;
        self.ready = if self.connections == 1 {
            Ready::Alone(Box::new(client))
        } else {
            drop(client);
            let tickets = self.tickets(operations, recorder)?;
            let stop = StopFlag::clone(recorder.stop_flag());
            Ready::Crew(Crew::ready(Hands::Threads(client::serve_ticket), tickets, &POOL, &stop)?)
        };
        Ok(())
    }

    fn run(&mut self, _operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
        match std::mem::replace(&mut self.ready, Ready::Nobody) {
            Ready::Nobody => unreachable!("the slice is made ready before it runs"),
            Ready::Crew(crew) => self.together(crew, recorder),
            Ready::Alone(mut client) => {
                let outcome = self.alone(&mut client, recorder);
                // Closing the last connection merges a write-ahead log, which is a
                // deferred cost and no part of a request.
                recorder.finish();
                self.ready = Ready::Alone(client);
                outcome
            }
        }
    }

    fn flush(&mut self) -> Result<(), StudyError> {
        if spec::is_wal(&self.work.strategy) {
            client::checkpoint(&self.work)?;
        }
        sync_tree(&self.folder)
    }

    fn check(&mut self) -> Result<Option<Integrity>, StudyError> {
        self.ready = Ready::Nobody;
        let expected =
            Expected { rows: self.work.rows, updates: self.acknowledged * WRITES, perhaps: 0 };
        database::account(&self.work.file, &expected).map(Some)
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        self.figures.clone()
    }

    fn requested_bytes(&self) -> u64 {
        self.requested_bytes
    }
}

#[cfg(test)]
mod tests;
