//! All tests with real servers, in one program.

mod common;
mod connections;
mod hostile;
mod max_rate;
mod schema;
mod timing;
