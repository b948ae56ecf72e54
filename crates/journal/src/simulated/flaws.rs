//! Defects for the crash tests to catch.

use crate::defect::Planted;
use crate::simulated::machine::Faults;

/// Defects that are planted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flaws {
    pub(crate) library: Planted,
    pub(crate) ignores_sync: bool,
    pub(crate) ignores_names_sync: bool,
}

impl Flaws {
    /// A machine with nothing wrong but what is planted.
    pub(crate) fn faults(self) -> Faults {
        Faults {
            ignores_sync: self.ignores_sync,
            ignores_names_sync: self.ignores_names_sync,
            ..Faults::default()
        }
    }
}
