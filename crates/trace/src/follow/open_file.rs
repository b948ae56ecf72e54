//! What descriptors stand for.

use std::cell::Cell;
use std::sync::Arc;

use crate::flags::O_APPEND;

/// An open file, as the kernel has it ("open file description"): what one open made, and all
/// descriptors share that were duplicated or inherited from its first.
#[derive(Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// A number that no other has in this trace. The end of a pipe that is written to has the
    /// next number after the one that is read from.
    pub number: u64,
    /// What it is.
    pub kind: OpenKind,
    /// The absolute path that it was opened by, or what `/proc` had for it; none of what has no
    /// name. The path stays, should the file be renamed. It is relative where the working folder
    /// is not known.
    pub path: Option<Arc<[u8]>>,
    /// As open(2) was given them.
    pub flags: u64,
}

/// What an open file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenKind {
    /// What has a path: files, folders, devices.
    Named,
    /// One end of a pipe without a name.
    Pipe,
    /// A socket.
    Socket,
    /// Anything else without a name, such as an eventfd.
    Special,
}

/// Where in its file a call read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It did neither.
    None,
    /// From here on, in bytes.
    At(u64),
    /// At the file's end, wherever that was (`O_APPEND`).
    End,
    /// Nobody can say, as after an append, or where the open file is not known.
    Unknown,
}

/// An open file, with what changes about it.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) file: Arc<OpenFile>,
    position: Cell<Option<u64>>,
    appends: Cell<bool>,
}

impl Description {
    pub(super) fn new(file: OpenFile, position: u64) -> Self {
        let appends = Cell::new(file.flags & O_APPEND > 0);
        Self { file: Arc::new(file), position: Cell::new(Some(position)), appends }
    }

    pub(super) fn set_flags(&self, flags: u64) {
        self.appends.set(flags & O_APPEND > 0);
    }

    pub(super) fn seek(&self, position: Option<u64>) {
        self.position.set(position);
    }

    /// Where a read of so many bytes was; the position moves unless the call had its own.
    pub(super) fn read(&self, offset: Option<u64>, bytes: u64) -> Place {
        if let Some(offset) = offset {
            return Place::At(offset);
        }
        let position = self.position.get();
        self.position.set(position.and_then(|position| position.checked_add(bytes)));
        position.map_or(Place::Unknown, Place::At)
    }

    /// The same of a write.
    pub(super) fn write(&self, offset: Option<u64>, bytes: u64) -> Place {
        if !self.appends.get() {
            return self.read(offset, bytes);
        }
        if offset.is_none() && bytes > 0 {
            self.position.set(None);
        }
        Place::End
    }
}
