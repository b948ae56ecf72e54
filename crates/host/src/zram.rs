//! Compressed block devices in memory (`Documentation/admin-guide/blockdev/zram.rst`).
//!
//! They stay when the process that added them ends. The kernel numbers every disk that it
//! ever makes (`diskseq`, since Linux 5.15), which tells one from another that later has
//! the same name.
//!
//! The kernel chooses a device's number, and nothing about the device says who added it. So a
//! process that is killed before it could write the number down would leave one that cannot
//! be told from anybody else's. A child adds it and writes it down: it goes on when its parent
//! is killed.
#![expect(unsafe_code, reason = "only what the child does makes it safe to fork")]

use std::ffi::{CStr, CString};
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, WaitOptions, setsid, waitpid};
use sys::fork::in_child;

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

/// Adds a device, and writes its numbers to a file: `KEY NUMBER DISK` and the line's end. Both
/// are done by a child, also when this process is killed meanwhile. Locks that this process
/// has are the child's as well, until it has ended.
pub fn add(root: &Root, key: &str, record: BorrowedFd<'_>) -> io::Result<()> {
    let path = |path: &str| CString::new(root.locate(path).as_os_str().as_bytes());
    let adding = Adding {
        control: path(&format!("{CONTROL}/hot_add"))?,
        blocks: path("/sys/block")?,
        key,
        record,
    };
    // SAFETY: until it ends, the child makes system calls and works on its own stack. It takes
    // no lock of this process and allocates nothing, so it may have other threads.
    let child = unsafe {
        in_child(|| {
            // Signals to a terminal's processes are for the parent.
            let _ = setsid();
            adding.add().map_or_else(Errno::raw_os_error, |()| 0)
        })
    }?;
    match retry_on_intr(|| waitpid(Pid::from_raw(child.cast_signed()), WaitOptions::empty())) {
        // The record says what became of it.
        Err(_) | Ok(None) => Ok(()),
        Ok(Some((_, status))) => match status.exit_status() {
            Some(0) => Ok(()),
            Some(code) => Err(io::Error::from_raw_os_error(code)),
            None => Err(io::Error::other("the process that added it was killed")),
        },
    }
}

/// All that the child needs, ready before it is forked.
struct Adding<'a> {
    control: CString,
    blocks: CString,
    key: &'a str,
    record: BorrowedFd<'a>,
}

impl Adding<'_> {
    /// Allocates nothing.
    fn add(&self) -> Result<(), Errno> {
        let number = read_number(&self.control)?;
        let mut path = [0; 256];
        let blocks = self.blocks.to_str().map_err(|_| Errno::INVAL)?;
        write!(&mut path[..], "{blocks}/zram{number}/diskseq\0").map_err(|_| Errno::INVAL)?;
        let path = CStr::from_bytes_until_nul(&path).map_err(|_| Errno::INVAL)?;
        let disk = read_number(path)?;
        let mut line = [0; 128];
        let mut rest = &mut line[..];
        writeln!(rest, "{} {number} {disk}", self.key).map_err(|_| Errno::INVAL)?;
        let left = rest.len();
        let length = line.len() - left;
        let written = rustix::io::write(self.record, line.get(..length).ok_or(Errno::INVAL)?)?;
        if written == length { Ok(()) } else { Err(Errno::IO) }
    }
}

/// The number that is all of a file. Allocates nothing.
fn read_number(path: &CStr) -> Result<u64, Errno> {
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = [0; 32];
    let length = rustix::io::read(&file, &mut text)?;
    let text = text.get(..length).and_then(|text| str::from_utf8(text).ok());
    text.and_then(|text| text.trim().parse().ok()).ok_or(Errno::IO)
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

    use std::os::fd::AsFd as _;
    use std::process::{Command, Stdio};

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
        let record = tempfile::NamedTempFile::new().unwrap();
        add(&root, "zram", record.as_fd()).unwrap();
        assert_eq!(fs::read_to_string(record.path()).unwrap(), "zram 1 12\n");
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

    /// The variable that makes the test below a process that adds a device.
    const FOLDER: &str = "IOTOLL_TEST_ZRAM";

    #[test]
    fn a_device_is_written_down_though_its_run_is_killed_while_it_is_added() {
        if let Ok(folder) = std::env::var(FOLDER) {
            let root = Root::made(folder.as_ref());
            let record = fs::File::create(root.locate("/record")).unwrap();
            add(&root, "zram", record.as_fd()).unwrap();
            return;
        }
        let fixture = machine();
        let root = fixture.root();
        // The kernel takes its time.
        let control = root.locate("/sys/class/zram-control/hot_add");
        fs::remove_file(&control).unwrap();
        rustix::fs::mknodat(CWD, &control, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        let test =
            "zram::tests::a_device_is_written_down_though_its_run_is_killed_while_it_is_added";
        let mut run = Command::new(std::env::current_exe().unwrap());
        run.args(["--exact", test]).env(FOLDER, root.locate("/")).stdout(Stdio::null());
        let mut run = run.spawn().unwrap();
        // It is opened here once it is opened there.
        let mut kernel = fs::File::options().write(true).open(&control).unwrap();
        run.kill().unwrap();
        run.wait().unwrap();
        kernel.write_all(b"1\n").unwrap();
        drop(kernel);
        let record = root.locate("/record");
        while fs::read_to_string(&record).unwrap().is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(fs::read_to_string(&record).unwrap(), "zram 1 12\n");
    }
}
