//! Following descriptors: which file each call acted on, and where in it.
//!
//! The tables of descriptors of all processes are kept as their calls change them: open and
//! dup, pipe and socket, close, fork and exec, with threads that share a table. What a trace
//! does not tell stays unknown, such as a descriptor that came through a socket.

mod absolute;
mod open_file;
mod tables;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use self::absolute::absolute;
use self::open_file::Description;
pub use self::open_file::{OpenFile, OpenKind, Place};
use self::tables::{Slot, TableId, Tables};
use crate::call::{Call, HERE, NO_FD, PathId, ROOT_FOLDER, WORKING_FOLDER};
use crate::coder::told;
use crate::entry::Entry;
use crate::flags::{
    CLONE_FILES, CLONE_FS, CLOSE_RANGE_CLOEXEC, CLOSE_RANGE_UNSHARE, EBADF, F_DUPFD,
    F_DUPFD_CLOEXEC, F_SETFD, F_SETFL, FD_CLOEXEC, FIOCLEX, FIONCLEX, O_CLOEXEC,
};
use crate::op::Op;
use crate::paths::Paths;

/// How many threads are followed at a time.
const THREADS_MAX: usize = 1 << 20;

/// What a call acted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The process of the thread that called.
    pub process: u32,
    /// What its descriptor stood for when it began; none where it has none, or where it is not
    /// known.
    pub file: Option<Arc<OpenFile>>,
    /// What its second descriptor stood for.
    pub other: Option<Arc<OpenFile>>,
    /// What it made: the open file of an open, both ends of a pipe. A duplicate makes nothing.
    pub made: [Option<Arc<OpenFile>>; 2],
    /// Its path, made absolute where the folder is known that it is relative to.
    pub path: Option<Arc<[u8]>>,
    /// Its second path.
    pub to: Option<Arc<[u8]>>,
    /// The path that the call is about: the one that it names, or that of the file that it acts
    /// on. Of a symbolic link it is the link's own.
    pub about: Option<Arc<[u8]>>,
    /// Where in `file` it read or wrote.
    pub place: Place,
}

struct Thread {
    process: u32,
    table: TableId,
    /// The working folder, which threads share.
    folder: Folder,
    /// Where its absolute paths begin, after chroot(2); the same threads share it.
    root: Folder,
}

type Folder = Rc<RefCell<Option<Arc<[u8]>>>>;

/// Follows a trace, entry by entry, from its first one.
///
/// Its memory is bounded by what is open at a time: beyond a million descriptors, further ones
/// are not followed.
#[derive(Default)]
pub struct Follower {
    paths: Paths,
    threads: HashMap<u32, Thread>,
    /// Processes with their threads.
    members: BTreeSet<(u32, u32)>,
    tables: Tables,
    /// How many open files there have been.
    opened: u64,
}

impl Follower {
    /// The path of a number that an entry has just now.
    pub fn path(&self, id: PathId) -> Option<&Arc<[u8]>> {
        self.paths.get(id)
    }

    /// The same, made absolute for a thread.
    pub fn absolute(&mut self, thread: u32, id: PathId) -> Option<Arc<[u8]>> {
        self.resolved(thread, WORKING_FOLDER, Some(id))
    }

    /// The process of a thread.
    pub fn process(&self, thread: u32) -> Option<u32> {
        self.threads.get(&thread).map(|thread| thread.process)
    }

    /// Takes the next entry; of a call, what it acted on.
    pub fn follow(&mut self, entry: &Entry) -> Option<Followed> {
        match entry {
            Entry::Call(call) => return Some(self.call(call)),
            Entry::Path { .. } => {
                if let Some((_, bytes)) = told(entry) {
                    self.paths.add(Arc::clone(bytes));
                }
            }
            Entry::Fork { parent, child, thread, shares_files, shares_folder, .. } => {
                self.fork(*parent, *child, *thread, [*shares_files, *shares_folder]);
            }
            Entry::Exec { thread, .. } => self.exec(*thread),
            Entry::Exit { thread, .. } => self.remove(*thread),
            Entry::Inherited { process, fd, path, flags, offset } => {
                let path = self.paths.get(*path).cloned();
                self.inherit(*process, *fd, path, *flags, *offset);
            }
            Entry::File(_)
            | Entry::Woken { .. }
            | Entry::Unseen { .. }
            | Entry::Lost { .. }
            | Entry::Idle { .. }
            | Entry::Overhead { .. }
            | Entry::Held { .. }
            | Entry::Outside { .. } => {}
        }
        None
    }

    fn call(&mut self, call: &Call) -> Followed {
        let table = self.thread(call.thread).table;
        let open = |fd| self.tables.get(table, fd).map(|slot| Rc::clone(&slot.open));
        let (on, other) = match call.op {
            // The descriptors are what they make.
            Op::Pipe | Op::Socketpair => (None, None),
            // The second is a number that is wanted, the end of a range, or none at all.
            Op::Duplicate | Op::CloseRange | Op::Lock => (open(call.fd), None),
            _ => (open(call.fd), open(call.other)),
        };
        let folder = |fd| if fd == NO_FD { WORKING_FOLDER } else { fd };
        // What a symbolic link says is relative to nothing.
        let path = match call.op {
            Op::Symlink => call.path.and_then(|id| self.paths.get(id).cloned()),
            _ => self.resolved(call.thread, folder(call.fd), call.path),
        };
        let to = self.resolved(call.thread, folder(call.other), call.to);
        let named = if call.op == Op::Symlink { &to } else { &path };
        let opened = on.as_ref().and_then(|open| open.file.path.as_ref());
        let about = named.as_ref().or(opened).cloned();
        let mut followed = Followed {
            process: self.thread(call.thread).process,
            file: on.as_ref().map(|open| Arc::clone(&open.file)),
            other: other.as_ref().map(|open| Arc::clone(&open.file)),
            made: [None, None],
            path,
            to,
            about,
            place: place(call, on.as_deref(), other.as_deref()),
        };
        if call.op == Op::Close && call.result != EBADF {
            let closed = self.tables.close(table, call.fd, call.began_ns);
            followed.file = closed.map(|closed| Arc::clone(&closed.file));
            followed.about = followed.file.as_ref().and_then(|file| file.path.clone());
        } else if !call.failed() {
            self.descriptors(call, table, &mut followed);
            self.state(call, table, on.as_deref(), &followed);
        }
        followed
    }

    /// What a call that succeeded made of the table.
    fn descriptors(&mut self, call: &Call, table: TableId, followed: &mut Followed) {
        let fd = i32::try_from(call.result).unwrap_or(NO_FD);
        let ends = [call.fd, call.other];
        match call.op {
            Op::Open => {
                let path = followed.path.clone();
                followed.made[0] = Some(self.open(call, table, fd, OpenKind::Named, path));
            }
            Op::Socket | Op::Special => {
                let is_socket = call.op == Op::Socket;
                let kind = if is_socket { OpenKind::Socket } else { OpenKind::Special };
                followed.made[0] = Some(self.open(call, table, fd, kind, None));
            }
            Op::Pipe | Op::Socketpair => {
                let is_pipe = call.op == Op::Pipe;
                let kind = if is_pipe { OpenKind::Pipe } else { OpenKind::Socket };
                followed.made = ends.map(|fd| Some(self.open(call, table, fd, kind, None)));
            }
            Op::Duplicate if fd != call.fd => {
                self.duplicate(table, call, fd, call.flags & O_CLOEXEC > 0);
            }
            Op::Fcntl if [F_DUPFD, F_DUPFD_CLOEXEC].contains(&call.flags) => {
                self.duplicate(table, call, fd, call.flags == F_DUPFD_CLOEXEC);
            }
            _ => {}
        }
    }

    fn duplicate(&mut self, table: TableId, call: &Call, to: i32, closed_by_exec: bool) {
        match self.tables.get(table, call.fd).map(|slot| Rc::clone(&slot.open)) {
            Some(open) => {
                self.tables.put(table, to, Slot::new(open, closed_by_exec, call.ended_ns()));
            }
            // What it stood for is gone, and what it stands for is not known.
            None => drop(self.tables.close(table, to, u64::MAX)),
        }
    }

    /// What else a call that succeeded changed.
    fn state(
        &mut self,
        call: &Call,
        table: TableId,
        on: Option<&Description>,
        followed: &Followed,
    ) {
        let closes = match (call.op, call.flags) {
            (Op::Fcntl, F_SETFD) => Some(call.offset & FD_CLOEXEC > 0),
            (Op::Ioctl, FIOCLEX) => Some(true),
            (Op::Ioctl, FIONCLEX) => Some(false),
            _ => None,
        };
        if let (Some(closes), Some(slot)) = (closes, self.tables.get_mut(table, call.fd)) {
            slot.closed_by_exec = closes;
        }
        match call.op {
            Op::Fcntl if call.flags == F_SETFL => {
                if let Some(open) = on {
                    open.set_flags(call.offset as u64);
                }
            }
            Op::CloseRange => {
                if call.flags & CLOSE_RANGE_UNSHARE > 0 {
                    self.unshare_files(call.thread);
                }
                let table = self.thread(call.thread).table;
                let (first, last) = (call.fd, call.other);
                if call.flags & CLOSE_RANGE_CLOEXEC > 0 {
                    self.tables.close_by_exec(table, first, last);
                } else {
                    self.tables.close_where(table, |fd, _| (first..=last).contains(&fd));
                }
            }
            Op::Chdir => {
                let opened = followed.file.as_ref().and_then(|file| file.path.clone());
                *self.thread(call.thread).folder.borrow_mut() = followed.path.clone().or(opened);
            }
            Op::Chroot => {
                self.thread(call.thread).root.borrow_mut().clone_from(&followed.path);
            }
            Op::Unshare => {
                if call.flags & CLONE_FILES > 0 {
                    self.unshare_files(call.thread);
                }
                if call.flags & CLONE_FS > 0 {
                    let thread = self.thread(call.thread);
                    for of in [&mut thread.folder, &mut thread.root] {
                        let own = of.borrow().clone();
                        *of = Rc::new(RefCell::new(own));
                    }
                }
            }
            _ => {}
        }
    }

    fn make(
        &mut self,
        kind: OpenKind,
        path: Option<Arc<[u8]>>,
        flags: u64,
        position: u64,
    ) -> Rc<Description> {
        let number = self.opened;
        self.opened += 1;
        Rc::new(Description::new(OpenFile { number, kind, path, flags }, position))
    }

    /// A call made a descriptor that stands for a new open file.
    fn open(
        &mut self,
        call: &Call,
        table: TableId,
        fd: i32,
        kind: OpenKind,
        path: Option<Arc<[u8]>>,
    ) -> Arc<OpenFile> {
        let open = self.make(kind, path, call.flags, 0);
        let file = Arc::clone(&open.file);
        let closed_by_exec = call.flags & O_CLOEXEC > 0;
        self.tables.put(table, fd, Slot::new(open, closed_by_exec, call.ended_ns()));
        file
    }

    /// A path as a thread means it.
    fn resolved(&mut self, number: u32, fd: i32, id: Option<PathId>) -> Option<Arc<[u8]>> {
        let path = Arc::clone(self.paths.get(id?)?);
        let thread = self.thread(number);
        let (table, working_folder) = (thread.table, thread.folder.borrow().clone());
        let folder = if fd == WORKING_FOLDER {
            working_folder
        } else {
            self.tables.get(table, fd).and_then(|slot| slot.open.file.path.clone())
        };
        let root = self.thread(number).root.borrow().clone();
        let whole = match root.filter(|_| path.starts_with(b"/")) {
            Some(root) => [&root[..], &path].concat(),
            None => absolute(folder.as_deref(), &path),
        };
        Some(if whole == path[..] { path } else { whole.into() })
    }

    /// A thread; one that nobody told of is a process of its own.
    fn thread(&mut self, number: u32) -> &mut Thread {
        self.make_room(number);
        let (tables, members) = (&mut self.tables, &mut self.members);
        self.threads.entry(number).or_insert_with(|| {
            members.insert((number, number));
            Thread {
                process: number,
                table: tables.empty(),
                folder: Folder::default(),
                root: Folder::default(),
            }
        })
    }

    fn make_room(&mut self, number: u32) {
        if self.threads.len() >= THREADS_MAX && !self.threads.contains_key(&number) {
            // More at a time than a machine has: whoever told of them told of no end of any.
            self.threads.clear();
            self.members.clear();
            self.tables = Tables::default();
        }
    }

    fn fork(&mut self, parent: u32, child: u32, is_thread: bool, shares: [bool; 2]) {
        if parent != child {
            self.remove(child);
        }
        if parent == 0 || parent == child {
            self.thread(child);
            return;
        }
        self.make_room(child);
        let parent = self.thread(parent);
        let (process, table) = (parent.process, parent.table);
        let [shares_files, shares_folder] = shares;
        let [folder, root] = [&parent.folder, &parent.root].map(|of| {
            if shares_folder { Rc::clone(of) } else { Rc::new(RefCell::new(of.borrow().clone())) }
        });
        let table = if shares_files { self.tables.share(table) } else { self.tables.copy(table) };
        let process = if is_thread { process } else { child };
        self.members.insert((process, child));
        self.threads.insert(child, Thread { process, table, folder, root });
    }

    fn exec(&mut self, process: u32) {
        self.thread(process);
        let members = self.members.range((process, 0)..=(process, u32::MAX));
        let others: Vec<u32> = members.map(|(_, thread)| *thread).collect();
        for thread in others.into_iter().filter(|thread| *thread != process) {
            self.remove(thread);
        }
        self.unshare_files(process);
        let table = self.thread(process).table;
        self.tables.close_where(table, |_, slot| slot.closed_by_exec);
    }

    fn remove(&mut self, number: u32) {
        if let Some(thread) = self.threads.remove(&number) {
            self.members.remove(&(thread.process, number));
            self.tables.leave(thread.table);
        }
    }

    fn unshare_files(&mut self, thread: u32) {
        let table = self.thread(thread).table;
        self.thread(thread).table = self.tables.unshare(table);
    }

    fn inherit(&mut self, process: u32, fd: i32, path: Option<Arc<[u8]>>, flags: u64, offset: u64) {
        if fd == WORKING_FOLDER {
            *self.thread(process).folder.borrow_mut() = path;
            return;
        }
        if fd == ROOT_FOLDER {
            *self.thread(process).root.borrow_mut() = path;
            return;
        }
        let kind = match path.as_deref() {
            Some(path) if path.starts_with(b"pipe:") => OpenKind::Pipe,
            Some(path) if path.starts_with(b"socket:") => OpenKind::Socket,
            // Memory with a name is no file either.
            Some(path) if path.starts_with(b"/") && !path.starts_with(b"/memfd:") => {
                OpenKind::Named
            }
            _ => OpenKind::Special,
        };
        let table = self.thread(process).table;
        let open = self.make(kind, path, flags, offset);
        self.tables.put(table, fd, Slot::new(open, flags & O_CLOEXEC > 0, 0));
    }
}

/// Where a call read or wrote; positions move.
fn place(call: &Call, on: Option<&Description>, other: Option<&Description>) -> Place {
    let offset = u64::try_from(call.offset).ok().filter(|_| call.offset != HERE);
    let bytes = u64::try_from(call.result).unwrap_or(0);
    let unknown = offset.map_or(Place::Unknown, Place::At);
    match call.op {
        Op::Read => on.map_or(unknown, |open| open.read(offset, bytes)),
        Op::Write => on.map_or(unknown, |open| open.write(offset, bytes)),
        Op::Sendfile | Op::CopyRange | Op::Splice => {
            match other {
                Some(other) if call.op == Op::Sendfile => drop(other.write(None, bytes)),
                // Whether these had an offset there is not recorded.
                Some(other) => other.seek(None),
                None => {}
            }
            on.map_or(unknown, |open| open.read(offset, bytes))
        }
        Op::Seek => {
            if let (Some(open), false) = (on, call.failed()) {
                open.seek(Some(bytes));
            }
            Place::None
        }
        _ => Place::None,
    }
}
