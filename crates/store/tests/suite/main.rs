//! All tests of the store, in one program.

#![allow(clippy::unwrap_used, missing_docs)]

mod common;
mod damage;
mod layouts;
mod rights;
mod store;
