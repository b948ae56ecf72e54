//! Machines made of plain files: what `/proc`, `/sys` and `/dev` would hold on them.
//!
//! One for the tests of every crate that asks the kernel anything.

#![allow(clippy::unwrap_used, clippy::must_use_candidate)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use crate::root::Root;

/// A machine in a temporary folder.
pub struct Fixture {
    folder: TempDir,
}

/// A quiet machine of four processors and one disk, up for 1,000 seconds, on which this
/// process is number 77. `/proc` counts in ticks of 10 ms.
const QUIET: &[(&str, &str)] = &[
    ("/proc/uptime", "1000.00 3000.00\n"),
    ("/proc/stat", "cpu  10000 0 2000 388000 100 0 10 0 0 0\ncpu0 1 2\nintr 7\n"),
    ("/proc/vmstat", "nr_dirty 100\nnr_writeback 0\npswpin 5\npswpout 5\n"),
    ("/proc/meminfo", "MemTotal:       16384000 kB\n"),
    (
        "/proc/diskstats",
        " 254 0 vda 1 0 8 1 10 0 2000 1 0 1 1\n 254 1 vda1 1 0 8 1 10 0 2000 1 0 1 1\n",
    ),
    ("/proc/self/cgroup", "0::/app/web\n"),
    ("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
    ("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Made 1\nflags\t\t: fpu vme\n\n"),
    ("/sys/block/vda/device/vendor", "0x1af4\n"),
    ("/sys/fs/cgroup/app/web/cpu.max", "max 100000\n"),
    ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000\n"),
];

/// One process, with its figures in ticks of 10 ms.
#[derive(Clone, Copy, Debug)]
pub struct MadeProcess<'a> {
    /// Its number.
    pub pid: u32,
    /// Its name, which may hold blanks and brackets.
    pub name: &'a str,
    /// Its parent.
    pub parent: u32,
    /// `R`, `S`, `Z`, …
    pub state: char,
    /// `PF_KTHREAD` and the like.
    pub flags: u32,
    /// Faults without and with storage.
    pub faults: [u64; 2],
    /// In its own code and in the kernel.
    pub ticks: [u64; 2],
    /// Those of its children that have been waited for.
    pub child_ticks: [u64; 2],
    /// When it began.
    pub started_ticks: u64,
}

impl MadeProcess<'_> {
    /// A program that sleeps.
    pub const PROGRAM: Self = MadeProcess {
        pid: 42,
        name: "program",
        parent: 1,
        state: 'S',
        flags: 0x0040_0000,
        faults: [0, 0],
        ticks: [0, 0],
        child_ticks: [0, 0],
        started_ticks: 300,
    };

    /// Its line in `/proc/PID/stat` (`proc_pid_stat(5)`).
    pub fn stat(&self) -> String {
        let Self { pid, name, parent, state, flags, faults, ticks, child_ticks, .. } = self;
        let ([minor, major], [user, system]) = (faults, ticks);
        let ([child_user, child_system], started) = (child_ticks, self.started_ticks);
        format!(
            "{pid} ({name}) {state} {parent} 1 1 0 -1 {flags} {minor} 0 {major} 0 {user} {system} \
             {child_user} {child_system} 20 0 1 0 {started} 0 0 18446744073709551615 \
             0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        )
    }
}

impl Fixture {
    /// A machine with this mount table and nothing else.
    pub fn with_mounts(mountinfo: &str) -> Self {
        let fixture = Self::empty();
        fixture.write("/proc/self/mountinfo", mountinfo);
        fixture
    }

    /// A machine with nothing at all.
    pub fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A quiet machine of four processors and one disk, with this process, a program
    /// and a kernel thread.
    pub fn quiet() -> Self {
        let fixture = Self::empty();
        for (file, text) in QUIET {
            fixture.write(file, text);
        }
        fixture.wrote(0);
        fixture.process(&MadeProcess { ticks: [50, 5], ..Self::THIS });
        fixture.write("/proc/self/stat", &MadeProcess { ticks: [50, 5], ..Self::THIS }.stat());
        fixture.process(&MadeProcess { ticks: [400, 100], ..Self::OTHER });
        fixture.process(&MadeProcess { ticks: [0, 90], ..Self::KERNEL });
        fixture
    }

    /// This process on the quiet machine.
    pub const THIS: MadeProcess<'static> =
        MadeProcess { pid: 77, name: "iotoll", started_ticks: 99_000, ..MadeProcess::PROGRAM };
    /// Another program there.
    pub const OTHER: MadeProcess<'static> = MadeProcess { name: "a b) c", ..MadeProcess::PROGRAM };
    /// A kernel thread there.
    pub const KERNEL: MadeProcess<'static> = MadeProcess {
        pid: 8,
        name: "kworker/0:1",
        parent: 2,
        state: 'I',
        flags: 69_238_880,
        started_ticks: 5,
        ..MadeProcess::PROGRAM
    };

    /// Where its files are.
    pub fn root(&self) -> Root {
        Root::made(self.folder.path())
    }

    /// A process as it is now.
    pub fn process(&self, process: &MadeProcess<'_>) {
        self.write(&format!("/proc/{}/stat", process.pid), &process.stat());
    }

    /// This process has given storage so much to write.
    pub fn wrote(&self, bytes: u64) {
        let text = format!(
            "rchar: 1\nwchar: 0\nsyscr: 1\nsyscw: 0\nread_bytes: 0\nwrite_bytes: {bytes}\n\
             cancelled_write_bytes: 0\n"
        );
        self.write("/proc/self/io", &text);
    }

    /// Removes a file or folder.
    pub fn remove(&self, path: &str) {
        let path = self.root().locate(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    /// Writes a file, and the folders that it is in.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().locate(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A block device in `/sys`, laid out as the kernel does it: its directory among the
    /// devices, and links to it by number and by name. `within` is its bus, or its disk.
    pub fn device(&self, number: &str, within: &str, name: &str) -> &Self {
        self.write(&format!("/sys/devices/{within}/{name}/dev"), &format!("{number}\n"));
        self.link("/sys/dev/block", number, &format!("{within}/{name}"));
        self.link("/sys/class/block", name, &format!("{within}/{name}"));
        self
    }

    /// An attribute of a device.
    pub fn set(&self, name: &str, attribute: &str, text: &str) -> &Self {
        self.write(&format!("/sys/class/block/{name}/{attribute}"), &format!("{text}\n"));
        self
    }

    /// Makes a device stand on another.
    pub fn slave(&self, name: &str, slave: &str) -> &Self {
        let target = fs::canonicalize(self.root().locate(format!("/sys/class/block/{slave}")));
        self.link_to(&format!("/sys/class/block/{name}/slaves/{slave}"), target.unwrap());
        self
    }

    /// A symbolic link to what is said, which need not be there.
    pub fn link_to(&self, path: &str, target: impl AsRef<Path>) {
        let link = self.root().locate(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target.as_ref(), link).unwrap();
    }

    fn link(&self, dir: &str, name: &str, device: &str) {
        let target = self.root().locate(format!("/sys/devices/{device}"));
        self.link_to(&format!("{dir}/{name}"), target);
    }
}
