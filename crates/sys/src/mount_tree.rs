//! Mounts of a private namespace as trees: a copy of one is taken, and put somewhere else.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::CWD;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};

/// The same number on every architecture.
const SYS_MOUNT_SETATTR: libc::c_long = 442;
/// `MOUNT_ATTR_RDONLY` of `linux/mount.h`.
const READ_ONLY: u64 = 1;

/// What changes about mounts; laid out as the kernel has it.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Takes a copy of what is at a path, with all that is mounted below. It is nowhere until it is put
/// somewhere, and goes with the descriptor.
///
/// # Errors
/// Where the path is not there, or the kernel is older than 5.2.
pub fn copy_of(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

/// Puts a copy at a path, and hides what is there.
///
/// # Errors
/// Where the path is not there, or one of the two is a directory and the other none.
pub fn put(tree: impl AsFd, at: &Path) -> io::Result<()> {
    Ok(move_mount(tree, c"", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Has nothing be written by way of the mount at a path.
///
/// # Errors
/// Where the kernel is older than 5.12, or refuses it.
pub fn set_read_only(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    set(CWD.as_fd(), &path, libc::AT_SYMLINK_NOFOLLOW)
}

/// Has nothing be written by way of a copy, also of what is mounted in it.
///
/// # Errors
/// As of [`set_read_only`].
pub fn make_read_only(tree: BorrowedFd<'_>) -> io::Result<()> {
    set(tree, c"", libc::AT_EMPTY_PATH | libc::AT_RECURSIVE)
}

fn set(at: BorrowedFd<'_>, path: &CStr, flags: libc::c_int) -> io::Result<()> {
    let attributes = Attributes { set: READ_ONLY, ..Attributes::default() };
    // SAFETY: the path ends with a zero, the struct is laid out as the kernel's, and both live during
    // the call, which writes to neither.
    crate::done(unsafe {
        libc::syscall(
            SYS_MOUNT_SETATTR,
            at.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    })
}
