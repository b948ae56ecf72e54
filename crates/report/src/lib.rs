//! Results in words and tables. Everything here is a pure function of a saved
//! result; nothing here can measure.
//!
//! Texts carry ANSI styles; whoever prints them strips those where they do not
//! belong.

mod figures;
mod integrity;
mod noise;
mod place;
mod risk;
pub mod selftest;
mod table;
pub mod terminal;
mod why;
mod words;

pub use place::places;
