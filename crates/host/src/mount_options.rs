//! Which mount options bear on speed, safety or space.
//!
//! A mount has a dozen options; a report that shows them all hides the one that
//! explains its figures. Those about rights and names (`nosuid`, `nodev`, `lowerdir=`,
//! `username=`) are left out.

use std::ffi::OsString;

/// Options that are told when they stand alone.
const FLAGS: &[&str] = &[
    "ro",
    // What ext4 says of itself after an error.
    "emergency_ro",
    "shutdown",
    "sync",
    "dirsync",
    "lazytime",
    // Whether a read writes the time of access.
    "noatime",
    "nodiratime",
    "relatime",
    "strictatime",
    // What is promised after a crash: ext4, XFS, btrfs, F2FS, overlay.
    "barrier",
    "nobarrier",
    "nodelalloc",
    "noauto_da_alloc",
    "journal_checksum",
    "journal_async_commit",
    "wsync",
    "nodatacow",
    "nodatasum",
    "flushoncommit",
    "volatile",
    // Freed blocks, layout, caches.
    "discard",
    "dax",
    "autodefrag",
    "noswap",
    // Network: what happens when the server is away, what is cached, who locks.
    "hard",
    "soft",
    "softerr",
    "nolock",
    "noac",
    "nobrl",
    "flock",
    "localflock",
    "noflock",
    "cache_readdir",
];

/// Options that are told with their value.
const VALUES: &[&str] = &[
    "data",
    "barrier",
    "commit",
    "discard",
    "dax",
    "fsync_mode",
    "alloc_mode",
    "logbsize",
    "logbufs",
    "stripe",
    "sunit",
    "swidth",
    // tmpfs.
    "size",
    "nr_inodes",
    "nr_blocks",
    "huge",
    "mpol",
    // NFS, SMB, 9p, Ceph, FUSE.
    "vers",
    "proto",
    "rsize",
    "wsize",
    "local_lock",
    "actimeo",
    "cache",
    "msize",
    "nconnect",
    "max_read",
    "blksize",
];

/// Options that are told whatever follows: `compress`, `compress-force=zstd:3`,
/// `compress_algorithm=lz4`.
const FAMILIES: &[&str] = &["compress"];

/// Those of a mount's and its file system's options that are worth telling, each once.
pub fn telling<'a>(options: impl Iterator<Item = &'a OsString>) -> Vec<String> {
    let mut told = Vec::new();
    for option in options {
        let option = option.to_string_lossy();
        if is_telling(&option) && !told.iter().any(|other| *other == option) {
            told.push(option.into_owned());
        }
    }
    told
}

fn is_telling(option: &str) -> bool {
    let known = match option.split_once('=') {
        Some((key, _)) => VALUES.contains(&key),
        None => FLAGS.contains(&option),
    };
    known || FAMILIES.iter().any(|family| option.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_bears_on_speed_safety_or_space_is_told_and_once() {
        let given = "rw,nosuid,relatime,data=ordered,lowerdir=/a:/b,relatime,compress=zstd:3,\
                     nobarrier,username=jo,size=512k,database=x,synchronous";
        let options: Vec<OsString> = given.split(',').map(OsString::from).collect();
        let told = telling(options.iter());
        assert_eq!(told, ["relatime", "data=ordered", "compress=zstd:3", "nobarrier", "size=512k"]);
    }
}
