//! Places: a labelled directory, and what it turned out to stand on.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::bounded;
use crate::created::{CreatedPlace, asks_to_create};
use crate::guarantee::Guarantee;

/// Labels are in the names of arms, many to a line.
pub(crate) const LABEL_CHARS_MAX: usize = 32;

/// A place as it was asked for, with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceRequest {
    /// What the reports call it.
    pub label: String,
    /// What it is.
    pub target: Target,
}

/// What a place is, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A directory that is there.
    Directory(PathBuf),
    /// One that is created for the run.
    Created(CreatedPlace),
}

impl Target {
    /// What a text asks for.
    pub fn new(text: &str) -> Result<Self, PlaceSyntaxError> {
        if !asks_to_create(text) {
            return Ok(Self::Directory(PathBuf::from(text)));
        }
        let created = text.parse::<CreatedPlace>();
        created.map(Self::Created).map_err(|why| PlaceSyntaxError::Created(text.to_owned(), why))
    }

    /// The directory, where it is one that is there.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::Directory(path) => Some(path),
            Self::Created(_) => None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "{}", path.display()),
            Self::Created(created) => write!(f, "{created}"),
        }
    }
}

/// Why a text is not a place.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlaceSyntaxError {
    /// An empty text.
    #[error("a place is empty: name a directory, as in /var/log or disk=/var/log")]
    Nothing,
    /// Nothing before or behind the `=`.
    #[error(
        "`{0}` is not a place: with a `=`, both the label and the path must be given, as in \
         disk=/var/log"
    )]
    Empty(String),
    /// A label with characters that would not read well in an arm's name.
    #[error("`{0}` is not a label: use letters, digits, `-`, `_` and `.`, at most 32 of them")]
    Label(String),
    /// A place to be created, in words that do not say which.
    #[error("`{0}` cannot be created: {1}")]
    Created(String, String),
}

impl PlaceRequest {
    /// A place from its label and its target, as a plan file names them.
    pub fn new(label: &str, target: &str) -> Result<Self, PlaceSyntaxError> {
        Ok(Self { label: parse_label(label)?, target: Target::new(target)? })
    }

    /// A directory with its label, whatever that is.
    pub fn directory(label: &str, path: impl Into<PathBuf>) -> Self {
        Self { label: label.to_owned(), target: Target::Directory(path.into()) }
    }
}

/// Reads a label of a place, or of a study.
pub fn parse_label(text: &str) -> Result<String, PlaceSyntaxError> {
    if text.is_empty() || text.len() > LABEL_CHARS_MAX || !text.chars().all(is_label_char) {
        return Err(PlaceSyntaxError::Label(text.to_owned()));
    }
    Ok(text.to_owned())
}

/// What a label may have.
pub(crate) fn is_label_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// What kind of storage a place stands on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StorageKind {
    /// A local file system on a block device.
    Disk,
    /// A file system in memory: tmpfs or ramfs, or one on a RAM block device.
    Memory,
    /// A network file system: NFS, SMB, Ceph and the like.
    Network,
    /// A file system in user space.
    Fuse,
    /// None of the above, or it could not be told.
    #[default]
    Other,
}

/// One more thing that is known of a place or a device, and where it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detail {
    /// What it is about: `compression`.
    pub name: String,
    /// What is so, in words.
    pub value: String,
    /// Where that was read: a file, or how it is known otherwise.
    pub source: String,
}

impl Detail {
    /// A fact by its name, and where it was read.
    pub fn new(name: &str, value: impl Into<String>, source: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into(), source: source.into() }
    }
}

/// How fragmented free space is: a file of so many bytes was allocated and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FreePieces {
    /// The file's bytes.
    pub probe_bytes: u64,
    /// In how many pieces of the device it lay.
    pub pieces: u64,
}

impl FreePieces {
    /// Bytes of a piece on average.
    pub fn mean_bytes(&self) -> u64 {
        self.probe_bytes / self.pieces.max(1)
    }
}

/// One block device of the stack behind a place, from the file system down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceLayer {
    /// The kernel's name: `vda2`, `dm-0`, `loop3`.
    pub name: String,
    /// `disk`, `partition`, `loop`, `device-mapper`, `md`, `ram`, `zram`.
    pub kind: String,
    /// The device's numbers.
    pub major: u32,
    /// The device's numbers.
    pub minor: u32,
    /// The hardware's own name, where it tells one.
    pub model: Option<String>,
    /// Whether it has turning platters, where the kernel says.
    pub rotational: Option<bool>,
    /// `write back` or `write through`, where the kernel says.
    pub write_cache: Option<String>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// What else is known of it: sectors, RAID level, the file of a loop device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub details: Vec<Detail>,
    /// The names of the layers directly below: the disk of a partition, the members
    /// of a mapped device, the device that holds a loop device's file. Empty at the
    /// bottom, and where what lies below could not be told.
    #[serde(deserialize_with = "bounded::list")]
    pub below: Vec<String>,
}

/// What a place stands on, as far as it could be read. Sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceFacts {
    /// The user's name for it.
    pub label: String,
    /// The directory, absolute, links resolved.
    pub path: PathBuf,
    /// How it was asked for, where it was made for the run: `tmpfs:256MiB`.
    #[serde(rename = "made", default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// What kind of storage it is.
    pub kind: StorageKind,
    /// The file system's type: `ext4`, `tmpfs`, `overlay`.
    pub filesystem: String,
    /// What is mounted, as the mount table names it: `/dev/vda2`, `server:/export`
    /// (`/dev/root` by its device's own name). `null` for a file system without a device.
    pub device: Option<String>,
    /// The block devices behind it, from the file system down, each once. Empty
    /// where there are none or they could not be told (`unread` says why).
    #[serde(deserialize_with = "bounded::list")]
    pub devices: Vec<DeviceLayer>,
    /// Where the file system is mounted.
    pub mount_point: PathBuf,
    /// The mount options that bear on speed, safety or space.
    #[serde(deserialize_with = "bounded::list")]
    pub mount_options: Vec<String>,
    /// Whether the file system keeps a journal of its metadata; `null` where that is
    /// not told.
    #[serde(default)]
    pub journal: Option<bool>,
    /// Whether the mount is read-only.
    pub read_only: bool,
    /// The size of the file system.
    pub total_bytes: u64,
    /// What this user may still write.
    pub free_bytes: u64,
    /// How many files the file system holds in all, where it has a limit.
    #[serde(default)]
    pub total_inodes: Option<u64>,
    /// How many files may still be made, where the file system has a limit.
    pub free_inodes: Option<u64>,
    /// In how large pieces free space is given out; `null` where that was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_pieces: Option<FreePieces>,
    /// The number that tells file systems apart: the mount table's device number,
    /// and `st_dev` only where the table could not be read. The two differ on btrfs,
    /// whose subvolumes each have an `st_dev` of their own.
    pub filesystem_id: u64,
    /// What else is known of it: journal, compression, checksums, large pages, what bounds
    /// its memory, whether it survives a reboot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub details: Vec<Detail>,
    /// What holds on each of the machines that share it, but not between them. `null` where
    /// it is not shared, or that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "bounded::optional_list")]
    pub not_kept: Option<Vec<Guarantee>>,
    /// What could not be read, each with the reason.
    #[serde(deserialize_with = "bounded::list")]
    pub unread: Vec<String>,
}

impl PlaceFacts {
    /// A place of which nothing is known but its label.
    pub fn unknown(label: &str) -> Self {
        Self { label: label.to_owned(), filesystem: "unknown".to_owned(), ..Self::default() }
    }

    /// Whether it is known that machines which share it do not have this between them.
    pub fn lacks(&self, guarantee: Guarantee) -> bool {
        self.not_kept.as_ref().is_some_and(|lacking| lacking.contains(&guarantee))
    }

    /// How to ask for it: its directory, or what was created. Nothing where its name is no text.
    pub fn target(&self) -> Option<&str> {
        self.created.as_deref().or_else(|| self.path.to_str())
    }

    /// The same for people.
    pub fn shown(&self) -> String {
        self.created.clone().unwrap_or_else(|| self.path.display().to_string())
    }

    /// How this is no longer what was inspected before: remounted, replaced, on
    /// other devices or read-only. How much is free may change as it likes.
    pub fn change_since(&self, before: &Self) -> Option<String> {
        let label = &self.label;
        let devices = |facts: &Self| -> Vec<(String, u32, u32)> {
            facts.devices.iter().map(|d| (d.name.clone(), d.major, d.minor)).collect()
        };
        let what = if self.filesystem_id != before.filesystem_id
            || self.filesystem != before.filesystem
            || self.mount_point != before.mount_point
        {
            format!("a different file system is mounted at {} now", self.shown())
        } else if self.device != before.device || devices(self) != devices(before) {
            "it is on different devices now".to_owned()
        } else if self.read_only && !before.read_only {
            "it has become read-only; see the kernel log (dmesg) for device errors".to_owned()
        } else if self.mount_options != before.mount_options {
            let options = |facts: &Self| facts.mount_options.join(",");
            format!("it was remounted, {} instead of {}", options(self), options(before))
        } else {
            return None;
        };
        Some(format!("{label} changed during the run: {what}"))
    }

    /// The devices at the bottom of the stack: those whose counters tell what
    /// reached the hardware.
    pub fn bottom_devices(&self) -> impl Iterator<Item = &DeviceLayer> {
        self.devices.iter().filter(|layer| layer.below.is_empty())
    }
}

#[cfg(test)]
mod change_tests {
    use super::*;

    fn facts() -> PlaceFacts {
        PlaceFacts {
            path: "/srv".into(),
            kind: StorageKind::Disk,
            filesystem: "ext4".to_owned(),
            device: Some("/dev/vda".to_owned()),
            mount_point: "/".into(),
            mount_options: vec!["relatime".to_owned()],
            total_bytes: 100,
            free_bytes: 50,
            filesystem_id: 7,
            ..PlaceFacts::unknown("disk")
        }
    }

    #[test]
    fn each_change_is_seen_and_free_space_is_none() {
        let before = facts();
        assert_eq!(PlaceFacts { free_bytes: 3, ..facts() }.change_since(&before), None);
        let changed = [
            PlaceFacts { filesystem_id: 8, ..facts() },
            PlaceFacts { filesystem: "xfs".to_owned(), ..facts() },
            PlaceFacts { mount_point: "/srv".into(), ..facts() },
            PlaceFacts { device: Some("/dev/vdb".to_owned()), ..facts() },
            PlaceFacts { read_only: true, ..facts() },
            PlaceFacts { mount_options: vec!["sync".to_owned()], ..facts() },
        ];
        for facts in changed {
            assert!(facts.change_since(&before).is_some(), "{facts:?}");
        }
    }
}
