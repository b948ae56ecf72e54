//! What more is known of file systems and devices, each with where it was read.
//!
//! Some of it the kernel tells in a file, some is an option in the mount table, and some
//! is what a file system of that kind does on this kernel; a superblock says the rest, to
//! those who may read the device. What is not known is left out.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use model::place::Detail;

use crate::journal::has_journal;
use crate::mounts::Mount;
use crate::root::{Root, attribute};

const TABLE: &str = "/proc/self/mountinfo";
/// As much of a device as holds the superblocks that are read.
const SUPERBLOCK_BYTES: usize = 4096;

/// What is known of a file system: its journal, what it compresses and checks, the pages
/// that it is cached in, and what of it is shown here. `device` is the first one below it.
pub fn of_file_system(root: &Root, mount: &Mount, device: Option<&str>) -> Vec<Detail> {
    let parts = [
        journal(root, mount, device),
        compression(mount),
        checksums(root, mount, device),
        large_pages(root, mount),
        shown(mount),
    ];
    parts.into_iter().flatten().chain(layers(mount)).collect()
}

fn has_flag(mount: &Mount, flag: &str) -> bool {
    mount.options.iter().chain(&mount.super_options).any(|option| option == flag)
}

fn by_kind(mount: &Mount) -> String {
    format!("property of {}", mount.filesystem)
}

/// What ext3 and ext4 write to their journal.
fn journaled(data: &str) -> String {
    if data == "journal" {
        "data and metadata".to_owned()
    } else {
        format!("metadata, data={data}")
    }
}

fn journal(root: &Root, mount: &Mount, device: Option<&str>) -> Option<Detail> {
    let kind = mount.filesystem.as_str();
    let source = match kind {
        "ext4" => format!("/sys/fs/ext4/{}/journal_task", device?),
        _ => by_kind(mount),
    };
    let data = mount.super_option("data").map_or("ordered".into(), OsStr::to_string_lossy);
    let value = match (kind, has_journal(root, kind, device.unwrap_or_default())) {
        ("btrfs", _) => "none: copy-on-write, with a log tree for fsync".to_owned(),
        ("tmpfs" | "ramfs", _) | (_, Some(false)) => "none".to_owned(),
        ("ext3" | "ext4", Some(true)) => journaled(&data),
        (_, Some(true)) => "metadata".to_owned(),
        (_, None) => return None,
    };
    Some(Detail::new("journal", value, source))
}

fn compression(mount: &Mount) -> Option<Detail> {
    let own = mount.super_options.iter().map(|option| option.to_string_lossy());
    let told: Vec<_> = own.filter(|option| option.starts_with("compress")).collect();
    match mount.filesystem.as_str() {
        "btrfs" | "f2fs" | "bcachefs" if told.is_empty() => {
            Some(Detail::new("compression", "none, unless set for a file or directory", TABLE))
        }
        "btrfs" | "f2fs" | "bcachefs" => Some(Detail::new("compression", told.join(","), TABLE)),
        "squashfs" | "erofs" => Some(Detail::new("compression", "yes", by_kind(mount))),
        "ext2" | "ext3" | "ext4" | "xfs" | "tmpfs" | "ramfs" | "vfat" | "exfat" => {
            Some(Detail::new("compression", "none", by_kind(mount)))
        }
        _ => None,
    }
}

fn checksums(root: &Root, mount: &Mount, device: Option<&str>) -> Option<Detail> {
    match mount.filesystem.as_str() {
        "btrfs" => {
            let (kind, source) = btrfs_checksum(root, device?)?;
            let kind = kind.split_whitespace().next().unwrap_or_default().to_owned();
            let value = if has_flag(mount, "nodatasum") || has_flag(mount, "nodatacow") {
                format!("metadata only ({kind})")
            } else {
                format!("data and metadata ({kind})")
            };
            Some(Detail::new("checksums", value, source))
        }
        "ext4" | "xfs" => {
            let node = format!("/dev/{}", device?);
            let block = match superblock(&root.locate(&node)) {
                Ok(block) => block,
                Err(error) => {
                    let source = format!("the superblock of {node} cannot be read: {error}");
                    return Some(Detail::new("checksums", "unknown", source));
                }
            };
            let is_xfs = mount.filesystem == "xfs";
            let has = if is_xfs { xfs_checks(&block) } else { ext4_checks(&block) };
            let value = if has? { "metadata only" } else { "none" };
            Some(Detail::new("checksums", value, format!("superblock of {node}")))
        }
        "tmpfs" | "ramfs" | "ext2" | "ext3" | "vfat" | "exfat" => {
            Some(Detail::new("checksums", "none", by_kind(mount)))
        }
        _ => None,
    }
}

fn btrfs_checksum(root: &Root, device: &str) -> Option<(String, String)> {
    let has_device = |name: &String| root.has(format!("/sys/fs/btrfs/{name}/devices/{device}"));
    let name = root.names("/sys/fs/btrfs").find(has_device)?;
    let source = format!("/sys/fs/btrfs/{name}/checksum");
    Some((root.attribute(&source)?, source))
}

fn superblock(device: &Path) -> io::Result<[u8; SUPERBLOCK_BYTES]> {
    let mut block = [0; SUPERBLOCK_BYTES];
    File::open(device)?.read_exact_at(&mut block, 0)?;
    Ok(block)
}

/// `s_feature_ro_compat` of `Documentation/filesystems/ext4/super.rst`.
fn ext4_checks(block: &[u8; SUPERBLOCK_BYTES]) -> Option<bool> {
    const START: usize = 1024;
    const METADATA_CSUM: u32 = 0x400;
    let bytes = |at: usize| block[START + at..].first_chunk().copied();
    (bytes(0x38)? == [0x53, 0xEF]).then_some(())?;
    let features = block[START + 0x64..].first_chunk().copied().map(u32::from_le_bytes)?;
    Some(features & METADATA_CSUM > 0)
}

/// `sb_versionnum`: since version 5 everything has a checksum.
fn xfs_checks(block: &[u8; SUPERBLOCK_BYTES]) -> Option<bool> {
    block.starts_with(b"XFSB").then_some(())?;
    let version = block[100..].first_chunk().copied().map(u16::from_be_bytes)?;
    Some(version & 0xF == 5)
}

/// Whether the page cache holds its files in large pages.
fn large_pages(root: &Root, mount: &Mount) -> Option<Detail> {
    const SHMEM: &str = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
    let release = root.attribute("/proc/sys/kernel/osrelease")?;
    let since = |version: (u32, u32)| kernel_version(&release).is_some_and(|own| own >= version);
    let known = || {
        let version = release.split('-').next().unwrap_or_default();
        format!("inferred from the version, Linux {version}")
    };
    let yes = |is_so: bool| if is_so { "yes" } else { "no" };
    match mount.filesystem.as_str() {
        "tmpfs" => {
            let chosen = root.attribute(SHMEM).unwrap_or_default();
            let is_chosen = |word: &&str| chosen.contains(&format!("[{word}]"));
            if let Some(word) = ["deny", "force"].into_iter().find(is_chosen) {
                let value = format!("{word} (overrides every tmpfs mount)");
                return Some(Detail::new("large pages", value, SHMEM));
            }
            let huge = mount.super_option("huge").map_or("never".into(), OsStr::to_string_lossy);
            Some(Detail::new("large pages", format!("huge={huge}"), TABLE))
        }
        "xfs" => Some(Detail::new("large pages", yes(since((5, 18))), known())),
        "ext4" => {
            let is_data_in_journal = mount.super_option("data").is_some_and(|d| d == "journal");
            Some(Detail::new("large pages", yes(since((6, 16)) && !is_data_in_journal), known()))
        }
        "ext2" | "ext3" | "ramfs" | "vfat" => Some(Detail::new("large pages", "no", known())),
        _ => None,
    }
}

fn kernel_version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// What part of the file system is mounted here, unless it is all of it.
fn shown(mount: &Mount) -> Option<Detail> {
    let root = mount.root.display();
    match mount.filesystem.as_str() {
        _ if mount.root == Path::new("/") => None,
        "btrfs" => Some(Detail::new("subvolume", root.to_string(), TABLE)),
        _ => Some(Detail::new("bind mount", format!("{root} of that file system"), TABLE)),
    }
}

/// The directories that an overlay puts over each other, the upper one first.
fn layers(mount: &Mount) -> Vec<Detail> {
    if mount.filesystem != "overlay" {
        return Vec::new();
    }
    let upper = mount.super_option("upperdir").map(|dir| ("upper layer", dir.as_bytes()));
    let lower = mount.super_option("lowerdir").map_or(&b""[..], OsStr::as_bytes);
    let lower = lower.split(|&byte| byte == b':').filter(|layer| !layer.is_empty());
    let all = upper.into_iter().chain(lower.map(|layer| ("lower layer", layer)));
    all.map(|(name, path)| Detail::new(name, String::from_utf8_lossy(path), TABLE)).collect()
}

/// What is known of a device, by its folder in `/sys` and the number that it has there.
pub(crate) fn of_device(dir: &Path, number: impl std::fmt::Display) -> Vec<Detail> {
    let source = |file: &str| format!("/sys/dev/block/{number}/{file}");
    let sectors = || {
        let logical = attribute(&dir.join("queue/logical_block_size"))?;
        let physical = attribute(&dir.join("queue/physical_block_size"))?;
        let value = format!("{logical} B logical, {physical} B physical");
        Some(Detail::new("sectors", value, source("queue/physical_block_size")))
    };
    let named =
        |name: &str, file: &str| Some(Detail::new(name, attribute(&dir.join(file))?, source(file)));
    let algorithm = || {
        let list = attribute(&dir.join("comp_algorithm"))?;
        let chosen = list.split_once('[')?.1.split_once(']')?.0.to_owned();
        Some(Detail::new("compression", chosen, source("comp_algorithm")))
    };
    // The kind comes first: `CRYPT-LUKS2-…`, `LVM-…`.
    let mapped = || {
        let uuid = attribute(&dir.join("dm/uuid"))?;
        let kind: Vec<&str> =
            uuid.split('-').take(1 + usize::from(uuid.starts_with("CRYPT"))).collect();
        Some(Detail::new("mapping", kind.join("-"), source("dm/uuid")))
    };
    let parts = [
        sectors(),
        named("level", "md/level"),
        named("name", "dm/name"),
        mapped(),
        named("file", "loop/backing_file"),
        algorithm(),
    ];
    parts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;
    use crate::fixture::Fixture;
    use crate::mounts::Mounts;

    /// What is known of the one mount of a machine: `journal: none`.
    fn told(fixture: &Fixture, line: &str, device: Option<&str>) -> Vec<String> {
        fixture.write("/proc/sys/kernel/osrelease", "6.12.5-amd64\n");
        let mounts = Mounts::parse(format!("20 1 8:1 {line}\n").as_bytes());
        let all = of_file_system(&fixture.root(), mounts.iter().next().unwrap(), device);
        all.into_iter()
            .map(|Detail { name, value, source }| format!("{name}: {value} [{source}]"))
            .collect()
    }

    #[test]
    fn an_ext4_tells_its_checksums_in_its_superblock_and_old_kernels_have_small_pages() {
        let fixture = Fixture::empty();
        fixture.write("/sys/fs/ext4/sda1/journal_task", "123\n");
        let line = "/ / rw - ext4 /dev/sda1 rw,data=writeback";
        let unread = told(&fixture, line, Some("sda1"));
        assert_eq!(unread[0], "journal: metadata, data=writeback [/sys/fs/ext4/sda1/journal_task]");
        assert!(unread[2].starts_with("checksums: unknown [the superblock of /dev/sda1 cannot"));
        assert_eq!(unread[3], "large pages: no [inferred from the version, Linux 6.12.5]");
        let mut block = vec![0; 8192];
        block[1024 + 0x38..1024 + 0x3A].copy_from_slice(&[0x53, 0xEF]);
        let mut checks = |features: u32| {
            block[1024 + 0x64..1024 + 0x68].copy_from_slice(&features.to_le_bytes());
            fixture.write("/dev/sda1", "");
            fs::write(fixture.root().locate("/dev/sda1"), &block).unwrap();
            told(&fixture, line, Some("sda1"))[2].clone()
        };
        assert_eq!(checks(0x3FF), "checksums: none [superblock of /dev/sda1]");
        assert_eq!(checks(0x400), "checksums: metadata only [superblock of /dev/sda1]");
    }

    #[test]
    fn a_btrfs_tells_its_compression_checksums_and_subvolume() {
        let fixture = Fixture::empty();
        fixture.write("/sys/fs/btrfs/f-1/checksum", "xxhash64 (xxhash64-generic)\n");
        fixture.write("/sys/fs/btrfs/f-1/devices/sda1/dev", "8:1\n");
        let line = "/@home /home rw - btrfs /dev/sda1 rw,compress=zstd:3,subvol=/@home";
        let known = told(&fixture, line, Some("sda1"));
        assert_eq!(known[1], "compression: compress=zstd:3 [/proc/self/mountinfo]");
        let checksums = "checksums: data and metadata (xxhash64) [/sys/fs/btrfs/f-1/checksum]";
        assert_eq!(known[2], checksums);
        assert_eq!(known[3], "subvolume: /@home [/proc/self/mountinfo]");
        let without = told(&fixture, "/ /home rw - btrfs /dev/sda1 rw,nodatasum", Some("sda1"));
        assert!(without[2].contains("metadata only (xxhash64)"), "{without:?}");
    }

    #[test]
    fn a_tmpfs_has_the_pages_that_it_is_mounted_with_unless_the_kernel_says_otherwise() {
        let fixture = Fixture::empty();
        let pages = |options: &str| {
            let known = told(&fixture, &format!("/ /tmp rw - tmpfs tmpfs rw{options}"), None);
            known.into_iter().find(|detail| detail.starts_with("large pages")).unwrap()
        };
        assert_eq!(pages(""), "large pages: huge=never [/proc/self/mountinfo]");
        assert_eq!(pages(",huge=always"), "large pages: huge=always [/proc/self/mountinfo]");
        fixture.write("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "always [deny] force\n");
        assert!(
            pages(",huge=always").starts_with("large pages: deny (overrides every tmpfs mount)")
        );
    }

    #[test]
    fn layers_and_bind_mounts_are_told() {
        let fixture = Fixture::empty();
        let line = "/ /merged rw - overlay overlay rw,lowerdir=/l/1:/l/2,upperdir=/up,workdir=/w";
        let layers = told(&fixture, line, None);
        assert_eq!(layers[0], "upper layer: /up [/proc/self/mountinfo]");
        assert_eq!(
            (layers.len(), layers[2].as_str()),
            (3, "lower layer: /l/2 [/proc/self/mountinfo]")
        );
        let bound = told(&fixture, "/srv/data /mnt rw - xfs /dev/sda1 rw", None);
        let expected = "bind mount: /srv/data of that file system [/proc/self/mountinfo]";
        assert_eq!(bound.last().unwrap(), expected);
    }

    #[test]
    fn devices_tell_sectors_raid_levels_mappings_and_compression() {
        let fixture = Fixture::empty();
        fixture.device("253:0", "virtual/block", "dm-0").set(
            "dm-0",
            "dm/uuid",
            "CRYPT-LUKS2-0a1b-x",
        );
        fixture.set("dm-0", "dm/name", "vault").set("dm-0", "queue/logical_block_size", "512");
        fixture.set("dm-0", "queue/physical_block_size", "4096").set("dm-0", "md/level", "raid1");
        fixture.set("dm-0", "comp_algorithm", "lzo [zstd] lz4");
        let dir = fixture.root().locate("/sys/class/block/dm-0");
        let told: Vec<String> = of_device(&dir, "253:0").into_iter().map(|d| d.value).collect();
        assert_eq!(
            told,
            ["512 B logical, 4096 B physical", "raid1", "vault", "CRYPT-LUKS2", "zstd"]
        );
    }
}
