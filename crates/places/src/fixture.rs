//! Machines made of plain files: what `/proc`, `/sys` and `/dev` would hold on them.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use model::place::PlaceFacts;
use tempfile::TempDir;

use crate::inspect::Room;
use crate::machine::{Identity, Machine};

pub(crate) struct Fixture {
    root: TempDir,
}

impl Fixture {
    /// A machine with this mount table and nothing else.
    pub(crate) fn with_mounts(mountinfo: &str) -> Self {
        let fixture = Self { root: tempfile::tempdir().unwrap() };
        fixture.write("/proc/self/mountinfo", mountinfo);
        fixture
    }

    pub(crate) fn machine(&self) -> Machine {
        Machine::made(self.root.path())
    }

    /// The facts of a directory on it, named `place`.
    pub(crate) fn facts(&self, path: &str) -> PlaceFacts {
        self.facts_of(path, &Identity::default())
    }

    pub(crate) fn facts_of(&self, path: &str, identity: &Identity) -> PlaceFacts {
        self.machine().facts("place", Path::new(path), identity, &Room::default())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.machine().locate(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A block device in `/sys`, laid out as the kernel does it: its directory among the
    /// devices, and links to it by number and by name. `within` is its bus, or its disk.
    pub(crate) fn device(&self, number: &str, within: &str, name: &str) -> &Self {
        self.write(&format!("/sys/devices/{within}/{name}/dev"), &format!("{number}\n"));
        self.link("/sys/dev/block", number, &format!("{within}/{name}"));
        self.link("/sys/class/block", name, &format!("{within}/{name}"));
        self
    }

    /// An attribute of a device.
    pub(crate) fn set(&self, name: &str, attribute: &str, text: &str) -> &Self {
        self.write(&format!("/sys/class/block/{name}/{attribute}"), &format!("{text}\n"));
        self
    }

    /// Makes a device stand on another.
    pub(crate) fn slave(&self, name: &str, slave: &str) -> &Self {
        let target = fs::canonicalize(self.machine().locate(format!("/sys/class/block/{slave}")));
        let slaves = self.machine().locate(format!("/sys/class/block/{name}/slaves"));
        fs::create_dir_all(&slaves).unwrap();
        symlink(target.unwrap(), slaves.join(slave)).unwrap();
        self
    }

    fn link(&self, dir: &str, name: &str, device: &str) {
        let dir = self.machine().locate(dir);
        fs::create_dir_all(&dir).unwrap();
        let target = self.machine().locate(format!("/sys/devices/{device}"));
        symlink(target, dir.join(name)).unwrap();
    }

    /// An ext4 on LUKS on a logical volume over two disks, one of them by its partition.
    pub(crate) fn luks_on_two_disks() -> Self {
        let fixture = Self::with_mounts(
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
}
