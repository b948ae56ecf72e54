//! All tests of the statistics, in one program: each file is one of their promises.

#![allow(clippy::unwrap_used, missing_docs)]

mod another_run;
mod between_runs;
mod carry_over;
mod change_points;
mod failures;
mod modes;
mod percentile;
mod properties;
mod simulation;
mod tails;
mod trend;
