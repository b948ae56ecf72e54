//! Whether this machine lets verdicts be trusted: the engine measured with
//! itself ([`run::selftest`]).
//!
//! Two arms that do the same at the same place, each in a folder of its own
//! ([`twins`]), are compared by the very loop and the very conclusions that users get:
//! - over and over, where any difference found is a false one
//!   (`against_itself`);
//! - without stopping, to learn how much blocks scatter (`scatter`) and from
//!   that how small a difference could be shown (`resolution`);
//! - with one of them slowed down on purpose, which must be found
//!   (`planted`).

mod against_itself;
mod clock_check;
mod objections;
mod place;
mod planted;
mod rerun;
mod resolution;
pub mod run;
mod scatter;
pub mod settings;
mod slowed;
pub mod twins;
