//! An HTTP client that starts its connections when they should start,
//! whatever the server does, and that says so when its figures are its own
//! rather than the server's.
//!
//! [`run`] takes a [`Plan`] to a [`LoadResult`], telling of its progress in
//! [`Event`]s on the way; [`knee`] finds the highest rate held within a slice
//! of a measurement. [`Server`] starts, awaits and stops a server, and
//! [`ServerWatch`] measures one beside the client. [`layout`] puts results
//! into words. Nothing here prints.
//!
//! ```no_run
//! use iotoll_load::{Plan, Steps, Target, run};
//! use std::sync::atomic::AtomicBool;
//!
//! let target = Target::parse("http://127.0.0.1:8080/")?;
//! let steps = Steps::Rates { rates: vec![200.0, 300.0], connections: None };
//! let stop = AtomicBool::new(false);
//! let result = run(&Plan::new(target, steps), None, &mut |_| (), &stop)?;
//! for step in &result.steps {
//!     let p99 = step.connection_ms.map(|summary| summary.p99);
//!     assert!(step.valid, "{:?} ms is not the server's: {:?}", p99, step.why_invalid);
//! }
//! # Ok::<(), iotoll_load::Error>(())
//! ```

mod bracket;
mod chunked;
mod client;
mod connection;
mod deadlines;
mod error;
mod expect;
mod keeper;
mod knee;
pub mod layout;
mod meter;
mod outcome;
mod pacer;
mod plan;
mod ports;
mod preflight;
mod progress;
mod response;
mod result;
mod run;
mod schedule;
mod search;
mod server;
mod socket;
mod target;
mod usage;
mod validity;

pub use error::Error;
pub use expect::{Expect, Text};
pub use knee::{Knee, KneeBounds, knee};
pub use outcome::{ErrorKind, Errors};
pub use plan::{Plan, Request, Reuse, Steps, Version};
pub use progress::{Event, Progress};
pub use result::{
    Bytes, LoadResult, Mode, OpenConnections, Phases, Preflight, ReplyRate, SCHEMA, Search,
    Statuses, Step, Summary, Try,
};
pub use run::run;
pub use schedule::{Gap, Schedule};
pub use server::{Server, ServerSample, ServerUse, ServerWatch, free_port};
pub use target::{Address, Target};
