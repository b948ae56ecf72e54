//! Stacks of devices, each on a machine made of files.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;

use host::disks::DeviceReader;
use host::fixture::Fixture;
use host::identity::DeviceNumber;
use model::guarantee::Guarantee;
use model::place::StorageKind;

use super::*;

/// The facts of a directory of a machine, named `place`.
fn facts(fixture: &Fixture, path: &str) -> PlaceFacts {
    facts_of(fixture, path, &Identity::default())
}

fn facts_of(fixture: &Fixture, path: &str, identity: &Identity) -> PlaceFacts {
    super::facts(&fixture.root(), "place", Path::new(path), identity, &FileSystemSpace::default())
}

/// Each device with what is below it: `dm-0 device-mapper > sda1 sdb`.
fn drawn(facts: &PlaceFacts) -> Vec<String> {
    let layer = |layer: &DeviceLayer| {
        let above = format!("{} {} {}:{}", layer.name, layer.kind, layer.major, layer.minor);
        if layer.below.is_empty() { above } else { format!("{above} > {}", layer.below.join(" ")) }
    };
    facts.devices.iter().map(layer).collect()
}

fn bottoms(facts: &PlaceFacts) -> Vec<&str> {
    facts.bottom_devices().map(|layer| layer.name.as_str()).collect()
}

fn nvme(mountinfo: &str) -> Fixture {
    let fixture = Fixture::with_mounts(mountinfo);
    fixture
        .device("259:0", "pci0/nvme/nvme0", "nvme0n1")
        .set("nvme0n1", "device/model", "Samsung SSD 990 PRO 2TB             ")
        .set("nvme0n1", "queue/rotational", "0")
        .set("nvme0n1", "queue/write_cache", "write through")
        .set("nvme0n1", "queue/scheduler", "[none] mq-deadline")
        .device("259:2", "pci0/nvme/nvme0/nvme0n1", "nvme0n1p2")
        .set("nvme0n1p2", "partition", "2");
    fixture
}

const NVME_ROOT: &str = "29 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw,commit=60\n";

/// An ext4 on LUKS on a logical volume over two disks, one of them by its partition.
fn luks_on_two_disks() -> Fixture {
    let fixture = Fixture::with_mounts(
        "21 1 253:1 / /srv/data rw,noatime shared:5 - ext4 /dev/mapper/vault rw,data=journal\n",
    );
    fixture
        .device("8:0", "pci0/ata1", "sda")
        .device("8:1", "pci0/ata1/sda", "sda1")
        .set("sda1", "partition", "1")
        .device("8:16", "pci0/ata2", "sdb")
        .device("253:0", "virtual/block", "dm-0")
        .set("dm-0", "dm/name", "vg-data")
        .slave("dm-0", "sda1")
        .slave("dm-0", "sdb")
        .device("253:1", "virtual/block", "dm-1")
        .set("dm-1", "dm/name", "vault")
        .slave("dm-1", "dm-0");
    fixture
        .set("sda", "device/model", "WDC WD40EFRX-68N    ")
        .set("sda", "queue/rotational", "1")
        .set("sda", "queue/write_cache", "write back")
        .set("sda", "queue/scheduler", "none mq-deadline [bfq]");
    fixture
}

#[test]
fn a_partition_stands_on_its_disk_which_tells_the_hardware() {
    let facts = facts(&nvme(NVME_ROOT), "/var/log");
    assert_eq!(drawn(&facts), ["nvme0n1p2 partition 259:2 > nvme0n1", "nvme0n1 disk 259:0"]);
    assert_eq!(facts.kind, StorageKind::Disk);
    assert_eq!(facts.filesystem, "ext4");
    assert_eq!(facts.mount_options, ["relatime", "commit=60"]);
    assert_eq!(facts.mount_point, Path::new("/"));
    assert_eq!(facts.unread, [""; 0]);
    let disk = &facts.devices[1];
    assert_eq!(disk.model.as_deref(), Some("Samsung SSD 990 PRO 2TB"));
    assert_eq!(disk.rotational, Some(false));
    assert_eq!(disk.write_cache.as_deref(), Some("write through"));
    assert_eq!(disk.scheduler.as_deref(), Some("none"));
}

#[test]
fn a_journal_is_told_of_the_device_that_is_mounted() {
    let fixture = nvme(NVME_ROOT);
    assert_eq!(facts(&fixture, "/").journal, None);
    fixture.write("/sys/fs/ext4/nvme0n1p2/journal_task", "<none>\n");
    assert_eq!(facts(&fixture, "/").journal, Some(false));
}

#[test]
fn the_placeholder_of_a_root_is_replaced_by_its_device() {
    assert_eq!(facts(&nvme(NVME_ROOT), "/").device.as_deref(), Some("/dev/nvme0n1p2"));
}

#[test]
fn mapped_devices_are_followed_to_all_their_disks() {
    let facts = facts(&luks_on_two_disks(), "/srv/data/app");
    let expected = [
        "dm-1 device-mapper 253:1 > dm-0",
        "dm-0 device-mapper 253:0 > sda1 sdb",
        "sda1 partition 8:1 > sda",
        "sda disk 8:0",
        "sdb disk 8:16",
    ];
    assert_eq!(drawn(&facts), expected);
    assert_eq!(bottoms(&facts), ["sda", "sdb"]);
    assert_eq!(facts.device.as_deref(), Some("/dev/mapper/vault"));
    assert_eq!(facts.mount_options, ["noatime", "data=journal"]);
    let disk = &facts.devices[3];
    assert_eq!(disk.model.as_deref(), Some("WDC WD40EFRX-68N"));
    assert_eq!((disk.rotational, disk.scheduler.as_deref()), (Some(true), Some("bfq")));
}

#[test]
fn a_mirror_of_two_partitions_of_one_disk_lists_the_disk_once() {
    let fixture = Fixture::with_mounts("21 1 9:0 / / rw - xfs /dev/md0 rw\n");
    fixture.device("8:0", "pci0", "sda").device("9:0", "virtual/block", "md0");
    fixture.set("md0", "md/level", "raid1");
    for partition in ["1", "2"] {
        let name = format!("sda{partition}");
        fixture.device(&format!("8:{partition}"), "pci0/sda", &name);
        fixture.set(&name, "partition", partition).slave("md0", &name);
    }
    let facts = facts(&fixture, "/");
    let expected = [
        "md0 md 9:0 > sda1 sda2",
        "sda1 partition 8:1 > sda",
        "sda disk 8:0",
        "sda2 partition 8:2 > sda",
    ];
    assert_eq!(drawn(&facts), expected);
    assert_eq!(bottoms(&facts), ["sda"]);
}

fn with_loop(file: &str, more_mounts: &str) -> Fixture {
    let image = "50 29 7:3 / /mnt/image rw - ext2 /dev/loop3 rw\n";
    let fixture = nvme(&format!("{NVME_ROOT}{image}{more_mounts}"));
    fixture.device("7:3", "virtual/block", "loop3").set("loop3", "loop/backing_file", file);
    fixture
}

#[test]
fn a_loop_device_is_followed_through_its_file() {
    let fixture = with_loop("/srv/disk images/a.img", "");
    fixture.write("/srv/disk images/a.img", "");
    let facts = facts(&fixture, "/mnt/image/x");
    let expected =
        ["loop3 loop 7:3 > nvme0n1p2", "nvme0n1p2 partition 259:2 > nvme0n1", "nvme0n1 disk 259:0"];
    assert_eq!(drawn(&facts), expected);
    assert_eq!(facts.kind, StorageKind::Disk);
}

#[test]
fn a_loop_device_whose_file_is_in_memory_is_memory() {
    let fixture = with_loop("/tmp/a.img", "60 29 0:40 / /tmp rw - tmpfs tmpfs rw\n");
    fixture.write("/tmp/a.img", "");
    let facts = facts(&fixture, "/mnt/image");
    assert_eq!(drawn(&facts), ["loop3 loop 7:3"]);
    assert_eq!(facts.kind, StorageKind::Memory);
}

#[test]
fn a_loop_device_whose_file_is_gone_says_so() {
    let facts = facts(&with_loop("/srv/a.img (deleted)", ""), "/mnt/image");
    assert_eq!(drawn(&facts), ["loop3 loop 7:3"]);
    assert!(facts.unread[0].starts_with("the file behind loop3, /srv/a.img (deleted), cannot"));
}

#[test]
fn a_loop_device_whose_file_has_no_name_stands_on_what_holds_its_folder() {
    let fixture = with_loop("/srv/#1234 (deleted)", "60 29 8:9 / /srv rw - xfs /dev/sdc rw\n");
    fixture.write("/srv/other", "");
    fixture.device("8:9", "pci1", "sdc");
    let facts = facts(&fixture, "/mnt/image");
    assert_eq!(drawn(&facts), ["loop3 loop 7:3 > sdc", "sdc disk 8:9"]);
    assert_eq!(facts.unread, [""; 0]);
}

#[test]
fn a_loop_device_on_a_device_stands_on_that_and_not_on_what_holds_its_node() {
    let fixture = with_loop("/dev/nvme0n1p2", "60 29 0:6 / /dev rw - devtmpfs devtmpfs rw\n");
    fixture.write("/dev/nvme0n1p2", "259:2");
    let facts = facts(&fixture, "/mnt/image");
    assert_eq!((bottoms(&facts), facts.kind), (vec!["nvme0n1"], StorageKind::Disk));
}

#[test]
fn an_overlay_stands_on_what_holds_its_upper_directory() {
    let overlay = "90 29 0:55 / /merged rw,relatime - overlay overlay \
                   rw,lowerdir=/l/1:/l/2,upperdir=/var/lib/up,workdir=/var/lib/work\n";
    let fixture = nvme(&format!("{NVME_ROOT}{overlay}"));
    fixture.write("/var/lib/up/file", "");
    let (facts, upper) = (facts(&fixture, "/merged/app"), facts(&fixture, "/var"));
    assert_eq!(bottoms(&facts), ["nvme0n1"]);
    assert_eq!((facts.kind, facts.device.as_deref()), (StorageKind::Disk, None));
    assert_eq!(facts.mount_options, ["relatime"]);
    assert!(!same_file_system(&facts, &upper));
}

#[test]
fn a_containers_overlay_says_that_its_upper_directory_is_out_of_sight() {
    let mounts = "1 0 0:55 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/host/up\n";
    let facts = facts(&Fixture::with_mounts(mounts), "/app");
    assert_eq!((facts.kind, facts.devices.len()), (StorageKind::Other, 0));
    let expected = "the overlay's upper directory, /host/up, cannot be seen from here";
    assert!(facts.unread[0].starts_with(expected), "{:?}", facts.unread);
}

#[test]
fn an_overlay_on_itself_ends() {
    let mounts = "1 0 0:55 / / rw - overlay overlay rw,upperdir=/up\n";
    let fixture = Fixture::with_mounts(mounts);
    fixture.write("/up/file", "");
    let facts = facts(&fixture, "/");
    assert!(facts.unread[0].contains("more than 32 layers"), "{:?}", facts.unread);
}

#[test]
fn devices_that_stand_on_each_other_end() {
    let fixture = Fixture::with_mounts("1 0 253:0 / / rw - ext4 /dev/dm-0 rw\n");
    fixture.device("253:0", "virtual", "dm-0").device("253:1", "virtual", "dm-1");
    fixture.slave("dm-0", "dm-1").slave("dm-1", "dm-0");
    assert_eq!(facts(&fixture, "/").devices.len(), 2);
}

/// Two btrfs, of which the second has two members.
fn btrfs(source: &str) -> Fixture {
    let line = |id, point, subvolume| {
        format!("{id} 1 0:33 {subvolume} {point} rw,ssd - btrfs {source} rw,compress=zstd:3\n")
    };
    let fixture = Fixture::with_mounts(&(line(20, "/", "/@") + &line(21, "/home", "/@home")));
    for (number, name) in [("8:0", "sda"), ("8:16", "sdb"), ("8:32", "sdc")] {
        fixture.device(number, "pci0", name);
    }
    fixture.device("253:0", "virtual", "dm-0").set("dm-0", "dm/name", "luks").slave("dm-0", "sdc");
    for (fs, member) in [("f-1", "sda"), ("f-2", "sdb"), ("f-2", "dm-0")] {
        let devices = fixture.root().locate(format!("/sys/fs/btrfs/{fs}/devices"));
        fs::create_dir_all(&devices).unwrap();
        let device = fixture.root().locate(format!("/sys/class/block/{member}"));
        symlink(device, devices.join(member)).unwrap();
    }
    fixture
}

#[test]
fn a_btrfs_has_all_its_members_behind_it_whichever_was_mounted() {
    for source in ["/dev/sdb", "/dev/mapper/luks"] {
        let facts = facts(&btrfs(source), "/home/x");
        let expected = ["dm-0 device-mapper 253:0 > sdc", "sdc disk 8:32", "sdb disk 8:16"];
        assert_eq!(drawn(&facts), expected);
        assert_eq!(facts.device.as_deref(), Some(source));
        assert_eq!(facts.mount_options, ["compress=zstd:3"]);
    }
}

#[test]
fn a_btrfs_that_was_mounted_by_another_name_is_found_by_its_node() {
    let fixture = btrfs("/dev/disk/by-label/pool");
    fixture.write("/dev/disk/by-label/pool", "8:16");
    assert_eq!(bottoms(&facts(&fixture, "/")), ["sdc", "sdb"]);
}

#[test]
fn two_subvolumes_of_a_btrfs_are_one_file_system() {
    let fixture = btrfs("/dev/sdb");
    let of =
        |minor| Identity { device: Some(DeviceNumber { major: 0, minor }), ..Identity::default() };
    let (root, home) = (facts_of(&fixture, "/", &of(71)), facts_of(&fixture, "/home", &of(72)));
    assert!(same_file_system(&root, &home));
}

#[test]
fn a_btrfs_whose_device_is_hidden_says_so() {
    let facts = facts(&btrfs("/dev/elsewhere"), "/");
    assert_eq!((facts.kind, facts.devices.len()), (StorageKind::Disk, 0));
    assert!(facts.unread[0].contains("/dev/elsewhere were not found"), "{:?}", facts.unread);
}

#[test]
fn network_and_user_space_file_systems_have_no_device() {
    let mounts = "1 0 0:1 / / rw - tmpfs tmpfs rw\n\
        2 1 0:2 / /nfs rw - nfs4 server:/export rw,vers=4.2,rsize=1048576,hard,addr=10.0.0.1\n\
        3 1 0:3 / /ssh rw - fuse.sshfs jo@host: rw,user_id=0\n\
        6 1 0:6 / /secret rw - fuse.gocryptfs /plain rw,user_id=0\n\
        4 1 0:4 / /share rw - virtiofs tag rw\n\
        5 1 0:5 / /pool rw - zfs tank/data rw\n";
    let fixture = Fixture::with_mounts(mounts);
    let facts = |path| facts(&fixture, path);
    let nfs = facts("/nfs/x");
    assert_eq!((nfs.kind, nfs.device.as_deref()), (StorageKind::Network, Some("server:/export")));
    assert_eq!(nfs.mount_options, ["vers=4.2", "rsize=1048576", "hard"]);
    assert_eq!((nfs.devices.len(), nfs.unread.len()), (0, 0));
    assert_eq!(nfs.not_kept, Some(vec![Guarantee::Appends]));
    assert_eq!(facts("/ssh").kind, StorageKind::Network);
    assert_eq!(facts("/secret").kind, StorageKind::Fuse);
    assert_eq!(facts("/share").kind, StorageKind::Network);
    let pool = facts("/pool");
    assert_eq!((pool.kind, pool.unread.len()), (StorageKind::Disk, 1));
}

#[test]
fn a_tmpfs_and_a_disk_in_memory_are_memory() {
    let mounts = "1 0 0:1 / / rw,relatime - tmpfs tmpfs rw,size=512k,huge=always\n\
                  2 1 1:0 / /brd rw - ext2 /dev/ram0 rw\n3 1 252:0 / /z rw - ext4 /dev/zram0 rw\n";
    let fixture = Fixture::with_mounts(mounts);
    fixture.device("1:0", "virtual", "ram0").device("252:0", "virtual", "zram0");
    for (path, devices) in
        [("/x", vec![]), ("/brd", vec!["ram0 ram 1:0"]), ("/z", vec!["zram0 zram 252:0"])]
    {
        let facts = facts(&fixture, path);
        assert_eq!(
            (facts.kind, drawn(&facts)),
            (StorageKind::Memory, devices.iter().map(ToString::to_string).collect())
        );
    }
    let root = facts(&fixture, "/x");
    assert_eq!(root.device, None);
    assert_eq!(root.mount_options, ["relatime", "size=512k", "huge=always"]);
}

#[test]
fn a_bind_mount_is_the_file_system_that_it_shows() {
    let bind = "70 29 259:2 /var/data /data ro,relatime - ext4 /dev/nvme0n1p2 rw\n";
    let fixture = nvme(&format!("{NVME_ROOT}{bind}"));
    let (bound, root) = (facts(&fixture, "/data/x"), facts(&fixture, "/var/data"));
    assert!(same_file_system(&bound, &root));
    assert_eq!(bound.devices, root.devices);
    assert_eq!((bound.read_only, root.read_only), (true, false));
    assert_eq!(bound.mount_point, Path::new("/data"));
}

#[test]
fn what_sys_does_not_tell_is_said_and_is_still_a_disk() {
    let facts = facts(&Fixture::with_mounts("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"), "/");
    assert_eq!((facts.kind, facts.devices.len()), (StorageKind::Disk, 0));
    assert_eq!(facts.device.as_deref(), Some("/dev/sda1"));
    assert!(facts.unread[0].starts_with("/sys/dev/block/8:1 cannot be read"));
}

#[test]
fn without_a_mount_table_there_are_facts_all_the_same() {
    let fixture = Fixture::with_mounts("");
    let facts = facts(&fixture, "/x");
    assert_eq!((facts.filesystem.as_str(), facts.kind), ("unknown", StorageKind::Other));
    assert_eq!(facts.unread, ["the mount table does not list its mount"]);
}

#[test]
fn several_bottom_devices_are_summed_and_the_layers_above_are_not() {
    let stat = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
    let fixture = luks_on_two_disks();
    for device in ["sda", "sdb", "dm-0", "dm-1"] {
        fixture.write(&format!("/sys/class/block/{device}/stat"), stat);
    }
    let facts = facts(&fixture, "/srv/data");
    let counters = DeviceReader::new(&fixture.root(), &facts).unwrap().read().unwrap();
    assert_eq!((counters.writes, counters.flushes), (10, Some(32)));
}

#[test]
fn a_place_without_devices_says_so() {
    let fixture = Fixture::with_mounts("1 0 0:30 / / rw - tmpfs tmpfs rw\n");
    let error = DeviceReader::new(&fixture.root(), &facts(&fixture, "/x")).unwrap_err();
    assert!(error.to_string().starts_with("place=/x: no block device"), "{error}");
}
