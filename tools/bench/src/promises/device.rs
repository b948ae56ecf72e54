//! The disk below the file system, which is a process of its own.
//!
//! It is a single file of a FUSE file system, held in memory; a loop device over it is
//! what the file system stands on. Every write to that device comes here, and every flush
//! as an fsync of the file. A write that has to be on the disk by itself (FUA) is one to
//! which the kernel adds a flush, for a loop device has none.
//!
//! A process of its own, for whoever is in the midst of a write to this disk cannot be
//! ended while that waits; were both one process, it could neither go on nor die. This one
//! ends when its standard input does, that is, with the one that started it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde::{Deserialize, Serialize};

use super::tape::{Disk, Event, Image, Moment, Tape};
use crate::states::slow_disk::ours_alone;

/// The disk's name in the folder where it is mounted.
pub(super) const NAME: &str = "disk";
const FILE: INodeNo = INodeNo(2);
/// Nothing changes that the kernel may remember.
const ALWAYS: Duration = Duration::from_secs(1 << 30);
/// A file system that is unmounted lets go of the disk within this.
const CLOSED_MAX: Duration = Duration::from_secs(20);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the disk appears
    folder: PathBuf,
    /// Its size
    bytes: u64,
}

/// What the disk is told, one line of JSON each.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Command {
    /// What is on it now is what `Restore` brings back.
    Keep,
    Restore,
    /// Records what happens from now on.
    Record,
    Acknowledge(u64),
    /// No cut comes after this.
    End,
    /// Becomes what a power failure left.
    Cut {
        events: usize,
        seed: u64,
        disk: Disk,
    },
    /// Becomes what it is once all was written.
    Whole,
}

/// What it answers, one line of JSON each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Done,
    /// When the power may fail.
    Moments(Vec<Moment>),
    Failed(String),
}

/// Is the disk, until standard input ends.
pub(crate) fn run(args: &Args) -> Result<()> {
    let shared = Arc::new(Shared::default());
    let device = Device { shared: Arc::clone(&shared), bytes: args.bytes };
    let session = fuser::Session::new(device, &args.folder, &fuser::Config::default())
        .with_context(|| format!("mounting a FUSE file system on {}", args.folder.display()))?;
    leave_the_mounts()?;
    let _session = session.spawn()?;
    let mut out = io::stdout().lock();
    let mut answer = |answer: &Answer| -> Result<()> {
        writeln!(out, "{}", serde_json::to_string(answer)?)?;
        Ok(out.flush()?)
    };
    answer(&Answer::Done)?;
    for line in io::stdin().lock().lines() {
        let command = serde_json::from_str(&line?)?;
        let done =
            shared.obey(command).unwrap_or_else(|error| Answer::Failed(format!("{error:#}")));
        answer(&done)?;
    }
    Ok(())
}

/// Leaves the mounts to the one that started this. Whoever is the last to leave unmounts
/// them all as it ends, and a file system that stands on this disk would wait for a disk
/// that has ended.
fn leave_the_mounts() -> Result<()> {
    let others = format!("/proc/{}/ns/mnt", std::os::unix::process::parent_id());
    let others = File::open(&others).context(others)?;
    move_into_link_name_space(others.as_fd(), Some(LinkNameSpaceType::Mount))
        .context("leaving the mounts on the disk")
}

/// The disk as both the kernel's requests and the commands find it.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    closed: Condvar,
}

#[derive(Default)]
struct State {
    image: Image,
    kept: Image,
    tape: Tape,
    is_recording: bool,
    /// Events of the tape until `End`.
    end: usize,
    /// How often it is open.
    open: u32,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state once nobody has the disk open.
    fn unused(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.lock();
        let waited = self.closed.wait_timeout_while(state, CLOSED_MAX, |state| state.open > 0);
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        ensure!(!waited.timed_out(), "the disk is still in use {CLOSED_MAX:?} after unmounting");
        Ok(state)
    }

    fn obey(&self, command: Command) -> Result<Answer> {
        match command {
            Command::Keep => {
                let mut state = self.unused()?;
                state.kept = state.image.clone();
            }
            Command::Restore => {
                let mut state = self.unused()?;
                state.is_recording = false;
                state.image = state.kept.clone();
            }
            Command::Record => {
                let mut state = self.lock();
                state.tape = Tape::new(state.image.clone());
                state.is_recording = true;
            }
            Command::Acknowledge(operations) => {
                self.lock().tape.push(Event::Acknowledged(operations));
            }
            Command::End => {
                let mut state = self.lock();
                let moments = state.tape.moments();
                state.end = moments.last().map_or(0, |last| last.events);
                return Ok(Answer::Moments(moments));
            }
            Command::Cut { events, seed, disk } => {
                let mut state = self.unused()?;
                state.is_recording = false;
                ensure!(events <= state.end, "there is no event {events} to cut before");
                state.image = state.tape.cut(events, seed, disk);
            }
            Command::Whole => {
                let mut state = self.unused()?;
                state.is_recording = false;
                state.image = state.tape.whole();
            }
        }
        Ok(Answer::Done)
    }
}

/// The FUSE file system.
struct Device {
    shared: Arc<Shared>,
    bytes: u64,
}

impl Device {
    fn attributes(&self, inode: INodeNo) -> FileAttr {
        ours_alone(inode, (inode == FILE).then_some(self.bytes))
    }
}

impl Filesystem for Device {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && Path::new(name) == Path::new(NAME) {
            reply.entry(&ALWAYS, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&ALWAYS, &self.attributes(inode));
    }

    /// Programs that make file systems open it to be cut short, or set its times.
    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
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
        reply.attr(&ALWAYS, &self.attributes(inode));
    }

    /// The kernel keeps nothing of it, so that whatever is done to it comes here.
    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.shared.lock().open += 1;
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.shared.lock().open -= 1;
        self.shared.closed.notify_all();
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // What close(2) calls so.
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let size = u64::from(size).min(self.bytes.saturating_sub(offset));
        let mut bytes = vec![0; size as usize];
        self.shared.lock().image.read(offset, &mut bytes);
        reply.data(&bytes);
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if offset.checked_add(bytes.len() as u64).is_none_or(|end| end > self.bytes) {
            return reply.error(Errno::ENOSPC);
        }
        let mut state = self.shared.lock();
        state.image.write(offset, bytes);
        if state.is_recording {
            state.tape.push(Event::Write { offset, bytes: bytes.into() });
        }
        reply.written(bytes.len() as u32);
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let mut state = self.shared.lock();
        if state.is_recording {
            state.tape.push(Event::Flush);
        }
        reply.ok();
    }
}
