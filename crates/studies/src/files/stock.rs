//! What documents are: generated ones, or copies of the user's own files.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::study::{Footprint, Part, StudyError};
use model::material::Material;
use units::exact_size;

use crate::file::{make_common_folder, make_folder, name};
use crate::random::{self, stamp};
use crate::tree::joined;
use crate::user_data::files::{Bounds, OwnFiles};

/// All files of a slice together, or one that is larger, or a set of the user's that is.
pub(super) const SLICE_BYTES_MAX: u64 = 4 << 20;
/// A slice has no more files than this, however small they are.
pub(super) const FILES_MAX: u64 = 4096;
/// An empty file's inode and name, and a folder.
pub(super) const NAME_BYTES: u64 = 8192;
/// What a user's set may have. Each slice copies it, so that a sample is no larger than it must be.
pub(crate) const OWN: Bounds = Bounds {
    what: "a set of files",
    files: FILES_MAX as usize,
    bytes: 64 << 20,
    sample: Some(1000),
};

/// Where documents come from.
#[derive(Clone)]
pub(super) enum Stock {
    Generated {
        size_bytes: u64,
        /// Folders that they are spread over.
        folders: u64,
    },
    /// Every so many documents are a whole set, in a folder of their own.
    Own(Arc<OwnFiles>),
}

/// A document's names: the one that it has, and another to be renamed to.
pub(super) struct Document {
    pub(super) path: CString,
    pub(super) other: CString,
    pub(super) folder: CString,
}

impl Stock {
    /// A slice has a multiple of so many, so that each has the same mix of sizes.
    pub(super) fn granule(&self) -> u64 {
        match self {
            Self::Generated { .. } => 1,
            Self::Own(own) => own.count(),
        }
    }

    /// Files with contents that a slice has at the most.
    pub(super) fn files_max(&self) -> u64 {
        match self {
            Self::Generated { size_bytes, .. } => {
                (SLICE_BYTES_MAX / size_bytes).clamp(1, FILES_MAX)
            }
            Self::Own(own) => {
                let sets = (SLICE_BYTES_MAX / own.bytes()).min(FILES_MAX / own.count()).max(1);
                sets * own.count()
            }
        }
    }

    /// Empty files that a slice has at the most.
    pub(super) fn names_max(&self) -> u64 {
        FILES_MAX / self.granule() * self.granule()
    }

    /// What so many documents come to, and one more aside, with or without contents.
    pub(super) fn footprint(&self, documents: u64, are_empty: bool) -> Footprint {
        let (bytes, entries) = match self {
            Self::Generated { size_bytes, folders } => {
                let bytes = (documents.min(self.files_max()) + 1) * size_bytes;
                (bytes, documents + folders)
            }
            Self::Own(own) => {
                let sets = documents.div_ceil(own.count());
                (sets * own.bytes() + own.largest(), sets * own.entries())
            }
        };
        let bytes = if are_empty { 0 } else { bytes } + entries * NAME_BYTES;
        Footprint { space_bytes: bytes, files: entries + 1, written_bytes: bytes }
    }

    /// The number of a client's first document. All that a client has follow it.
    pub(super) fn first(&self, part: Part) -> u64 {
        part.number * self.names_max()
    }

    /// Makes the folders of a client's documents `from` to `to`, where those before have theirs.
    pub(super) fn make_folders(
        &self,
        folder: &OwnedFd,
        part: Part,
        from: u64,
        to: u64,
    ) -> Result<(), StudyError> {
        // Those of a worker before this one may be there.
        let make = if part.is_shared() { make_common_folder } else { make_folder };
        match self {
            Self::Generated { folders, .. } if from == 0 => {
                (0..*folders).try_for_each(|n| make(folder, &name(&format!("d{n}"))))
            }
            Self::Generated { .. } => Ok(()),
            Self::Own(own) => {
                let (first, of_set) = (self.first(part), own.count());
                let mut sets = (first + from).div_ceil(of_set)..(first + to).div_ceil(of_set);
                sets.try_for_each(|set| own.make_folders(folder, &set_name(set), make))
            }
        }
    }

    /// The names of a document.
    pub(super) fn document(&self, number: u64) -> Document {
        match self {
            Self::Generated { folders, .. } => {
                let within = number % folders;
                Document {
                    path: name(&format!("d{within}/invoice-{number}.pdf")),
                    other: name(&format!("d{within}/paid-{number}.pdf")),
                    folder: name(&format!("d{within}")),
                }
            }
            Self::Own(own) => {
                let set = set_name(number / own.count());
                let path = joined(&set, &own.files()[(number % own.count()) as usize].path);
                let path_bytes = path.to_bytes();
                let end = path_bytes.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
                let folder = CString::new(&path_bytes[..end]).unwrap_or_default();
                // Its name may be as long as names can be.
                let other = joined(&folder, &name(&format!(".renamed-{number}")));
                Document { path, other, folder }
            }
        }
    }

    /// What holds the contents of any document.
    pub(super) fn contents(&self) -> Contents {
        match self {
            Self::Generated { size_bytes, .. } => {
                Contents::Generated(random::bytes(*size_bytes as usize, 0))
            }
            Self::Own(own) => Contents::Own(Arc::clone(own)),
        }
    }

    /// What reports say of it.
    pub(super) fn material(&self) -> Material {
        match self {
            Self::Generated { size_bytes, .. } => {
                Material::generated(format!("files of {}", exact_size(*size_bytes)), "set")
            }
            Self::Own(own) => own.material(),
        }
    }
}

fn set_name(set: u64) -> CString {
    name(&format!("set{set}"))
}

/// What is in documents.
pub(super) enum Contents {
    /// The same in each, with its number at the front.
    Generated(Vec<u8>),
    Own(Arc<OwnFiles>),
}

impl Contents {
    /// The bytes of the largest document.
    pub(super) fn largest(&self) -> usize {
        match self {
            Self::Generated(contents) => contents.len(),
            Self::Own(own) => own.largest() as usize,
        }
    }

    /// A document's.
    pub(super) fn of(&mut self, number: u64) -> &[u8] {
        match self {
            Self::Generated(contents) => {
                stamp(contents, number);
                contents
            }
            Self::Own(own) => &own.files()[(number % own.count()) as usize].contents,
        }
    }
}
