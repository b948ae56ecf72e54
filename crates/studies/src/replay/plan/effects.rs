//! What the calls of a trace change and give away: which files are there, how long they are,
//! and what is open.

use trace::{FileKind, Op, Place};

use super::make::{Open, PlanBuilder};
use super::program::Act;
use super::recording::{EventKind, Recorded};

const O_CREAT: u64 = libc::O_CREAT as u64;
const O_EXCL: u64 = libc::O_EXCL as u64;
const O_TRUNC: u64 = libc::O_TRUNC as u64;
const O_DIRECTORY: u64 = libc::O_DIRECTORY as u64;
const O_TMPFILE: u64 = libc::O_TMPFILE as u64;
/// `RENAME_EXCHANGE` of renameat2(2).
const RENAME_EXCHANGE: u64 = 2;

impl PlanBuilder<'_> {
    /// A call has ended, of which this would be replayed; what is.
    pub(super) fn take_effect(
        &mut self,
        recorded: &Recorded,
        act: Option<Act>,
        event: EventKind,
    ) -> Option<Act> {
        let call = &recorded.call;
        if call.failed() {
            self.give_away(recorded);
            return act;
        }
        if let Some(act) = act {
            self.count(act, call.result as u64);
        }
        match call.op {
            Op::Open => return act.map(|act| self.opened(recorded, act)),
            Op::Close => return act.filter(|_| self.closes(recorded, event)),
            Op::Read | Op::Write | Op::Seek | Op::Truncate | Op::Allocate | Op::Getdents => {
                self.contents(recorded);
            }
            Op::Sendfile | Op::CopyRange | Op::Splice => self.copied(recorded),
            Op::Rename | Op::Link | Op::Symlink => return self.moved(recorded, act),
            _ => self.name(recorded),
        }
        act
    }

    fn count(&mut self, act: Act, result: u64) {
        let facts = &mut self.facts;
        let (written, made) = match act {
            Act::Write { .. } | Act::Copy { .. } => (result, 0),
            Act::Allocate { length, .. } | Act::Truncate { length, .. } => (length, 0),
            Act::Open { flags, .. } if u64::from(flags) & O_CREAT != 0 => (0, 1),
            Act::Mkdir { .. } | Act::Mknod { .. } | Act::Link { .. } | Act::Symlink { .. } => {
                (0, 1)
            }
            _ => (0, 0),
        };
        facts.written_bytes = facts.written_bytes.saturating_add(written);
        facts.made += made;
    }

    /// Whether a close ends an open file, rather than one of its descriptors.
    fn closes(&mut self, recorded: &Recorded, event: EventKind) -> bool {
        let Some(number) = recorded.file else { return false };
        let is_last = self.recording.closed.contains_key(&event);
        if is_last {
            self.open.remove(&number);
            self.forget(number);
        }
        is_last
    }

    fn opened(&mut self, recorded: &Recorded, act: Act) -> Act {
        let (Act::Open { path, flags, mode, .. }, Some(number), Some(id)) =
            (act, recorded.made, recorded.path)
        else {
            return act;
        };
        let slot = self.new_slot();
        let inside = self.inside(id).unwrap_or_default();
        let file = self.file_opened(recorded, &inside);
        self.open.insert(number, Open { slot, file, path });
        Act::Open { path, slot, flags, mode }
    }

    /// The file that was opened; none of a folder.
    fn file_opened(&mut self, recorded: &Recorded, path: &[u8]) -> Option<usize> {
        let has = |flag: u64| recorded.call.flags & flag == flag;
        let kind = recorded.path.and_then(|path| self.recording.kind(path));
        let before = &mut self.before;
        let file = if has(O_TMPFILE) {
            before.folder_exists(path);
            before.nameless_made()
        } else if has(O_DIRECTORY) || kind == Some(FileKind::Folder) || before.is_folder(path) {
            before.folder_exists(path);
            return None;
        } else if has(O_CREAT | O_EXCL) {
            before.file_made(path)
        } else if has(O_CREAT) {
            before.file_exists_or_made(path)
        } else {
            before.file_exists(path)
        };
        if has(O_TRUNC) {
            before.file(file).size.cut(0);
        }
        Some(file)
    }

    /// What reading, writing and moving tell of a file's size.
    fn contents(&mut self, recorded: &Recorded) {
        let call = &recorded.call;
        if let (Op::Truncate, Some(path)) = (call.op, recorded.path) {
            if let Some(path) = self.inside(path) {
                let file = self.before.file_exists(&path);
                self.before.file(file).size.cut(call.length);
            }
            return;
        }
        let Some(open) = recorded.file.and_then(|file| self.open.get_mut(&file)) else { return };
        if call.op == Op::Getdents {
            open.file = None;
            let path = open.path;
            let path = self.path(path).to_vec();
            self.before.folder_exists(&path);
            return;
        }
        let Some(file) = open.file else { return };
        let size = &mut self.before.file(file).size;
        let bytes = call.result as u64;
        match (call.op, recorded.place) {
            (Op::Read, Place::At(at)) => size.read(at, bytes, call.length),
            (Op::Write, Place::At(at)) => size.written(at, bytes),
            (Op::Write, Place::End) => size.appended(bytes),
            (Op::Seek, _) if call.flags == libc::SEEK_END as u64 => {
                size.is(bytes.saturating_add_signed(call.offset.saturating_neg()));
            }
            (Op::Truncate, _) => size.cut(call.length),
            // Any other mode leaves the length as it is.
            (Op::Allocate, _) if call.flags == 0 => {
                size.written(call.offset.max(0) as u64, call.length);
            }
            _ => {}
        }
    }

    fn copied(&mut self, recorded: &Recorded) {
        let bytes = recorded.call.result as u64;
        let file = |number: Option<u32>| self.open.get(&number?)?.file;
        let (from, to) = (file(recorded.file), file(recorded.other));
        if let (Some(from), Place::At(at)) = (from, recorded.place) {
            self.before.file(from).size.read(at, bytes, bytes);
        }
        if let Some(to) = to {
            self.before.file(to).size.appended(bytes);
        }
    }

    /// A call on a name has succeeded.
    fn name(&mut self, recorded: &Recorded) {
        let Some(id) = recorded.path else { return };
        let Some(path) = self.inside(id) else { return };
        let before = &mut self.before;
        match recorded.call.op {
            Op::Mkdir => before.folder_made(&path),
            Op::Mknod => _ = before.file_made(&path),
            Op::Rmdir => before.removed(&path, true),
            Op::Unlink => before.removed(&path, false),
            Op::Readlink => {
                let bytes = recorded.call.result.clamp(1, 255) as usize;
                before.link_exists(&path, vec![b'x'; bytes]);
            }
            _ => match self.recording.kind(id) {
                Some(FileKind::Folder) => before.folder_exists(&path),
                _ if path.is_empty() => {}
                _ => before.something_exists(&path),
            },
        }
    }

    /// A file has another name, or one more. What comes from elsewhere or goes there is not
    /// moved: it was here before, or is removed.
    fn moved(&mut self, recorded: &Recorded, act: Option<Act>) -> Option<Act> {
        let call = &recorded.call;
        let at = recorded.to.and_then(|to| self.inside(to));
        if call.op == Op::Symlink {
            if let Some(at) = at {
                self.before.link_made(&at);
            }
            return act;
        }
        let from = recorded.path.and_then(|path| self.inside(path));
        match (from, at) {
            (Some(from), Some(at)) if call.op == Op::Rename => {
                self.before.renamed(&from, &at, call.flags & RENAME_EXCHANGE != 0);
                act
            }
            (Some(from), Some(at)) => {
                self.before.linked(&from, &at);
                act
            }
            (Some(from), None) if call.op == Op::Rename => {
                self.before.removed(&from, false);
                Some(Act::Unlink { path: self.path_number(&from) })
            }
            (None, Some(at)) => {
                self.before.something_exists(&at);
                None
            }
            _ => None,
        }
    }

    /// What follows from a call that failed.
    fn give_away(&mut self, recorded: &Recorded) {
        let Recorded { call, path, to, .. } = recorded;
        let takes_two = matches!(call.op, Op::Rename | Op::Link | Op::Symlink);
        let error = -call.result as i32;
        let about = if error == libc::EEXIST && takes_two { to } else { path };
        let Some(path) = about.and_then(|path| self.inside(path)) else { return };
        if path.is_empty() {
            return;
        }
        // What makes a name finds nothing where the folder is missing.
        let makes = takes_two || call.op == Op::Mkdir || call.flags & O_CREAT != 0;
        match error {
            libc::ENOENT if !makes => self.before.nothing_exists(&path),
            libc::EEXIST if call.op == Op::Mkdir => self.before.folder_exists(&path),
            libc::EEXIST => self.before.something_exists(&path),
            libc::EINVAL if call.op == Op::Readlink => self.before.something_exists(&path),
            libc::EISDIR | libc::ENOTEMPTY => self.before.folder_exists(&path),
            _ => {}
        }
    }

    /// Opens what was open before the recording.
    pub(super) fn open_inherited(&mut self) {
        let recording = self.recording;
        let mut all: Vec<_> = recording.inherited.iter().collect();
        all.sort_unstable_by_key(|(number, _)| **number);
        for (number, was) in all {
            let kind = recording.kind(was.path);
            if !matches!(kind, None | Some(FileKind::Regular | FileKind::Folder)) {
                continue;
            }
            let Some(inside) = self.inside(was.path) else { continue };
            let (slot, path) = (self.new_slot(), self.path_number(&inside));
            let is_folder = was.flags & O_DIRECTORY != 0 || kind == Some(FileKind::Folder);
            let file = if is_folder {
                self.before.folder_exists(&inside);
                None
            } else {
                Some(self.before.file_exists(&inside))
            };
            self.open.insert(*number, Open { slot, file, path });
            let flags = (was.flags & !(O_CREAT | O_EXCL | O_TRUNC)) as u32;
            self.opened.push(Act::Open { path, slot, flags, mode: 0 });
            if was.position > 0 {
                let offset = was.position.min(i64::MAX as u64) as i64;
                self.opened.push(Act::Seek { slot, whence: libc::SEEK_SET as u8, offset });
            }
        }
    }
}
