//! The block devices behind a file system, down to the hardware.
//!
//! What is written to a file may pass through a partition, a mapped device with several
//! members, a loop device whose file is on another file system, and so on. How long that takes is
//! explained by the counters of what is at the bottom, so the whole way is resolved,
//! from what `/sys` tells (`sysfs-block`, `sysfs-fs-btrfs` in the kernel's
//! `Documentation/ABI`). What cannot be told becomes a sentence, never an error: a
//! container often sees only part of the way.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use model::place::{DeviceLayer, StorageKind};

use crate::details::of_device;
use crate::identity::DeviceNumber;
use crate::mounts::{Mount, Mounts};
use crate::root::{Root, attribute};

/// How many steps down are taken. Real stacks have a handful; a circle of loop devices
/// and overlays must end somewhere.
const STEPS_MAX: usize = 32;

/// What the kernel writes behind the name of a file that has none any more, or never had.
const DELETED: &[u8] = b" (deleted)";

/// What a file system keeps its files on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// In memory.
    Memory,
    /// On another machine.
    Network,
    /// Where a process of this machine keeps them.
    Fuse,
    /// In another directory.
    Overlay,
    /// On block devices, under a number that is none of theirs.
    Btrfs,
    /// On block devices that only its own tools can tell.
    Pooled,
    /// On the block device that its number names, if it names one.
    Device,
}

/// File systems that keep their files on another machine, by whatever way.
const NETWORK: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ceph",
    "9p",
    "virtiofs",
    "afs",
    "lustre",
    "gpfs",
    "beegfs",
    "pvfs2",
    "vboxsf",
    "prl_fs",
    "fuse.glusterfs",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.sshfs",
    "fuse.juicefs",
    "fuse.s3fs",
    "fuse.gcsfuse",
    "fuse.rclone",
    "fuse.mfs",
];

/// What a file system of this type keeps its files on.
pub fn keeping(filesystem: &str) -> Keeping {
    match filesystem {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs" => Keeping::Memory,
        _ if NETWORK.contains(&filesystem) => Keeping::Network,
        "fuse" | "fuseblk" => Keeping::Fuse,
        "overlay" => Keeping::Overlay,
        "btrfs" => Keeping::Btrfs,
        "zfs" | "bcachefs" => Keeping::Pooled,
        _ if filesystem.starts_with("fuse.") => Keeping::Fuse,
        _ => Keeping::Device,
    }
}

/// The devices behind a mount, gathered from the file system down.
pub struct Stack<'a> {
    root: &'a Root,
    mounts: &'a Mounts,
    steps: usize,
    ends: Vec<StorageKind>,
    /// The devices, from the file system down, each once.
    pub layers: Vec<DeviceLayer>,
    /// What could not be told, each with the reason.
    pub unread: Vec<String>,
}

impl<'a> Stack<'a> {
    /// Those behind a mount.
    pub fn behind(root: &'a Root, mounts: &'a Mounts, mount: &Mount) -> Self {
        let (layers, unread, ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut stack = Self { root, mounts, steps: 0, ends, layers, unread };
        stack.file_system(mount);
        stack
    }

    /// What kind of storage the whole ends on. Where its ends differ, the slowest
    /// decides: only what is in memory throughout is in memory.
    pub fn kind(&self) -> StorageKind {
        use StorageKind::{Disk, Fuse, Memory, Network, Other};
        let order = [Network, Fuse, Disk, Other, Memory];
        order.into_iter().find(|kind| self.ends.contains(kind)).unwrap_or(Other)
    }

    /// The names of the devices directly below a file system.
    fn file_system(&mut self, mount: &Mount) -> Vec<String> {
        if !self.may_step_down() {
            return Vec::new();
        }
        match keeping(&mount.filesystem) {
            Keeping::Memory => self.end(StorageKind::Memory),
            Keeping::Network => self.end(StorageKind::Network),
            Keeping::Fuse => self.fuse(mount),
            Keeping::Overlay => self.overlay(mount),
            Keeping::Btrfs => self.btrfs(mount),
            Keeping::Pooled => {
                let (filesystem, source) = (&mount.filesystem, mount.source.display());
                let why = "only its own tools can list the devices behind";
                self.untold(StorageKind::Disk, format!("{why} {filesystem} {source}"))
            }
            Keeping::Device if mount.device.is_anonymous() => {
                let filesystem = &mount.filesystem;
                let why = format!("where {filesystem} stores its files: it names no device");
                self.untold(StorageKind::Other, why)
            }
            Keeping::Device => self.device(mount.device),
        }
    }

    /// Nothing further down.
    fn end(&mut self, kind: StorageKind) -> Vec<String> {
        self.ends.push(kind);
        Vec::new()
    }

    /// Nothing further down that could be told, and why.
    fn untold(&mut self, kind: StorageKind, why: String) -> Vec<String> {
        self.unread.push(why);
        self.end(kind)
    }

    /// Every step down counts, so that a circle ends.
    fn may_step_down(&mut self) -> bool {
        self.steps += 1;
        if self.steps == STEPS_MAX {
            self.unread.push(format!(
                "the stack of devices has more than {STEPS_MAX} layers and was not followed further"
            ));
        }
        self.steps < STEPS_MAX
    }

    /// Only `fuseblk` stands on a device that the kernel knows of.
    fn fuse(&mut self, mount: &Mount) -> Vec<String> {
        self.ends.push(StorageKind::Fuse);
        if mount.device.is_anonymous() { Vec::new() } else { self.device(mount.device) }
    }

    /// All that is written to an overlay goes to its upper directory.
    fn overlay(&mut self, mount: &Mount) -> Vec<String> {
        if let Some(upper) = mount.super_option("upperdir") {
            return self.holder(Path::new(upper), "the overlay's upper directory");
        }
        let why = "the overlay has no upper directory (it is read-only), so the device behind it \
                   was not looked for";
        self.untold(StorageKind::Other, why.to_owned())
    }

    /// The devices below the file system that holds a file or directory, or the device
    /// that the path is the node of.
    fn holder(&mut self, path: &Path, what: &str) -> Vec<String> {
        let shown = path.display();
        if path.is_relative() {
            let why = format!("only part of the path of {what} can be seen: {shown}");
            return self.untold(StorageKind::Other, why);
        }
        let identity = match self.root.identify(path) {
            Ok(identity) => identity,
            Err(error) => {
                let why = format!(
                    "{what}, {shown}, cannot be seen from here ({error}), nor the device that \
                     holds it"
                );
                return self.untold(StorageKind::Other, why);
            }
        };
        if let Some(node) = identity.node {
            return self.device(node);
        }
        if let Some(mount) = self.mounts.of(path, &identity) {
            return self.file_system(mount);
        }
        let why = format!("{what}, {shown}, is on no mount that can be seen here");
        self.untold(StorageKind::Other, why)
    }

    /// A btrfs has a number that is no device's. Its members are listed in `/sys`, and
    /// the mount's source is one of them.
    fn btrfs(&mut self, mount: &Mount) -> Vec<String> {
        let Some(source) = self.source_device(mount) else {
            let shown = mount.source.display();
            let why = format!("the devices of the btrfs on {shown} were not found in /sys");
            return self.untold(StorageKind::Disk, why);
        };
        let members = self.btrfs_members(source);
        members.into_iter().flat_map(|member| self.device(member)).collect()
    }

    /// The members of the btrfs that has this device: at least itself.
    fn btrfs_members(&self, source: DeviceNumber) -> Vec<DeviceNumber> {
        let file_systems = entries(&self.root.locate("/sys/fs/btrfs"));
        let members = file_systems.iter().map(|fs| numbers_in(&fs.join("devices")));
        members.into_iter().find(|members| members.contains(&source)).unwrap_or(vec![source])
    }

    /// The number of the device that a mount's source names: by its node in `/dev`, or,
    /// where that is missing, by the name that `/sys` knows.
    fn source_device(&self, mount: &Mount) -> Option<DeviceNumber> {
        let source = Path::new(&mount.source);
        if let Some(node) = self.root.identify(source).ok().and_then(|identity| identity.node) {
            return Some(node);
        }
        let name = source.file_name()?;
        let is_it = |dir: &PathBuf| {
            let mapped = attribute(&dir.join("dm/name"));
            dir.file_name() == Some(name) || mapped.is_some_and(|mapped| *mapped == *name)
        };
        let devices = entries(&self.root.locate("/sys/class/block"));
        number_of(&devices.into_iter().find(is_it)?)
    }

    /// Adds a device and all below it, and returns its name. A device that several
    /// others stand on is listed once.
    fn device(&mut self, number: DeviceNumber) -> Vec<String> {
        let known =
            |layer: &&DeviceLayer| (layer.major, layer.minor) == (number.major, number.minor);
        if let Some(layer) = self.layers.iter().find(known) {
            return vec![layer.name.clone()];
        }
        if !self.may_step_down() {
            return Vec::new();
        }
        let link = self.root.locate(format!("/sys/dev/block/{number}"));
        let dir = match fs::canonicalize(&link) {
            Ok(dir) => dir,
            Err(error) => {
                let why = format!("/sys/dev/block/{number} cannot be read ({error})");
                return self.untold(StorageKind::Disk, why);
            }
        };
        let layer = layer(&dir, number);
        let (name, index) = (layer.name.clone(), self.layers.len());
        self.layers.push(layer);
        let below = self.below(&dir, index);
        self.layers[index].below = below;
        vec![name]
    }

    /// The names of what is directly below a device.
    fn below(&mut self, dir: &Path, index: usize) -> Vec<String> {
        let kind = self.layers[index].kind.clone();
        match kind.as_str() {
            "partition" => self.disk_of(dir),
            "loop" => self.loop_file(dir, index),
            "ram" | "zram" => self.end(StorageKind::Memory),
            _ => {
                let members = numbers_in(&dir.join("slaves"));
                if members.is_empty() {
                    return self.end(StorageKind::Disk);
                }
                members.into_iter().flat_map(|member| self.device(member)).collect()
            }
        }
    }

    /// A partition's directory is within that of its disk.
    fn disk_of(&mut self, dir: &Path) -> Vec<String> {
        let disk = dir.parent().unwrap_or(dir);
        if let Some(number) = number_of(disk) {
            return self.device(number);
        }
        let shown = dir.display();
        let why = format!("the disk that holds the partition {shown} was not found in /sys");
        self.untold(StorageKind::Disk, why)
    }

    fn loop_file(&mut self, dir: &Path, index: usize) -> Vec<String> {
        let what = format!("the file behind {}", self.layers[index].name);
        let Ok(mut file) = fs::read(dir.join("loop/backing_file")) else {
            return self.untold(StorageKind::Other, format!("{what} is not named in /sys"));
        };
        if file.last() == Some(&b'\n') {
            file.pop();
        }
        let file = PathBuf::from(OsString::from_vec(file));
        // Of a file without a name the kernel tells the folder that it was made in.
        let folder = file.parent().filter(|_| file.as_os_str().as_bytes().ends_with(DELETED));
        match folder {
            Some(folder) if self.root.identify(&file).is_err() && self.root.has(folder) => {
                self.holder(folder, &what)
            }
            _ => self.holder(&file, &what),
        }
    }
}

/// What `/sys` tells of one device. A partition's queue is its disk's.
fn layer(dir: &Path, number: DeviceNumber) -> DeviceLayer {
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = |file: &str| attribute(&dir.join(file));
    DeviceLayer {
        kind: device_kind(dir, &name).to_owned(),
        name,
        major: number.major,
        minor: number.minor,
        model: text("device/model").or_else(|| text("device/name")),
        rotational: text("queue/rotational").map(|flag| flag != "0"),
        write_cache: text("queue/write_cache"),
        scheduler: text("queue/scheduler").map(|list| chosen(&list).to_owned()),
        details: of_device(dir, number),
        below: Vec::new(),
    }
}

fn device_kind(dir: &Path, name: &str) -> &'static str {
    let has = |file: &str| dir.join(file).exists();
    let is_numbered = |prefix: &str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    match () {
        () if has("partition") => "partition",
        () if has("loop") || is_numbered("loop") => "loop",
        () if has("dm") => "device-mapper",
        () if has("md") => "md",
        () if is_numbered("zram") => "zram",
        () if is_numbered("ram") => "ram",
        () => "disk",
    }
}

/// The scheduler in brackets: `none [mq-deadline] kyber`.
fn chosen(list: &str) -> &str {
    let bracketed = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(list, |(name, _)| name)
}

/// The numbers of the devices that a directory of links lists.
fn numbers_in(dir: &Path) -> Vec<DeviceNumber> {
    entries(dir).iter().filter_map(|entry| number_of(entry)).collect()
}

/// The number of the device that has this directory.
fn number_of(device: &Path) -> Option<DeviceNumber> {
    DeviceNumber::parse(&attribute(&device.join("dev"))?)
}

/// What is in a directory, in the order of the names; nothing where it cannot be read.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_device_is_known_by_its_folder_or_its_name() {
        for (name, folder, kind) in [
            ("vda1", "partition", "partition"),
            ("sda", "device", "disk"),
            ("loop3", "loop", "loop"),
            ("loop4", "nothing", "loop"),
            ("dm-0", "dm", "device-mapper"),
            ("md0", "md", "md"),
            ("zram0", "nothing", "zram"),
            ("ram15", "nothing", "ram"),
            ("ramp", "nothing", "disk"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join(folder)).unwrap();
            assert_eq!(device_kind(dir.path(), name), kind, "{name}");
        }
    }
}
