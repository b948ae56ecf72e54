//! Overlays over the folders that a command may write to, so that a first run shows where it does.
//!
//! An overlay keeps changes in an upper folder of ours (`overlayfs.rst`). The kernel refuses one over a
//! folder in which something else is mounted, in a user namespace at least, so that such folders are
//! divided. An ordinary user gets overlays only where they may write: the upper folder belongs to the
//! user, and a folder of the system would look writable that is not.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use host::mounts::{Mount, Mounts};
use host::root::Root;
use places::WorkDir;
use rustix::fs::{Access, AtFlags, CWD, Timespec, Timestamps, access, utimensat};
use rustix::mount::{MountFlags, mount};
use serde::{Deserialize, Serialize};

use crate::any_path;
use crate::error::{At as _, Error};

/// Where the kernel answers from itself, and no file is stored.
const OF_THE_KERNEL: [&str; 21] = [
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "mqueue",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
    "securityfs",
    "bpf",
    "pstore",
    "configfs",
    "fusectl",
    "binfmt_misc",
    "hugetlbfs",
    "autofs",
    "rpc_pipefs",
    "nsfs",
    "selinuxfs",
    "efivarfs",
];
/// The kernel reads these within options.
const MEANT: &[u8] = b",:\\\"";
/// Of folders that the system has, so many levels are looked at for those of an ordinary user.
const LEVELS: usize = 2;

/// A folder whose changes go elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Overlay {
    /// The folder.
    #[serde(with = "any_path")]
    pub(crate) lower: PathBuf,
    /// What is changed.
    #[serde(with = "any_path")]
    pub(crate) upper: PathBuf,
    /// The kernel's own.
    #[serde(with = "any_path")]
    work: PathBuf,
    /// When names in the folder were last made or removed: seconds and nanoseconds.
    pub(crate) modified: (i64, i64),
}

impl Overlay {
    /// Removes what it kept from the working folder.
    pub(crate) fn remove(&self, work: &WorkDir) -> Result<(), Error> {
        for kept in [&self.upper, &self.work] {
            if let Some(name) = kept.file_name() {
                work.remove_subdir(&name.to_string_lossy())?;
            }
        }
        Ok(())
    }

    /// Mounts it over the folder. What was removed is marked by attributes that the system alone may
    /// set, or, within a user namespace, by those of the user.
    pub(crate) fn mount(&self) -> io::Result<()> {
        // All users, from 0 on, are mapped in the first namespace alone.
        let is_first = fs::read_to_string("/proc/self/uid_map")?.trim().ends_with("4294967295");
        self.mount_with(if is_first { b",redirect_dir=off,metacopy=off" } else { b",userxattr" })
    }

    fn mount_with(&self, marks: &[u8]) -> io::Result<()> {
        let mut options = Vec::new();
        let layers = [&self.lower, &self.upper, &self.work];
        for (option, layer) in ["lowerdir=", ",upperdir=", ",workdir="].into_iter().zip(layers) {
            options.extend_from_slice(option.as_bytes());
            options.extend_from_slice(layer.as_os_str().as_bytes());
        }
        options.extend_from_slice(marks);
        let options = CString::new(options)?;
        Ok(mount("overlay", &self.lower, "overlay", MountFlags::empty(), options.as_c_str())?)
    }
}

/// Overlays for a command that works in a folder; what they keep is in `work`.
pub(crate) fn overlays(work: &WorkDir, folder: &Path) -> Result<Vec<Overlay>, Error> {
    let mounts = Mounts::read(&Root::real()).at("reading", Path::new("/proc/self/mountinfo"))?;
    let points = in_order(points(&mounts, folder), work.path());
    let overlay = |(number, lower): (usize, PathBuf)| {
        let upper = work.subdir(&format!("upper-{number}"))?.path().to_owned();
        let work = work.subdir(&format!("work-{number}"))?.path().to_owned();
        // What has no overlay stays read-only: others remove folders meanwhile, a FUSE file system
        // answers its user alone and nobody once its server is gone, and a container has not all users.
        let facts = look_alike(&upper, &lower).ok();
        Ok(facts.map(|facts| Overlay { lower, upper, work, modified: modified(&facts) }))
    };
    points.into_iter().enumerate().filter_map(|point| overlay(point).transpose()).collect()
}

/// The folder that holds what overlays keep comes last: once it is overlaid, that is seen by way of
/// an overlay, on which the kernel lets no other keep anything.
fn in_order(mut points: Vec<PathBuf>, work: &Path) -> Vec<PathBuf> {
    points.sort_by_key(|point| work.starts_with(point));
    points
}

/// An overlay's folder has the attributes of the upper one; returns those of the lower one.
fn look_alike(upper: &Path, lower: &Path) -> io::Result<fs::Metadata> {
    let facts = fs::metadata(lower)?;
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(upper, Some(facts.uid()), Some(facts.gid()))?;
    }
    fs::set_permissions(upper, Permissions::from_mode(facts.mode() & 0o7777))?;
    utimensat(CWD, upper, &times(&facts), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(facts)
}

/// When something was last changed: seconds and nanoseconds.
pub(crate) fn modified(facts: &fs::Metadata) -> (i64, i64) {
    (facts.mtime(), facts.mtime_nsec())
}

/// When something was last read and changed.
pub(crate) fn times(facts: &fs::Metadata) -> Timestamps {
    let time = |tv_sec, tv_nsec: i64| Timespec { tv_sec, tv_nsec: tv_nsec as _ };
    Timestamps {
        last_access: time(facts.atime(), facts.atime_nsec()),
        last_modification: time(facts.mtime(), facts.mtime_nsec()),
    }
}

/// Whether files are stored on a mount.
pub(crate) fn is_storage(mount: &Mount) -> bool {
    !OF_THE_KERNEL.contains(&&*mount.filesystem)
}

fn points(mounts: &Mounts, folder: &Path) -> Vec<PathBuf> {
    let all: BTreeSet<&Path> = mounts.iter().map(|mount| mount.point.as_path()).collect();
    let stored = mounts.iter().filter(|mount| is_storage(mount) && !mount.is_read_only());
    let mut divided = BTreeSet::new();
    for mount in stored {
        divide(&mount.point, &all, usize::MAX, &mut divided);
    }
    if !rustix::process::geteuid().is_root() {
        divided = those_of_the_user(&divided, folder);
    }
    let is_plain = |path: &PathBuf| !path.as_os_str().as_bytes().iter().any(|b| MEANT.contains(b));
    divided.into_iter().filter(is_plain).collect()
}

/// The folder, or those in it where something is mounted below.
fn divide(folder: &Path, mounts: &BTreeSet<&Path>, levels: usize, into: &mut BTreeSet<PathBuf>) {
    let below = |point: &&&Path| point.starts_with(folder) && **point != folder;
    if levels == 0 || !mounts.iter().any(|point| below(&point)) && folder != Path::new("/") {
        into.insert(folder.to_owned());
        return;
    }
    for within in folders_in(folder).filter(|within| !mounts.contains(within.as_path())) {
        divide(&within, mounts, levels - 1, into);
    }
}

fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|entry| entry.path())
}

/// The topmost folders that the user may write to: on the way to where programs write, and of the
/// first levels.
fn those_of_the_user(divided: &BTreeSet<PathBuf>, folder: &Path) -> BTreeSet<PathBuf> {
    let variables = ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"];
    let named = variables.iter().filter_map(std::env::var_os).map(PathBuf::from);
    let usual: Vec<PathBuf> = named.chain([folder.to_owned()]).collect();
    let may_write = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    let mut found = BTreeSet::new();
    for top in divided {
        let mut level = vec![top.clone()];
        for _ in 0..=LEVELS {
            let (own, others): (Vec<_>, Vec<_>) =
                level.into_iter().partition(|path| may_write(path));
            found.extend(own);
            level = others.iter().flat_map(|other| folders_in(other)).collect();
        }
        for usual in usual.iter().filter(|usual| usual.starts_with(top)) {
            let on_the_way: Vec<_> =
                usual.ancestors().take_while(|path| path.starts_with(top)).collect();
            found.extend(on_the_way.into_iter().rev().find(|p| may_write(p)).map(Path::to_owned));
        }
    }
    topmost(found)
}

/// Those that are in none of the others.
pub(crate) fn topmost(paths: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let mut kept: BTreeSet<PathBuf> = BTreeSet::new();
    // In order, a folder comes before all that is in it.
    for path in paths {
        if !path.ancestors().any(|above| kept.contains(above)) {
            kept.insert(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::survey::Survey;

    #[test]
    fn a_folder_with_a_mount_in_it_is_divided() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path();
        for path in ["a/b", "a/c/d", "e/f"] {
            fs::create_dir_all(top.join(path)).unwrap();
        }
        let mounted = top.join("a/c");
        let mut found = BTreeSet::new();
        divide(top, &BTreeSet::from([mounted.as_path()]), usize::MAX, &mut found);
        assert_eq!(found, ["a/b", "e"].map(|path| top.join(path)).into());
    }

    #[test]
    fn what_others_change_beside_the_command_is_not_its_change() {
        let top = tempfile::tempdir().unwrap();
        let [lower, upper] = ["lower", "upper"].map(|name| top.path().join(name));
        fs::create_dir(&lower).unwrap();
        fs::create_dir(&upper).unwrap();
        let facts = look_alike(&upper, &lower).unwrap();
        let overlay = Overlay {
            lower: lower.clone(),
            upper: upper.clone(),
            work: PathBuf::new(),
            modified: modified(&facts),
        };
        let changed = || Survey::of(std::slice::from_ref(&overlay)).unwrap().folders;
        // As of one that others change a while later.
        let later = Timespec { tv_sec: facts.mtime() + 10, tv_nsec: 0 };
        let at = Timestamps { last_access: later, last_modification: later };
        utimensat(CWD, &lower, &at, AtFlags::empty()).unwrap();
        assert!(changed().is_empty(), "{:?}", changed());
        // As of a command that makes a file and removes it.
        utimensat(CWD, &upper, &at, AtFlags::empty()).unwrap();
        assert_eq!(changed(), [lower].into());
    }

    #[test]
    fn folders_within_others_are_left_out() {
        let paths = ["/a/b", "/a", "/ab/c", "/ab/c/d"].map(PathBuf::from).into();
        assert_eq!(topmost(paths), ["/a", "/ab/c"].map(PathBuf::from).into());
    }

    #[test]
    fn the_folder_with_what_overlays_keep_is_overlaid_last() {
        let points = ["/srv", "/var", "/work"].map(PathBuf::from).to_vec();
        let ordered = in_order(points, Path::new("/var/tmp/.iotoll-1"));
        assert_eq!(ordered, ["/srv", "/work", "/var"].map(PathBuf::from));
    }
}
