//! What a directory stands on.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host::cgroup::MemoryLimit;
use host::details::of_file_system;
use host::device::{Keeping, Stack, keeping};
use host::identity::Identity;
use host::journal::has_journal;
use host::memory::MemoryFacts;
use host::mount_options::telling;
use host::mounts::{Mount, Mounts};
use host::root::Root;
use host::sharing::{Sharing, sharing};
use host::space::FileSystemSpace;
use model::place::{Detail, DeviceLayer, PlaceFacts, StorageKind};
use units::rough_size;

use crate::error::{PlaceError, PlaceName};
use crate::free_space::in_use;
use crate::open::OpenPlace;

/// The name of the detail that says what becomes of the data at a reboot.
pub(crate) const AFTER_REBOOT: &str = "reboot";

/// What a directory stands on, as far as it can be read.
pub fn inspect(label: &str, path: &Path) -> Result<PlaceFacts, PlaceError> {
    let name = PlaceName::labelled(label, path);
    let place = OpenPlace::open(&name)?;
    let fail = |action, error| PlaceError::from_io(&name, action, error);
    let identity = Identity::of(&place.fd).map_err(|e| fail("looking at it", e))?;
    let space = FileSystemSpace::of(&place.fd).map_err(|e| fail("reading its free space", e))?;
    let mut facts = facts(&Root::real(), label, &place.path, &identity, &space);
    facts.details.extend(in_use(&facts.filesystem));
    Ok(facts)
}

/// Whether two places are on one file system: subvolumes and bind mounts of one are,
/// an overlay and the file system that holds its layers are not.
pub fn same_file_system(a: &PlaceFacts, b: &PlaceFacts) -> bool {
    a.filesystem_id == b.filesystem_id
}

/// The facts of a directory whose path has no links.
pub(crate) fn facts(
    root: &Root,
    label: &str,
    path: &Path,
    identity: &Identity,
    space: &FileSystemSpace,
) -> PlaceFacts {
    let mut facts = PlaceFacts {
        path: path.to_owned(),
        mount_point: path.to_owned(),
        read_only: space.read_only,
        total_bytes: space.total_bytes,
        free_bytes: space.free_bytes,
        total_inodes: space.total_inodes,
        free_inodes: space.free_inodes,
        filesystem_id: identity.device.unwrap_or_default().packed(),
        ..PlaceFacts::unknown(label)
    };
    match Mounts::read(root) {
        Ok(mounts) => match mounts.of(path, identity) {
            Some(mount) => describe(&mut facts, root, &mounts, mount),
            None => facts.unread.push("the mount table does not list its mount".to_owned()),
        },
        Err(error) => {
            facts.unread.push(format!("/proc/self/mountinfo cannot be read ({error})"));
        }
    }
    facts
}

fn describe(facts: &mut PlaceFacts, root: &Root, mounts: &Mounts, mount: &Mount) {
    let stack = Stack::behind(root, mounts, mount);
    facts.kind = stack.kind();
    facts.devices = stack.layers;
    facts.unread.extend(stack.unread);
    facts.filesystem.clone_from(&mount.filesystem);
    facts.device = device_name(mount, &facts.devices);
    facts.journal =
        facts.devices.first().and_then(|d| has_journal(root, &mount.filesystem, &d.name));
    facts.mount_point.clone_from(&mount.point);
    facts.mount_options = telling(mount.options.iter().chain(&mount.super_options));
    facts.read_only |= mount.is_read_only();
    facts.filesystem_id = mount.device.packed();
    let device = facts.devices.first().map(|device| device.name.as_str());
    facts.details = of_file_system(root, mount, device);
    if let Some(Sharing { details, not_kept }) = sharing(&facts.filesystem, &facts.mount_options) {
        facts.details.extend(details);
        facts.not_kept = Some(not_kept);
    }
    facts.details.extend(bounds(root, facts));
    facts.details.extend(after_reboot(facts));
}

/// What bounds the memory that a place's files take.
fn bounds(root: &Root, facts: &PlaceFacts) -> Vec<Detail> {
    if facts.kind != StorageKind::Memory {
        return Vec::new();
    }
    let Ok(memory) = MemoryFacts::read(root) else { return Vec::new() };
    let MemoryFacts { total_bytes, available_bytes, swap_total_bytes, swap_free_bytes, .. } =
        memory;
    let [available, total] = [available_bytes, total_bytes].map(rough_size);
    let swap = match swap_total_bytes {
        0 => "none".to_owned(),
        total => format!("{} of {} free", rough_size(swap_free_bytes), rough_size(total)),
    };
    let limit = memory.limit.map(|MemoryLimit { group, limit_bytes, used_bytes }| {
        let value = format!("{} of {} used", rough_size(used_bytes), rough_size(limit_bytes));
        Detail::new("memory limit", value, format!("control group {}", group.display()))
    });
    let memory =
        Detail::new("memory", format!("{available} of {total} available"), "/proc/meminfo");
    [Some(memory), limit, Some(Detail::new("swap", swap, "/proc/meminfo"))]
        .into_iter()
        .flatten()
        .collect()
}

/// What becomes of the data when the machine is started anew.
fn after_reboot(facts: &PlaceFacts) -> Option<Detail> {
    let (value, source) = match facts.kind {
        StorageKind::Memory => ("the data is lost", "it is in memory"),
        StorageKind::Disk => ("the data survives", "it is on a disk"),
        StorageKind::Network => {
            ("the data survives if the server keeps it", "it is on another machine")
        }
        StorageKind::Fuse | StorageKind::Other => return None,
    };
    Some(Detail::new(AFTER_REBOOT, value, source))
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

#[cfg(test)]
mod tests;
