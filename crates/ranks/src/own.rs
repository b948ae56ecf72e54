//! Places that each machine has its own of: where the folders of ranks are there.

use std::path::{Path, PathBuf};

/// The folders of all ranks in such a place.
pub(crate) struct OwnFolders {
    /// That of rank 0, which every path that it knows is below.
    pub(crate) of_leader: PathBuf,
    /// Those of the others, by rank from 1 on.
    pub(crate) of_others: Vec<PathBuf>,
}

impl OwnFolders {
    /// Whether a folder of rank 0's is in this place.
    pub(crate) fn have(&self, folder: &str) -> bool {
        Path::new(folder).starts_with(&self.of_leader)
    }

    /// What stands for it on another rank; nothing for one that is elsewhere.
    pub(crate) fn standing_for(&self, folder: &str, rank: usize) -> Option<String> {
        let below = Path::new(folder).strip_prefix(&self.of_leader).ok()?;
        let others = self.of_others.get(rank.checked_sub(1)?)?;
        others.join(below).into_os_string().into_string().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_rank_0_stands_for_one_of_each_other_rank() {
        let others = ["/var/b", "/var/c"];
        let own = OwnFolders {
            of_leader: PathBuf::from("/var/a"),
            of_others: others.map(PathBuf::from).into(),
        };
        let at = |rank| own.standing_for("/var/a/slice-1", rank);
        assert_eq!((at(0), at(1).as_deref()), (None, Some("/var/b/slice-1")));
        assert_eq!((at(2).as_deref(), at(3)), (Some("/var/c/slice-1"), None));
        assert!(own.have("/var/a/slice-1") && !own.have("/var/ab/slice-1"));
        assert_eq!(own.standing_for("/var/ab/slice-1", 1), None);
    }
}
