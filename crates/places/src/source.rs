//! Whether root may act on a file: a plan, or a run that is measured again.
//!
//! A user who controls the file, or a directory that leads to it, could have root do what they
//! want, and exchange what root has just looked at. So as root a file has to be root's, in
//! directories that a place may be in (`model::ownership`), as sudo(8) and ssh(1) ask of
//! theirs. It is judged by the descriptor that is read from. What is piped in is the caller's.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use host::root::Root;
use host::users::unmapped_uid;
use model::ownership::{Objection, is_others, objection};
use rustix::fs::{AtFlags, statat};
use thiserror::Error;
use units::quoted;

use crate::open::{directories_above, open_directory};

/// Paths that stand for what the caller has opened already, with the descriptor's number or,
/// for standard input, without.
const STANDARD_INPUT: &str = "/dev/stdin";
const DESCRIPTORS: [&str; 3] = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"];

/// Why root does not act on a file, and what to do.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct SourceError(String);

/// Who controls a file.
fn whose(uid: u32, mode: u32) -> String {
    if uid == 0 {
        return format!("can be written to by others than root (mode {mode:04o})");
    }
    format!("belongs to the user with UID {uid}")
}

/// What to do instead.
fn remedy(path: &Path, uid: u32) -> String {
    let path = quoted(&path.display().to_string());
    let copy =
        format!("read it, and copy it to a directory of root's (`install -m 600 {path} /root`)");
    if uid == 0 {
        copy
    } else {
        format!("{copy}, or run as that user (`sudo -u '#{uid}' iotoll …`)")
    }
}

/// An error where root would act on an open file that others control; `given` is how the caller
/// named it. For other users than root nothing is refused: they lose no more than is theirs.
pub fn check_source(file: BorrowedFd<'_>, given: &Path) -> Result<(), SourceError> {
    if is_inherited(given) || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    judge(file, given)
}

fn is_inherited(given: &Path) -> bool {
    let given = given.to_string_lossy();
    let number = DESCRIPTORS.iter().find_map(|folder| given.strip_prefix(folder));
    [STANDARD_INPUT, "-"].contains(&&*given)
        || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn judge(file: BorrowedFd<'_>, given: &Path) -> Result<(), SourceError> {
    let shown = given.display();
    let fail = |error: io::Error| {
        SourceError(format!("{shown}: looking at who controls it failed: {error}"))
    };
    // Where it is by now, links resolved.
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(fail)?;
    let facts = File::from(file.try_clone_to_owned().map_err(fail)?).metadata().map_err(fail)?;
    if !has_a_name(&path, &facts) {
        return Ok(());
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let directory = open_directory(parent).map_err(fail)?;
    let there = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW);
    if !there.is_ok_and(|it| (it.st_dev, it.st_ino) == (facts.dev(), facts.ino())) {
        let why = format!("{shown}: somebody moved or replaced it while it was opened; try again");
        return Err(SourceError(why));
    }
    let unmapped = unmapped_uid(&Root::real());
    let (uid, mode) = (facts.uid(), facts.mode() & 0o7777);
    if is_others(uid, mode, unmapped) {
        return Err(SourceError(format!(
            "{} {}, who could have root do what they want; {}",
            path.display(),
            whose(uid, mode),
            remedy(&path, uid)
        )));
    }
    let way = directories_above(directory.as_fd(), parent).map_err(fail)?;
    match objection(&way, unmapped) {
        None => Ok(()),
        Some(Objection::OthersOwn { directory, uid }) => Err(SourceError(format!(
            "{} is below {}, which belongs to the user with UID {uid}, who could put another file \
             in its place; {}",
            path.display(),
            directory.display(),
            remedy(&path, uid)
        ))),
        Some(Objection::OthersRename { directory, mode }) => Err(SourceError(format!(
            "{} is below {}, in which others can rename files (mode {mode:04o}), and so put \
             another in its place; {}",
            path.display(),
            directory.display(),
            remedy(&path, 0)
        ))),
    }
}

/// Pipes between processes and terminals are whose process was started with them.
fn has_a_name(path: &Path, facts: &Metadata) -> bool {
    let kind = facts.file_type();
    path.is_absolute() && (kind.is_file() || kind.is_fifo() || kind.is_dir())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    const ALICE: u32 = 1000;

    fn judged(path: &Path) -> Result<(), SourceError> {
        let file = File::open(path).unwrap();
        check_source(file.as_fd(), path)
    }

    fn refused(path: &Path, why: &str) {
        let error = judged(path).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn root_acts_on_files_of_roots_alone() {
        if !rustix::process::geteuid().is_root() {
            // Nothing is refused to others.
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::set_permissions(file.path(), Permissions::from_mode(0o666)).unwrap();
            assert!(judged(file.path()).is_ok());
            return;
        }
        // Below `/tmp`, which is sticky.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.toml");
        fs::write(&file, "").unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        judged(&file).unwrap();
        for open in [0o664, 0o646, 0o666] {
            mode(&file, open).unwrap();
            refused(&file, "can be written to by others than root");
        }
        mode(&file, 0o600).unwrap();
        mode(folder.path(), 0o777).unwrap();
        refused(&file, "others can rename files (mode 0777)");
        mode(folder.path(), 0o1777).unwrap();
        judged(&file).unwrap();
        chown(&file, Some(ALICE), None).unwrap();
        refused(&file, "plan.toml belongs to the user with UID 1000");
        chown(&file, Some(0), None).unwrap();
        chown(folder.path(), Some(ALICE), None).unwrap();
        refused(&file, "which belongs to the user with UID 1000");
        refused(&file, "install -m 600");
        refused(&file, "sudo -u '#1000'");
    }

    #[test]
    fn a_link_is_judged_by_the_file_that_it_leads_to() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let (own, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        chown(others.path(), Some(ALICE), None).unwrap();
        let (file, link) = (others.path().join("plan"), own.path().join("link"));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        refused(&link, "which belongs to the user with UID 1000");
    }

    #[test]
    fn what_is_exchanged_after_it_was_opened_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan");
        fs::write(&path, "").unwrap();
        let file = File::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        let error = check_source(file.as_fd(), &path).unwrap_err().to_string();
        assert!(error.contains("moved or replaced it"), "{error}");
    }

    #[test]
    fn what_is_piped_in_is_the_callers() {
        let (reader, _writer) = io::pipe().unwrap();
        let number = format!("/dev/fd/{}", reader.as_raw_fd());
        assert!(check_source(reader.as_fd(), Path::new(&number)).is_ok());
        assert!(judge(reader.as_fd(), Path::new(&number)).is_ok());
        assert!(is_inherited(Path::new("/dev/stdin")));
        for other in ["/dev/fd/../../tmp/plan", "/dev/fd/", "/dev/stdinx", "/proc/self/fd/0/x"] {
            assert!(!is_inherited(Path::new(other)), "{other}");
        }
        let null = File::open("/dev/null").unwrap();
        assert!(judge(null.as_fd(), Path::new("/dev/null")).is_ok());
    }
}
