//! What a run comes to at its places at the most, known before it starts.

use crate::job::Job;
use crate::local::KEPT_FOLDERS;
use crate::measure::slices_max;
use crate::study::{About, Footprint, RunsIn, Workload};

/// What a run needs at each place: the space that slices and arms take at once, without what is put
/// aside, and what the whole run would write without a limit.
pub fn needs(job: &Job, workloads: &[Box<dyn Workload>], places: usize) -> Vec<Footprint> {
    (0..places).map(|place| needs_at(place, job, workloads)).collect()
}

/// Slices come one at a time; what arms keep is there all the time.
fn needs_at(place: usize, job: &Job, workloads: &[Box<dyn Workload>]) -> Footprint {
    let (mut slice, mut kept) = (Footprint::NOTHING, Footprint::NOTHING);
    let mut written_bytes: u64 = 0;
    let slices = slices_max(job);
    for (_, workload) in job.arms.iter().zip(workloads).filter(|(arm, _)| arm.place == place) {
        let About { operations, runs_in, kept: keeps, .. } = workload.about();
        let own = workload.footprint(operations.max);
        let by_slices = own.written_bytes.saturating_mul(slices);
        let folders = if runs_in == RunsIn::OneFolder { 1 } else { KEPT_FOLDERS };
        let by_arm = keeps.written_bytes.saturating_mul(folders);
        written_bytes = written_bytes.saturating_add(by_slices).saturating_add(by_arm);
        slice = slice.or(own);
        kept = kept.and(keeps);
    }
    Footprint { written_bytes, ..slice.and(kept) }
}
