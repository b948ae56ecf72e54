//! What a directory stands on, and safe working folders in it.
//!
//! [`inspect()`] says which file system and which devices are behind a place, [`WorkDir`]
//! is the private folder in it that a run works in, [`PlaceFolders`] the folders of slices
//! within that, [`clean()`] removes what killed runs left, and [`check_space`] refuses what
//! would fill a disk or the memory. [`CreatedPlaces`] creates places for a run and removes them.
//! [`Output`] is a file that is written elsewhere, such as a result.
//! [`check_source`] refuses files that root should not act on.
//!
//! # Inside
//!
//! Each kind of created place is a file in `created`, with its description in `model::created`.
//! [`foreseen`] says what creating would do, which is all that `--dry-run` does.
//!
//! The kernel removes what it can: the process has its own mount namespace, which workers and servers
//! inherit, so mounts go with the last of them, also after kill -9. A loop device with `LO_FLAGS_AUTOCLEAR`
//! goes with its mount, and an image's file never has a name (`O_TMPFILE`). The rest is written down before it
//! is made: zram devices and the layers of an overlay. That record is in the working folder, so the owner's lock
//! says whose it is, and sweeping the folder undoes what the record says.
//!
//! [`Output`] walks a path once, component by component, and judges the owner of each link
//! (`model::ownership`). Files of slices are put aside, not removed (`place_folders.rs`).

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
    CleanReport, Foreign, HeldFolder, Left, RemovedFolder, UnfinishedFile, clean, clean_home,
};
pub use created::{CreateError, CreatedPlaces, foreseen};
pub use cut::cut_all;
pub use error::{PlaceError, PlaceName, WorkDirError};
pub use folder::Folder;
pub use free_space::note_free_pieces;
pub use home::created_home;
pub use inspect::{inspect, same_file_system};
pub use margins::Margins;
pub use output::{Output, OutputError, Readers};
pub use place_folders::{PlaceFolders, aside_max, left_max, spread};
pub use source::{SourceError, check_source};
pub use space::{Asked, Need, SpaceError, check_space};
pub use workdir::WorkDir;
