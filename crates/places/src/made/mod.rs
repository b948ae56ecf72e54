//! Places that are made for a run and are gone after it.
//!
//! What is made here is made so that the kernel takes it away when the run's last process
//! has ended, however that came about:
//!
//! - mounts are in a mount namespace of the run's own, which its workers and servers
//!   inherit: a tmpfs, and every other mount, goes with the last of them;
//! - the file of an image never has a name (`O_TMPFILE`), and its loop device is one that
//!   takes itself down: both go with the mount.
//!
//! What the kernel does not take away is a zram device, the layers of an overlay, and the
//! folder with the mount points. That folder is a working folder as every place has one,
//! with its lock, and in it is a record of the rest (`../record.rs`), written before each
//! step. Whoever finds the folder without its owner undoes what the record says: the next
//! run, or `iotoll clean`.

mod error;
mod foreseen;
mod mkfs;

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use host::root::Root;
use host::zram::{self, Zram};
use model::made::{ImageFs, MadePlace};
use model::place::PlaceFacts;
use rustix::fs::{Mode, OFlags, ftruncate, openat};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use sys::loop_device::LoopDevice;
use sys::mount_namespace::{self, Rights};

pub use self::error::MadeError;
pub use self::foreseen::foreseen;
use crate::error::PlaceName;
use crate::home::made_home;
use crate::inspect::{AFTER_REBOOT, inspect};
use crate::open::OpenPlace;
use crate::record::{Record, ZramLock, while_busy};
use crate::workdir::WorkDir;

/// Where an image or the upper layer of an overlay is that names no directory.
const HERE: &str = ".";
/// The places that were made for a run. Dropping it unmakes them.
#[derive(Debug)]
pub struct MadePlaces {
    work: WorkDir,
    record: Record,
    rights: Rights,
    standing: Vec<Standing>,
}

/// One of them.
#[derive(Debug)]
struct Standing {
    point: PathBuf,
    is_mounted: bool,
    device: Device,
    /// The layers of an overlay.
    layers: Option<WorkDir>,
}

#[derive(Debug)]
enum Device {
    None,
    /// Taken down when it is dropped.
    Loop {
        _device: LoopDevice,
    },
    Zram(Zram),
}

impl MadePlaces {
    /// None yet. From here on this process has a mount namespace of its own, so it must
    /// not have started a thread.
    pub fn begin() -> Result<Self, MadeError> {
        let rights = mount_namespace::enter().map_err(MadeError::NoNamespace)?;
        let work = WorkDir::create_in(PlaceName::bare(&made_home()))?;
        let record = Record::begin(work.fd()).map_err(recording)?;
        Ok(Self { work, record, rights, standing: Vec::new() })
    }

    /// Makes one and says what it is. `stop` ends it early.
    pub fn make(
        &mut self,
        label: &str,
        made: &MadePlace,
        stop: &AtomicBool,
    ) -> Result<PlaceFacts, MadeError> {
        if self.rights == Rights::OwnNamespace && !matches!(made, MadePlace::Tmpfs { .. }) {
            return Err(MadeError::NeedsRoot);
        }
        let folder = self.work.subdir(&format!("place-{label}"))?;
        let mut standing = Standing {
            point: folder.path().to_owned(),
            is_mounted: false,
            device: Device::None,
            layers: None,
        };
        match self.set_up(&mut standing, made, stop) {
            Ok(()) => {
                let facts = facts(label, &standing.point, made);
                self.standing.push(standing);
                facts
            }
            Err(error) => {
                if standing.unmake().is_err() {
                    self.work.leave();
                }
                Err(error)
            }
        }
    }

    fn set_up(
        &mut self,
        standing: &mut Standing,
        made: &MadePlace,
        stop: &AtomicBool,
    ) -> Result<(), MadeError> {
        match made {
            MadePlace::Tmpfs { size_bytes, huge } => {
                let huge = huge.map(|huge| format!(",huge={}", huge.name()));
                let data = format!("size={size_bytes},mode=0700{}", huge.unwrap_or_default());
                standing.mount("tmpfs", OsStr::new("tmpfs"), &data)
            }
            MadePlace::Image { filesystem, size_bytes, options, directory } => {
                let directory = directory.as_deref().unwrap_or(Path::new(HERE));
                let device = image(directory, *size_bytes)?;
                let path = device.path().to_owned();
                standing.device = Device::Loop { _device: device };
                mkfs::make(*filesystem, &path, stop)?;
                standing.mount(filesystem.name(), path.as_os_str(), options)
            }
            MadePlace::Zram { size_bytes, filesystem } => {
                self.zram(standing, *size_bytes, *filesystem, stop)
            }
            MadePlace::Overlay { over } => self.overlay(standing, over),
        }
    }

    fn zram(
        &mut self,
        standing: &mut Standing,
        size_bytes: u64,
        filesystem: ImageFs,
        stop: &AtomicBool,
    ) -> Result<(), MadeError> {
        let root = Root::real();
        if !zram::is_there(&root) {
            return Err(MadeError::NoZram);
        }
        let lock = ZramLock::take().map_err(MadeError::io("locking zram-control"))?;
        let latest = zram::latest_disk(&root).ok_or(MadeError::NoDiskNumbers)?;
        let added = self.record.add_zram(latest);
        let added = added.map_err(MadeError::io("adding a zram device"))?;
        standing.device = Device::Zram(added);
        let sized = added.set_size(&root, size_bytes);
        sized.map_err(MadeError::io("setting the size of a zram device"))?;
        drop(lock);
        mkfs::make(filesystem, &added.path(), stop)?;
        standing.mount(filesystem.name(), added.path().as_os_str(), "")
    }

    fn overlay(&mut self, standing: &mut Standing, over: &Path) -> Result<(), MadeError> {
        let name = PlaceName::bare(over);
        let path = OpenPlace::open(&name).map_err(MadeError::from)?.path;
        // The kernel reads these within options (`overlayfs.rst`).
        if path.as_os_str().as_bytes().iter().any(|byte| b",:\\\"".contains(byte)) {
            return Err(MadeError::LayerPath(path));
        }
        self.record.working_in(&path).map_err(recording)?;
        let layers = standing.layers.insert(WorkDir::create_in(name)?);
        let mut data = Vec::new();
        for (option, layer) in
            [("lowerdir=", "lower"), (",upperdir=", "upper"), (",workdir=", "work")]
        {
            data.extend_from_slice(option.as_bytes());
            data.extend_from_slice(layers.subdir(layer)?.path().as_os_str().as_bytes());
        }
        let data = OsStr::from_bytes(&data).to_owned();
        standing.mount("overlay", OsStr::new("overlay"), data)
    }

    /// Unmakes all of them. Where something cannot be let go of, the rest is unmade all the
    /// same, and the folder stays for the next run to try again.
    pub fn unmake(mut self) -> Result<(), MadeError> {
        self.unmake_standing()?;
        self.work.remove_once().map_err(|failure| MadeError::Folder(failure.into()))
    }

    fn unmake_standing(&mut self) -> Result<(), MadeError> {
        let unmade = self.standing.drain(..).rev().map(Standing::unmake);
        // All of them, whatever the first one comes to.
        let results: Vec<Result<(), MadeError>> = unmade.collect();
        let result: Result<(), MadeError> = results.into_iter().collect();
        if result.is_err() {
            self.work.leave();
        }
        result
    }
}

impl Drop for MadePlaces {
    /// Silently: what is left is found by its record, and undone by the next run.
    fn drop(&mut self) {
        let _ = self.unmake_standing();
    }
}

/// The facts of one that stands.
fn facts(label: &str, point: &Path, made: &MadePlace) -> Result<PlaceFacts, MadeError> {
    let mut facts = inspect(label, point)?;
    facts.made = Some(made.to_string());
    facts.details.retain(|detail| detail.name != AFTER_REBOOT);
    Ok(facts)
}

fn recording(source: io::Error) -> MadeError {
    MadeError::Io { action: "recording what is created", source }
}

/// A file of that size without a name, as a block device.
fn image(directory: &Path, size_bytes: u64) -> Result<LoopDevice, MadeError> {
    let place = OpenPlace::open(&PlaceName::bare(directory))?;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(&place.fd, c".", flags, Mode::RUSR | Mode::WUSR);
    let file = file.map_err(|error| MadeError::no_image(&place.path, error))?;
    ftruncate(&file, size_bytes).map_err(|error| MadeError::no_image(&place.path, error))?;
    LoopDevice::attach(file.as_fd()).map_err(MadeError::NoLoop)
}

impl Standing {
    fn mount(
        &mut self,
        filesystem: &'static str,
        source: &OsStr,
        options: impl AsRef<OsStr>,
    ) -> Result<(), MadeError> {
        let (flags, data) = flags_and_data(options.as_ref());
        let flags = flags | MountFlags::NOSUID | MountFlags::NODEV;
        let shown = data.to_string_lossy().into_owned();
        mount(source, &self.point, filesystem, flags, data.as_c_str())
            .map_err(|error| MadeError::mount(filesystem, &shown, error))?;
        self.is_mounted = true;
        Ok(())
    }

    /// Undoes what was done, the last step first.
    fn unmake(self) -> Result<(), MadeError> {
        if self.is_mounted {
            let point = self.point.as_path();
            let unmounted = while_busy(|| Ok(unmount(point, UnmountFlags::NOFOLLOW)?));
            if unmounted.is_err() {
                // It goes with the last process that has something open there.
                let detached = unmount(point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
                detached.map_err(|error| MadeError::io("unmounting")(error.into()))?;
            }
        }
        if let Device::Zram(zram) = self.device {
            let removed = while_busy(|| zram.remove(&Root::real()));
            removed.map_err(|source| MadeError::Held { device: zram.path(), source })?;
        }
        self.layers.map_or(Ok(()), |layers| layers.remove().map_err(MadeError::Folder))
    }
}

/// What `mount(2)` is told by flags, and the rest, which the file system reads.
fn flags_and_data(options: &OsStr) -> (MountFlags, CString) {
    let mut flags = MountFlags::empty();
    let mut data: Vec<&[u8]> = Vec::new();
    for option in options.as_bytes().split(|&byte| byte == b',').filter(|o| !o.is_empty()) {
        match option {
            b"noatime" => flags |= MountFlags::NOATIME,
            b"nodiratime" => flags |= MountFlags::NODIRATIME,
            b"relatime" => flags |= MountFlags::RELATIME,
            b"strictatime" => flags |= MountFlags::STRICTATIME,
            b"lazytime" => flags |= MountFlags::LAZYTIME,
            b"sync" => flags |= MountFlags::SYNCHRONOUS,
            b"dirsync" => flags |= MountFlags::DIRSYNC,
            b"noexec" => flags |= MountFlags::NOEXEC,
            b"nosuid" | b"nodev" | b"rw" | b"defaults" => {}
            other => data.push(other),
        }
    }
    // No option has an end within: they come from arguments, which have none.
    (flags, CString::new(data.join(&b','.to_owned())).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn options_that_mount_takes_as_flags_are_told_from_the_file_systems_own() {
        let (flags, data) = flags_and_data(OsStr::new("noatime,compress=zstd:3,,sync,discard"));
        assert_eq!(flags, MountFlags::NOATIME | MountFlags::SYNCHRONOUS);
        assert_eq!(data.to_str().unwrap(), "compress=zstd:3,discard");
        assert_eq!(flags_and_data(OsStr::new("")), (MountFlags::empty(), CString::default()));
    }
}
