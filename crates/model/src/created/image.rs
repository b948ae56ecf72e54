//! `image:FS:SIZE[:aged][:OPTIONS][@DIRECTORY]`: a file system in a file.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Description, ImageFs, Why, size};

/// The word for an image that is aged.
const AGED: &str = "aged";
/// A smaller one has no room for the files of one in use.
const AGED_BYTES_MIN: u64 = 128 * size::MIB;

/// A file system in a file, through a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Which one.
    pub filesystem: ImageFs,
    /// The size of the file, which takes space as it is written to.
    pub size_bytes: u64,
    /// Whether files are created and removed in it first, as in one that has been in use.
    pub aged: bool,
    /// Options to mount it with, separated by commas; may be empty.
    pub options: String,
    /// The directory that holds the file; `None` stands for the run's first directory.
    pub directory: Option<PathBuf>,
}

impl Image {
    pub(super) const WORD: &str = "image";
    pub(super) const FORM: &str = "image:FS:SIZE";

    pub(super) fn parse(rest: &str) -> Result<Self, Why> {
        let (rest, directory) = match rest.split_once('@') {
            Some((_, "")) => {
                return Err("after the `@`, name the directory for the image".to_owned());
            }
            Some((rest, directory)) => (rest, Some(PathBuf::from(directory))),
            None => (rest, None),
        };
        let Some((name, rest)) = rest.split_once(':') else {
            return Err("name its file system and its size, as in image:xfs:1G".to_owned());
        };
        let filesystem = ImageFs::named(name)?;
        let (size, options) = size::split_option(rest);
        let size_bytes = size::parse(size, filesystem.bytes_min(), name)?;
        let (aged, options) = split_aged(options.unwrap_or_default());
        if aged && filesystem == ImageFs::Btrfs {
            return Err("only ext4 and xfs can be aged; leave `aged` out for btrfs".to_owned());
        }
        if aged && size_bytes < AGED_BYTES_MIN {
            let least = size::written(AGED_BYTES_MIN);
            return Err(format!("`aged` needs at least {least}: half of it is left in use"));
        }
        filesystem.check_options(options)?;
        Ok(Self { filesystem, size_bytes, aged, options: options.to_owned(), directory })
    }
}

/// Whether options begin with the word, and what is behind it.
fn split_aged(options: &str) -> (bool, &str) {
    match options.strip_prefix(AGED) {
        Some("") => (true, ""),
        Some(rest) if rest.starts_with(':') => (true, &rest[1..]),
        _ => (false, options),
    }
}

impl Description for Image {
    fn usual_label(&self) -> &'static str {
        self.filesystem.name()
    }

    fn stands_on(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    fn settle(&mut self, first: &Path) -> Option<&mut PathBuf> {
        Some(self.directory.get_or_insert_with(|| first.to_owned()))
    }

    fn takes_bytes(&self) -> Option<u64> {
        Some(self.size_bytes)
    }

    fn needs_consent(&self) -> bool {
        !self.options.is_empty() || self.directory.is_some()
    }

    /// Its options are among those that it is mounted with.
    fn anonymise(&mut self, _left_out: &str) {
        self.options.clear();
        self.directory = None;
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { filesystem, size_bytes, aged, options, directory } = self;
        write!(f, "{}:{}:{}", Self::WORD, filesystem.name(), size::written(*size_bytes))?;
        if *aged {
            write!(f, ":{AGED}")?;
        }
        if !options.is_empty() {
            write!(f, ":{options}")?;
        }
        directory.as_ref().map_or(Ok(()), |directory| write!(f, "@{}", directory.display()))
    }
}
