//! The places of a plan on this machine, those that are created for the run among them.
//!
//! They are looked at first, without touching anything: that is all that `--dry-run` does.
//! Creating them comes next, and removing them last, after the working folders in them.

use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;
use engine::study::Footprint;
use host::memory::MemoryFacts;
use host::root::Root;
use model::created::CreatedPlace;
use model::place::{PlaceFacts, PlaceRequest, Target};
use model::plan::Plan;
use model::run::LeftOut;
use places::{Asked, CreateError, CreatedPlaces, Need, PlaceError};

use crate::measuring::preflight::{at_once, note_unread_counters};
use crate::terminal::output;

/// The places of a plan.
pub(crate) struct PreparedPlaces {
    /// Without those that cannot be created.
    pub(crate) plan: Plan,
    /// In the order of the plan's places.
    pub(crate) facts: Vec<PlaceFacts>,
    /// What cannot be created, and why.
    pub(crate) left_out: Vec<LeftOut>,
    /// What holds those that are created, where that is a directory.
    holders: Vec<Option<Holder>>,
    created: Option<CreatedPlaces>,
}

/// The directory that holds an image, or the layers of an overlay.
struct Holder {
    facts: PlaceFacts,
    directory: File,
    /// What it may come to hold; `None` where that is what the run writes.
    bytes: Option<u64>,
}

impl PreparedPlaces {
    /// Looks at a plan's places, and at what is there of those that are to be created.
    pub(crate) fn look(mut plan: Plan) -> anyhow::Result<Self> {
        settle(&mut plan.places);
        let (facts, left_out, holders) = Default::default();
        let places = std::mem::take(&mut plan.places);
        let mut prepared_places = Self { plan, facts, left_out, holders, created: None };
        for (position, place) in places.into_iter().enumerate() {
            prepared_places.look_at(place, position)?;
        }
        prepared_places.check_some()?;
        Ok(prepared_places)
    }

    fn look_at(&mut self, place: PlaceRequest, position: usize) -> anyhow::Result<()> {
        let label = &place.label;
        let (facts, holder) = match &place.target {
            Target::Directory(path) => (inspected(label, path)?, None),
            Target::Created(created) => {
                // A directory that is not there is a mistake, not something that is lacking.
                let holder = Holder::of(label, created)?;
                match places::foreseen(label, created) {
                    // Each is a file system of its own, which has no number yet.
                    Ok(facts) => {
                        let filesystem_id = u64::MAX - position as u64;
                        (PlaceFacts { filesystem_id, ..facts }, holder)
                    }
                    Err(error) => {
                        self.leave_out(&place, &error);
                        return Ok(());
                    }
                }
            }
        };
        self.plan.places.push(place);
        self.facts.push(facts);
        self.holders.push(holder);
        Ok(())
    }

    /// Creates what is to be created. What cannot be is left out.
    pub(crate) fn create(&mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        sweep_home();
        let is_created = |place: &PlaceRequest| matches!(place.target, Target::Created(_));
        if !self.plan.places.iter().any(is_created) {
            return Ok(());
        }
        let mut begun = CreatedPlaces::begin();
        let requests = std::mem::take(&mut self.plan.places);
        let foreseen = std::mem::take(&mut self.facts).into_iter();
        let holders = std::mem::take(&mut self.holders);
        for (place, (facts, holder)) in requests.into_iter().zip(foreseen.zip(holders)) {
            let created = match (&place.target, &mut begun) {
                (Target::Directory(_), _) => Ok(facts),
                (Target::Created(created), Ok(places)) => {
                    places.create(&place.label, created, stop)
                }
                (Target::Created(_), Err(error)) => {
                    self.leave_out(&place, error);
                    continue;
                }
            };
            match created {
                Ok(mut facts) => {
                    note_unread_counters(&mut facts);
                    self.plan.places.push(place);
                    self.facts.push(facts);
                    self.holders.push(holder);
                }
                Err(_) if stop.load(Ordering::Relaxed) => break,
                Err(error) => self.leave_out(&place, &error),
            }
        }
        self.created = begun.ok();
        if stop.load(Ordering::Relaxed) { Ok(()) } else { self.check_some() }
    }

    fn leave_out(&mut self, place: &PlaceRequest, error: &CreateError) {
        let (label, target) = (place.label.clone(), place.target.to_string());
        output::note(&format!("{label}={target} is left out: {error}"));
        self.left_out.push(LeftOut { label, target, why: error.to_string() });
    }

    /// Where every place is left out there is nothing to measure.
    fn check_some(&self) -> anyhow::Result<()> {
        if self.facts.is_empty() && !self.left_out.is_empty() {
            bail!("none of the places can be created here; pass a directory, such as /dev/shm");
        }
        Ok(())
    }

    /// Refuses what would not fit: on the places, on what holds them, or in memory.
    pub(crate) fn check_space(&self, needs: &[Footprint]) -> anyhow::Result<()> {
        let mut asked = Vec::new();
        for ((facts, needs), holder) in self.facts.iter().zip(needs).zip(&self.holders) {
            let need = at_once(facts, needs);
            match holder {
                None => asked.push(Asked { facts, need, is_held: false }),
                Some(Holder { facts: below, bytes: None, .. }) => {
                    asked.push(Asked { facts: below, need, is_held: false });
                }
                Some(Holder { facts: below, bytes: Some(bytes), .. }) => {
                    asked.push(Asked { facts, need, is_held: true });
                    let need = Need { bytes: *bytes, files: 1 };
                    asked.push(Asked { facts: below, need, is_held: false });
                }
            }
        }
        let memory = MemoryFacts::read(&Root::real())?;
        Ok(places::check_space(&asked, &memory)?)
    }

    /// The directories that hold those that were created, each open, to be watched.
    pub(crate) fn holders(&self) -> impl Iterator<Item = (&PlaceFacts, BorrowedFd<'_>)> {
        let holders = self.holders.iter().flatten();
        holders.map(|holder| (&holder.facts, holder.directory.as_fd()))
    }

    /// Removes what was created.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        Ok(self.created.map_or(Ok(()), CreatedPlaces::remove)?)
    }
}

impl Holder {
    fn of(label: &str, created: &CreatedPlace) -> anyhow::Result<Option<Self>> {
        let Some(path) = created.stands_on() else { return Ok(None) };
        let facts = inspected(label, path)?;
        let directory = File::open(&facts.path)?;
        Ok(Some(Self { facts, directory, bytes: created.takes_bytes() }))
    }
}

fn inspected(label: &str, path: &Path) -> Result<PlaceFacts, PlaceError> {
    let mut facts = places::inspect(label, path)?;
    note_unread_counters(&mut facts);
    Ok(facts)
}

/// Says in which directory each created place is, and where that is: a run's record is
/// read elsewhere.
fn settle(requests: &mut [PlaceRequest]) {
    let first = requests.iter().find_map(|place| place.target.directory());
    let first = first.unwrap_or(Path::new(".")).to_owned();
    for place in requests {
        if let Target::Created(created) = &mut place.target
            && let Some(directory) = created.settle(&first)
            // One that is not there is told of by whoever opens it.
            && let Ok(path) = directory.canonicalize()
        {
            *directory = path;
        }
    }
}

/// Removes what killed runs made and left.
fn sweep_home() {
    let Ok(report) = places::clean_home() else { return };
    for gone in report.removed.iter().filter(|folder| !folder.undone.is_empty()) {
        let undone = gone.undone.join(", ");
        output::note(&format!("removed what a killed run had created: {undone}"));
    }
    for unproved in report.removed.iter().flat_map(|folder| &folder.unproved) {
        output::note(&format!("kept {unproved}"));
    }
    for failed in report.failed {
        output::note(&format!(
            "could not remove what a killed run had created: {}: {}",
            failed.path.display(),
            failed.why
        ));
    }
}
