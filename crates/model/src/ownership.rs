//! Whether root may work below a directory, or act on a file: who else could lead root's files
//! elsewhere, or have root do what they want.
//!
//! Whoever may rename a directory on the way to a place can put a link or a folder of
//! their own there, and what root then does by that path happens to somebody else's
//! files. A directory's owner may rename what is in it, and so may everyone who may
//! write to it, unless it is sticky, as `/tmp` is: then only the owners of it and of
//! what is in it may. So every directory from the place up to the root has to be root's,
//! and writable for root alone or sticky.
//!
//! Where a directory has an access control list, the bits of the group are its mask
//! (`acl(5)`): the most that any user or group named in it may do. For other users than
//! root no place is refused: they can lose no more than is theirs, and what they open
//! is opened relative to their own folder.
//!
//! The same rule decides which links, devices and FIFOs on the way to an output are used
//! ([`Trusted`]). There it serves every user: the trusted users are root and the one who
//! runs the program.

use std::path::PathBuf;

/// A directory on the way to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Where it is.
    pub path: PathBuf,
    /// Its owner.
    pub uid: u32,
    /// As `stat` gives it.
    pub mode: u32,
}

/// Why root does not work in a place.
#[derive(Debug, PartialEq, Eq)]
pub enum Objection {
    /// A directory that is somebody else's.
    OthersOwn {
        /// Which.
        directory: PathBuf,
        /// Whose.
        uid: u32,
    },
    /// A directory in which others may rename what is not theirs.
    OthersRename {
        /// Which.
        directory: PathBuf,
        /// Its mode's lowest twelve bits.
        mode: u32,
    },
}

const ROOT: u32 = 0;
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// The users whose directories and links are relied on: root, and the one who runs the
/// program.
#[derive(Clone, Copy, Debug)]
pub struct Trusted {
    /// The user who runs the program.
    pub user: u32,
    /// The number of owners that this user namespace does not know, if it has one: there,
    /// root is no more than the user who made the namespace, and those owners may be root.
    pub unmapped: Option<u32>,
}

/// The most that others may do to what is in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing: all in it was put there by trusted users.
    None,
    /// They may add entries, but cannot put one in the place of a trusted user's.
    Add,
    /// They may exchange any entry.
    Exchange,
}

impl Trusted {
    /// Whether a user is one of them.
    pub fn includes(&self, uid: u32) -> bool {
        uid == ROOT || uid == self.user || Some(uid) == self.unmapped
    }

    /// What all others may do to the entries of a directory with that owner and mode.
    ///
    /// In a shared directory that is not sticky, others may exchange entries. They still
    /// cannot make one that belongs to a trusted user, and other users than root lose no
    /// more than is theirs, so to them it is like a sticky one.
    pub fn access_of_others(&self, uid: u32, mode: u32) -> Access {
        if !self.includes(uid) {
            Access::Exchange
        } else if mode & OTHERS_WRITE == 0 {
            Access::None
        } else if mode & STICKY != 0 || self.user != ROOT {
            Access::Add
        } else {
            Access::Exchange
        }
    }

    /// The same of a directory within another. Who may exchange a directory chooses for root
    /// all that is below it.
    pub fn access_of_others_below(&self, above: Access, uid: u32, mode: u32) -> Access {
        let own = self.access_of_others(uid, mode);
        if self.user == ROOT && above == Access::Exchange { above } else { own }
    }
}

/// What root has to say against a place, given with the directories above it, the place
/// first; and the number of owners that this user namespace does not know, if it has one.
pub fn objection(way: &[Directory], unmapped: Option<u32>) -> Option<Objection> {
    let trusted = Trusted { user: ROOT, unmapped };
    way.iter().find_map(|Directory { path, uid, mode }| {
        let directory = path.clone();
        if !trusted.includes(*uid) {
            Some(Objection::OthersOwn { directory, uid: *uid })
        } else if trusted.access_of_others(*uid, *mode) == Access::Exchange {
            Some(Objection::OthersRename { directory, mode: mode & 0o7777 })
        } else {
            None
        }
    })
}

/// Whether somebody else than root may change a file by itself, in any folder: its
/// owner, or those who may write to it. In a sticky folder nobody else can put another there.
pub fn is_others(uid: u32, mode: u32, unmapped: Option<u32>) -> bool {
    let is_roots = uid == ROOT || Some(uid) == unmapped;
    !is_roots || mode & OTHERS_WRITE != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: u32 = 1000;
    const UNMAPPED: u32 = 65_534;

    /// The place first, then what is above it.
    fn objection_to(way: &[(&str, u32, u32)]) -> Option<Objection> {
        objection_in(None, way)
    }

    fn objection_in(unmapped: Option<u32>, way: &[(&str, u32, u32)]) -> Option<Objection> {
        let directory = |&(path, uid, mode): &(&str, u32, u32)| Directory {
            path: path.into(),
            uid,
            mode: 0o040_000 | mode,
        };
        objection(&way.iter().map(directory).collect::<Vec<_>>(), unmapped)
    }

    fn owned(directory: &str, uid: u32) -> Objection {
        Objection::OthersOwn { directory: directory.into(), uid }
    }

    fn renamed(directory: &str, mode: u32) -> Objection {
        Objection::OthersRename { directory: directory.into(), mode }
    }

    #[test]
    fn what_is_roots_all_the_way_is_fine() {
        assert_eq!(objection_to(&[("/var/lib/app", 0, 0o755), ("/", 0, 0o755)]), None);
        assert_eq!(objection_to(&[("/root", 0, 0o700), ("/", 0, 0o555)]), None);
        for sticky in [0o1777, 0o1775, 0o3777] {
            assert_eq!(objection_to(&[("/tmp", 0, sticky), ("/", 0, 0o755)]), None);
        }
    }

    #[test]
    fn a_directory_of_a_users_is_refused_and_so_is_all_below() {
        let home = ("/home/alice", ALICE, 0o700);
        assert_eq!(objection_to(&[home, ("/home", 0, 0o755)]), Some(owned("/home/alice", ALICE)));
        let within = ("/home/alice/data", 0, 0o755);
        assert_eq!(objection_to(&[within, home]), Some(owned("/home/alice", ALICE)));
    }

    #[test]
    fn a_sticky_directory_of_a_users_is_refused_for_its_owner_may_rename_all_in_it() {
        assert_eq!(objection_to(&[("/scratch", ALICE, 0o1777)]), Some(owned("/scratch", ALICE)));
    }

    #[test]
    fn what_a_group_or_everyone_may_write_to_is_refused_unless_it_is_sticky() {
        for mode in [0o775, 0o2775, 0o757, 0o777, 0o720] {
            let way = [("/srv/app", 0, 0o755), ("/srv", 0, mode), ("/", 0, 0o755)];
            assert_eq!(objection_to(&way), Some(renamed("/srv", mode)));
        }
    }

    #[test]
    fn a_file_is_others_where_they_own_it_or_may_write_to_it() {
        assert!(!is_others(0, 0o644, None) && !is_others(UNMAPPED, 0o600, Some(UNMAPPED)));
        assert!(is_others(ALICE, 0o600, None) && is_others(UNMAPPED, 0o600, None));
        // Of a file the sticky bit says nothing.
        assert!([0o664, 0o646, 0o1666].iter().all(|mode| is_others(0, *mode, None)));
    }

    #[test]
    fn unknown_owners_of_a_user_namespace_may_be_root_and_nobody_is_not() {
        let way = [("/data", UNMAPPED, 0o755), ("/", UNMAPPED, 0o755)];
        assert_eq!(objection_in(Some(UNMAPPED), &way), None);
        assert_eq!(objection_to(&way), Some(owned("/data", UNMAPPED)));
        let of_a_user = [("/data", ALICE, 0o755), ("/", UNMAPPED, 0o755)];
        assert_eq!(objection_in(Some(UNMAPPED), &of_a_user), Some(owned("/data", ALICE)));
    }

    #[test]
    fn what_others_may_do_in_a_directory_depends_on_who_asks() {
        const BOB: u32 = 1001;
        let root = Trusted { user: ROOT, unmapped: None };
        let alice = Trusted { user: ALICE, unmapped: None };
        for (uid, mode, of_root, of_alice) in [
            (ROOT, 0o755, Access::None, Access::None),
            (ROOT, 0o1777, Access::Add, Access::Add),
            (ROOT, 0o2775, Access::Exchange, Access::Add),
            (ALICE, 0o700, Access::Exchange, Access::None),
            (ALICE, 0o775, Access::Exchange, Access::Add),
            (BOB, 0o755, Access::Exchange, Access::Exchange),
            (BOB, 0o1777, Access::Exchange, Access::Exchange),
        ] {
            assert_eq!(root.access_of_others(uid, mode), of_root, "root: {uid} {mode:o}");
            assert_eq!(alice.access_of_others(uid, mode), of_alice, "alice: {uid} {mode:o}");
        }
        let below =
            |trusted: Trusted| trusted.access_of_others_below(Access::Exchange, ROOT, 0o755);
        assert_eq!((below(root), below(alice)), (Access::Exchange, Access::None));
        assert!(alice.includes(ROOT) && !alice.includes(BOB) && !root.includes(ALICE));
        assert!(Trusted { user: ROOT, unmapped: Some(UNMAPPED) }.includes(UNMAPPED));
    }
}
