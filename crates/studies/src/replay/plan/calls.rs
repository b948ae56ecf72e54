//! What is replayed of each call, and what it meets other threads at.

use trace::{FileKind, Op, Place};

use super::make::{Open, PlanBuilder, Planned};
use super::order::{Object, Use};
use super::paths::{harmless_target, parent};
use super::program::{Act, LockKind, Slot, Synced, Target};
use super::recording::{OpenNumber, Recorded};

const O_CREAT: u64 = libc::O_CREAT as u64;
const O_TRUNC: u64 = libc::O_TRUNC as u64;
/// That of an open that has not succeeded yet, or did not.
const NO_SLOT: Slot = Slot::MAX;
/// Errors from here on are the kernel's own affair: it will call again.
const RESTARTS: i64 = -512;

impl PlanBuilder<'_> {
    /// What is replayed of a call that begins.
    pub(super) fn planned(&mut self, recorded: &Recorded) -> Planned {
        let call = &recorded.call;
        let interrupted = call.result == -i64::from(libc::EINTR);
        if interrupted || call.result <= RESTARTS {
            return Planned::default();
        }
        let planned = match call.op {
            Op::Open => self.plan_open(recorded),
            Op::Rename | Op::Link | Op::Symlink => self.by_paths(recorded),
            Op::Lock | Op::Flock => self.lock(recorded),
            Op::Sendfile | Op::CopyRange | Op::Splice => self.copy(recorded),
            _ if recorded.path.is_some() => self.by_path(recorded),
            _ => self.by_descriptor(recorded),
        };
        planned.unwrap_or_default()
    }

    fn plan_open(&mut self, Recorded { call, path, .. }: &Recorded) -> Option<Planned> {
        let recorded = (*path)?;
        let special = [FileKind::Pipe, FileKind::Socket, FileKind::Device, FileKind::Other];
        if self.recording.kind(recorded).is_some_and(|kind| special.contains(&kind)) {
            return None;
        }
        let path = self.inside(recorded)?;
        let number = self.path_number(&path);
        let makes = call.flags & O_CREAT != 0 && !self.before.is_there(&path);
        let mut uses = Vec::new();
        self.use_name(&mut uses, &path, if makes { Use::Alone } else { Use::Shared });
        if makes {
            self.use_names_beside(&mut uses, &path);
        }
        if call.flags & O_TRUNC != 0
            && let Some(file) = self.before.file_at(&path)
        {
            uses.push((Object::Contents(file), Use::Alone));
        }
        let (flags, mode) = (call.flags as u32, (call.mode & 0o777) as u16);
        let act = Act::Open { path: number, slot: NO_SLOT, flags, mode };
        Some(Planned { act: Some(act), uses, after: Vec::new() })
    }

    fn by_path(&mut self, Recorded { call, path, .. }: &Recorded) -> Option<Planned> {
        let text = self.inside((*path)?)?;
        let path = self.path_number(&text);
        let target = Target::At(path);
        let mode = (call.mode & 0o777) as u16;
        let (act, how) = match call.op {
            Op::Truncate => (Act::Truncate { target, length: call.length }, Use::Shared),
            Op::Stat => {
                let follow = call.flags & libc::AT_SYMLINK_NOFOLLOW as u64 == 0;
                (Act::Stat { target, follow }, Use::Shared)
            }
            Op::Access => (Act::Access { path, mode: (call.mode & 7) as u8 }, Use::Shared),
            Op::Readlink => (Act::Readlink { path, length: length_of(call) }, Use::Shared),
            Op::Chmod => (Act::Chmod { target, mode }, Use::Shared),
            Op::Chown => (Act::Chown { target }, Use::Shared),
            Op::Utime => (Act::Utime { target }, Use::Shared),
            Op::Mkdir => (Act::Mkdir { path, mode }, Use::Alone),
            Op::Mknod => {
                let is_file = matches!(call.mode & libc::S_IFMT, 0 | libc::S_IFREG);
                (is_file.then_some(Act::Mknod { path, mode })?, Use::Alone)
            }
            Op::Rmdir => (Act::Rmdir { path }, Use::Alone),
            Op::Unlink => (Act::Unlink { path }, Use::Alone),
            _ => return None,
        };
        let mut uses = Vec::new();
        self.use_name(&mut uses, &text, how);
        if how == Use::Alone {
            self.use_names_beside(&mut uses, &text);
        }
        if call.op == Op::Rmdir && self.is_ordered {
            uses.push((Object::Names(path), Use::Alone));
        }
        if call.op == Op::Truncate
            && let Some(file) = self.before.file_at(&text)
        {
            uses.push((Object::Contents(file), Use::Alone));
        }
        Some(Planned { act: Some(act), uses, after: Vec::new() })
    }

    fn by_paths(&mut self, Recorded { call, path, to, .. }: &Recorded) -> Option<Planned> {
        let (path, to) = ((*path)?, (*to)?);
        let at = self.inside(to)?;
        let (act, names) = if call.op == Op::Symlink {
            let says = harmless_target(self.recording.path(path));
            let says = self.path_number(&says);
            (Act::Symlink { says, at: self.path_number(&at) }, vec![at])
        } else {
            let from = self.inside(path)?;
            let (path, to) = (self.path_number(&from), self.path_number(&at));
            let rename = Act::Rename { path, to, flags: call.flags as u32 };
            let act = if call.op == Op::Rename { rename } else { Act::Link { path, to } };
            (act, vec![from, at])
        };
        let mut uses = Vec::new();
        for name in &names {
            self.use_name(&mut uses, name, Use::Alone);
            self.use_names_beside(&mut uses, name);
        }
        Some(Planned { act: Some(act), uses, after: Vec::new() })
    }

    fn by_descriptor(&mut self, recorded: &Recorded) -> Option<Planned> {
        let (number, open) = self.open_file(recorded.file)?;
        let (act, contents) = self.act_on(recorded, open)?;
        let mut uses = Vec::new();
        if self.is_ordered {
            let call = &recorded.call;
            let is_here = matches!(call.op, Op::Read | Op::Write) && call.offset < 0;
            let moves = (is_here && recorded.place != Place::End)
                || matches!(call.op, Op::Seek | Op::Getdents);
            let how = if call.op == Op::Close { Use::Alone } else { Use::Shared };
            uses.push((Object::Open(number), how));
            if moves {
                uses.push((Object::Position(number), Use::Alone));
            }
            if let (Some(how), Some(file)) = (contents, open.file) {
                uses.push((Object::Contents(file), how));
            }
            if call.op == Op::Getdents {
                uses.push((Object::Names(open.path), Use::Shared));
            }
        }
        Some(Planned { act: Some(act), uses, after: Vec::new() })
    }

    /// What a call does to an open file, and how it uses the contents.
    fn act_on(&self, recorded: &Recorded, open: Open) -> Option<(Act, Option<Use>)> {
        let Recorded { call, other, .. } = recorded;
        let Open { slot, file, .. } = open;
        let (offset, length) = (call.offset, length_of(call));
        let target = Target::Held(slot);
        Some(match call.op {
            Op::Close => (Act::Close { slot }, None),
            Op::Read => (Act::Read { slot, length, offset }, Some(Use::Shared)),
            Op::Write => {
                let file = file? as u32;
                (Act::Write { slot, length, offset, file, fill: 0 }, Some(Use::Changing))
            }
            Op::Seek => {
                let how = (call.flags == libc::SEEK_END as u64).then_some(Use::Shared);
                (Act::Seek { slot, whence: call.flags as u8, offset }, how)
            }
            Op::Fsync => (Act::Sync { slot, what: Synced::All }, Some(Use::Shared)),
            Op::Fdatasync => (Act::Sync { slot, what: Synced::Data }, Some(Use::Shared)),
            Op::Syncfs => (Act::Sync { slot, what: Synced::FileSystem }, None),
            Op::SyncRange => {
                let (flags, length) = (call.flags as u32, call.length as i64);
                (Act::SyncRange { slot, flags, offset: offset.max(0), length }, Some(Use::Shared))
            }
            Op::Truncate => (Act::Truncate { target, length: call.length }, Some(Use::Alone)),
            Op::Allocate => {
                let (mode, offset) = (call.flags as u32, offset.max(0) as u64);
                let act = Act::Allocate { slot, mode, offset, length: call.length };
                (act, Some(Use::Alone))
            }
            Op::Advise => {
                let (advice, offset) = (call.flags as u8, offset.max(0) as u64);
                (Act::Advise { slot, advice, offset, length: call.length }, None)
            }
            Op::Stat => (Act::Stat { target, follow: true }, None),
            Op::Getdents => (Act::List { slot, length }, None),
            Op::Chmod => (Act::Chmod { target, mode: (call.mode & 0o777) as u16 }, None),
            Op::Chown => (Act::Chown { target }, None),
            Op::Utime => (Act::Utime { target }, None),
            Op::Ioctl if call.other >= 0 => {
                let (_, Open { slot: from, .. }) = self.open_file(*other)?;
                (Act::Clone { from, to: slot }, Some(Use::Alone))
            }
            _ => return None,
        })
    }

    fn lock(&mut self, Recorded { call, process, file, .. }: &Recorded) -> Option<Planned> {
        let (number, Open { slot, file, .. }) = self.open_file(*file)?;
        let act = if call.op == Op::Flock {
            Act::Flock { slot, operation: call.flags as u8 }
        } else {
            let own = matches!(call.flags as i32, libc::F_SETLK | libc::F_SETLKW);
            let waits = matches!(call.flags as i32, libc::F_SETLKW | libc::F_OFD_SETLKW);
            let sets = own || matches!(call.flags as i32, libc::F_OFD_SETLK | libc::F_OFD_SETLKW);
            // Other places to count from are as good as never used.
            if !sets || call.other != libc::SEEK_SET {
                return None;
            }
            let kind = match call.mode as i32 {
                libc::F_RDLCK => LockKind::Read,
                libc::F_WRLCK => LockKind::Write,
                _ => LockKind::Unlock,
            };
            self.lockers.insert(*process);
            let (offset, length) = (call.offset.max(0), call.length as i64);
            Act::Lock { slot, kind, own, waits, offset, length }
        };
        let mut uses = vec![(Object::Open(number), Use::Shared)];
        uses.extend(file.map(|file| (Object::Locks(file), Use::Alone)));
        Some(Planned { act: Some(act), uses, after: Vec::new() })
    }

    /// What goes to or comes from elsewhere is written or read.
    fn copy(&mut self, Recorded { call, file, other, .. }: &Recorded) -> Option<Planned> {
        let [from, to] = [file, other]
            .map(|number| self.open_file(*number).filter(|(_, open)| open.file.is_some()));
        let length = length_of(call);
        let act = match (from, to) {
            (Some((_, from)), Some((_, to))) => {
                let by_sendfile = call.op == Op::Sendfile;
                let (from, to, offset) = (from.slot, to.slot, call.offset);
                Act::Copy { from, to, length, offset, by_sendfile }
            }
            (Some((_, Open { slot, .. })), None) => Act::Read { slot, length, offset: call.offset },
            (None, Some((_, Open { slot, file, .. }))) => {
                let file = file? as u32;
                Act::Write { slot, length: call.result.max(0) as u32, offset: -1, file, fill: 0 }
            }
            (None, None) => return None,
        };
        let mut uses = Vec::new();
        for (open, how) in [(from, Use::Shared), (to, Use::Changing)] {
            let Some((number, open)) = open.filter(|_| self.is_ordered) else { continue };
            uses.push((Object::Open(number), Use::Shared));
            uses.push((Object::Position(number), Use::Alone));
            uses.extend(open.file.map(|file| (Object::Contents(file), how)));
        }
        Some(Planned { act: Some(act), uses, after: Vec::new() })
    }

    /// An open file, if it is below the folder.
    fn open_file(&self, number: Option<OpenNumber>) -> Option<(OpenNumber, Open)> {
        Some((number?, *self.open.get(&number?)?))
    }

    /// A path is used, and the folders above it are.
    fn use_name(&mut self, uses: &mut Vec<(Object, Use)>, path: &[u8], how: Use) {
        if !self.is_ordered {
            return;
        }
        uses.push((Object::Name(self.path_number(path)), how));
        let mut above = parent(path).map(<[u8]>::to_vec);
        while let Some(folder) = above.filter(|folder| !folder.is_empty()) {
            uses.push((Object::Name(self.path_number(&folder)), Use::Shared));
            above = parent(&folder).map(<[u8]>::to_vec);
        }
    }

    /// A name comes or goes in the folder that a path is in.
    fn use_names_beside(&mut self, uses: &mut Vec<(Object, Use)>, path: &[u8]) {
        if let Some(folder) = parent(path).filter(|_| self.is_ordered) {
            let folder = folder.to_vec();
            uses.push((Object::Names(self.path_number(&folder)), Use::Changing));
        }
    }
}

/// The bytes that a call asked for, of which the kernel takes no more than this at a time.
fn length_of(call: &trace::Call) -> u32 {
    call.length.min(0x7fff_f000) as u32
}
