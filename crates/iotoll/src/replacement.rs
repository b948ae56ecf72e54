//! A file that is replaced by another, whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, linkat, openat};
use rustix::process::geteuid;
use tempfile::{Builder, NamedTempFile};

/// What a chain of links is given up after, as the kernel does.
const LINKS_MAX: usize = 40;
/// Rights that a new file has, less the umask.
const MODE: u32 = 0o666;
/// The bit of a directory in which only the owner of a file may replace it.
const STICKY: u32 = 0o1000;

/// A file that may be replaced.
pub(crate) struct Replacement {
    /// What links lead to: they stay what they are.
    target: PathBuf,
    folder: PathBuf,
}

impl Replacement {
    /// Checks that the file may be made or replaced, without doing either.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let target = behind_links(path)?;
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).to_owned();
        let of_folder = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => other(format!("there is no directory {}", folder.display())),
            _ => other(format!(
                "cannot create a temporary file in its directory {}: {error}; `--json - >FILE` \
                 does not need one",
                folder.display()
            )),
        };
        let around = fs::metadata(&folder).map_err(of_folder)?;
        may(&folder, Access::WRITE_OK | Access::EXEC_OK).map_err(of_folder)?;
        if let Ok(old) = fs::metadata(&target) {
            may(&target, Access::WRITE_OK)?;
            let user = geteuid().as_raw();
            if around.mode() & STICKY != 0 && ![0, old.uid(), around.uid()].contains(&user) {
                return Err(other(
                    "it belongs to another user, and only that user may replace it".into(),
                ));
            }
        }
        Ok(Self { target, folder })
    }

    /// Puts a file with this content in the place of what is there.
    pub(crate) fn write(&self, content: &[u8]) -> anyhow::Result<()> {
        self.replace(content).with_context(|| {
            let what = if self.target.exists() { "was left unchanged" } else { "was not created" };
            format!("cannot save the result: {} {what}", self.target.display())
        })
    }

    fn replace(&self, content: &[u8]) -> io::Result<()> {
        let mut names = Builder::new();
        names.prefix(".iotoll-").suffix(".tmp");
        // Removed when it is dropped, unless it took the name.
        let new = match self.written_unnamed(&names, content) {
            Ok(new) => new,
            Err(_) => self.written(&names, content)?,
        };
        new.persist(&self.target).map_err(|failed| failed.error)?;
        // The name is on the disk with its folder; where that cannot be synced, it will be
        // with whatever else happens there.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// A new file that has a name only once it is whole: whoever is killed before leaves
    /// nothing behind. Not every file system has such files.
    fn written_unnamed(&self, names: &Builder, content: &[u8]) -> io::Result<NamedTempFile> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let new = File::from(openat(CWD, &self.folder, flags, Mode::from_raw_mode(MODE))?);
        self.fill(&new, content)?;
        let descriptor = format!("/proc/self/fd/{}", new.as_raw_fd());
        names.make_in(&self.folder, |name| {
            linkat(CWD, &descriptor, CWD, name, AtFlags::SYMLINK_FOLLOW)?;
            new.try_clone()
        })
    }

    /// A new file that has a name from the beginning.
    fn written(&self, names: &Builder, content: &[u8]) -> io::Result<NamedTempFile> {
        let make = |name: &Path| File::options().write(true).create_new(true).mode(MODE).open(name);
        let new = names.make_in(&self.folder, make)?;
        self.fill(new.as_file(), content)?;
        Ok(new)
    }

    /// Gives a new file the owner and rights of the one that it replaces, and the content.
    fn fill(&self, mut new: &File, content: &[u8]) -> io::Result<()> {
        if let Ok(old) = fs::metadata(&self.target) {
            // Only root may give files away, and then it should.
            let _ = fchown(new, Some(old.uid()), Some(old.gid()));
            new.set_permissions(Permissions::from_mode(old.mode() & 0o777))?;
        }
        new.write_all(content)?;
        new.sync_all()
    }
}

/// Where a path leads to, be there a file or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(link) = fs::symlink_metadata(&path) else { return Ok(path) };
        if !link.is_symlink() {
            return Ok(path);
        }
        // Who may make a link may not thereby choose what root writes to.
        if geteuid().is_root() && link.uid() != 0 {
            return Err(other(format!(
                "{} is a symbolic link that belongs to another user; name its target instead",
                path.display()
            )));
        }
        let leads_to = fs::read_link(&path)?;
        path.pop();
        path.push(leads_to);
    }
    Err(rustix::io::Errno::LOOP.into())
}

fn may(path: &Path, access: Access) -> io::Result<()> {
    Ok(rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS)?)
}

fn other(why: String) -> io::Error {
    io::Error::other(why)
}
