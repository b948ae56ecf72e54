//! A slice of the study: requests from one connection in the thread that is timed, or
//! from several in threads of their own.

use std::os::fd::{BorrowedFd, OwnedFd};

use engine::slice_timer::{SliceTimer, WorkersAre};
use engine::study::{Doing, Ran, Ready, StudyError};
use model::slice::Outcome;
use model::spent::Spent;
use process::worker::{Assignment, RunningGroup, WorkerGroup, WorkerKind, WorkerPool, span_ns};

use super::client::{self, Client, WRITES, Work};
use super::config::Config;
use super::database::{self, Expected, Template};
use super::folder::path_in;
use super::spec::Connect;
use crate::file::keep_open;
use crate::tree::sync_tree;
use crate::{figures_of, workers};

/// A database that no request has come to yet.
pub(super) struct Database<'a> {
    connections: u64,
    pool: &'a WorkerPool,
    folder: OwnedFd,
    /// The first connection's work.
    work: Work,
    /// How far a write-ahead log is on its way to the next checkpoint when the slice
    /// begins, from 0 to 1.
    log_filled: f64,
    /// Requests that were made before the clock.
    made_before: u64,
}

/// A connection of this thread.
struct Alone<'a> {
    /// Closed before the folder is, by whose descriptor it knows its database.
    client: Box<Client>,
    database: Database<'a>,
}

/// Connections in threads of their own.
struct Together<'a> {
    /// Ended before the folder is closed, by whose descriptor they know their database.
    workers: WorkerGroup,
    database: Database<'a>,
}

/// A database that requests were answered from.
struct Answered<'a> {
    /// Still connected: closing the last connection merges a write-ahead log, which is
    /// a deferred cost and no part of a request. Closed before the folder is.
    alone: Option<Box<Client>>,
    database: Database<'a>,
    /// Requests that were answered.
    acknowledged: u64,
    figures: [(&'static str, f64); 3],
}

impl<'a> Database<'a> {
    pub(super) fn create(
        config: &Config,
        template: &mut Template,
        pool: &'a WorkerPool,
        folder: BorrowedFd<'_>,
        log_filled: f64,
    ) -> Result<Self, StudyError> {
        let folder = keep_open(folder)?;
        database::create(&folder, template)?;
        let file = path_in(&folder, database::NAME);
        let work = Work {
            statements: config.data.statements(),
            writes: config.data.is_written_to(),
            connects_each_time: config.connect == Connect::Request,
            ..Work::new(file, config.strategy, config.data.rows())
        };
        let connections = config.connections;
        Ok(Self { connections, pool, folder, work, log_filled, made_before: 0 })
    }

    fn assignments(&self) -> Result<Vec<Assignment>, StudyError> {
        let requests = self.work.requests / self.connections;
        (1..=self.connections)
            .map(|author| {
                let work = Work { author, requests, ..self.work.clone() };
                Assignment::of("sqlite", &work).doing("writing down a connection's work")
            })
            .collect()
    }

    /// With connections that are made.
    pub(super) fn ready(
        mut self,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        self.work.requests = operations;
        // The first connection settles the journal mode, which is kept in the file.
        let mut client = Client::ready(self.work.clone())?;
        if self.work.strategy.is_wal() && self.connections == 1 {
            self.made_before = client.fill_log(self.log_filled)?;
        }
        sync_tree(&self.folder)?;
        if self.connections == 1 {
            return Ok(Box::new(Alone { database: self, client: Box::new(client) }));
        }
        drop(client);
        let threads = WorkerKind::Threads(client::do_assignment);
        let assignments = self.assignments()?;
        let (clock, stop) = (timer.clock(), timer.stop_flag());
        let workers = WorkerGroup::ready(threads, &assignments, self.pool, clock, stop)?;
        Ok(Box::new(Together { database: self, workers }))
    }
}

impl<'a> Ready<'a> for Alone<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { mut client, database } = *self;
        let (began, traffic) = (timer.last_ticks(), client.run(timer)?);
        timer.finish();
        traffic.record(timer);
        let took = timer.clock().between(began, timer.last_ticks());
        let acknowledged = database.work.requests;
        let per_s = acknowledged as f64 / took.as_secs_f64();
        let figures = figures(traffic.sync_calls, traffic.written_bytes as f64, per_s);
        Ok(Box::new(Answered { database, alone: Some(client), acknowledged, figures }))
    }
}

impl<'a> Ready<'a> for Together<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { workers, database } = *self;
        let reports = workers.start().and_then(RunningGroup::reports);
        timer.check_stop()?;
        let reports = reports?;
        workers::absorb(WorkersAre::Threads, &reports, timer);
        let acknowledged: u64 = reports.iter().map(|r| r.acknowledged).sum();
        let syncs = timer.spent(Spent::default()).sync_calls;
        let written = reports.iter().filter_map(|r| r.figures.get("written_bytes")).sum();
        let per_s = acknowledged as f64 * 1e9 / span_ns(&reports).max(1) as f64;
        let figures = figures(syncs, written, per_s);
        Ok(Box::new(Answered { database, alone: None, acknowledged, figures }))
    }
}

fn figures(syncs: u64, written_bytes: f64, per_s: f64) -> [(&'static str, f64); 3] {
    [
        ("syncs_per_request", syncs as f64),
        ("written_bytes_per_request", written_bytes),
        ("requests_per_s", per_s),
    ]
}

impl Ran for Answered<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        let Database { work, folder, .. } = &self.database;
        if work.strategy.is_wal() {
            client::checkpoint(work)?;
        }
        sync_tree(folder)
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { database, alone, acknowledged, figures } = *self;
        drop(alone);
        let Work { file, rows, statements, .. } = &database.work;
        let updates = (acknowledged + database.made_before) * WRITES;
        let expected = Expected { rows: *rows, updates, perhaps: 0 };
        let integrity = if statements.is_empty() {
            database::account(file, &expected)?
        } else {
            database::account_own(file)?
        };
        Ok(Outcome {
            integrity: Some(integrity),
            figures: figures_of(figures),
            ..Outcome::default()
        })
    }
}
