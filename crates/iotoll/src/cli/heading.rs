//! The headings under which `--help` lists flags.

pub(crate) const WORKLOAD: &str = "Workload";
pub(crate) const PLACES: &str = "Places";
pub(crate) const PRECISION: &str = "Precision";
pub(crate) const OUTPUT: &str = "Output";
pub(crate) const CI: &str = "CI";
pub(crate) const SAFETY: &str = "Safety";
pub(crate) const MPI: &str = "MPI";
