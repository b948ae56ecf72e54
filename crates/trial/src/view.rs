//! A private view of the files: a mount namespace, held by a process of ours.
//!
//! The process enters the namespace, arranges its mounts, and waits until its parent closes the
//! socket between them, or dies. Commands enter the namespace before they become their program, so
//! that arranging and taking down the mounts is no part of their time. Everything that was mounted
//! is gone with the last of them, however they end.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::mounts::{Mount, Mounts};
use host::root::Root;
use process::worker::Program;
use process::{OwnProcess, StopFlag, parents_channel};
use serde::{Deserialize, Serialize};
use sys::mount_namespace::{Rights, enter};
use sys::mount_tree::{copy_of, make_read_only, put, set_read_only};

use crate::any_path;
use crate::error::{At as _, Error};
use crate::inhabitants::Inhabitants;
use crate::overlays::Overlay;

/// File systems by which the kernel answers, and that programs have to write to: nothing that they
/// write there stays. Whatever else is mounted becomes read-only.
const WRITABLE: [&str; 4] = ["proc", "devtmpfs", "devpts", "mqueue"];
/// Settings of the kernel, which would stay.
const SETTINGS: &str = "/proc/sys";

/// What is arranged in a view, in this order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arrangement {
    /// Folders whose changes go elsewhere.
    pub(crate) overlays: Vec<Overlay>,
    /// What stands in for something else.
    pub(crate) stand_ins: Vec<StandIn>,
}

/// A file or a folder that is seen in place of another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StandIn {
    /// What is seen.
    #[serde(with = "any_path")]
    pub(crate) from: PathBuf,
    /// Where.
    #[serde(with = "any_path")]
    pub(crate) at: PathBuf,
    pub(crate) read_only: bool,
}

/// The answer of the process.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    /// It is there, as this process.
    Ready { process: u32, own_users: bool },
    /// It cannot be had, and why.
    Refused(String),
}

/// A private view of the files. It is gone when this is dropped and what runs in it has ended.
pub struct View {
    _process: OwnProcess,
    namespaces: Vec<OwnedFd>,
    folder: CString,
    own_users: bool,
    inhabitants: Inhabitants,
}

impl View {
    /// One that is arranged like this, in which commands start in a folder.
    pub(crate) fn open(
        arrangement: &Arrangement,
        folder: &Path,
        stop: &StopFlag,
    ) -> Result<Self, Error> {
        let mut process = OwnProcess::start(Program::VIEW)?;
        process.send(arrangement, &[])?;
        let (number, own_users) = match process.receive(stop)? {
            Answer::Ready { process, own_users } => (process, own_users),
            Answer::Refused(why) => return Err(Error::View(why)),
        };
        let kinds = if own_users { &["user", "mnt"][..] } else { &["mnt"] };
        let open = |kind: &&str| {
            let path = PathBuf::from(format!("/proc/{number}/ns/{kind}"));
            File::open(&path).map(OwnedFd::from).at("opening", &path)
        };
        let namespaces = kinds.iter().map(open).collect::<Result<_, _>>()?;
        let named = CString::new(folder.as_os_str().as_bytes());
        let folder = named.map_err(io::Error::from).at("entering", folder)?;
        let inhabitants = Inhabitants::of(number)?;
        Ok(Self { _process: process, namespaces, folder, own_users, inhabitants })
    }

    /// Whether commands there are of a user namespace, in which setuid programs gain no rights.
    pub fn takes_rights(&self) -> bool {
        self.own_users
    }

    /// Who is there.
    pub fn inhabitants(&self) -> Inhabitants {
        self.inhabitants
    }

    /// Has a command run in the view.
    ///
    /// # Errors
    /// Where this process can open no more files.
    pub fn enter(&self, command: &mut Command) -> io::Result<()> {
        let namespaces = self.namespaces.iter().map(|fd| fd.as_fd().try_clone_to_owned());
        let namespaces = namespaces.collect::<io::Result<_>>()?;
        sys::start::start_within(command, namespaces, self.folder.clone());
        Ok(())
    }
}

/// Nobody but a trial starts the process that holds a view.
#[derive(Debug)]
pub struct NotStartedByATrial;

/// Holds a view for the parent of this process, until that closes the socket.
///
/// # Errors
/// Where anyone else started it; within, where the parent cannot be answered.
pub fn serve() -> Result<io::Result<()>, NotStartedByATrial> {
    let mut channel = parents_channel().ok_or(NotStartedByATrial)?;
    let mut hold = || {
        let Some((arrangement, _)) = channel.receive::<Arrangement>()? else { return Ok(()) };
        let answer = match arranged(&arrangement) {
            Ok(rights) => Answer::Ready {
                process: std::process::id(),
                own_users: rights == Rights::OwnNamespace,
            },
            Err(why) => Answer::Refused(why),
        };
        channel.send(&answer, &[])?;
        // Nothing more is ever sent.
        channel.receive::<Arrangement>().map(drop)
    };
    Ok(hold())
}

fn arranged(arrangement: &Arrangement) -> Result<Rights, String> {
    let rights = enter().map_err(|error| {
        format!(
            "a mount namespace is refused ({error}); run as root, or let users have user namespaces \
             (user.max_user_namespaces, kernel.unprivileged_userns_clone and \
             kernel.apparmor_restrict_unprivileged_userns, and what a container is started with)"
        )
    })?;
    let named = |doing: &'static str, path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| format!("{doing} {path}: {error}")
    };
    // Before anything is covered or read-only.
    let mut trees = Vec::new();
    for stand_in in &arrangement.stand_ins {
        let tree = match copy_of(&stand_in.from) {
            // Somebody removed what was not copied.
            Err(error) if stand_in.read_only && error.kind() == io::ErrorKind::NotFound => continue,
            tree => tree.map_err(named("copying the mount of", &stand_in.from))?,
        };
        if stand_in.read_only {
            make_read_only(tree.as_fd()).map_err(named("protecting", &stand_in.from))?;
        }
        trees.push((tree, &stand_in.at));
    }
    let mounts = Mounts::read(&Root::real()).map_err(|error| format!("reading mounts: {error}"))?;
    // What an overlay keeps is on one of the mounts that become read-only.
    // What cannot be overlaid stays read-only.
    let mut overlaid: Vec<&Path> = Vec::new();
    for overlay in &arrangement.overlays {
        if overlay.mount().is_ok() {
            overlaid.push(&overlay.lower);
        }
    }
    protect(&mounts, &overlaid)?;
    for (tree, at) in trees {
        put(&tree, at).map_err(named("putting a copy at", at))?;
    }
    Ok(rights)
}

/// Has nothing be written that stays, by way of any of these mounts.
fn protect(mounts: &Mounts, overlaid: &[&Path]) -> Result<(), String> {
    let stays = |mount: &&Mount| {
        let is_covered = overlaid.contains(&&*mount.point);
        !WRITABLE.contains(&&*mount.filesystem) && !is_covered
    };
    for mount in mounts.iter().filter(stays) {
        match set_read_only(&mount.point) {
            // What this user cannot reach, a command cannot either; another mount may cover it.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::EACCES | libc::ENOENT | libc::ENOTCONN)
                ) => {}
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                return Err("it takes Linux 5.12 or later".to_owned());
            }
            Err(error) => {
                return Err(format!("making {} read-only: {error}", mount.point.display()));
            }
            Ok(()) => {}
        }
    }
    let settings = Path::new(SETTINGS);
    if let Ok(tree) = copy_of(settings)
        && make_read_only(tree.as_fd()).is_ok()
    {
        let _ = put(&tree, settings);
    }
    Ok(())
}
