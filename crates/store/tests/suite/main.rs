//! All tests of the store, in one program.

mod common;
mod layouts;
mod store;
