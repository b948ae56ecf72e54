//! What is to fail: which call on what, how, and when.

use super::calls::Fault;
use super::object::TO_LOOK;

/// A call, and what it is done to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The call's name.
    pub call: String,
    /// In general words: `place/work/slice-#/app.log`.
    pub object: String,
}

impl Site {
    /// Whether that is something that a study does to the files of its slices, as its
    /// strategy would have it: folders are made and removed by the same code for all.
    pub fn is_slices_own(&self) -> bool {
        let looks = ["cachestat", "newfstatat", "fstat", "unlinkat", "openat2"];
        let folders = ["place/work/slice-#/", "place/work/arm-#/"];
        let within = folders.iter().find_map(|folder| self.object.strip_prefix(folder));
        within.is_some_and(|file| file != "floor" && !file.ends_with(TO_LOOK))
            && !looks.contains(&&*self.call)
    }

    /// Whether that starts, ends or talks to a process of the run, as far as can be seen.
    pub fn is_between_processes(&self) -> bool {
        ["pipe", "socket", "anon_inode", ""].contains(&&*self.object)
            || self.object.starts_with("/memfd:")
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.call, self.object)
    }
}

/// Which of a site's calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum When {
    /// One of them, counted from 1.
    Nth(u64),
    /// That one and all after it.
    From(u64),
}

impl When {
    pub(super) fn has(self, number: u64) -> bool {
        match self {
            Self::Nth(nth) => number == nth,
            Self::From(first) => number >= first,
        }
    }
}

impl std::fmt::Display for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nth(nth) => write!(f, "#{nth}"),
            Self::From(first) => write!(f, "#{first} on"),
        }
    }
}

/// What is to fail, how and when.
#[derive(Clone, Debug)]
pub struct Injection {
    /// What fails.
    pub site: Site,
    /// How.
    pub fault: Fault,
    /// When.
    pub when: When,
}
