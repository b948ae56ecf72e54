//! Inspecting what this machine really has, checked by other means where there are some.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use host::disks::DeviceReader;
use host::root::Root;
use iotoll_places::{inspect, same_file_system};
use model::counters::Counters as _;
use model::place::{PlaceFacts, StorageKind};
use support::{Mounted, skip};

fn facts(path: impl AsRef<Path>) -> PlaceFacts {
    inspect("place", path.as_ref()).unwrap()
}

fn bottoms(facts: &PlaceFacts) -> Vec<&str> {
    facts.bottom_devices().map(|layer| layer.name.as_str()).collect()
}

/// What a program prints, or `None` where it is missing or fails.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let is_good = output.status.success();
    is_good.then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn findmnt_agrees_on_the_mount_of_each_directory() {
    for path in ["/", "/dev/shm", "/proc", "/sys", env!("CARGO_MANIFEST_DIR")] {
        if !Path::new(path).is_dir() {
            continue;
        }
        let Some(expected) = output("findmnt", &["-nro", "FSTYPE,TARGET", "-T", path]) else {
            return skip("findmnt_agrees…", "no findmnt here");
        };
        let facts = facts(path);
        // Of mounts on one point findmnt lists all, the one that is seen last.
        let last = expected.lines().last().unwrap();
        assert_eq!(format!("{} {}", facts.filesystem, facts.mount_point.display()), last);
    }
}

#[test]
fn lsblk_agrees_on_the_devices_behind_the_sources() {
    let facts = facts(env!("CARGO_MANIFEST_DIR"));
    let Some(device) = facts.device.clone().filter(|_| !facts.devices.is_empty()) else {
        return skip("lsblk_agrees…", "the sources are on no block device");
    };
    let Some(listed) = output("lsblk", &["-nrso", "KNAME", &device]) else {
        return skip("lsblk_agrees…", "no lsblk here");
    };
    let mut expected: Vec<&str> = listed.lines().collect();
    let mut found: Vec<&str> = facts.devices.iter().map(|layer| layer.name.as_str()).collect();
    expected.sort_unstable();
    expected.dedup();
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn a_tmpfs_by_its_magic_number_is_memory() {
    const TMPFS_MAGIC: u32 = 0x0102_1994;
    let path = Path::new("/dev/shm");
    let magic = rustix::fs::statfs(path).map(|stat| stat.f_type as u32);
    if magic != Ok(TMPFS_MAGIC) {
        return skip("a_tmpfs_by_its_magic_number…", "/dev/shm is not a tmpfs here");
    }
    let facts = facts(path);
    assert_eq!((facts.kind, facts.filesystem.as_str()), (StorageKind::Memory, "tmpfs"));
    assert_eq!((facts.devices.len(), facts.unread.len()), (0, 0));
    assert!(facts.free_bytes <= facts.total_bytes);
    assert!(!same_file_system(&facts, &self::facts(env!("CARGO_MANIFEST_DIR"))));
}

#[test]
fn a_path_is_resolved_before_it_is_described() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/shm", dir.path().join("link")).unwrap();
    let facts = facts(dir.path().join("link"));
    assert_eq!(facts.path, Path::new("/dev/shm").canonicalize().unwrap());
    assert!(same_file_system(&facts, &self::facts("/dev/shm")));
}

#[test]
fn of_two_mounts_on_one_point_the_upper_is_described() {
    let test = "of_two_mounts_on_one_point_the_upper_is_described";
    let lower = ["-t", "tmpfs", "-o", "size=64k", "tmpfs"];
    let Some(mut mounted) = Mounted::named(test, "a b\\c", &lower) else { return };
    let before = facts(mounted.path());
    assert!(mounted.mount_over(test, &["-t", "tmpfs", "-o", "size=128k,nr_inodes=9", "tmpfs"]));
    let after = facts(mounted.path());
    assert_eq!(after.mount_point, mounted.path().canonicalize().unwrap());
    assert_eq!((before.total_bytes, after.total_bytes), (64 * 1024, 128 * 1024));
    assert!(before.mount_options.contains(&"size=64k".to_owned()), "{before:?}");
    assert!(after.mount_options.contains(&"size=128k".to_owned()), "{after:?}");
    assert!(after.mount_options.contains(&"nr_inodes=9".to_owned()), "{after:?}");
    assert!(!same_file_system(&before, &after));
}

#[test]
fn a_bind_mount_is_on_the_file_system_that_it_shows() {
    let test = "a_bind_mount_is_on_the_file_system_that_it_shows";
    let shown = tempfile::tempdir().unwrap();
    let arguments = ["--bind", "-o", "ro", shown.path().to_str().unwrap()];
    let Some(mounted) = Mounted::new(test, &arguments) else { return };
    let (bound, shown) = (facts(mounted.path()), facts(shown.path()));
    assert!(same_file_system(&bound, &shown));
    assert_eq!((&bound.devices, &bound.device), (&shown.devices, &shown.device));
    assert_eq!((bound.read_only, shown.read_only), (true, false));
    assert!(bound.mount_options.contains(&"ro".to_owned()));
}

#[test]
fn an_overlay_has_the_devices_of_its_upper_directory() {
    let test = "an_overlay_has_the_devices_of_its_upper_directory";
    let base = tempfile::tempdir().unwrap();
    for name in ["lower", "upper", "work"] {
        fs::create_dir(base.path().join(name)).unwrap();
    }
    let dir = base.path().display();
    let options = format!("lowerdir={dir}/lower,upperdir={dir}/upper,workdir={dir}/work");
    let arguments = ["-t", "overlay", "-o", options.as_str(), "overlay"];
    let Some(mounted) = Mounted::new(test, &arguments) else { return };
    let (merged, upper) = (facts(mounted.path()), facts(base.path().join("upper")));
    assert_eq!((&merged.devices, merged.kind), (&upper.devices, upper.kind));
    assert_eq!((merged.filesystem.as_str(), &merged.device), ("overlay", &None));
    assert_eq!(merged.unread, upper.unread);
    assert!(!same_file_system(&merged, &upper));
}

fn image_in(test: &str, dir: &Path) -> Option<Mounted> {
    Mounted::ext4_in(test, dir, 16 << 20, &[])
}

#[test]
fn a_loop_device_stands_on_what_its_file_is_on() {
    let test = "a_loop_device_stands_on_what_its_file_is_on";
    let dir = tempfile::tempdir().unwrap();
    let Some(mounted) = image_in(test, dir.path()) else { return };
    let (inner, outer) = (facts(mounted.path()), facts(dir.path()));
    assert_eq!((inner.devices[0].kind.as_str(), inner.filesystem.as_str()), ("loop", "ext4"));
    assert_eq!(inner.devices[1..], outer.devices);
    assert_eq!(inner.kind, outer.kind);
    if !outer.devices.is_empty() {
        assert_eq!(bottoms(&inner), bottoms(&outer));
    }
}

#[test]
fn a_loop_device_whose_file_is_in_memory_is_memory() {
    let test = "a_loop_device_whose_file_is_in_memory_is_memory";
    let Some(memory) = Mounted::new(test, &["-t", "tmpfs", "tmpfs"]) else { return };
    let Some(mounted) = image_in(test, &memory.path()) else { return };
    let facts = facts(mounted.path());
    assert_eq!((facts.kind, facts.devices.len()), (StorageKind::Memory, 1));
}

#[test]
fn what_is_flushed_is_counted_by_the_device_at_the_bottom() {
    const WRITTEN: usize = 4 << 20;
    let test = "what_is_flushed_is_counted_by_the_device_at_the_bottom";
    let outer = tempfile::tempdir().unwrap();
    let mounted = image_in(test, outer.path());
    let inner = mounted.as_ref().map(Mounted::path);
    for dir in [Some(outer.path().to_owned()), inner].into_iter().flatten() {
        let facts = facts(&dir);
        let Ok(reader) = DeviceReader::new(&Root::real(), &facts) else {
            return skip(test, "no block device behind the temporary folder");
        };
        let before = reader.read().unwrap();
        let mut file = File::create(dir.join("data")).unwrap();
        file.write_all(&vec![7; WRITTEN]).unwrap();
        file.sync_all().unwrap();
        let since = reader.read().unwrap().since(before);
        assert!(since.written_bytes >= WRITTEN as u64, "{since:?}");
        assert!(since.writes > 0 && since.writes < WRITTEN as u64 / 512, "{since:?}");
    }
}
