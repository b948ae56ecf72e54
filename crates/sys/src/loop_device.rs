//! Loop devices: a file as a block device (`loop(4)`).

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// `LOOP_CTL_GET_FREE` and `LOOP_CONFIGURE` of `linux/loop.h`, which libc lacks.
const GET_FREE: libc::c_ulong = 0x4C82;
const CONFIGURE: libc::c_ulong = 0x4C0A;
/// The device is taken down when nobody has it open or mounted any more.
const AUTOCLEAR: u32 = 4;
/// Its I/O passes by the page cache of the file system that holds the file.
const DIRECT_IO: u32 = 16;
/// How often another process takes the device that was free.
const ATTEMPTS_MAX: usize = 32;

/// `struct loop_info64`.
#[repr(C)]
struct Info {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct Config {
    fd: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

/// A loop device. It is gone as soon as this is dropped and nothing mounts it: also when
/// the process is killed, for then the kernel closes it.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    _open: OwnedFd,
}

impl LoopDevice {
    /// One that shows a file, read and written past the page cache below where that can be.
    pub fn attach(file: BorrowedFd<'_>) -> io::Result<Self> {
        let control = File::options().read(true).write(true).open("/dev/loop-control")?;
        for _ in 0..ATTEMPTS_MAX {
            // SAFETY: this request takes no argument.
            let number = unsafe { libc::ioctl(control.as_raw_fd(), GET_FREE as _) };
            if number < 0 {
                return Err(io::Error::last_os_error());
            }
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let device = File::options().read(true).write(true).open(&path)?;
            match configure(&device, file) {
                Ok(()) => return Ok(Self { path, _open: device.into() }),
                Err(error) if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Errno::BUSY.into())
    }

    /// Its node.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn configure(device: &File, file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: all fields are numbers, for which zeros are valid.
    let mut config: Config = unsafe { std::mem::zeroed() };
    config.fd = file.as_raw_fd().cast_unsigned();
    config.info.flags = AUTOCLEAR | DIRECT_IO;
    // SAFETY: the structure is laid out as the kernel's, which only reads it.
    crate::done(unsafe { libc::ioctl(device.as_raw_fd(), CONFIGURE as _, &raw const config) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_are_as_large_as_the_kernels() {
        assert_eq!((size_of::<Info>(), size_of::<Config>()), (232, 304));
    }
}
