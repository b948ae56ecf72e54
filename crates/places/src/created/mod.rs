//! Places that are created for a run and are gone after it.
//!
//! What is created here is created so that the kernel takes it away when the run's last process
//! has ended, however that came about:
//!
//! - mounts are in a mount namespace of the run's own, which its workers and servers
//!   inherit: a tmpfs, and every other mount, goes with the last of them;
//! - the file of an image never has a name (`O_TMPFILE`), and its loop device is one that
//!   takes itself down: both go with the mount.
//!
//! What the kernel does not take away is a zram device, the layers of an overlay, and the
//! folder with the mount points. That folder is a working folder as every place has one,
//! with its lock, and in it is a record of the rest (`../record.rs`), written before each
//! step. Whoever finds the folder without its owner undoes what the record says: the next
//! run, or `iotoll clean`.
//!
//! Each kind is a file here, which creates what its description in `model::created` asks for.

mod ageing;
mod error;
mod image;
mod kind;
mod mkfs;
mod overlay;
mod standing;
mod tmpfs;
mod zram;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use model::created::CreatedPlace;
use model::place::{Detail, PlaceFacts};
use sys::mount_namespace::{self, Rights};

pub use self::error::CreateError;
use self::error::recording;
use self::kind::{Creation, Kind};
use self::standing::Standing;
use crate::error::{PlaceName, WorkDirError};
use crate::free_space::AGE;
use crate::home::created_home;
use crate::inspect::{AFTER_REBOOT, inspect};
use crate::record::Record;
use crate::workdir::WorkDir;

/// What creates a place of its kind.
fn kind(created: &CreatedPlace) -> &dyn Kind {
    match created {
        CreatedPlace::Tmpfs(kind) => kind,
        CreatedPlace::Image(kind) => kind,
        CreatedPlace::Zram(kind) => kind,
        CreatedPlace::Overlay(kind) => kind,
    }
}

/// The facts as far as they are known before, or why it cannot be created. What only the
/// attempt shows, such as a kernel without the file system, is not found here.
pub fn foreseen(label: &str, created: &CreatedPlace) -> Result<PlaceFacts, CreateError> {
    let kind = kind(created);
    if kind.needs_root() && !rustix::process::geteuid().is_root() {
        return Err(CreateError::needs_root());
    }
    let foreseen = kind.foresee(label)?;
    let age = kind.age().map(|age| Detail::new(AGE, age, "it is created for this run"));
    let details = foreseen.details.into_iter().chain(age).collect();
    Ok(PlaceFacts { created: Some(created.to_string()), details, ..foreseen })
}

/// The places that were created for a run. Dropping it removes them.
#[derive(Debug)]
pub struct CreatedPlaces {
    work: WorkDir,
    record: Record,
    rights: Rights,
    standing: Vec<Standing>,
}

impl CreatedPlaces {
    /// None yet. From here on this process has a mount namespace of its own, so it must
    /// not have started a thread.
    pub fn begin() -> Result<Self, CreateError> {
        let rights = mount_namespace::enter().map_err(|error| {
            CreateError(format!(
                "creating a place needs a mount namespace ({error}): run as root, or allow user \
                 namespaces; or use a directory that exists, such as /dev/shm for memory"
            ))
        })?;
        let work = WorkDir::create_in(PlaceName::bare(&created_home()))?;
        let record = Record::begin(work.fd()).map_err(recording)?;
        Ok(Self { work, record, rights, standing: Vec::new() })
    }

    /// Creates one and says what it is. `stop` ends it early.
    pub fn create(
        &mut self,
        label: &str,
        created: &CreatedPlace,
        stop: &AtomicBool,
    ) -> Result<PlaceFacts, CreateError> {
        let kind = kind(created);
        if kind.needs_root() && self.rights == Rights::OwnNamespace {
            return Err(CreateError::needs_root());
        }
        let folder = self.work.subdir(&format!("place-{label}"))?;
        let mut standing = Standing::at(folder.path());
        match kind.create(Creation { standing: &mut standing, record: &mut self.record, stop }) {
            Ok(()) => {
                let facts = facts(label, &standing.point, created);
                self.standing.push(standing);
                facts
            }
            Err(error) => {
                if standing.remove().is_err() {
                    self.work.leave();
                }
                Err(error)
            }
        }
    }

    /// Removes all of them. Where something cannot be let go of, the rest is removed all the
    /// same, and the folder stays for the next run to try again.
    pub fn remove(mut self) -> Result<(), CreateError> {
        self.remove_standing()?;
        Ok(self.work.remove_once().map_err(WorkDirError::from)?)
    }

    fn remove_standing(&mut self) -> Result<(), CreateError> {
        let removed = self.standing.drain(..).rev().map(Standing::remove);
        // All of them, whatever the first one comes to.
        let results: Vec<Result<(), CreateError>> = removed.collect();
        let result: Result<(), CreateError> = results.into_iter().collect();
        if result.is_err() {
            self.work.leave();
        }
        result
    }
}

impl Drop for CreatedPlaces {
    /// Silently: what is left is found by its record, and undone by the next run.
    fn drop(&mut self) {
        let _ = self.remove_standing();
    }
}

/// The facts of one that stands.
fn facts(label: &str, point: &Path, created: &CreatedPlace) -> Result<PlaceFacts, CreateError> {
    let mut facts = inspect(label, point)?;
    facts.created = Some(created.to_string());
    facts.details.retain(|detail| ![AFTER_REBOOT, AGE].contains(&detail.name.as_str()));
    let age = kind(created).age().map(|age| Detail::new(AGE, age, "it was created for this run"));
    facts.details.extend(age);
    Ok(facts)
}
