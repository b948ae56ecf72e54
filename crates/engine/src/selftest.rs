//! Whether this machine lets verdicts be trusted: the engine measured with
//! itself ([`run::selftest`]).
//!
//! Two arms that do the same at the same place, each in a folder of its own
//! ([`aa_test`]), are compared by the very loop and the very conclusions that users get:
//! - over and over, where any difference found is a false one
//!   (`against_itself`);
//! - without stopping, to learn how much blocks scatter (`scatter`) and from
//!   that how small a difference could be shown (`resolution`);
//! - over and over with one of them slowed down by a known factor (`slowdown`), in each
//!   kind of I/O, which their intervals must hold (`planted`).

pub mod aa_test;
mod against_itself;
mod clock_check;
mod pace;
mod place;
mod planted;
mod rerun;
mod resolution;
pub mod run;
mod scatter;
mod selftest_failures;
pub mod settings;
#[cfg(test)]
mod simulated;
mod slowdown;
