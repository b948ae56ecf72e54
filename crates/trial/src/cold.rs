//! Gets the files that a command uses out of memory.

use std::path::PathBuf;

use host::page_cache::{evict, resident_bytes};
use rustix::fs::{Advice, CWD, FileType, Mode, OFlags, fadvise, fstat, openat};

/// How much of the files was in memory, and how much stayed: what others have mapped stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evicted {
    pub(crate) before_bytes: u64,
    pub(crate) after_bytes: u64,
}

/// Evicts files: those of ours are written out first.
pub(crate) fn chill(files: &[(PathBuf, bool)]) -> Evicted {
    let mut evicted = Evicted::default();
    for (path, is_ours) in files {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(file) = openat(CWD, path, flags, Mode::empty()) else { continue };
        let is_file = fstat(&file)
            .is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile);
        if !is_file {
            continue;
        }
        evicted.before_bytes += resident_bytes(&file).unwrap_or(0);
        let _ = if *is_ours {
            evict(&file)
        } else {
            fadvise(&file, 0, None, Advice::DontNeed).map_err(Into::into)
        };
        evicted.after_bytes += resident_bytes(&file).unwrap_or(0);
    }
    evicted
}
