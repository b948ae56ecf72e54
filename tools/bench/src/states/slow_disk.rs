//! A FUSE file system in memory whose syncs take as long as it is told.
//!
//! A virtual processor that sleeps is woken late by its host: of a thousand sleeps of 8 ms, up to nine
//! took 1 to 4 ms longer. So a sync keeps its processor busy.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use fuser::{
    BackgroundSession, BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

/// The kernel may remember names and sizes for so long.
const KNOWN: Duration = Duration::from_secs(1);
const BLOCK_BYTES: u32 = 4096;
/// Blocks that it says are free.
const BLOCKS: u64 = 1 << 20;

/// What else is asked of it is not kept waiting by a sync.
const THREADS: usize = 4;

/// How long a sync takes, by how long the file system has been there.
pub(crate) type Delay = Box<dyn Fn(Duration) -> Duration + Send + Sync>;

/// Whatever is mounted from now on is gone once this process has ended, however it does. To be called
/// while it has one thread.
pub(crate) fn keep_to_ourselves() -> Result<()> {
    sys::mount_namespace::enter().map(drop).context("getting mounts of our own")
}

/// Has this thread, and what it starts from now on, use one processor. The sync keeps it awake, so the
/// program that waited for the sync continues without a delay.
pub(crate) fn use_one_processor() -> Result<()> {
    let mut one = CpuSet::new();
    one.set(sched_getcpu());
    sched_setaffinity(None, &one).context("keeping to one processor")
}

/// A mounted file system. Dropping this unmounts it.
pub(crate) struct Mounted {
    _session: BackgroundSession,
    syncs: Arc<Mutex<Vec<Timed>>>,
}

/// The planted duration of a sync, and the real one.
type Timed = (Duration, Duration);

impl Mounted {
    /// The share of syncs that took more than `times` their planted duration, because the host took
    /// the processor away.
    pub(crate) fn late_share(&self, times: f64) -> f64 {
        let syncs = lock(&self.syncs);
        let late = syncs.iter().filter(|(asked, took)| *took > asked.mul_f64(times)).count();
        late as f64 / syncs.len().max(1) as f64
    }
}

/// Mounts one.
pub(crate) fn mount(folder: &Path, delay: Delay) -> Result<Mounted> {
    let root = Node::Folder(BTreeMap::new());
    let nodes = Mutex::new(HashMap::from([(INodeNo::ROOT, root)]));
    let syncs = Arc::default();
    let disk = SlowDisk { began: Instant::now(), delay, nodes, syncs: Arc::clone(&syncs) };
    let mut config = fuser::Config::default();
    config.n_threads = Some(THREADS);
    let session = fuser::Session::new(disk, folder, &config)
        .with_context(|| format!("mounting a FUSE file system on {}", folder.display()))?;
    Ok(Mounted { _session: session.spawn()?, syncs })
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

struct SlowDisk {
    began: Instant,
    delay: Delay,
    /// What was removed stays: it may be open.
    nodes: Mutex<Nodes>,
    syncs: Arc<Mutex<Vec<Timed>>>,
}

type Nodes = HashMap<INodeNo, Node>;

enum Node {
    File(Vec<u8>),
    Folder(BTreeMap<OsString, INodeNo>),
}

impl SlowDisk {
    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        lock(&self.nodes)
    }

    fn add(&self, parent: INodeNo, name: &OsStr, node: Node) -> Result<FileAttr, Errno> {
        let mut nodes = self.nodes();
        let inode = INodeNo(nodes.len() as u64 + 1);
        folder(&mut nodes, parent)?.insert(name.to_owned(), inode);
        nodes.insert(inode, node);
        attributes(&nodes, inode)
    }

    fn remove(&self, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match folder(&mut self.nodes(), parent).map(|folder| folder.remove(name)) {
            Ok(Some(_)) => reply.ok(),
            Ok(None) => reply.error(Errno::ENOENT),
            Err(error) => reply.error(error),
        }
    }

    fn sync(&self, reply: ReplyEmpty) {
        let began = Instant::now();
        let delay = (self.delay)(self.began.elapsed());
        while began.elapsed() < delay {
            std::hint::spin_loop();
        }
        lock(&self.syncs).push((delay, began.elapsed()));
        reply.ok();
    }
}

fn folder(nodes: &mut Nodes, inode: INodeNo) -> Result<&mut BTreeMap<OsString, INodeNo>, Errno> {
    match nodes.get_mut(&inode) {
        Some(Node::Folder(entries)) => Ok(entries),
        Some(Node::File(_)) => Err(Errno::ENOTDIR),
        None => Err(Errno::ENOENT),
    }
}

fn file(nodes: &mut Nodes, inode: INodeNo) -> Result<&mut Vec<u8>, Errno> {
    match nodes.get_mut(&inode) {
        Some(Node::File(bytes)) => Ok(bytes),
        Some(Node::Folder(_)) => Err(Errno::EISDIR),
        None => Err(Errno::ENOENT),
    }
}

fn attributes(nodes: &Nodes, inode: INodeNo) -> Result<FileAttr, Errno> {
    match nodes.get(&inode).ok_or(Errno::ENOENT)? {
        Node::File(bytes) => Ok(ours_alone(inode, Some(bytes.len() as u64))),
        Node::Folder(_) => Ok(ours_alone(inode, None)),
    }
}

/// A file of so many bytes, or a folder, that is this user's alone.
pub(crate) fn ours_alone(inode: INodeNo, file_bytes: Option<u64>) -> FileAttr {
    let size = file_bytes.unwrap_or_default();
    FileAttr {
        ino: inode,
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind: if file_bytes.is_some() { FileType::RegularFile } else { FileType::Directory },
        perm: if file_bytes.is_some() { 0o600 } else { 0o700 },
        nlink: 1,
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        rdev: 0,
        flags: 0,
        blksize: BLOCK_BYTES,
    }
}

fn entry(found: Result<FileAttr, Errno>, reply: ReplyEntry) {
    match found {
        Ok(found) => reply.entry(&KNOWN, &found, Generation(0)),
        Err(error) => reply.error(error),
    }
}

fn attr(found: Result<FileAttr, Errno>, reply: ReplyAttr) {
    match found {
        Ok(found) => reply.attr(&KNOWN, &found),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for SlowDisk {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut nodes = self.nodes();
        let found = folder(&mut nodes, parent);
        let found = found.and_then(|folder| folder.get(name).copied().ok_or(Errno::ENOENT));
        entry(found.and_then(|inode| attributes(&nodes, inode)), reply);
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        attr(attributes(&self.nodes(), inode), reply);
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<std::time::SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<std::time::SystemTime>,
        _chgtime: Option<std::time::SystemTime>,
        _bkuptime: Option<std::time::SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut nodes = self.nodes();
        if let Some(size) = size {
            match file(&mut nodes, inode) {
                Ok(bytes) => bytes.resize(size as usize, 0),
                Err(error) => return reply.error(error),
            }
        }
        attr(attributes(&nodes, inode), reply);
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        entry(self.add(parent, name, Node::Folder(BTreeMap::new())), reply);
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        match self.add(parent, name, Node::File(Vec::new())) {
            Ok(made) => {
                let (handle, flags) = (FileHandle(0), FopenFlags::empty());
                reply.created(&KNOWN, &made, Generation(0), handle, flags);
            }
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        to_parent: INodeNo,
        to_name: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut nodes = self.nodes();
        let moved = folder(&mut nodes, parent)
            .and_then(|entries| entries.remove(name).ok_or(Errno::ENOENT));
        let moved = moved.and_then(|inode| {
            folder(&mut nodes, to_parent)?.insert(to_name.to_owned(), inode);
            Ok(())
        });
        match moved {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match file(&mut self.nodes(), inode) {
            Ok(bytes) => {
                let from = (offset as usize).min(bytes.len());
                let to = (from + size as usize).min(bytes.len());
                reply.data(&bytes[from..to]);
            }
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        written: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match file(&mut self.nodes(), inode) {
            Ok(bytes) => {
                let (from, to) = (offset as usize, offset as usize + written.len());
                bytes.resize(bytes.len().max(to), 0);
                bytes[from..to].copy_from_slice(written);
                reply.written(written.len() as u32);
            }
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // What close(2) calls so.
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.sync(reply);
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.sync(reply);
    }

    fn readdir(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let mut nodes = self.nodes();
        let entries = match folder(&mut nodes, inode) {
            Ok(entries) => entries.clone(),
            Err(error) => return reply.error(error),
        };
        for (position, (name, inode)) in entries.iter().enumerate().skip(offset as usize) {
            let kind = match nodes.get(inode) {
                Some(Node::Folder(_)) => FileType::Directory,
                _ => FileType::RegularFile,
            };
            if reply.add(*inode, position as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCK_BYTES, 255, BLOCK_BYTES);
    }
}
