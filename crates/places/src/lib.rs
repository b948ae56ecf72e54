//! What a directory stands on, and safe working folders in it.
//!
//! [`inspect()`] says which file system and which devices are behind a place, [`WorkDir`]
//! is the private folder in it that a run works in, [`PlaceFolders`] the folders of slices
//! within that, [`clean()`] removes what killed runs left, and [`check_space`] refuses what
//! would fill a disk or the memory. [`CreatedPlaces`] creates places for a run and removes them.
//! [`Output`] is a file that is written elsewhere, such as a result.
//! [`check_source`] refuses files that root should not act on.

mod clean;
mod created;
mod cut;
mod error;
mod folder;
mod free_space;
mod home;
mod inspect;
mod margins;
mod open;
mod output;
mod place_folders;
mod record;
mod removal;
mod signature;
mod source;
mod space;
mod walk;
mod workdir;

pub use clean::{
    CleanReport, FailedFolder, Foreign, ForeignFolder, HeldFolder, RemovedFolder, UnfinishedFile,
    clean, clean_home,
};
pub use created::{CreateError, CreatedPlaces, foreseen};
pub use error::{PlaceError, PlaceName, WorkDirError};
pub use folder::Folder;
pub use free_space::note_free_pieces;
pub use home::created_home;
pub use inspect::{inspect, same_file_system};
pub use margins::Margins;
pub use output::{Output, OutputError, Readers};
pub use place_folders::{PlaceFolders, aside_max};
pub use source::{SourceError, check_source};
pub use space::{Asked, Need, SpaceError, check_space};
pub use workdir::WorkDir;
