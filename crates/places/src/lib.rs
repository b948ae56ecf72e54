//! What a directory stands on, and safe working folders in it.
//!
//! [`inspect()`] says which file system and which devices are behind a place, [`WorkDir`]
//! is the private folder in it that a run works in, [`clean()`] removes what killed runs
//! left, and [`check_space`] refuses what would fill a disk or the memory.

mod clean;
mod error;
mod folder;
mod inspect;
mod open;
mod removal;
mod space;
mod workdir;

pub use clean::{CleanReport, FailedFolder, HeldFolder, RemovedFolder, clean};
pub use error::{PlaceError, PlaceName, WorkDirError};
pub use folder::Folder;
pub use inspect::{inspect, same_file_system};
pub use space::{SpaceError, check_space};
pub use workdir::WorkDir;
