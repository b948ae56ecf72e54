//! An HTTP client that starts its connections when they should start,
//! whatever the server does, and that says so when its figures are its own
//! rather than the server's.
//!
//! [`run`] takes a [`Plan`] to what it [`Measured`], reporting its progress in
//! [`Event`]s on the way; [`analyse_step`] says what follows from a step;
//! [`max_rate`] finds the highest rate held within a slice of a measurement.
//! A [`ServerMeter`] given to either measures the server beside the client.
//! Nothing here prints, and nothing here starts a server.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpListener;
//! use std::sync::atomic::AtomicBool;
//!
//! use iotoll_load::{Plan, Steps, Target, analyse_step, run};
//!
//! let server = TcpListener::bind("127.0.0.1:0")?;
//! let target = Target::parse(&format!("http://{}/", server.local_addr()?))?;
//! std::thread::spawn(move || {
//!     for client in server.incoming() {
//!         let mut client = client?;
//!         client.read(&mut [0; 4096])?;
//!         client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
//!     }
//!     Ok::<(), std::io::Error>(())
//! });
//!
//! // Fifty connections, a hundred of them a second.
//! let steps = Steps::Rates { rates: vec![100.0], connections: Some(50) };
//! let measured = run(&Plan::new(target, steps), None, &mut |_| (), &AtomicBool::new(false))?;
//! for step in &measured.steps {
//!     let seen = analyse_step(step);
//!     assert!(seen.connection_ms.is_some_and(|summary| summary.p99 > 0.0));
//!     // On a busy machine, a figure may be the client's and not the server's.
//!     println!("valid: {}, {:?}", seen.valid, seen.why_invalid);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analyse;
mod chunked;
mod client;
mod connection;
mod deadlines;
mod error;
mod expect;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod id;
mod malformed;
mod max_rate;
mod meter;
mod outcome;
mod pacer;
mod plan;
mod ports;
mod preflight;
mod progress;
mod reach;
mod response;
mod run;
mod runner;
mod schedule;
mod socket;
mod subsamples;
mod target;
mod until;
mod usage;

pub use analyse::{analyse_load, analyse_slice, analyse_step};
pub use error::Error;
pub use expect::{Expect, Text};
pub use max_rate::{Effort, MaxRate, RateBounds, Search, max_rate};
pub use model::address::Address;
pub use model::load::{
    Errors, Gap, LoadRun, Mode, Phases, SCHEMA, ServerMeter, ServerUse, Step, StepAnalysis,
};
pub use plan::{Plan, Request, Reuse, Steps, Version};
pub use progress::{Event, Progress};
pub use reach::Permission;
pub use run::{Measured, run};
pub use schedule::Schedule;
pub use target::Target;
pub use until::{HALF_WIDTH_MAX, HALF_WIDTH_MIN};
