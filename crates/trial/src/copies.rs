//! The folders that a command may change, copied, and reset to what they were after each run.
//!
//! The user's own files are what copies are made from, and reset to; nothing is ever written to
//! them. A folder that is too large to be copied whole is copied as far as the command changes it:
//! what else is in it is seen where it is, and cannot be written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use host::mounts::Mounts;
use host::root::Root;
use rustix::fs::{AtFlags, CWD, utimensat};

use crate::aside::Aside;
use crate::copy::{Copier, Unlike, is_ours};
use crate::error::{At as _, Error};
use crate::facts::{Snapshot, differences, snapshot, with_all_names};
use crate::left::Left;
use crate::overlays::{times, topmost};
use crate::survey::Survey;
use crate::view::StandIn;

/// No more files are copied.
const FILES_MAX: u64 = 100_000;
/// In a folder that is too large, what is smaller than this is copied whether it changes or not.
const SMALL: Size = Size { bytes: 4 << 20, files: 500 };
/// Copies that are not larger than this are made again for each stretch.
const REMADE: Size = Size { bytes: 64 << 20, files: 2_000 };

/// How much there is in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    bytes: u64,
    files: u64,
}

/// Which folders are copied, and what in them is not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    folders: Vec<PathBuf>,
    left_out: BTreeSet<PathBuf>,
    size: Size,
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
        let mut chosen = Self::default();
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
        let room =
            Size { bytes: limit.bytes - self.size.bytes, files: limit.files - self.size.files };
        let too_large = || Error::TooLarge { path: folder.to_owned(), limit_bytes: limit.bytes };
        if let Some(size) = self.size_of(folder, room) {
            return self.add(size, limit).ok_or_else(too_large);
        }
        if whole.iter().any(|whole| folder.starts_with(whole)) {
            return Err(too_large());
        }
        for entry in fs::read_dir(folder).at("listing", folder)? {
            let path = entry.at("listing", folder)?.path();
            let Ok(facts) = fs::symlink_metadata(&path) else { continue };
            let is_wanted = wanted.iter().any(|wanted| wanted.starts_with(&path));
            if self.is_left_out(&path) {
                continue;
            }
            if facts.is_dir() && is_wanted {
                self.take(&path, wanted, whole, limit)?;
            } else if let Some(size) = self.size_of(&path, SMALL)
                && self.add(size, limit).is_some()
            {
            } else {
                self.left_out.insert(path);
            }
        }
        Ok(())
    }

    fn is_left_out(&self, path: &Path) -> bool {
        self.left_out.contains(path) || path.file_name().is_some_and(is_ours)
    }

    fn add(&mut self, size: Size, limit: Size) -> Option<()> {
        let sum = Size { bytes: self.size.bytes + size.bytes, files: self.size.files + size.files };
        let fits = sum.bytes <= limit.bytes && sum.files <= limit.files;
        self.size = if fits { sum } else { self.size };
        fits.then_some(())
    }

    /// How much is at a path; nothing where that is more than a limit.
    fn size_of(&self, path: &Path, limit: Size) -> Option<Size> {
        let mut size = Size::default();
        let mut left = vec![path.to_owned()];
        while let Some(path) = left.pop() {
            if self.is_left_out(&path) {
                continue;
            }
            let Ok(facts) = fs::symlink_metadata(&path) else { continue };
            size.files += 1;
            size.bytes += if facts.is_file() { facts.blocks() * 512 } else { 0 };
            if size.bytes > limit.bytes || size.files > limit.files {
                return None;
            }
            if facts.is_dir() {
                left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()));
            }
        }
        Some(size)
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

/// Copies of folders on one storage.
pub struct Copies {
    trees: Vec<Tree>,
    are_remade: bool,
    aside: Aside,
}

struct Tree {
    /// The user's own.
    original: PathBuf,
    /// What copies are made in.
    into: PathBuf,
    /// The present one.
    copy: PathBuf,
    /// What is not copied, as the command sees it.
    left_out: BTreeSet<PathBuf>,
    unlike: Unlike,
    before: Snapshot,
}

impl Copies {
    /// Copies folders into one; what runs leave in them is put aside.
    pub(crate) fn make(chosen: &Chosen, into: &Path, aside: &Aside) -> Result<Self, Error> {
        let mut trees = Vec::new();
        for original in &chosen.folders {
            let mut tree = Tree {
                original: original.clone(),
                into: into.to_owned(),
                copy: PathBuf::new(),
                left_out: chosen.left_out.clone(),
                unlike: Unlike::default(),
                before: Snapshot::new(),
            };
            tree.fill()?;
            trees.push(tree);
        }
        let Size { bytes, files } = chosen.size;
        let are_remade = bytes <= REMADE.bytes && files <= REMADE.files;
        Ok(Self { trees, are_remade, aside: aside.clone() })
    }

    /// Copies them again, unless that takes long.
    pub(crate) fn remake(&mut self) -> Result<(), Error> {
        if !self.are_remade {
            return Ok(());
        }
        self.trees.iter_mut().try_for_each(|tree| {
            self.aside.put([&tree.copy])?;
            tree.fill()
        })
    }

    /// What runs left, by the paths that the command sees; all is as it was before thereafter.
    pub(crate) fn take_left(&mut self) -> Result<BTreeMap<PathBuf, Left>, Error> {
        let mut left = BTreeMap::new();
        for tree in &mut self.trees {
            tree.take_left(&mut left, &self.aside)?;
        }
        Ok(left)
    }

    /// What in them is not as it is in the originals.
    pub(crate) fn unlike(&self) -> impl Iterator<Item = &Unlike> {
        self.trees.iter().map(|tree| &tree.unlike)
    }

    /// The same where the command can write to none of the copies.
    pub(crate) fn read_only(mut stand_ins: Vec<StandIn>) -> Vec<StandIn> {
        for stand_in in &mut stand_ins {
            stand_in.read_only = true;
        }
        stand_ins
    }

    /// What is seen of the user's folders: the copies, and what is not copied.
    pub(crate) fn stand_ins(&self) -> Vec<StandIn> {
        let mut stand_ins = Vec::new();
        for tree in &self.trees {
            let (from, at) = (tree.copy.clone(), tree.original.clone());
            stand_ins.push(StandIn { from, at, read_only: false });
            stand_ins.extend(tree.left_out_below(&tree.original));
        }
        stand_ins
    }

    /// What is seen of one folder in them, if it is in them.
    pub(crate) fn stand_ins_of(&self, folder: &Path) -> Vec<StandIn> {
        let Some((tree, from)) = self.copy_of(folder) else { return Vec::new() };
        let stand_in = StandIn { from, at: folder.to_owned(), read_only: false };
        std::iter::once(stand_in).chain(tree.left_out_below(folder)).collect()
    }

    /// Where the copy of a path is.
    pub(crate) fn path_of(&self, path: &Path) -> Option<PathBuf> {
        let (tree, copy) = self.copy_of(path)?;
        let is_left_out = path.ancestors().any(|above| tree.left_out.contains(above));
        (!is_left_out).then_some(copy)
    }

    fn copy_of(&self, path: &Path) -> Option<(&Tree, PathBuf)> {
        self.trees.iter().find_map(|tree| {
            let within = path.strip_prefix(&tree.original).ok()?;
            let is_all = within.as_os_str().is_empty();
            Some((tree, if is_all { tree.copy.clone() } else { tree.copy.join(within) }))
        })
    }
}

impl Tree {
    /// Makes a copy, of another name than any before: by it ext4 chooses a group of inodes, and is not
    /// to find what was removed there.
    fn fill(&mut self) -> Result<(), Error> {
        self.copy = self.into.join(format!("{:x}", RandomState::new().hash_one(())));
        let mut copier = Copier::new(&self.left_out);
        copier.copy(&self.original, &self.copy)?;
        let Copier { uncopied, unlike, .. } = copier;
        // What is not read once is left out from then on.
        self.unlike.unread.extend(unlike.unread);
        self.unlike.of_others = unlike.of_others;
        self.left_out.extend(uncopied);
        self.before = self.now()?;
        Ok(())
    }

    fn now(&self) -> Result<Snapshot, Error> {
        let within = |path: &PathBuf| path.strip_prefix(&self.original).ok().map(Path::to_owned);
        snapshot(&self.copy, &self.left_out.iter().filter_map(within).collect())
    }

    fn left_out_below(&self, folder: &Path) -> impl Iterator<Item = StandIn> {
        let below = self.left_out.iter().filter(move |path| path.starts_with(folder));
        // What is within something that is left out is seen with it.
        let below = topmost(below.cloned().collect()).into_iter();
        below.map(|path| StandIn { from: path.clone(), at: path, read_only: true })
    }

    fn take_left(
        &mut self,
        left: &mut BTreeMap<PathBuf, Left>,
        aside: &Aside,
    ) -> Result<(), Error> {
        let changed = differences(&self.before, &self.now()?);
        if changed.is_empty() {
            return Ok(());
        }
        for path in &changed {
            left.insert(self.original.join(path), Left::at(&self.copy.join(path)));
        }
        let mut folders = BTreeSet::new();
        let within = changed.into_iter().filter(|path| !path.as_os_str().is_empty());
        // Hard links stay links.
        let changed = topmost(with_all_names(within.collect(), &self.before));
        aside.put(&changed.iter().map(|path| self.copy.join(path)).collect::<Vec<_>>())?;
        let mut copier = Copier::new(&self.left_out);
        for path in &changed {
            let (original, copy) = (self.original.join(path), self.copy.join(path));
            if self.before.contains_key(path) {
                copier.copy(&original, &copy)?;
            }
            folders.extend(path.ancestors().skip(1).map(Path::to_owned));
        }
        // Each gets its time back, the innermost first.
        for folder in folders.iter().rev() {
            let (original, copy) = (self.original.join(folder), self.copy.join(folder));
            if let Ok(facts) = fs::metadata(&original) {
                let _ = utimensat(CWD, &copy, &times(&facts), AtFlags::SYMLINK_NOFOLLOW);
            }
        }
        self.before = self.now()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::Permissions;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Fails where a reset breaks a hard link: the next run would leave other files than the first, and
    /// cutting a file that is put aside would empty its other name.
    #[test]
    fn names_of_one_file_stay_that_after_each_run() {
        let [user, ours] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let path = |name: &str| user.path().join(name);
        fs::create_dir(path("data")).unwrap();
        fs::write(path("data/kept"), "kept").unwrap();
        fs::hard_link(path("data/kept"), path("twin")).unwrap();
        let chosen = Chosen { folders: vec![user.path().to_owned()], ..Chosen::default() };
        let mut copies = Copies::make(&chosen, ours.path(), &Aside::within(ours.path())).unwrap();
        let runs: [fn(&Path); 3] = [
            |copy| fs::write(copy.join("data/kept"), "changed").unwrap(),
            |copy| fs::remove_file(copy.join("twin")).unwrap(),
            |copy| fs::set_permissions(copy.join("data"), Permissions::from_mode(0o700)).unwrap(),
        ];
        for run in runs.iter().chain(&runs) {
            let copy = copies.trees[0].copy.clone();
            let inodes =
                || ["data/kept", "twin"].map(|name| fs::metadata(copy.join(name)).unwrap().ino());
            assert_eq!(inodes()[0], inodes()[1]);
            run(&copy);
            let left = copies.take_left().unwrap();
            assert_eq!(
                left.len(),
                if left.contains_key(&path("data")) { 1 } else { 2 },
                "{left:?}"
            );
            assert_eq!(inodes()[0], inodes()[1], "after {left:?}");
            assert_eq!(fs::read(copy.join("twin")).unwrap(), b"kept");
        }
    }

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
