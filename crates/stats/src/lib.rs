//! Pure functions over numbers: histograms, and comparisons that may be
//! looked at at any time. Seeded where random; depends on nothing of ours.

mod histogram;

pub use histogram::Histogram;
