//! What an arm of the study is told: its strategy and parameters, understood.

use std::time::Duration;

use engine::study::{Footprint, StudyError};
use load::RateBounds;
use model::study::{Params, Rate};
use units::exact_duration;

use super::built_in::{LINE_BYTES, Settings};
use super::launch::CommandServer;
use super::spec::{LogWhen, Render, SPEC, Strategy};
use crate::page::{self, Parts};
use crate::sqlite;

/// What a server of the user's may write in a slice, for all that can be known.
const COMMAND_BYTES: u64 = 16 << 20;
/// Files that it may make, likewise.
const COMMAND_FILES: u64 = 1024;
/// A built-in server's own: its folder, socket and logs.
const BUILT_IN_FILES: u64 = 16;
/// Connections that a search for the highest rate makes, of a server that only logs …
const SEARCH_CONNECTIONS: u64 = 1 << 16;
/// … and of one that waits for a database: it holds some hundreds a second.
const SEARCH_TRANSACTIONS: u64 = 1 << 13;

/// What an arm is told.
pub(super) struct Config {
    pub(super) server: ServerKind,
    pub(super) rate: Rate,
    pub(super) connections: u64,
    pub(super) timeout: Duration,
    /// What a rate must keep to for being held.
    pub(super) bounds: RateBounds,
    pub(super) ready_within: Duration,
    /// The port to listen on; any that is free where there is none.
    pub(super) port: Option<u16>,
}

/// Whose server it is.
pub(super) enum ServerKind {
    BuiltIn(BuiltIn),
    Command(CommandServer),
}

/// A server that is built in.
pub(super) struct BuiltIn {
    pub(super) strategy: Strategy,
    pub(super) content: Content,
    pub(super) settings: Settings,
}

/// What a built-in server answers from.
pub(super) enum Content {
    Empty,
    Page { parts: Parts, render: Render },
    Sqlite { strategy: sqlite::spec::Strategy, rows: u64 },
}

impl Config {
    pub(super) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let strategy = Strategy::of(strategy)?;
        let server = if strategy == Strategy::Command {
            let built_in = Strategy::descriptions().iter().filter(|s| s.name != strategy.name());
            let names = built_in.flat_map(|built_in| built_in.facts.params).copied();
            refuse_given(params, names, |name| {
                format!(
                    "{name} applies only to the built-in servers, not to a server started by \
                     serve.command"
                )
            })?;
            ServerKind::Command(CommandServer::new(params)?)
        } else {
            let names = Strategy::Command.facts().params.iter().copied();
            refuse_given(params, names, |name| {
                format!(
                    "{name} was given, and {} is a server that is built in; add --strategy \
                     command to time a server of your own",
                    strategy.name()
                )
            })?;
            ServerKind::BuiltIn(BuiltIn::new(strategy, params)?)
        };
        let p99_within = params.duration("p99_within");
        let bounds = RateBounds {
            p99: Some(p99_within),
            errors_share: params.count("errors_within") as f64 / 100.0,
        };
        let timeout = params.duration("timeout");
        if p99_within > timeout {
            return Err(StudyError::Unsuited(format!(
                "p99_within ({}) is longer than the timeout ({}), so it would always be met; lower \
                 it, or raise the timeout",
                exact_duration(p99_within),
                exact_duration(timeout)
            )));
        }
        Ok(Self {
            server,
            rate: params.rate("rate"),
            connections: params.count("connections"),
            timeout,
            bounds,
            ready_within: params.duration("ready_within"),
            port: u16::try_from(params.count("port")).ok().filter(|port| *port > 0),
        })
    }

    /// What a slice of so many connections comes to. What a server of the user's writes is
    /// not known before: the devices behind the place tell.
    pub(super) fn footprint(&self, operations: u64) -> Footprint {
        let ServerKind::BuiltIn(server) = &self.server else {
            let bytes = COMMAND_BYTES;
            return Footprint { space_bytes: bytes, files: COMMAND_FILES, written_bytes: bytes };
        };
        let is_search = self.rate == Rate::Max;
        let connections = if is_search { SEARCH_CONNECTIONS } else { operations };
        let bytes = server.settings.log_lines * LINE_BYTES as u64 * connections;
        let log = Footprint { space_bytes: bytes, files: BUILT_IN_FILES, written_bytes: bytes };
        log.and(match &server.content {
            Content::Empty => Footprint::NOTHING,
            Content::Page { parts, .. } => parts.footprint(1),
            Content::Sqlite { rows, .. } => {
                sqlite::footprint(*rows, connections.min(operations.max(SEARCH_TRANSACTIONS)))
            }
        })
    }

    /// The path and query that are asked for.
    pub(super) fn url(&self) -> &str {
        match &self.server {
            ServerKind::BuiltIn(_) => "/",
            ServerKind::Command(server) => &server.url,
        }
    }
}

impl BuiltIn {
    fn new(strategy: Strategy, params: &Params) -> Result<Self, StudyError> {
        let parts = page::parts(params)?;
        let content = match strategy {
            Strategy::Page => Content::Page { parts, render: Render::of(params.choice("render"))? },
            Strategy::Sqlite => Content::Sqlite {
                strategy: sqlite::spec::Strategy::of(params.choice("database"))?,
                rows: params.count("rows"),
            },
            Strategy::Empty | Strategy::Command => Content::Empty,
        };
        Ok(Self {
            strategy,
            content,
            settings: Settings {
                workers: params.count("workers"),
                backlog: params.count("backlog") as u32,
                log_lines: params.count("log_lines"),
                log_when: LogWhen::of(params.choice("log_when"))?,
            },
        })
    }

    /// Whether the log is switched on for one request alone.
    pub(super) fn logs_one(&self) -> bool {
        self.settings.log_lines > 0 && self.settings.log_when == LogWhen::Switched
    }
}

/// An error where one of some parameters is not at its default.
fn refuse_given(
    params: &Params,
    mut names: impl Iterator<Item = &'static str>,
    why: impl FnOnce(&str) -> String,
) -> Result<(), StudyError> {
    let is_given = |name: &&str| {
        let param = SPEC.param(name);
        let value = params.0.iter().find(|(known, _)| known == name);
        param.zip(value).is_some_and(|(param, (_, value))| *value != param.default_value())
    };
    match names.find(is_given) {
        None => Ok(()),
        Some(name) => Err(StudyError::Unsuited(why(name))),
    }
}
