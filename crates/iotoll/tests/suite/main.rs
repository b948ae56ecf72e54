//! All tests of the built program that need neither root alone nor a quiet machine, in one program.

#![allow(clippy::unwrap_used, missing_docs)]

mod bad_input;
mod bill;
mod bounds;
mod chart;
mod commands;
mod common;
mod compare;
mod confined;
mod consent;
mod endings;
mod footprint;
mod foreign_messages;
mod interrupt;
mod launched;
mod load;
mod log;
mod mine;
mod neighbours;
mod own;
mod record;
mod reproduce;
mod results;
mod runs;
mod safety;
mod saved;
mod serve;
mod share;
mod shared;
mod show;
mod slices;
mod stacks;
mod studies;
mod wrong_usage;
