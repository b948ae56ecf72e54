//! All tests with real servers, in one program.

#![allow(clippy::unwrap_used, missing_docs)]

mod common;
mod connections;
mod hostile;
mod max_rate;
mod schema;
mod timing;
