//! Which folders are copied for a command, and what in them is not.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Bound;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use host::mounts::Mounts;
use host::root::Root;

use crate::copy::is_ours;
use crate::error::{At as _, Error, Limit};
use crate::overlays::topmost;
use crate::survey::Survey;

/// No more files are copied.
const FILES_MAX: u64 = 100_000;
/// In a folder that is too large, what is smaller than this is copied whether it changes or not.
const SMALL: Size = Size { bytes: 4 << 20, files: 500 };
/// How much there is in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    pub(crate) files: u64,
}

impl Size {
    fn and_at_most(self, other: Self) -> Self {
        Self { bytes: self.bytes.min(other.bytes), files: self.files.min(other.files) }
    }
}

/// Which limit is exceeded.
#[derive(Clone, Copy, Debug)]
enum Over {
    Bytes,
    Files,
}

impl Over {
    fn of(self, limit: Size) -> Limit {
        match self {
            Self::Bytes => Limit::Bytes(limit.bytes),
            Self::Files => Limit::Files(limit.files),
        }
    }
}

/// Which folders are copied, and what in them is not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) left_out: BTreeSet<PathBuf>,
    pub(crate) size: Size,
    /// What the command changes of what is there.
    pub(crate) changed: BTreeSet<PathBuf>,
}

impl Chosen {
    /// Those that a command changes when it works in a folder. Of these, some are asked for, which are
    /// copied whole; one that has others in it that are changed is one of them.
    pub(crate) fn of(
        survey: &Survey,
        folder: &Path,
        whole: &[PathBuf],
        limit_bytes: u64,
    ) -> Result<Self, Error> {
        let mounts =
            Mounts::read(&Root::real()).at("reading", Path::new("/proc/self/mountinfo"))?;
        let changed = survey.changes.iter().map(|change| change.path.clone()).collect();
        let mut chosen = Self { changed, ..Self::default() };
        let is_changed = |path: &&PathBuf| survey.folders.iter().any(|f| f.starts_with(path));
        let changed = survey.folders.iter().filter(|path| path.is_dir());
        let wanted: BTreeSet<PathBuf> =
            changed.chain(whole.iter().filter(is_changed)).cloned().collect();
        let limit = Size { bytes: limit_bytes, files: FILES_MAX };
        for root in roots(wanted.clone(), folder) {
            let mounted = mounts.iter().map(|mount| mount.point.clone());
            let mounted = mounted.filter(|point| point.starts_with(&root) && *point != root);
            chosen.left_out.extend(mounted);
            chosen.take(&root, &wanted, whole, limit)?;
            chosen.folders.push(root);
        }
        Ok(chosen)
    }

    /// Folders that are only read, and copied whole: those of the ones asked for that are in none of
    /// these.
    pub(crate) fn only_read(&self, whole: &[PathBuf], limit_bytes: u64) -> Result<Self, Error> {
        let mut chosen = Self::default();
        let limit = Size { bytes: limit_bytes, files: FILES_MAX };
        let is_apart = |path: &&PathBuf| !self.folders.iter().any(|f| path.starts_with(f));
        for folder in topmost(whole.iter().filter(is_apart).cloned().collect()) {
            chosen.take(&folder, &BTreeSet::new(), whole, limit)?;
            chosen.folders.push(folder);
        }
        Ok(chosen)
    }

    /// Takes in a folder as far as it is to be copied.
    fn take(
        &mut self,
        folder: &Path,
        wanted: &BTreeSet<PathBuf>,
        whole: &[PathBuf],
        limit: Size,
    ) -> Result<(), Error> {
        let too_large = |limit| Error::TooLarge { path: folder.to_owned(), limit };
        let over = match self.size_of(folder, self.room(limit)) {
            Ok(size) => {
                self.add(size);
                return Ok(());
            }
            Err(over) => over.of(limit),
        };
        if whole.iter().any(|whole| folder.starts_with(whole)) {
            return Err(too_large(over));
        }
        let entries = fs::read_dir(folder).at("listing", folder)?;
        let paths = entries.map(|entry| Ok(entry.at("listing", folder)?.path()));
        let mut paths = paths.collect::<Result<Vec<_>, Error>>()?;
        let is_wanted = |path: &Path| wanted.iter().any(|wanted| wanted.starts_with(path));
        // What is only small gets what room is left.
        paths.sort_by_key(|path| !is_wanted(path) && !self.is_changed(path));
        for path in paths {
            let Ok(facts) = fs::symlink_metadata(&path) else { continue };
            if self.is_left_out(&path) {
                continue;
            }
            if facts.is_dir() && is_wanted(&path) {
                self.take(&path, wanted, whole, limit)?;
                continue;
            }
            let (is_changed, room) = (self.is_changed(&path), self.room(limit));
            match self.size_of(&path, if is_changed { room } else { room.and_at_most(SMALL) }) {
                Ok(size) => self.add(size),
                Err(over) if is_changed => {
                    return Err(Error::TooLarge { path, limit: over.of(limit) });
                }
                Err(_) => drop(self.left_out.insert(path)),
            }
        }
        Ok(())
    }

    /// Why a folder is not copied whole, where that is its size.
    pub(crate) fn too_large(&self, folder: &Path, limit_bytes: u64) -> Option<Error> {
        let limit = Size { bytes: limit_bytes, files: FILES_MAX };
        let over = Self::default().size_of(folder, self.room(limit)).err()?;
        Some(Error::TooLarge { path: folder.to_owned(), limit: over.of(limit) })
    }

    /// What may still be copied.
    fn room(&self, limit: Size) -> Size {
        Size { bytes: limit.bytes - self.size.bytes, files: limit.files - self.size.files }
    }

    /// Whether the command changes what is at a path, or in it, which comes next in order.
    fn is_changed(&self, path: &Path) -> bool {
        let from = (Bound::Included(path), Bound::Unbounded);
        self.changed.range::<Path, _>(from).next().is_some_and(|changed| changed.starts_with(path))
    }

    fn is_left_out(&self, path: &Path) -> bool {
        self.left_out.contains(path) || path.file_name().is_some_and(is_ours)
    }

    fn add(&mut self, size: Size) {
        self.size.bytes += size.bytes;
        self.size.files += size.files;
    }

    /// How much is at a path; which limit that exceeds otherwise.
    fn size_of(&self, path: &Path, limit: Size) -> Result<Size, Over> {
        let mut size = Size::default();
        let mut left = vec![path.to_owned()];
        while let Some(path) = left.pop() {
            if self.is_left_out(&path) {
                continue;
            }
            let Ok(facts) = fs::symlink_metadata(&path) else { continue };
            size.files += 1;
            size.bytes += if facts.is_file() { facts.blocks() * 512 } else { 0 };
            if size.bytes > limit.bytes {
                return Err(Over::Bytes);
            }
            if size.files > limit.files {
                return Err(Over::Files);
            }
            if facts.is_dir() {
                left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()));
            }
        }
        Ok(size)
    }

    /// How much is copied.
    pub(crate) fn bytes(&self) -> u64 {
        self.size.bytes
    }

    /// The folders.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }
}

/// Folders that have all of these in them. Files are renamed from one to another of them only within
/// a file system, so those of one file system are in one.
fn roots(wanted: BTreeSet<PathBuf>, folder: &Path) -> Vec<PathBuf> {
    let to_folder = |path: PathBuf| if path.starts_with(folder) { folder.to_owned() } else { path };
    let mut roots: Vec<PathBuf> =
        topmost(wanted.into_iter().map(to_folder).collect()).into_iter().collect();
    let device = |path: &Path| fs::metadata(path).map(|facts| facts.dev()).ok();
    let mut at = 0;
    while at < roots.len() {
        let together = (at + 1..roots.len()).find_map(|other| {
            let common = common(&roots[at], &roots[other])?;
            let same =
                device(&common) == device(&roots[at]) && device(&common) == device(&roots[other]);
            same.then_some((other, common))
        });
        match together {
            Some((other, common)) => {
                roots.remove(other);
                roots[at] = common;
                at = 0;
            }
            None => at += 1,
        }
    }
    roots.sort();
    roots
}

/// The folder that has both in it; nothing where that is the root.
fn common(one: &Path, other: &Path) -> Option<PathBuf> {
    let common: PathBuf = one
        .components()
        .zip(other.components())
        .take_while(|(one, other)| one == other)
        .map(|(component, _)| component)
        .collect();
    common.parent().is_some().then_some(common)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;

    use super::*;

    fn set(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
        paths.iter().cloned().collect()
    }

    /// Fails where what is too large is copied whole, or what the command changes in it is not.
    #[test]
    fn of_a_folder_that_is_too_large_what_is_changed_and_what_is_small_is_copied() {
        let user = tempfile::tempdir().unwrap();
        let path = |name: &str| user.path().join(name);
        let write = |name: &str, bytes: usize| {
            let mut file = fs::File::create(path(name)).unwrap();
            file.write_all(&vec![7; bytes]).unwrap();
            file.sync_all().unwrap();
        };
        fs::create_dir_all(path("deep/changed")).unwrap();
        fs::create_dir(path("other")).unwrap();
        write("deep/changed/file", 5 << 20);
        write("deep/large", 5 << 20);
        write("other/large", 5 << 20);
        write("small", 9000);
        let wanted = set(&[path("deep/changed")]);
        let limit = Size { bytes: 8 << 20, files: FILES_MAX };
        let mut chosen = Chosen::default();
        chosen.take(user.path(), &wanted, &[], limit).unwrap();
        assert_eq!(chosen.left_out, set(&[path("deep/large"), path("other")]));
        assert!((5 << 20..8 << 20).contains(&chosen.bytes()), "{}", chosen.bytes());
        assert_eq!(chosen.size.files, 3, "the folder, its file and the small one");
        let whole = [path("deep")];
        let refused = Chosen::default().take(user.path(), &wanted, &whole, limit);
        assert!(matches!(refused, Err(Error::TooLarge { path: folder, .. }) if folder == whole[0]));
        // A large file that it changes is copied where it fits, and named where it does not.
        let changing = |name: &str| Chosen { changed: set(&[path(name)]), ..Chosen::default() };
        let mut chosen = changing("other/large");
        chosen.take(user.path(), &set(&[path("other")]), &[], limit).unwrap();
        assert_eq!(chosen.left_out, set(&[path("deep")]));
        let limit = Size { bytes: 4 << 20, ..limit };
        let refused = changing("other/large").take(user.path(), &set(&[path("other")]), &[], limit);
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("other/large, copies would come to more than 4.19 MB"), "{text}");
        assert!(text.contains("--copy-max"), "{text}");
        let few = Size { files: 1, bytes: 1 << 30 };
        let text = Chosen::default().take(&whole[0], &wanted, &whole, few).unwrap_err().to_string();
        assert!(text.ends_with("more than 1 files, and no more are copied"), "{text}");
    }

    /// Fails where files that are renamed from one folder to another would have to be moved between
    /// copies, or where folders of two file systems are taken to be in one.
    #[test]
    fn folders_of_one_file_system_are_copied_with_the_one_that_has_both_in_it() {
        let user = tempfile::tempdir().unwrap();
        let path = |name: &str| user.path().join(name);
        for name in ["a/b/c", "a/d", "work/in"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        let below = |folders: &[PathBuf]| roots(set(folders), &path("work"));
        assert_eq!(below(&[path("a/b/c"), path("a/d")]), [path("a")]);
        assert_eq!(below(&[path("a/b"), path("a/b/c")]), [path("a/b")]);
        assert_eq!(below(&[path("work/in")]), [path("work")], "it works there");
        let device = |path: &str| fs::metadata(path).map(|facts| facts.dev()).ok();
        if device("/dev") != device("/dev/shm") {
            let both = [PathBuf::from("/dev/shm"), PathBuf::from("/dev/pts")];
            assert_eq!(roots(set(&both), user.path()).len(), 2);
        }
    }
}
