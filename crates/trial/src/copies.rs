//! The folders that a command may change, copied, and reset to what they were after each run.
//!
//! The user's own files are what copies are made from, and reset to; nothing is ever written to
//! them. A folder that is too large to be copied whole is copied as far as the command changes it:
//! what else is in it is seen where it is, and cannot be written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, utimensat};

use crate::aside::Aside;
use crate::chosen::{Chosen, Size};
use crate::copy::{Copier, Unlike};
use crate::error::Error;
use crate::facts::{Snapshot, differences, snapshot, with_all_names};
use crate::left::Left;
use crate::overlays::{times, topmost};
use crate::view::StandIn;

/// Copies that are not larger than this are made again for each stretch.
const REMADE: Size = Size { bytes: 64 << 20, files: 2_000 };

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
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

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
}
