//! The folders that calls act in, as a tree, each with all below it.

use std::collections::HashMap;

use super::cost::Sum;
use super::kind::KINDS;

/// How many folders are told apart. Those below any more are counted with what they are in.
const FOLDERS_MAX: usize = 4096;
/// A folder matters from this share of the time with all files on. Less is lost in what
/// repeated runs differ by.
const MATTERS: f64 = 0.05;
/// Folders stand for the one that they are in where they have this share of it.
const STANDS_FOR: f64 = 0.8;

/// Which folder.
pub(crate) type FolderId = u32;

/// A folder with all below it.
#[derive(Default)]
pub(crate) struct Folder {
    pub(crate) path: Vec<u8>,
    parent: Option<FolderId>,
    pub(crate) all: Sum,
    pub(crate) kinds: [Sum; KINDS],
}

/// All folders.
pub(crate) struct Folders {
    folders: Vec<Folder>,
    ids: HashMap<Vec<u8>, FolderId>,
}

impl Default for Folders {
    fn default() -> Self {
        let root = Folder { path: b"/".to_vec(), ..Folder::default() };
        Self { folders: vec![root], ids: HashMap::from([(b"/".to_vec(), 0)]) }
    }
}

impl Folders {
    pub(crate) fn get(&self, id: FolderId) -> &Folder {
        &self.folders[id as usize]
    }

    /// All of them; each comes after the one that it is in.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = FolderId> + use<> {
        0..self.folders.len() as FolderId
    }

    /// Whether something in it was acted on.
    pub(crate) fn knows(&self, path: &[u8]) -> bool {
        self.ids.contains_key(path)
    }

    /// The folder of a path that has no slash at its end, or the nearest above it that is told
    /// apart.
    pub(crate) fn of(&mut self, path: &[u8]) -> FolderId {
        if let Some(id) = self.ids.get(path) {
            return *id;
        }
        let parent = self.of(above(path));
        if self.folders.len() >= FOLDERS_MAX {
            return parent;
        }
        let id = self.folders.len() as FolderId;
        self.ids.insert(path.to_vec(), id);
        let parent = Some(parent);
        self.folders.push(Folder { path: path.to_vec(), parent, ..Folder::default() });
        id
    }

    /// Does something with a folder and with those that it is in.
    pub(crate) fn each_above(&mut self, id: FolderId, mut what: impl FnMut(&mut Folder)) {
        let mut next = Some(id);
        while let Some(id) = next {
            let folder = &mut self.folders[id as usize];
            what(folder);
            next = folder.parent;
        }
    }

    /// The folders that matter, none within another, the one with the most time first.
    pub(crate) fn that_matter(&self) -> Vec<FolderId> {
        let time = |id: FolderId| self.get(id).all.once().high as f64;
        let least = (time(0) * MATTERS).max(1.0);
        let mut chosen: Vec<Vec<FolderId>> = vec![Vec::new(); self.folders.len()];
        // A folder comes after the one that it is in.
        for id in self.ids().rev() {
            if time(id) < least {
                continue;
            }
            let below = std::mem::take(&mut chosen[id as usize]);
            let below_time: f64 = below.iter().map(|id| time(*id)).sum();
            let own = if below_time >= time(id) * STANDS_FOR { below } else { vec![id] };
            match self.get(id).parent {
                Some(parent) => chosen[parent as usize].extend(own),
                None => chosen[0] = own,
            }
        }
        let mut chosen = std::mem::take(&mut chosen[0]);
        chosen.sort_by_key(|id| std::cmp::Reverse(self.get(*id).all.once().high));
        chosen
    }
}

/// The folder that a path is in; of one that is relative, the folder that nobody knows.
pub(crate) fn above(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) | None => b"/",
        Some(at) => &path[..at],
    }
}

/// Whether a path is a folder, or somewhere in it.
pub(crate) fn is_in(path: &[u8], folder: &[u8]) -> bool {
    let is_inner = |rest: &[u8]| matches!(rest, [] | [b'/', ..]);
    folder == b"/" || path.strip_prefix(folder).is_some_and(is_inner)
}

/// A path as text. What is no UTF-8 is replaced.
pub(crate) fn text(path: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(path.as_ref()).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::bill::range::RangeNs;

    /// Folders in which so much time was spent, one after the other.
    fn spent(times: &[(&str, u64)]) -> Folders {
        let mut folders = Folders::default();
        let mut now = 0;
        for (path, ns) in times {
            let id = folders.of(path.as_bytes());
            let took = RangeNs { low: *ns, high: *ns };
            folders.each_above(id, |folder| folder.all.cover(now, took, false));
            now += ns;
        }
        folders
    }

    fn chosen(times: &[(&str, u64)]) -> Vec<String> {
        let folders = spent(times);
        let name = |id: FolderId| String::from_utf8(folders.get(id).path.clone()).unwrap();
        folders.that_matter().into_iter().map(name).collect()
    }

    #[test]
    fn the_deepest_folders_with_nearly_all_of_the_time_matter() {
        let deep = [("/srv/app/data", 80), ("/srv/app/data/old", 10), ("/usr/lib", 10)];
        assert_eq!(chosen(&deep), ["/srv/app/data", "/usr/lib"]);
        // Two that have nearly all of the one they are in, and one that does not matter.
        let two = [("/srv/a", 50), ("/srv/b", 40), ("/srv", 9), ("/etc", 1)];
        assert_eq!(chosen(&two), ["/srv/a", "/srv/b"]);
        // One in which as much is done as below it is named itself.
        assert_eq!(chosen(&[("/srv", 50), ("/srv/a", 50)]), ["/srv"]);
        assert_eq!(chosen(&[("/", 100)]), ["/"]);
        assert!(chosen(&[]).is_empty());
    }

    #[test]
    fn a_folder_has_all_below_it_and_too_many_are_counted_above() {
        let folders = spent(&[("/a/b/c", 5), ("/a", 2)]);
        assert_eq!([0, 1].map(|id| folders.get(id).all.once().high), [7, 7]);
        let mut folders = Folders::default();
        for number in 0..2 * FOLDERS_MAX {
            folders.of(format!("/many/{number}").as_bytes());
        }
        assert_eq!(folders.folders.len(), FOLDERS_MAX);
        let more = folders.of(b"/many/new/deep");
        assert_eq!(folders.get(more).path, b"/many");
    }

    #[test]
    fn above_is_what_a_path_is_in() {
        let in_each = [("/a/b", "/a"), ("/a", "/"), ("/", "/"), ("a/b", "a"), ("a", "/")];
        for (path, expected) in in_each {
            assert_eq!(above(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }
}
