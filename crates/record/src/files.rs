//! Looks at files soon after a program used them.
//!
//! It looks at each path once, and through the program's root if there may be other mounts.
//! What was made since the recording began was missing when it began: a replay must not make it
//! first.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, statx};
use rustix::io::Errno;
use trace::{Call, FileKind, Op};

/// So many paths are remembered; then all are forgotten, and looked at again.
const KNOWN_MAX: usize = 200_000;
/// A chain of links is followed as far as this.
const LINKS_MAX: usize = 8;
/// Files that the kernel makes up when they are read.
const KERNELS: [&str; 2] = ["/proc", "/sys"];

/// Which paths have been looked at.
#[derive(Default)]
pub(crate) struct Files(HashSet<Arc<[u8]>>);

/// What was found at a path.
#[derive(Debug)]
pub(crate) struct ResolvedPath {
    pub(crate) path: PathBuf,
    pub(crate) kind: FileKind,
    pub(crate) facts: Option<Statx>,
    /// What a link says.
    pub(crate) target: Option<PathBuf>,
}

impl Files {
    /// Whether the path that a call used is to be looked at.
    pub(crate) fn is_new(&mut self, call: &Call, path: &Arc<[u8]>) -> bool {
        let uses = matches!(
            call.op,
            Op::Open | Op::Stat | Op::Access | Op::Readlink | Op::Truncate | Op::Statfs | Op::Chdir
        );
        if !uses || call.failed() || !path.starts_with(b"/") || self.0.contains(path) {
            return false;
        }
        if self.0.len() >= KNOWN_MAX {
            self.0.clear();
        }
        self.0.insert(Arc::clone(path))
    }
}

/// Looks at an absolute path, through the root of a thread if there is one, and at what it leads to
/// where it is a link. Files that were made since `began`, in seconds and nanoseconds, are missing.
pub(crate) fn look(thread: Option<u32>, path: &[u8], began: (i64, u32)) -> Vec<ResolvedPath> {
    let mut all = Vec::new();
    let mut next = Some(PathBuf::from(OsStr::from_bytes(path)));
    while let Some(path) = next.take().filter(|_| all.len() < LINKS_MAX) {
        let Some(found) = look_at(thread, path, began) else { break };
        next = found.target.as_ref().and_then(|target| Some(found.path.parent()?.join(target)));
        all.push(found);
    }
    all
}

fn look_at(thread: Option<u32>, path: PathBuf, began: (i64, u32)) -> Option<ResolvedPath> {
    let missing =
        |path| Some(ResolvedPath { path, kind: FileKind::Missing, facts: None, target: None });
    let theirs = thread.and_then(|thread| through_root(thread, &path));
    let facts = match theirs.map_or_else(|| facts_of(&path), Ok) {
        Ok(facts) => facts,
        Err(Errno::NOENT | Errno::NOTDIR) => return missing(path),
        Err(_) => return None,
    };
    let knows_birth = facts.stx_mask & StatxFlags::BTIME.bits() != 0;
    let birth = (facts.stx_btime.tv_sec, facts.stx_btime.tv_nsec);
    let is_kernels = KERNELS.iter().any(|folder| path.starts_with(folder));
    if knows_birth && birth >= began && !is_kernels {
        return missing(path);
    }
    let kind = match kind_of(FileType::from_raw_mode(facts.stx_mode.into())) {
        FileKind::Regular if is_kernels => FileKind::Other,
        kind => kind,
    };
    let target = (kind == FileKind::Link).then(|| fs::read_link(&path).ok()).flatten();
    Some(ResolvedPath { path, kind, facts: Some(facts), target })
}

/// The facts of a path in a thread's root; none if the thread has ended, or may not be read.
fn through_root(thread: u32, path: &Path) -> Option<Statx> {
    let root = Path::new("/proc").join(thread.to_string()).join("root");
    // After chroot(2), paths are the host's already.
    if fs::read_link(&root).is_ok_and(|root| root != Path::new("/")) {
        return None;
    }
    facts_of(&root.join(path.strip_prefix("/").unwrap_or(path))).ok()
}

fn facts_of(path: &Path) -> Result<Statx, Errno> {
    let mask = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, mask)
}

fn kind_of(kind: FileType) -> FileKind {
    match kind {
        FileType::RegularFile => FileKind::Regular,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        FileType::Fifo => FileKind::Pipe,
        FileType::Socket => FileKind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => FileKind::Device,
        FileType::Unknown => FileKind::Other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::symlink;

    use trace::Call;

    use super::*;

    const LONG_AFTER: (i64, u32) = (i64::MAX, 0);

    fn found(path: &Path, began: (i64, u32)) -> Vec<ResolvedPath> {
        let of = |thread| look(thread, path.as_os_str().as_bytes(), began);
        let all = of(None);
        let kinds = |all: &[ResolvedPath]| all.iter().map(|found| found.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&all), kinds(&of(Some(std::process::id()))));
        all
    }

    #[test]
    fn a_path_is_new_once_and_only_where_a_call_found_it() {
        let mut files = Files::default();
        let open = Call::new(1, Op::Open);
        let [a, b, relative]: [Arc<[u8]>; 3] = [&b"/a"[..], b"/b", b"c"].map(Arc::from);
        assert!(files.is_new(&open, &a));
        assert!(!files.is_new(&open, &a));
        assert!(!files.is_new(&Call { result: -2, ..open }, &b));
        assert!(!files.is_new(&Call::new(1, Op::Unlink), &b));
        assert!(!files.is_new(&open, &relative));
    }

    #[test]
    fn links_lead_on_and_what_is_new_was_missing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"12345").unwrap();
        let link = folder.path().join("link");
        symlink("file", &link).unwrap();
        let both = found(&link, LONG_AFTER);
        let kinds: Vec<_> = both.iter().map(|found| found.kind).collect();
        assert_eq!(kinds, [FileKind::Link, FileKind::Regular]);
        assert_eq!(both[1].path, file);
        assert_eq!(both[1].facts.unwrap().stx_size, 5);
        let new = &found(&file, (0, 0))[0];
        let knows_birth = new.kind == FileKind::Missing;
        assert!(knows_birth || new.facts.unwrap().stx_mask & StatxFlags::BTIME.bits() == 0);
        assert_eq!(found(&folder.path().join("nothing"), LONG_AFTER)[0].kind, FileKind::Missing);
        assert_eq!(found(Path::new("/proc/self/status"), (0, 0))[0].kind, FileKind::Other);
        symlink("loop", folder.path().join("loop")).unwrap();
        assert_eq!(found(&folder.path().join("loop"), LONG_AFTER).len(), LINKS_MAX);
    }
}
