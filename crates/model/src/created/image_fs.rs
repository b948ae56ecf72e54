//! File systems that can be made in an image, and the mount options that it may have.
//!
//! A plan may come from a stranger, and root mounts what it names. Some options harm the machine
//! (`errors=panic`), others reach another device (`logdev=`). So only the options below are
//! allowed: they bear on what is measured, and on nothing but the image.

use super::{Why, size};
use crate::study::nearest;

/// A file system that can be made on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFs {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// btrfs.
    Btrfs,
}

/// A mount option, and what follows it.
#[derive(Clone, Copy, Debug)]
struct Allowed {
    name: &'static str,
    takes: Takes,
}

/// What an option is set to.
#[derive(Clone, Copy, Debug)]
enum Takes {
    /// Nothing: it stands alone.
    Nothing,
    /// A whole number.
    Number,
    /// A number of bytes, which may end in `k`, `m` or `g`.
    Size,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, with a level behind a colon or not.
    Leveled(&'static [&'static str]),
}

/// Where the list is for users.
const LISTED: &str = "docs/places.md lists the options that are";
/// Larger ones mean nothing to any option.
const DIGITS_MAX: usize = 10;

/// Options of every file system, which the kernel's VFS reads (mount(8)).
const ALL: &[Allowed] = &[
    alone("noatime"),
    alone("nodiratime"),
    alone("relatime"),
    alone("strictatime"),
    alone("lazytime"),
    alone("sync"),
    alone("dirsync"),
    alone("noexec"),
    // What every image is mounted with.
    alone("rw"),
    alone("nosuid"),
    alone("nodev"),
    alone("defaults"),
];

/// Of ext4 (`Documentation/admin-guide/ext4.rst`).
const EXT4: &[Allowed] = &[
    word("data", &["ordered", "journal", "writeback"]),
    number("commit"),
    alone("barrier"),
    word("barrier", &["0", "1"]),
    alone("nobarrier"),
    alone("delalloc"),
    alone("nodelalloc"),
    alone("discard"),
    alone("nodiscard"),
    alone("journal_checksum"),
    alone("nojournal_checksum"),
    alone("journal_async_commit"),
    alone("auto_da_alloc"),
    alone("noauto_da_alloc"),
    alone("dioread_lock"),
    alone("dioread_nolock"),
    number("min_batch_time"),
    number("max_batch_time"),
    number("inode_readahead_blks"),
    number("stripe"),
    word("mb_optimize_scan", &["0", "1"]),
    alone("dax"),
    word("dax", &["always", "inode", "never"]),
];

/// Of XFS (`Documentation/admin-guide/xfs.rst`).
const XFS: &[Allowed] = &[
    size("allocsize"),
    number("logbufs"),
    size("logbsize"),
    alone("largeio"),
    alone("nolargeio"),
    alone("inode32"),
    alone("inode64"),
    alone("discard"),
    alone("nodiscard"),
    alone("wsync"),
    alone("filestreams"),
    alone("noalign"),
    alone("swalloc"),
    number("sunit"),
    number("swidth"),
    word("dax", &["always", "inode", "never"]),
];

/// What btrfs compresses with.
const COMPRESSORS: &[&str] = &["zstd", "zlib", "lzo"];
/// In words that turn it off.
const UNCOMPRESSED: &[&str] = &["no", "none"];

/// Of btrfs (btrfs(5)).
const BTRFS: &[Allowed] = &[
    alone("compress"),
    leveled("compress", COMPRESSORS),
    word("compress", UNCOMPRESSED),
    alone("compress-force"),
    leveled("compress-force", COMPRESSORS),
    word("compress-force", UNCOMPRESSED),
    alone("datacow"),
    alone("nodatacow"),
    alone("datasum"),
    alone("nodatasum"),
    alone("ssd"),
    alone("ssd_spread"),
    alone("nossd"),
    alone("nossd_spread"),
    alone("space_cache"),
    word("space_cache", &["v1", "v2"]),
    alone("nospace_cache"),
    alone("autodefrag"),
    alone("noautodefrag"),
    alone("barrier"),
    alone("nobarrier"),
    number("commit"),
    alone("flushoncommit"),
    alone("noflushoncommit"),
    alone("treelog"),
    alone("notreelog"),
    alone("discard"),
    word("discard", &["sync", "async"]),
    alone("nodiscard"),
    number("thread_pool"),
    size("max_inline"),
    number("metadata_ratio"),
];

const fn alone(name: &'static str) -> Allowed {
    Allowed { name, takes: Takes::Nothing }
}

const fn number(name: &'static str) -> Allowed {
    Allowed { name, takes: Takes::Number }
}

const fn size(name: &'static str) -> Allowed {
    Allowed { name, takes: Takes::Size }
}

const fn word(name: &'static str, words: &'static [&'static str]) -> Allowed {
    Allowed { name, takes: Takes::Word(words) }
}

const fn leveled(name: &'static str, words: &'static [&'static str]) -> Allowed {
    Allowed { name, takes: Takes::Leveled(words) }
}

impl Takes {
    fn fits(self, value: Option<&str>) -> bool {
        let is_number = |text: &str| (1..=DIGITS_MAX).contains(&text.len()) && is_all_digits(text);
        match (self, value) {
            (Self::Nothing, value) => value.is_none(),
            (_, None) => false,
            (Self::Number, Some(value)) => is_number(value),
            (Self::Size, Some(value)) => {
                is_number(value.strip_suffix(['k', 'm', 'g', 'K', 'M', 'G']).unwrap_or(value))
            }
            (Self::Word(words), Some(value)) => words.contains(&value),
            (Self::Leveled(words), Some(value)) => {
                let (word, level) = value.split_once(':').unwrap_or((value, "1"));
                words.contains(&word) && is_number(level.strip_prefix('-').unwrap_or(level))
            }
        }
    }
}

fn is_all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Allowed {
    /// As a user would write it: `commit=N`.
    fn written(self) -> String {
        let Self { name, takes } = self;
        match takes {
            Takes::Nothing => name.to_owned(),
            Takes::Number => format!("{name}=N"),
            Takes::Size => format!("{name}=SIZE"),
            Takes::Word(words) => format!("{name}={}", words.join("|")),
            Takes::Leveled(words) => format!("{name}={}[:LEVEL]", words.join("|")),
        }
    }
}

impl ImageFs {
    const EACH: [Self; 3] = [Self::Ext4, Self::Xfs, Self::Btrfs];

    /// As the kernel calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    pub(super) fn named(name: &str) -> Result<Self, Why> {
        Self::EACH.into_iter().find(|filesystem| filesystem.name() == name).ok_or_else(|| {
            format!("the file system `{name}` is not supported; use ext4, xfs or btrfs")
        })
    }

    /// What its maker asks for at least.
    pub(super) fn bytes_min(self) -> u64 {
        match self {
            Self::Ext4 => 16 * size::MIB,
            Self::Xfs => 300 * size::MIB,
            Self::Btrfs => 128 * size::MIB,
        }
    }

    fn own_options(self) -> &'static [Allowed] {
        match self {
            Self::Ext4 => EXT4,
            Self::Xfs => XFS,
            Self::Btrfs => BTRFS,
        }
    }

    /// Whether an image may be mounted with these options, which have commas between them.
    pub(super) fn check_options(self, options: &str) -> Result<(), String> {
        let mut each = options.split(',').filter(|option| !option.is_empty());
        each.try_for_each(|option| self.check_option(option))
    }

    fn check_option(self, option: &str) -> Result<(), String> {
        if matches!(option, "ro" | "remount") {
            return Err(format!(
                "the mount option `{option}` is not allowed: the place must be newly mounted, and \
                 writable"
            ));
        }
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let allowed = || ALL.iter().chain(self.own_options()).copied();
        let named: Vec<Allowed> = allowed().filter(|known| known.name == name).collect();
        if named.iter().any(|known| known.takes.fits(value)) {
            return Ok(());
        }
        let refused = format!("the mount option `{option}` is not allowed for {}", self.name());
        if !named.is_empty() {
            let forms: Vec<String> = named.into_iter().map(Allowed::written).collect();
            return Err(format!("{refused}; write {}", forms.join(" or ")));
        }
        let near = nearest(name, allowed().map(|known| known.name));
        let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        Err(format!("{refused}; {hint}{LISTED}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A list as the documentation has it.
    fn listed(title: &str, options: &[Allowed]) -> String {
        let written: Vec<String> =
            options.iter().map(|option| format!("`{}`", option.written())).collect();
        format!("- {title}: {}", written.join(", "))
    }

    #[test]
    fn the_documentation_lists_the_options_that_are_allowed() {
        let docs = include_str!("../../../../docs/places.md");
        let one_line = docs.split_whitespace().collect::<Vec<_>>().join(" ");
        let lists = [("all", ALL), ("ext4", EXT4), ("xfs", XFS), ("btrfs", BTRFS)];
        for (title, options) in lists {
            let list = listed(title, options);
            assert!(one_line.contains(&list), "docs/places.md lacks: {list}");
        }
    }

    #[test]
    fn what_bears_on_speed_is_allowed() {
        let allowed = [
            (ImageFs::Ext4, "noatime,data=journal,commit=30,barrier=0,nobarrier,dax=never,,rw"),
            (ImageFs::Xfs, "logbsize=256k,logbufs=8,allocsize=64M,inode32,wsync,lazytime"),
            (ImageFs::Btrfs, "compress=zstd:3,compress-force=zstd:-5,discard=async,commit=5"),
            (ImageFs::Btrfs, "compress,compress=no,space_cache=v2,thread_pool=4,max_inline=2048"),
        ];
        for (filesystem, options) in allowed {
            assert_eq!(filesystem.check_options(options), Ok(()), "{options}");
        }
    }

    #[test]
    fn what_harms_the_machine_or_reaches_other_devices_is_refused() {
        let refused: [(ImageFs, &[&str]); 3] = [
            (
                ImageFs::Ext4,
                &[
                    "errors=panic",
                    "data_err=abort",
                    "journal_path=/dev/vda",
                    "journal_dev=0xfe00",
                    "usrjquota=aquota.user",
                    "abort",
                    "warn_on_error",
                    "sb=1",
                    "debug",
                    "compress",
                    "suid",
                    "dev",
                    "context=a",
                ],
            ),
            (ImageFs::Xfs, &["logdev=/dev/vda", "rtdev=/dev/vda", "norecovery", "nouuid", "dax"]),
            (
                ImageFs::Btrfs,
                &[
                    "device=/dev/vda",
                    "subvol=/",
                    "subvolid=5",
                    "fatal_errors=panic",
                    "degraded",
                    "rescue=all",
                    "data=journal",
                ],
            ),
        ];
        for (filesystem, options) in refused {
            for option in options {
                let why = filesystem.check_options(&format!("noatime,{option}")).unwrap_err();
                assert!(why.contains(&format!("`{option}`")), "{why}");
            }
        }
    }

    #[test]
    fn a_refusal_says_what_to_write_instead() {
        let why = |options| ImageFs::Ext4.check_options(options).unwrap_err();
        assert!(why("errors=panic").ends_with("docs/places.md lists the options that are"));
        assert!(why("noatim").contains("did you mean `noatime`?"));
        let of_data = "`data=all` is not allowed for ext4; write data=ordered|journal|writeback";
        assert!(why("data=all").contains(of_data), "{}", why("data=all"));
        for wrong in ["data", "commit", "commit=", "commit=1s", "commit=99999999999", "barrier=2"] {
            assert!(why(wrong).contains("; write "), "{}", why(wrong));
        }
        assert!(why("noatime=1").contains("write noatime"));
        assert!(why("ro").contains("newly mounted, and writable"));
        for wrong in ["zstd:", "zstd:x", "zstd:1:2", "lz4", ":1", ""] {
            ImageFs::Btrfs.check_options(&format!("compress={wrong}")).unwrap_err();
        }
    }
}
