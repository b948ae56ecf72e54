//! All tests of the store, in one program.

mod common;
mod damage;
mod layouts;
mod rights;
mod store;
