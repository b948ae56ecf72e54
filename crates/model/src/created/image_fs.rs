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

/// Where the list is for users.
const LISTED: &str = "docs/places.md lists the options that are";
/// Larger ones mean nothing to any option.
const DIGITS_MAX: usize = 10;

/// Options of every file system, which the kernel's VFS reads (mount(8)), with those that every
/// image is mounted with. Each is written as users write it: `N` stands for a whole number,
/// `SIZE` for a number of bytes, which may end in `k`, `m` or `g`, and words have `|` between them.
const ALL: &str = "\
    noatime nodiratime relatime strictatime lazytime sync dirsync noexec rw nosuid nodev \
    defaults";

/// Of ext4 (`Documentation/admin-guide/ext4.rst`).
const EXT4: &str = "\
    data=ordered|journal|writeback commit=N barrier barrier=0|1 nobarrier delalloc nodelalloc \
    discard nodiscard journal_checksum nojournal_checksum journal_async_commit auto_da_alloc \
    noauto_da_alloc dioread_lock dioread_nolock min_batch_time=N max_batch_time=N \
    inode_readahead_blks=N stripe=N mb_optimize_scan=0|1 dax dax=always|inode|never";

/// Of XFS (`Documentation/admin-guide/xfs.rst`).
const XFS: &str = "\
    allocsize=SIZE logbufs=N logbsize=SIZE largeio nolargeio inode32 inode64 discard nodiscard \
    wsync filestreams noalign swalloc sunit=N swidth=N dax=always|inode|never";

/// Of btrfs (btrfs(5)).
const BTRFS: &str = "\
    compress compress=zstd|zlib|lzo[:LEVEL] compress=no|none compress-force \
    compress-force=zstd|zlib|lzo[:LEVEL] compress-force=no|none datacow nodatacow datasum \
    nodatasum ssd ssd_spread nossd nossd_spread space_cache space_cache=v1|v2 nospace_cache \
    autodefrag noautodefrag barrier nobarrier commit=N flushoncommit noflushoncommit treelog \
    notreelog discard discard=sync|async nodiscard thread_pool=N max_inline=SIZE \
    metadata_ratio=N";

/// Whether an option of this form may have a value.
fn fits(form: &str, value: Option<&str>) -> bool {
    let is_number = |text: &str| {
        (1..=DIGITS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (Some((_, takes)), Some(value)) = (form.split_once('='), value) else {
        return !form.contains('=') && value.is_none();
    };
    match (takes, takes.strip_suffix("[:LEVEL]")) {
        ("N", _) => is_number(value),
        ("SIZE", _) => {
            is_number(value.strip_suffix(['k', 'm', 'g', 'K', 'M', 'G']).unwrap_or(value))
        }
        (words, None) => words.split('|').any(|word| word == value),
        (_, Some(words)) => {
            let (word, level) = value.split_once(':').unwrap_or((value, "1"));
            let is_level = is_number(level.strip_prefix('-').unwrap_or(level));
            words.split('|').any(|known| known == word) && is_level
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

    fn own_options(self) -> &'static str {
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
        let forms = || [ALL, self.own_options()].into_iter().flat_map(str::split_whitespace);
        let name_of = |form: &'static str| form.split('=').next().unwrap_or_default();
        let named: Vec<&str> = forms().filter(|form| name_of(form) == name).collect();
        if named.iter().any(|form| fits(form, value)) {
            return Ok(());
        }
        let refused = format!("the mount option `{option}` is not allowed for {}", self.name());
        if !named.is_empty() {
            return Err(format!("{refused}; write {}", named.join(" or ")));
        }
        let near = nearest(name, forms().map(name_of));
        let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        Err(format!("{refused}; {hint}{LISTED}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A list as the documentation has it.
    fn listed(title: &str, options: &str) -> String {
        let written: Vec<String> =
            options.split_whitespace().map(|option| format!("`{option}`")).collect();
        format!("| {title} | {} |", written.join(", ").replace('|', r"\|"))
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
