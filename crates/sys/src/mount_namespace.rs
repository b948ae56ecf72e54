//! A mount namespace of this process's own (`mount_namespaces(7)`): what is mounted in it
//! is seen by it and by what it starts, and is unmounted by the kernel when the last of
//! them has ended, however they end.

use std::fs;
use std::io;

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Who this process is in its own namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// The administrator that it was before: it may mount all that the kernel has.
    Administrator,
    /// The administrator of a user namespace, in which the kernel lets nobody mount devices.
    OwnNamespace,
}

/// Enters one, so that nothing mounted from now on is seen outside. What is unmounted
/// outside is unmounted here, too. Without rights of its own the process also enters a
/// user namespace, in which it stays the user that it is.
///
/// To be called while the process has one thread: others would stay outside.
pub fn enter() -> io::Result<Rights> {
    let rights = match unshare(UnshareFlags::NEWNS) {
        Ok(()) => Rights::Administrator,
        Err(rustix::io::Errno::PERM) => {
            enter_user_namespace()?;
            Rights::OwnNamespace
        }
        Err(error) => return Err(error.into()),
    };
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM)?;
    Ok(rights)
}

fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    // Without this the kernel lets nobody map groups (`user_namespaces(7)`).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))
}

/// Gives the calling thread namespaces that it shares with no other but those that it starts.
pub fn unshare(namespaces: UnshareFlags) -> Result<(), rustix::io::Errno> {
    // SAFETY: descriptors stay shared, which is all that could go wrong.
    unsafe { unshare_unsafe(namespaces.difference(UnshareFlags::FILES)) }
}
