//! What a directory stands on, and safe working folders in it.
//!
//! [`inspect()`] says which file system and which devices are behind a place, [`WorkDir`]
//! is the private folder in it that a run works in, [`clean()`] removes what killed runs
//! left, [`check_space`] refuses what would fill a disk or the memory, and
//! [`DeviceReader`] reads what reached the devices.

mod clean;
mod counters;
mod device;
mod error;
mod inspect;
mod machine;
mod memory;
mod mount_options;
mod mounts;
mod open;
mod removal;
mod space;
mod workdir;

#[cfg(test)]
mod fixture;

pub use clean::{CleanReport, FailedFolder, HeldFolder, RemovedFolder, clean};
pub use counters::{CountersError, DeviceCounters, DeviceReader};
pub use error::{PlaceError, PlaceName, WorkDirError};
pub use inspect::{inspect, same_file_system};
pub use memory::{MemoryError, MemoryFacts, MemoryLimit};
pub use space::{SpaceError, check_space};
pub use workdir::{Folder, WorkDir};
