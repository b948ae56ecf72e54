//! What is checked before a run touches anything.

use anyhow::bail;
use engine::study::{Footprint, Workload};
use host::disks::DeviceReader;
use host::memory::MemoryFacts;
use host::root::Root;
use model::arm::Arm;
use model::place::{PlaceFacts, StorageKind};
use model::plan::Plan;
use places::{Asked, Need};

use crate::exit::UsageError;
use crate::terminal::output;

/// Each arm's workload; an error where an arm's strategy and parameters do not go
/// together.
pub(crate) fn workloads(arms: &[Arm]) -> anyhow::Result<Vec<Box<dyn Workload>>> {
    let workload = |arm: &Arm| {
        let unknown = || UsageError(format!("there is no study {}", arm.study.name));
        let study = studies::find(&arm.study.name).ok_or_else(unknown)?;
        let workload = study.workload(&arm.strategy.name, &arm.params);
        Ok(workload.map_err(|why| UsageError(format!("{}: {why}", arm.id)))?)
    };
    arms.iter().map(workload).collect()
}

/// Parameters that were given and mean nothing to any arm, as in `log.batch`.
pub(crate) fn unused(plan: &Plan, arms: &[Arm]) -> Vec<String> {
    let mut unused = Vec::new();
    for study in &plan.studies {
        let own: Vec<&Arm> = arms.iter().filter(|arm| arm.study.name == study.spec.name).collect();
        let applies = |name: &str| {
            let mut own = own.iter();
            own.any(|arm| study.spec.applies(name, &arm.strategy.name, &arm.params.written()))
        };
        let given = study.factors.iter().filter(|(name, _)| !applies(name));
        unused.extend(given.map(|(name, _)| format!("{}.{name}", study.spec.name)));
    }
    unused
}

/// Notes places that are on one file system; an error where the default ones are.
pub(crate) fn check_apart(facts: &[PlaceFacts], chose_places: bool) -> anyhow::Result<()> {
    for (position, place) in facts.iter().enumerate() {
        let twin =
            facts[..position].iter().find(|earlier| places::same_file_system(earlier, place));
        let Some(twin) = twin else { continue };
        let text = format!(
            "{} ({}) and {} ({}) are on the same file system, {}",
            twin.label,
            twin.shown(),
            place.label,
            place.shown(),
            place.filesystem
        );
        if !chose_places {
            bail!(UsageError(format!(
                "{text}, so there is nothing to compare. Name a directory on other storage, as in \
                 `iotoll compare /var/tmp /dev/shm`, or one place alone to compare strategies on \
                 it, as in `iotoll compare /dev/shm`"
            )));
        }
        output::note(&format!(
            "{text}: expect no difference. To compare storage, pass a directory on another file \
             system (`iotoll places PATH` shows what a directory is on)"
        ));
    }
    Ok(())
}

/// Where the counters of a place's devices should be readable and are not, its
/// facts say so.
pub(crate) fn note_unread_counters(place: &mut PlaceFacts) {
    if place.kind == StorageKind::Disk
        && let Err(error) = DeviceReader::new(&Root::real(), place)
    {
        place.unread.push(error.to_string());
    }
}

/// Refuses what would not fit on places or in memory.
pub(crate) fn check_space(places: &[PlaceFacts], needs: &[Footprint]) -> anyhow::Result<()> {
    let memory = MemoryFacts::read(&Root::real())?;
    let asked = places.iter().zip(needs);
    let asked = asked.map(|(facts, needs)| {
        let need = at_once(facts, needs);
        Asked { facts, need, is_held: false }
    });
    Ok(places::check_space(&asked.collect::<Vec<_>>(), &memory)?)
}

/// What is at a place at once, at the most: what slices and arms need, what earlier slices left,
/// and what of that was put aside.
pub(crate) fn at_once(place: &PlaceFacts, needs: &Footprint) -> Need {
    let (left, aside) = (places::left_max(place), places::aside_max(place));
    Need {
        bytes: needs.space_bytes.saturating_add(left.bytes).saturating_add(aside.bytes),
        files: needs.files.saturating_add(left.files).saturating_add(aside.files),
    }
}
