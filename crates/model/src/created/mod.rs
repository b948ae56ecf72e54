//! Places that are created for a run: how they are asked for, and what follows from that alone.
//!
//! `tmpfs:512M:huge=within_size`, `image:btrfs:1G:compress=zstd@/srv`, `zram:1G:xfs`,
//! `overlay:/srv`. Each kind is a file here with its [`Description`], and one in
//! `places/src/created`, which creates it. What is written is read back from what
//! [`CreatedPlace`] prints, so that a run's record says how to create its places again.

mod image;
mod image_fs;
mod overlay;
mod size;
mod tmpfs;
mod zram;

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub use self::image::Image;
pub use self::image_fs::ImageFs;
pub use self::overlay::Overlay;
pub use self::tmpfs::Tmpfs;
pub use self::zram::Zram;
use units::listed;

/// Why a text does not say what is to be created.
pub type Why = String;

/// What follows from how a place was asked for. It prints as it is asked for. Without more, it
/// stands on no directory and has no texts of the user's; a test refuses one that has and does
/// not say so.
pub trait Description: fmt::Display {
    /// What a place is labelled by that was given no label.
    fn usual_label(&self) -> &'static str;

    /// The directory of an existing place that it stands on, if it does.
    fn stands_on(&self) -> Option<&Path> {
        None
    }

    /// The same, to be changed. It is `first` for a place that stands on one and names none.
    fn settle(&mut self, _first: &Path) -> Option<&mut PathBuf> {
        None
    }

    /// What it may come to take of that directory; none where that is what the run writes.
    fn takes_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether creating it does more than take space where the run works anyway: for a plan
    /// of somebody else, the user is asked first.
    fn needs_consent(&self) -> bool {
        false
    }

    /// Leaves out other texts of the user's, with `left_out` for a directory that it must have.
    fn anonymise(&mut self, _left_out: &str) {}
}

/// Declares [`CreatedPlace`] with its kinds. Each has a `WORD` that asks for it where a colon
/// follows, a `FORM` for the help, and a `parse` of what is behind the colon.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident;)*) => {
        /// A place that is created for a run and is gone after it.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum CreatedPlace {
            $($(#[$doc])* $kind($kind),)*
        }

        const FORMS: &[&str] = &[$($kind::FORM),*];
        const WORDS: &[&str] = &[$($kind::WORD),*];

        impl CreatedPlace {
            fn parse(word: &str, rest: &str) -> Option<Result<Self, Why>> {
                match word {
                    $($kind::WORD => Some($kind::parse(rest).map(Self::$kind)),)*
                    _ => None,
                }
            }
        }

        impl Deref for CreatedPlace {
            type Target = dyn Description;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$kind(kind) => kind,)*
                }
            }
        }

        impl DerefMut for CreatedPlace {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Self::$kind(kind) => kind,)*
                }
            }
        }
    };
}

kinds! {
    /// A file system in memory.
    Tmpfs;
    /// A file system in a file, through a loop device.
    Image;
    /// A file system on a compressed block device in memory.
    Zram;
    /// What a container sees of a directory: an overlay whose upper layer is there.
    Overlay;
}

/// Words that ask for a place that is not created, each with why, and what to use instead.
const REFUSED: [(&str, &str); 2] = [
    (
        "ramfs",
        "a ramfs has no size limit and is never swapped out, so it can use up all memory; use \
         tmpfs:SIZE, which behaves the same until it is full or swapped out",
    ),
    (
        "brd",
        "all RAM disks of the kernel (brd) get their size when the module is loaded; use \
         zram:SIZE, or image:ext4:SIZE@/dev/shm, or load it yourself (`modprobe brd rd_nr=1 \
         rd_size=KIB`), create a file system (`mkfs.ext4 /dev/ram0`), mount it, and pass its \
         directory",
    ),
];

/// Whether a text asks for a place to be created. A directory of such a name is written with
/// its path: `./tmpfs:1`.
pub fn asks_to_create(text: &str) -> bool {
    let refused = REFUSED.iter().map(|(word, _)| word);
    text.split_once(':').is_some_and(|(kind, _)| WORDS.iter().chain(refused).any(|w| *w == kind))
}

impl FromStr for CreatedPlace {
    type Err = Why;

    fn from_str(text: &str) -> Result<Self, Why> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        Self::parse(word, rest).unwrap_or_else(|| Err(refusal(word)))
    }
}

fn refusal(word: &str) -> Why {
    let refused = REFUSED.iter().find(|(refused, _)| *refused == word);
    let unknown = || {
        let words = listed(WORDS, "or");
        format!("`{word}` is not a kind of place that iotoll creates; use {words}")
    };
    refused.map_or_else(unknown, |(_, why)| (*why).to_owned())
}

/// Small ones of each kind, and of each file system that an image can have. Tests create all of them.
pub const EXAMPLES: &[&str] = &[
    "tmpfs:128M:huge=within_size",
    "image:ext4:128M:noatime",
    "image:xfs:300M",
    "image:btrfs:256M:compress=zstd:3",
    "zram:128M",
    "overlay:.",
];

/// How each kind is asked for, in short.
pub fn forms() -> String {
    listed(FORMS, "and")
}

impl fmt::Display for CreatedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(text: &str) -> Result<String, Why> {
        text.parse::<CreatedPlace>().map(|place| place.to_string())
    }

    /// What is given, and what is printed of it, for each kind.
    const PRINTED: &[(&str, &str)] = &[
        ("tmpfs:256M", "tmpfs:256MiB"),
        ("tmpfs:1GiB:huge=within_size", "tmpfs:1GiB:huge=within_size"),
        ("image:xfs:1G", "image:xfs:1GiB"),
        ("image:btrfs:1G:compress=zstd:3,noatime", "image:btrfs:1GiB:compress=zstd:3,noatime"),
        ("image:ext4:4G:aged", "image:ext4:4GiB:aged"),
        ("image:xfs:2G:aged:noatime,wsync@.", "image:xfs:2GiB:aged:noatime,wsync@."),
        ("image:ext4:64M@/srv/a:b@c", "image:ext4:64MiB@/srv/a:b@c"),
        ("image:btrfs:1G:compress=zstd@.", "image:btrfs:1GiB:compress=zstd@."),
        ("zram:512M", "zram:512MiB:ext4"),
        ("zram:512M:xfs", "zram:512MiB:xfs"),
        ("overlay:.", "overlay:."),
    ];

    #[test]
    fn what_is_printed_reads_back_as_the_same() {
        for (given, printed) in PRINTED {
            assert_eq!(read(given).unwrap(), *printed);
            let place: CreatedPlace = given.parse().unwrap();
            assert_eq!(printed.parse::<CreatedPlace>().unwrap(), place);
            assert!(asks_to_create(given));
        }
        assert!(
            !asks_to_create("./tmpfs:1") && !asks_to_create("tmpfs") && !asks_to_create("/a:b")
        );
    }

    /// Fails where a kind has a directory and does not say so.
    #[test]
    fn directories_need_consent_and_are_not_shared() {
        let given = || PRINTED.iter().map(|(given, _)| given);
        for word in WORDS {
            assert!(given().any(|given| given.starts_with(word)), "{word}");
            assert!(EXAMPLES.iter().any(|example| example.starts_with(word)), "{word}");
        }
        for (given, _) in PRINTED {
            let mut place: CreatedPlace = given.parse().unwrap();
            let directory = given.find(['/', '.']).map(|at| &given[at..]);
            assert_eq!(place.stands_on(), directory.map(Path::new), "{given}");
            let Some(directory) = directory else { continue };
            assert_eq!(place.settle(Path::new("/first")).unwrap(), Path::new(directory));
            assert!(place.needs_consent(), "{given}");
            place.anonymise("(left out)");
            assert!(!place.to_string().contains(directory), "{given}");
        }
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
            ("image:btrfs:1G:aged", "only ext4 and xfs can be aged"),
            ("image:ext4:64M:aged", "needs at least 128MiB"),
            ("image:ext4:1G:aged,noatime", "`aged` is not allowed"),
            ("image:ext4:1G:noatime:aged", "is not allowed"),
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
            ("nfs:1G", "use tmpfs, image, zram or overlay"),
        ];
        for (given, why) in refused {
            let said = read(given).unwrap_err();
            assert!(said.contains(why), "{given}: {said}");
        }
    }
}
