//! Working folders, as what measures in them sees them.

use model::arm::Arm;
use model::place::PlaceFacts;

use crate::runner::SliceRunner;
use crate::study::Workload;

/// Makes a working folder for each of some places.
pub type Open<'a, F> = dyn FnMut(&[PlaceFacts]) -> Result<F, <F as Folders>::Error> + 'a;

/// Working folders at places, in which slices run.
pub trait Folders {
    /// Why they could not be removed.
    type Error;

    /// A runner of slices in the folders. One at a time: they share them.
    fn runner(
        &mut self,
        arms: &[Arm],
        workloads: Vec<Box<dyn Workload>>,
    ) -> Box<dyn SliceRunner + '_>;

    /// Removes the folders.
    ///
    /// # Errors
    /// Where one cannot be removed.
    fn close(self) -> Result<(), Self::Error>;
}
