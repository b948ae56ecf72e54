//! Places that are made for a run: how they are asked for.
//!
//! `tmpfs:512M:huge=within_size`, `image:btrfs:1G:compress=zstd@/srv`, `zram:1G:xfs`,
//! `overlay:/srv`. What is written is read back from what [`MadePlace`] prints, so that a
//! run's record says how to make its places again.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use units::{parse_size, rough_size};

pub use crate::image::ImageFs;

const MIB: u64 = 1 << 20;
/// What a tmpfs has at least: less is no place to measure in.
const TMPFS_BYTES_MIN: u64 = MIB;
/// No device is larger than what an offset can name.
const BYTES_MAX: u64 = i64::MAX as u64;

/// The words that ask for a place to be made, where a colon follows.
const KINDS: [&str; 6] = ["tmpfs", "image", "zram", "overlay", "ramfs", "brd"];

/// A place that is made for a run and is gone after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadePlace {
    /// A file system in memory.
    Tmpfs {
        /// What it may hold.
        size_bytes: u64,
        /// Whether its files are held in large pages.
        huge: Option<Huge>,
    },
    /// A file system in a file, through a loop device.
    Image {
        /// Which one.
        filesystem: ImageFs,
        /// The size of the file, which takes space as it is written to.
        size_bytes: u64,
        /// Options to mount it with, separated by commas; may be empty.
        options: String,
        /// The directory that holds the file; `None` stands for the run's first directory.
        directory: Option<PathBuf>,
    },
    /// A file system on a compressed block device in memory.
    Zram {
        /// The size of the device, before compression.
        size_bytes: u64,
        /// The file system on it.
        filesystem: ImageFs,
    },
    /// What a container sees of a directory: an overlay whose upper layer is there.
    Overlay {
        /// The directory.
        over: PathBuf,
    },
}

/// When a tmpfs holds its files in large pages, in the words of `tmpfs(5)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Huge {
    /// Never.
    Never,
    /// Whenever a page is needed.
    Always,
    /// Where the file is large enough to fill one.
    WithinSize,
    /// Where a program asks for it.
    Advise,
}

/// Why a text does not say what is to be made.
pub type Why = String;

impl Huge {
    const ALL: [Self; 4] = [Self::Never, Self::Always, Self::WithinSize, Self::Advise];

    /// As `mount` is told.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Always => "always",
            Self::WithinSize => "within_size",
            Self::Advise => "advise",
        }
    }
}

/// What its maker asks for at least.
fn bytes_min(filesystem: ImageFs) -> u64 {
    match filesystem {
        ImageFs::Ext4 => 16 * MIB,
        ImageFs::Xfs => 300 * MIB,
        ImageFs::Btrfs => 128 * MIB,
    }
}

fn find(name: &str) -> Result<ImageFs, Why> {
    let found = ImageFs::EACH.into_iter().find(|fs| fs.name() == name);
    found
        .ok_or_else(|| format!("the file system `{name}` is not supported; use ext4, xfs or btrfs"))
}

/// Whether a text asks for a place to be made. A directory of such a name is written with
/// its path: `./tmpfs:1`.
pub fn asks_to_make(text: &str) -> bool {
    text.split_once(':').is_some_and(|(kind, _)| KINDS.contains(&kind))
}

impl MadePlace {
    /// What a place is labelled by that was given no label.
    pub fn usual_label(&self) -> &'static str {
        match self {
            Self::Tmpfs { .. } => "tmpfs",
            Self::Image { filesystem, .. } => filesystem.name(),
            Self::Zram { .. } => "zram",
            Self::Overlay { .. } => "overlay",
        }
    }

    /// The directory of an existing place that it stands on, if it does.
    pub fn stands_on(&self) -> Option<&Path> {
        match self {
            Self::Image { directory, .. } => directory.as_deref(),
            Self::Overlay { over } => Some(over),
            Self::Tmpfs { .. } | Self::Zram { .. } => None,
        }
    }
}

impl FromStr for MadePlace {
    type Err = Why;

    fn from_str(text: &str) -> Result<Self, Why> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        match kind {
            "tmpfs" => tmpfs(rest),
            "image" => image(rest),
            "zram" => zram(rest),
            "overlay" if rest.is_empty() => {
                Err("name the directory that holds its upper layer, as in overlay:/srv".to_owned())
            }
            "overlay" => Ok(Self::Overlay { over: PathBuf::from(rest) }),
            "ramfs" => {
                Err("a ramfs has no size limit and is never swapped out, so it can use up all \
                     memory; use tmpfs:SIZE, which behaves the same until it is full or swapped \
                     out"
                .to_owned())
            }
            "brd" => Err("all RAM disks of the kernel (brd) get their size when the module is \
                          loaded; use zram:SIZE, or image:ext4:SIZE@/dev/shm, or load it yourself \
                          (`modprobe brd rd_nr=1 rd_size=KIB`), create a file system (`mkfs.ext4 \
                          /dev/ram0`), mount it, and pass its directory"
                .to_owned()),
            _ => Err(format!(
                "`{kind}` is not a kind of place that iotoll creates; use tmpfs, image, zram or \
                 overlay"
            )),
        }
    }
}

fn tmpfs(rest: &str) -> Result<MadePlace, Why> {
    let (size, option) = split_option(rest);
    let size_bytes = size_of(size, TMPFS_BYTES_MIN, "a tmpfs")?;
    let huge = option.map(huge).transpose()?;
    Ok(MadePlace::Tmpfs { size_bytes, huge })
}

fn huge(option: &str) -> Result<Huge, Why> {
    let value = option.strip_prefix("huge=").unwrap_or_default();
    let found = Huge::ALL.into_iter().find(|huge| huge.name() == value);
    found.ok_or_else(|| {
        format!(
            "`{option}` is not supported for a tmpfs; use huge=never, huge=always, \
             huge=within_size or huge=advise"
        )
    })
}

fn image(rest: &str) -> Result<MadePlace, Why> {
    let (rest, directory) = match rest.split_once('@') {
        Some((_, "")) => return Err("after the `@`, name the directory for the image".to_owned()),
        Some((rest, directory)) => (rest, Some(PathBuf::from(directory))),
        None => (rest, None),
    };
    let Some((name, rest)) = rest.split_once(':') else {
        return Err("name its file system and its size, as in image:xfs:1G".to_owned());
    };
    let filesystem = find(name)?;
    let (size, options) = split_option(rest);
    let size_bytes = size_of(size, bytes_min(filesystem), name)?;
    let options = options.unwrap_or_default().to_owned();
    filesystem.check_options(&options)?;
    Ok(MadePlace::Image { filesystem, size_bytes, options, directory })
}

fn zram(rest: &str) -> Result<MadePlace, Why> {
    let (size, name) = split_option(rest);
    let filesystem = name.map_or(Ok(ImageFs::Ext4), find)?;
    let size_bytes = size_of(size, bytes_min(filesystem), filesystem.name())?;
    Ok(MadePlace::Zram { size_bytes, filesystem })
}

/// A size, and what is behind the colon after it.
fn split_option(text: &str) -> (&str, Option<&str>) {
    match text.split_once(':') {
        Some((size, "")) => (size, None),
        Some((size, option)) => (size, Some(option)),
        None => (text, None),
    }
}

fn size_of(text: &str, bytes_min: u64, of: &str) -> Result<u64, Why> {
    // As `mount` and `truncate` read it.
    let is_short = text.ends_with(['K', 'M', 'G', 'T']);
    let bytes = parse_size(&if is_short { format!("{text}iB") } else { text.to_owned() });
    let bytes =
        bytes.map_err(|_| format!("`{text}` is not a size: write it as in 512M or 1GiB"))?;
    if (bytes_min..=BYTES_MAX).contains(&bytes) {
        Ok(bytes)
    } else if bytes < bytes_min {
        Err(format!("{} is too small: {of} needs at least {}", rough_size(bytes), size(bytes_min)))
    } else {
        Err(format!("{} is larger than any device", rough_size(bytes)))
    }
}

/// In the largest binary unit that divides it, without a space: `512MiB`.
fn size(bytes: u64) -> String {
    units::exact_size(bytes).replace(' ', "")
}

impl fmt::Display for MadePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tmpfs { size_bytes, huge } => {
                write!(f, "tmpfs:{}", size(*size_bytes))?;
                huge.map_or(Ok(()), |huge| write!(f, ":huge={}", huge.name()))
            }
            Self::Image { filesystem, size_bytes, options, directory } => {
                write!(f, "image:{}:{}", filesystem.name(), size(*size_bytes))?;
                if !options.is_empty() {
                    write!(f, ":{options}")?;
                }
                directory.as_ref().map_or(Ok(()), |dir| write!(f, "@{}", dir.display()))
            }
            Self::Zram { size_bytes, filesystem } => {
                write!(f, "zram:{}:{}", size(*size_bytes), filesystem.name())
            }
            Self::Overlay { over } => write!(f, "overlay:{}", over.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(text: &str) -> Result<String, Why> {
        text.parse::<MadePlace>().map(|made| made.to_string())
    }

    #[test]
    fn what_is_printed_reads_back_as_the_same() {
        let written = [
            ("tmpfs:256M", "tmpfs:256MiB"),
            ("tmpfs:1GiB:huge=within_size", "tmpfs:1GiB:huge=within_size"),
            ("image:xfs:1G", "image:xfs:1GiB"),
            ("image:btrfs:1G:compress=zstd:3,noatime", "image:btrfs:1GiB:compress=zstd:3,noatime"),
            ("image:ext4:64M@/srv/a:b@c", "image:ext4:64MiB@/srv/a:b@c"),
            ("image:btrfs:1G:compress=zstd@.", "image:btrfs:1GiB:compress=zstd@."),
            ("zram:512M", "zram:512MiB:ext4"),
            ("zram:512M:xfs", "zram:512MiB:xfs"),
            ("overlay:.", "overlay:."),
        ];
        for (given, printed) in written {
            assert_eq!(read(given).unwrap(), printed);
            let made: MadePlace = given.parse().unwrap();
            assert_eq!(printed.parse::<MadePlace>().unwrap(), made);
            assert!(asks_to_make(given));
        }
        assert!(!asks_to_make("./tmpfs:1") && !asks_to_make("tmpfs") && !asks_to_make("/a:b"));
    }

    #[test]
    fn what_cannot_be_made_is_refused_with_what_can() {
        let refused = [
            ("tmpfs:", "is not a size"),
            ("tmpfs:10K", "too small: a tmpfs needs at least 1MiB"),
            ("tmpfs:1G:huge=sometimes", "huge=within_size"),
            ("tmpfs:1G:noatime", "is not supported for a tmpfs"),
            ("tmpfs:99999999999G", "is not a size"),
            ("tmpfs:9999999999G", "larger than any device"),
            ("image:1G", "name its file system and its size"),
            ("image:ntfs:1G", "use ext4, xfs or btrfs"),
            ("image:xfs:100M", "xfs needs at least 300MiB"),
            ("image:xfs:1G@", "name the directory"),
            ("image:btrfs:1G:device=/dev/sda", "`device=/dev/sda` is not allowed for btrfs"),
            ("image:ext4:1G:errors=panic@/srv", "`errors=panic` is not allowed for ext4"),
            ("image:ext4:1G:noatime,ro", "newly mounted, and writable"),
            ("image:ext4:1G:a b", "`a b` is not allowed"),
            ("zram:1G:vfat", "use ext4, xfs or btrfs"),
            ("overlay:", "upper layer"),
            ("ramfs:1G", "use tmpfs:SIZE"),
            ("brd:1G", "use zram:SIZE"),
            ("brd:1G", "mkfs.ext4 /dev/ram0"),
        ];
        for (given, why) in refused {
            let said = read(given).unwrap_err();
            assert!(said.contains(why), "{given}: {said}");
        }
    }
}
