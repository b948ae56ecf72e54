//! What ranks say to each other, as JSON. Any version reads a greeting, which has the version.

use std::borrow::Cow;
use std::path::PathBuf;

use model::client::Client;
use process::worker::Assignment;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::comm::Failure;
use crate::tree::Said;

/// What rank 0 says to another, and when to start any rank to those below it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToRank<'a> {
    /// To say who it is.
    Greet,
    /// To look for files that rank 0 made.
    Look(Vec<Mark>),
    /// To say what is mounted at these directories.
    Describe(Vec<PathBuf>),
    /// To make a folder of its own in a place.
    Open(OwnPlace),
    /// To say what time it is.
    Time,
    /// To have its worker make ready for some work.
    Work {
        /// Messages of another round are of a slice that was given up.
        round: u64,
        /// How many ranks take part, the first ones.
        of: usize,
        /// What latencies are to be added up in.
        unit_ns: f64,
        /// The work.
        assignment: Cow<'a, Assignment>,
    },
    /// To have its worker start, and to tell those below.
    Start {
        /// Of which work.
        round: u64,
        /// When, by its own clock; at once unless that is said.
        when: Option<When>,
    },
    /// To end its worker, whatever it does.
    Kill,
    /// To end.
    End,
}

/// What another rank answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FromRank {
    /// Who it is.
    Greeting(Greeting),
    /// What it sees of each file, in the same order.
    Seen(Vec<Sight>),
    /// What is mounted at each directory, in the same order.
    Described(Vec<String>),
    /// The folder that it made in a place, or why it could not.
    Opened(Result<PathBuf, String>),
    /// What its clock shows.
    Time(Reading),
    /// What its worker says, and those of the ranks below it: that they are ready, or what they
    /// did.
    Gathered {
        /// Of which work.
        round: u64,
        /// What each says.
        all: Vec<Said>,
    },
}

/// Who a rank is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    /// The version of iotoll that it runs.
    pub(crate) version: String,
    /// The machine that it runs on.
    pub(crate) machine: Client,
}

/// A moment, by a rank's `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct When {
    /// What that shows then, in nanoseconds.
    pub(crate) at_ns: u64,
    /// By how much it may be off from what rank 0 thinks of it.
    pub(crate) error_ns: u64,
}

/// A clock, and what it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// What `CLOCK_MONOTONIC` shows, in nanoseconds.
    pub(crate) monotonic_ns: u64,
    /// What it is called, where that is known.
    pub(crate) clock: Option<String>,
}

/// A file that rank 0 made in a place, by which others know the place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// The place's directory.
    pub place: PathBuf,
    /// The file.
    pub file: PathBuf,
    /// What is in it.
    pub content: String,
}

/// A place that each machine has its own of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnPlace {
    /// What the user calls it.
    pub label: String,
    /// Its directory, on every machine.
    pub path: PathBuf,
}

/// What a rank sees of a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sight {
    /// The file that rank 0 made.
    Same,
    /// A directory without that file.
    Another,
    /// No such directory, or none that it may use, and why.
    Missing(String),
}

/// A message as it travels.
pub(crate) fn written(message: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(message).map_err(|error| Failure(error.to_string()))
}

/// A message that came.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    let why = |error| Failure(format!("a message of another program or version ({error})"));
    serde_json::from_slice(bytes).map_err(why)
}
