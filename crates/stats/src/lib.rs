//! Pure functions over numbers: histograms, and comparisons that are decided from ten
//! short runs. Depends on no other crate of the workspace; no clock, no I/O.
//!
//! The method of the comparisons is explained in `docs/statistics-appendix.md`, and
//! what it promises is shown by simulation in `tests/suite/simulation`.
//!
//! ```
//! use iotoll_stats::{Decision, Settings, Stretches, trimmed_mean};
//!
//! // The threshold is 5%, and one decision in twenty may be wrong.
//! let mut comparison = Stretches::new(Settings { threshold: 0.05, error_rate: 0.05 });
//! for stretch in 0..5 {
//!     // The log ratios of the rounds of a stretch: the second takes twice as long, and a bit.
//!     let rounds = [0.69, 0.71, 0.70, 0.68, 0.72].map(|ratio: f64| ratio + 0.001 * f64::from(stretch));
//!     comparison.push(trimmed_mean(&rounds).unwrap_or_default());
//! }
//! assert_eq!(comparison.decision(), Decision::Greater);
//! let interval = comparison.interval();
//! assert!(interval.low.exp() > 1.9 && interval.high.exp() < 2.1);
//! ```

mod beta;
mod between_runs;
mod binomial;
mod bisect;
mod carry_over;
mod change_points;
mod exceedance;
mod gamma;
mod histogram;
mod joint;
mod median;
mod modes;
mod normal;
mod percentile;
mod quantile;
mod selection;
mod shares;
mod steadiness;
mod stretches;
mod student;
mod trend;
mod unlike;
mod variation;
mod warmup;

pub use between_runs::{ASSUMED_DEVIATION, Level, difference};
pub use binomial::{rate_at_least, rate_at_most};
pub use carry_over::{CarryOver, Step, carry_over};
pub use change_points::{ChangePoint, LEVEL_MIN, change_points};
pub use exceedance::{Exceedances, QuantileBounds};
pub use histogram::Histogram;
pub use joint::{Difference, levels};
pub use median::{center_and_spread, median, median_interval};
pub use modes::{Modes, modes};
pub use percentile::{
    LOOK_SHARE, LOOKS, PercentileInterval, Sparse, look_after, percentile_interval,
};
pub use quantile::log_quantile_of_subsample;
pub use selection::selected_error_rate;
pub use shares::Shares;
pub use steadiness::{Drift, drift};
pub use stretches::{
    Decision, Interval, STRETCHES, STRETCHES_MIN, Settings, Stretches, is_look, trimmed_mean,
};
pub use trend::{Trend, trend};
pub use unlike::{level, unlike};
pub use variation::{Variation, moderate};
pub use warmup::Warmup;
