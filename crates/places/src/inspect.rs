//! What a directory stands on.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use model::place::{DeviceLayer, PlaceFacts, StorageKind};
use rustix::fs::{StatVfs, StatVfsMountFlags, fstatvfs};

use crate::device::{Keeping, Stack, keeping};
use crate::error::{PlaceError, PlaceName};
use crate::machine::{Identity, Machine};
use crate::mount_options::telling;
use crate::mounts::{Mount, Mounts};
use crate::open::OpenPlace;

/// What a directory stands on, as far as it can be read.
pub fn inspect(label: &str, path: &Path) -> Result<PlaceFacts, PlaceError> {
    let name = PlaceName::labelled(label, path);
    let place = OpenPlace::open(&name)?;
    let fail = |action, error| PlaceError::from_io(&name, action, error);
    let identity = Identity::of(&place.fd).map_err(|e| fail("looking at it", e))?;
    let room = fstatvfs(&place.fd).map_err(|e| fail("reading its free space", e.into()))?;
    Ok(Machine::real().facts(label, &place.path, &identity, &Room::of(&room)))
}

/// Whether two places are on one file system: subvolumes and bind mounts of one are,
/// an overlay and the file system that holds its layers are not.
pub fn same_file_system(a: &PlaceFacts, b: &PlaceFacts) -> bool {
    a.filesystem_id == b.filesystem_id
}

/// What `statvfs` tells of a file system.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    pub(crate) read_only: bool,
    pub(crate) total_bytes: u64,
    pub(crate) free_bytes: u64,
    pub(crate) free_inodes: Option<u64>,
}

impl Room {
    fn of(stat: &StatVfs) -> Self {
        Self {
            read_only: stat.f_flag.contains(StatVfsMountFlags::RDONLY),
            total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
            free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
            // btrfs and others that make inodes as they need them say 0 of 0.
            free_inodes: (stat.f_files > 0).then_some(stat.f_favail),
        }
    }
}

impl Machine {
    /// The facts of a directory whose path has no links.
    pub(crate) fn facts(
        &self,
        label: &str,
        path: &Path,
        identity: &Identity,
        room: &Room,
    ) -> PlaceFacts {
        let mut facts = PlaceFacts {
            label: label.to_owned(),
            path: path.to_owned(),
            kind: StorageKind::Other,
            filesystem: "unknown".to_owned(),
            device: None,
            devices: Vec::new(),
            mount_point: path.to_owned(),
            mount_options: Vec::new(),
            read_only: room.read_only,
            total_bytes: room.total_bytes,
            free_bytes: room.free_bytes,
            free_inodes: room.free_inodes,
            filesystem_id: identity.device.unwrap_or_default().packed(),
            unread: Vec::new(),
        };
        match self.mounts() {
            Ok(mounts) => match mounts.of(path, identity) {
                Some(mount) => self.describe(&mut facts, &mounts, mount),
                None => facts.unread.push("the mount table does not list its mount".to_owned()),
            },
            Err(error) => {
                facts.unread.push(format!("/proc/self/mountinfo cannot be read ({error})"));
            }
        }
        facts
    }

    pub(crate) fn mounts(&self) -> std::io::Result<Mounts> {
        self.read("/proc/self/mountinfo").map(|text| Mounts::parse(&text))
    }

    fn describe(&self, facts: &mut PlaceFacts, mounts: &Mounts, mount: &Mount) {
        let stack = Stack::behind(self, mounts, mount);
        facts.kind = stack.kind();
        facts.devices = stack.layers;
        facts.unread.extend(stack.unread);
        facts.filesystem.clone_from(&mount.filesystem);
        facts.device = device_name(mount, &facts.devices);
        facts.mount_point.clone_from(&mount.point);
        facts.mount_options = telling(mount.options.iter().chain(&mount.super_options));
        facts.read_only |= mount.options.iter().any(|option| option == "ro");
        facts.filesystem_id = mount.device.packed();
    }
}

/// What is mounted, by the name that the table gives it, unless that says nothing:
/// `none`, `tmpfs`, or the `/dev/root` of a root that the kernel itself mounted.
fn device_name(mount: &Mount, devices: &[DeviceLayer]) -> Option<String> {
    let has_none = matches!(keeping(&mount.filesystem), Keeping::Memory | Keeping::Overlay);
    let says_nothing = mount.source == "none" || mount.source == *mount.filesystem;
    let is_placeholder = mount.source.as_bytes() == b"/dev/root";
    match devices.first() {
        _ if has_none || says_nothing => None,
        Some(device) if is_placeholder => Some(format!("/dev/{}", device.name)),
        _ => Some(OsStr::to_string_lossy(&mount.source).into_owned()),
    }
}
