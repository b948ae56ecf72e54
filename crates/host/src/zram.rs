//! Compressed block devices in memory (`Documentation/admin-guide/blockdev/zram.rst`).
//!
//! They stay when the process that added them ends. The kernel numbers every disk that it
//! ever makes (`diskseq`, since Linux 5.15), which tells one from another that later has
//! the same name.

use std::fs;
use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::root::Root;

const CONTROL: &str = "/sys/class/zram-control";

/// A device, by its number and the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zram {
    /// As in its name: `zram3`.
    pub number: u32,
    /// Which of all disks since the boot it is.
    pub disk: u64,
}

/// Whether the kernel has them, and its module is loaded.
pub fn is_there(root: &Root) -> bool {
    root.has(format!("{CONTROL}/hot_add"))
}

/// The number of the latest disk of all kinds; `None` where the kernel numbers none.
pub fn latest_disk(root: &Root) -> Option<u64> {
    let disk = |name: String| disk_of(root, &name);
    root.names("/sys/block").filter_map(disk).max()
}

/// Adds a device.
pub fn add(root: &Root) -> io::Result<Zram> {
    let text = root.text(format!("{CONTROL}/hot_add"))?;
    let number = text
        .trim()
        .parse()
        .map_err(|_| io::Error::other("hot_add did not return a device number"))?;
    let disk = disk_of(root, &format!("zram{number}"));
    Ok(Zram {
        number,
        disk: disk.ok_or_else(|| io::Error::other("the new device has no diskseq"))?,
    })
}

/// Those without a size, so that nobody uses them, that were added after a disk.
pub fn unused_after(root: &Root, disk: u64) -> Vec<Zram> {
    let zram = |name: String| {
        let number = name.strip_prefix("zram")?.parse().ok()?;
        let zram = Zram { number, disk: disk_of(root, &name)? };
        let is_unused = root.attribute(format!("/sys/block/{name}/initstate"))? == "0";
        (zram.disk > disk && is_unused).then_some(zram)
    };
    root.names("/sys/block").filter_map(zram).collect()
}

fn disk_of(root: &Root, name: &str) -> Option<u64> {
    root.attribute(format!("/sys/block/{name}/diskseq"))?.parse().ok()
}

impl Zram {
    /// Its node.
    pub fn path(self) -> PathBuf {
        PathBuf::from(format!("/dev/zram{}", self.number))
    }

    /// Gives it a size, before compression; from then on it can be used.
    pub fn set_size(self, root: &Root, bytes: u64) -> io::Result<()> {
        let file = root.locate(format!("/sys/block/zram{}/disksize", self.number));
        fs::write(file, bytes.to_string())
    }

    /// Whether it is still there.
    pub fn is_there(self, root: &Root) -> bool {
        disk_of(root, &format!("zram{}", self.number)) == Some(self.disk)
    }

    /// Removes it with all that it holds. Not while it is open or mounted: `EBUSY`.
    pub fn remove(self, root: &Root) -> io::Result<()> {
        if !self.is_there(root) {
            return Ok(());
        }
        let removed =
            fs::write(root.locate(format!("{CONTROL}/hot_remove")), self.number.to_string());
        match removed {
            // It went meanwhile.
            Err(error) if error.raw_os_error() == Some(Errno::NODEV.raw_os_error()) => Ok(()),
            removed => removed,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::Fixture;

    fn machine() -> Fixture {
        let fixture = Fixture::empty();
        for (name, disk, state) in [("vda", 3, "0"), ("zram0", 9, "1"), ("zram1", 12, "0")] {
            fixture.write(&format!("/sys/block/{name}/diskseq"), &format!("{disk}\n"));
            fixture.write(&format!("/sys/block/{name}/initstate"), state);
        }
        fixture.write("/sys/class/zram-control/hot_add", "1\n");
        fixture.write("/sys/class/zram-control/hot_remove", "");
        fixture
    }

    #[test]
    fn a_device_is_known_by_its_disks_number() {
        let fixture = machine();
        let root = fixture.root();
        assert!(is_there(&root));
        assert_eq!(latest_disk(&root), Some(12));
        assert_eq!(add(&root).unwrap(), Zram { number: 1, disk: 12 });
        assert_eq!(unused_after(&root, 9), [Zram { number: 1, disk: 12 }]);
        assert_eq!(unused_after(&root, 12), []);
    }

    #[test]
    fn one_of_the_same_name_that_was_added_later_is_left_alone() {
        let fixture = machine();
        let root = fixture.root();
        let control = || root.text("/sys/class/zram-control/hot_remove").unwrap();
        Zram { number: 0, disk: 8 }.remove(&root).unwrap();
        assert_eq!(control(), "");
        Zram { number: 0, disk: 9 }.remove(&root).unwrap();
        assert_eq!(control(), "0");
    }
}
