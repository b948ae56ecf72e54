//! From a plan to blocks, to slices, to samples, and from samples to verdicts.
//!
//! Owns the traits that the rest plugs into: [`study::Study`] is what is timed,
//! [`machine::Site`] is a place as slices use it, [`rig::Rig`] is what slices
//! run on. Everything up to the samples touches the machine through a rig;
//! everything after ([`conclude`]) is a pure function of what was saved. The
//! engine emits [`measure::Event`]s and never prints.

mod causes;
pub mod clock;
pub mod conclude;
mod figures;
mod floor;
mod integrity;
mod invalid;
pub mod machine;
pub mod measure;
pub mod next;
pub mod noise;
mod order;
pub mod probes;
pub mod recorder;
pub mod rig;
pub mod selftest;
mod standing;
pub mod study;
pub mod worker;
