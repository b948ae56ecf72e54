//! A file system in a file without a name, through a loop device.

use std::os::fd::AsFd as _;
use std::path::Path;

use model::created::Image;
use model::place::{DeviceLayer, PlaceFacts};
use rustix::fs::{Mode, OFlags, ftruncate, openat};
use sys::loop_device::LoopDevice;

use super::error::CreateError;
use super::kind::{Creation, Kind, below, device, or_here, sized};
use super::mkfs;
use super::standing::Undo;
use crate::error::PlaceName;
use crate::open::OpenPlace;

impl Kind for Image {
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
            ..sized(label, self.size_bytes)
        })
    }

    fn create(&self, creation: Creation<'_>) -> Result<(), CreateError> {
        let Creation { standing, stop, .. } = creation;
        let device = attach(or_here(self.directory.as_deref()), self.size_bytes)?;
        let path = device.path().to_owned();
        standing.holds(device);
        mkfs::make(self.filesystem, &path, stop)?;
        standing.mount(self.filesystem.name(), path.as_os_str(), &self.options)
    }
}

/// A file of that size without a name, as a block device.
fn attach(directory: &Path, size_bytes: u64) -> Result<LoopDevice, CreateError> {
    let place = OpenPlace::open(&PlaceName::bare(directory))?;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(&place.fd, c".", flags, Mode::RUSR | Mode::WUSR);
    let file = file.map_err(|error| CreateError::no_image(&place.path, error))?;
    ftruncate(&file, size_bytes).map_err(|error| CreateError::no_image(&place.path, error))?;
    LoopDevice::attach(file.as_fd()).map_err(CreateError::NoLoop)
}

impl Undo for LoopDevice {}
