//! Where `/proc`, `/sys` and `/dev` are.
//!
//! Everything that reads them goes through a [`Root`], so that a tree of plain files in a
//! temporary folder can stand for a machine with disks that this one lacks.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::file::KernelFile;
use crate::identity::Identity;

/// A machine's files, and how its paths are identified.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
    identify: fn(&Path) -> io::Result<Identity>,
}

impl Root {
    /// The machine that this runs on.
    pub fn real() -> Self {
        Self { path: PathBuf::from("/"), identify: Identity::of_path }
    }

    /// A machine made of plain files, whose paths exist but have no identity of their own; a
    /// file that holds a device's numbers stands for its node.
    #[cfg(any(test, feature = "fixture"))]
    pub fn made(path: &Path) -> Self {
        let identify = |path: &Path| {
            fs::metadata(path)?;
            let node = attribute(path).and_then(|text| crate::identity::DeviceNumber::parse(&text));
            Ok(Identity { node, ..Identity::default() })
        };
        Self { path: path.to_owned(), identify }
    }

    /// Where a path of that machine is to be found on this one.
    pub fn locate(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.path.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// What the kernel says of a path.
    pub fn identify(&self, path: &Path) -> io::Result<Identity> {
        (self.identify)(&self.locate(path))
    }

    /// Whether there is such a path.
    pub(crate) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.locate(path).exists()
    }

    /// A whole file.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        fs::read(self.locate(path))
    }

    /// A whole file as text; names in it may be of any bytes.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> io::Result<String> {
        Ok(String::from_utf8_lossy(&self.read(path)?).into_owned())
    }

    /// A file with one line of text, `None` where it is missing, unreadable or empty.
    pub(crate) fn attribute(&self, path: impl AsRef<Path>) -> Option<String> {
        attribute(&self.locate(path))
    }

    /// Whether a symbolic link has this target.
    pub(crate) fn leads_to(&self, link: impl AsRef<Path>, target: &str) -> bool {
        fs::read_link(self.locate(link)).is_ok_and(|found| found == Path::new(target))
    }

    /// The names in a folder that are text; none where it cannot be read.
    pub(crate) fn names(&self, path: &str) -> impl Iterator<Item = String> {
        let entries = fs::read_dir(self.locate(path)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok())
    }

    /// The processes that there are.
    pub(crate) fn processes(&self) -> impl Iterator<Item = u32> {
        self.names("/proc").filter_map(|name| name.parse().ok())
    }

    /// Opens and reads a file once, to know that it can be read: some open and
    /// then refuse. Otherwise notes what is not known for lack of it.
    pub(crate) fn open(
        &self,
        path: impl AsRef<Path>,
        tells: &str,
        unread: &mut Vec<String>,
    ) -> Option<KernelFile> {
        let path = path.as_ref();
        let opened = KernelFile::open(&self.locate(path)).and_then(|file| {
            file.check()?;
            Ok(file)
        });
        let shown = path.display();
        opened.map_err(|e| unread.push(format!("{tells}: {shown} cannot be read ({e})"))).ok()
    }

    /// Opens a file whose absence says nothing.
    pub(crate) fn open_if_there(&self, path: impl AsRef<Path>) -> Option<KernelFile> {
        KernelFile::open(&self.locate(path)).ok()
    }
}

/// One attribute of `/sys`: a file with a line of text, `None` where it is missing,
/// unreadable or empty.
pub(crate) fn attribute(path: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
