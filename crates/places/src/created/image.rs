//! A file system in a file without a name, through a loop device.

use std::os::fd::AsFd as _;
use std::path::Path;

use model::created::Image;
use model::place::{Detail, DeviceLayer, PlaceFacts};
use rustix::fs::{Mode, OFlags, ftruncate, openat};
use rustix::io::Errno;
use sys::loop_device::LoopDevice;

use super::ageing::{LEFT_IN_USE, age};
use super::error::CreateError;
use super::kind::{Creation, FRESH, Kind, below, device, or_here, sized};
use super::mkfs;
use super::standing::Undo;
use crate::error::PlaceName;
use crate::open::OpenPlace;

impl Kind for Image {
    fn age(&self) -> Option<&'static str> {
        Some(if self.aged { "aged image" } else { FRESH })
    }

    fn foresee(&self, label: &str) -> Result<PlaceFacts, CreateError> {
        mkfs::check(self.filesystem)?;
        let below = below(label, self.directory.as_deref())?;
        let options = self.options.split(',').filter(|option| !option.is_empty());
        let first = below.devices.first().map(|device| device.name.clone());
        let device = DeviceLayer { below: first.into_iter().collect(), ..device("loop") };
        Ok(PlaceFacts {
            filesystem: self.filesystem.name().to_owned(),
            mount_options: options.map(str::to_owned).collect(),
            devices: [vec![device], below.devices].concat(),
            kind: below.kind,
            unread: below.unread,
            details: self.aged.then(aged).into_iter().collect(),
            free_bytes: self.size_bytes - if self.aged { in_use(self.size_bytes) } else { 0 },
            ..sized(label, self.size_bytes)
        })
    }

    fn create(&self, creation: Creation<'_>) -> Result<(), CreateError> {
        let Creation { standing, stop, .. } = creation;
        let device = attach(or_here(self.directory.as_deref()), self.size_bytes)?;
        let path = device.path().to_owned();
        standing.holds(device);
        mkfs::make(self.filesystem, &path, stop)?;
        standing.mount(self.filesystem.name(), path.as_os_str(), &self.options)?;
        if self.aged { age(&standing.point, stop) } else { Ok(()) }
    }
}

/// What files take of an aged image.
fn in_use(size_bytes: u64) -> u64 {
    (size_bytes as f64 * LEFT_IN_USE) as u64
}

/// How it is aged, for a dry run.
fn aged() -> Detail {
    let value = "files are created and removed until half of it is free, in many pieces";
    Detail::new("ageing", value, "as it is asked for")
}

/// A file of that size without a name, as a block device.
fn attach(directory: &Path, size_bytes: u64) -> Result<LoopDevice, CreateError> {
    let place = OpenPlace::open(&PlaceName::bare(directory))?;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(&place.fd, c".", flags, Mode::RUSR | Mode::WUSR);
    let file = file.map_err(|error| no_image(&place.path, error))?;
    ftruncate(&file, size_bytes).map_err(|error| no_image(&place.path, error))?;
    LoopDevice::attach(file.as_fd()).map_err(|error| {
        CreateError(format!(
            "no loop device is available ({error}); load the module (`modprobe loop`), give the \
             container access to /dev/loop*, or use tmpfs:SIZE"
        ))
    })
}

/// Why a directory has no room for an image.
fn no_image(directory: &Path, error: Errno) -> CreateError {
    match error {
        Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT => CreateError(format!(
            "{}: its file system does not support unnamed files (O_TMPFILE); name a directory on \
             another, as in image:xfs:1G@/var/tmp",
            directory.display()
        )),
        _ => CreateError::failed("creating the image file", error),
    }
}

impl Undo for LoopDevice {}
