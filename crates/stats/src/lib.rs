//! Pure functions over numbers: histograms, and comparisons that may be
//! looked at at any time. Depends on nothing of ours; no clock, no I/O.
//!
//! The method of the comparisons is explained in `docs/statistics.md`, and
//! what it promises is shown by simulation in `tests/simulation.rs`.

mod autocorrelation;
mod bet;
mod beta;
mod between_runs;
mod binomial;
mod carry_over;
mod gamma;
mod histogram;
mod joint;
mod median;
mod normal;
mod quantile;
mod selection;
mod sequence;
mod shares;
mod slow_change;
mod student;
mod trend;
mod warmup;

pub use between_runs::{BLOCKS_MIN, Level, Variation, difference, moderate};
pub use binomial::{rate_at_least, rate_at_most};
pub use carry_over::{CarryOver, Step, carry_over};
pub use histogram::Histogram;
pub use joint::{Differences, levels};
pub use median::{center_and_spread, median, median_interval};
pub use quantile::log_quantile_of_sample;
pub use selection::selected_error_rate;
pub use sequence::{Decision, Interval, NotFinite, Sequence, Settings};
pub use shares::Shares;
pub use slow_change::slow_change;
pub use trend::{Trend, trend};
pub use warmup::Warmup;
