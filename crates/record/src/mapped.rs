//! Which file is mapped where, and which file has which number: page faults and `io_uring` name their
//! files by no path.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use rustix::fs::{MemfdFlags, fstat, major, memfd_create, minor};

use crate::kernel_work::FileNumber;

/// As many files are known by their numbers; then all are forgotten, and looked for again.
const FILES_MAX: usize = 1 << 16;

type Bytes = Arc<[u8]>;
/// Where mappings begin, where they end, and of which file they are.
type Mappings = BTreeMap<u64, (u64, Bytes)>;

/// What is known.
pub(crate) struct Mapped {
    processes: HashMap<u32, Arc<Mappings>>,
    /// None of what is nowhere to be found.
    files: HashMap<FileNumber, Option<Bytes>>,
    /// Paths whose numbers have been looked for.
    numbered: HashSet<Bytes>,
    /// Where the kernel keeps memory that processes share: it is mapped as files are.
    memory: Option<u32>,
}

impl Mapped {
    pub(crate) fn new() -> Self {
        let memory = memfd_create("iotoll", MemfdFlags::CLOEXEC).and_then(fstat);
        let memory = memory.ok().map(|facts| as_in_kernel(facts.st_dev));
        Self { processes: HashMap::new(), files: HashMap::new(), numbered: HashSet::new(), memory }
    }

    /// Whether it is memory, and no file.
    pub(crate) fn is_memory(&self, file: FileNumber) -> bool {
        self.memory == Some(file.device)
    }

    /// A process that runs already.
    pub(crate) fn meet(&mut self, process: u32) {
        let maps = fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
        let mut known = Mappings::new();
        for (range, number, path) in maps.split(|byte| *byte == b'\n').filter_map(mapping) {
            let path: Bytes = path.into();
            known.insert(range.0, (range.1, Arc::clone(&path)));
            self.files.insert(number, Some(path));
        }
        self.processes.insert(process, known.into());
    }

    pub(crate) fn map(&mut self, process: u32, at: u64, bytes: u64, path: &Bytes) {
        let known = Arc::make_mut(self.processes.entry(process).or_default());
        let end = at.saturating_add(bytes);
        let covered: Vec<u64> = known.range(at..end).map(|(begin, _)| *begin).collect();
        for begin in covered {
            known.remove(&begin);
        }
        known.insert(at, (end, Arc::clone(path)));
    }

    /// Looks for the number of a file that is mapped: its process may be gone when a fault is told.
    pub(crate) fn number(&mut self, path: &Bytes) {
        if self.numbered.len() >= FILES_MAX {
            self.numbered.clear();
        }
        if !self.numbered.insert(Arc::clone(path)) {
            return;
        }
        if let Ok(facts) = fs::metadata(OsStr::from_bytes(path))
            && facts.is_file()
        {
            self.make_room();
            let number = FileNumber { device: as_in_kernel(facts.dev()), inode: facts.ino() };
            self.files.insert(number, Some(Arc::clone(path)));
        }
    }

    pub(crate) fn forked(&mut self, parent: u32, child: u32) {
        if let Some(known) = self.processes.get(&parent).cloned() {
            self.processes.insert(child, known);
        }
    }

    /// It has ended, or has another program.
    pub(crate) fn forget(&mut self, process: u32) {
        self.processes.remove(&process);
    }

    /// The file that is mapped at an address.
    pub(crate) fn at(&self, process: u32, address: u64) -> Option<&Bytes> {
        let known = self.processes.get(&process)?;
        let (_, (end, path)) = known.range(..=address).next_back()?;
        (address < *end).then_some(path)
    }

    /// The path of a file that a process has mapped.
    pub(crate) fn mapped(&mut self, process: u32, file: FileNumber) -> Option<Bytes> {
        if let Some(known) = self.files.get(&file) {
            return known.clone();
        }
        self.make_room();
        self.meet(process);
        self.files.entry(file).or_insert(None).clone()
    }

    /// The path of a file that a process has open.
    pub(crate) fn open(&mut self, process: u32, file: FileNumber) -> Option<Bytes> {
        if let Some(known) = self.files.get(&file) {
            return known.clone();
        }
        self.make_room();
        let path = opened(process, file);
        self.files.entry(file).or_insert(path).clone()
    }

    fn make_room(&mut self) {
        if self.files.len() >= FILES_MAX {
            self.files.clear();
        }
    }
}

/// Of a process's descriptors, the one of that file.
fn opened(process: u32, file: FileNumber) -> Option<Bytes> {
    fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten().find_map(|entry| {
        let facts = fs::metadata(entry.path()).ok()?;
        let is_it = facts.ino() == file.inode && as_in_kernel(facts.dev()) == file.device;
        let path = fs::read_link(entry.path()).ok().filter(|_| is_it)?;
        Some(path.as_os_str().as_bytes().into())
    })
}

/// The number of a file system as the kernel keeps it.
fn as_in_kernel(device: u64) -> u32 {
    major(device) << 20 | minor(device)
}

/// A line of `/proc/PID/maps` that is of a file.
fn mapping(line: &[u8]) -> Option<((u64, u64), FileNumber, &[u8])> {
    let path_at = line.iter().position(|byte| *byte == b'/')?;
    let (head, path) = line.split_at(path_at);
    let mut fields = std::str::from_utf8(head).ok()?.split_whitespace();
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (begin, end) = fields.next()?.split_once('-')?;
    let (major, minor) = fields.nth(2)?.split_once(':')?;
    let device = (hex(major)? << 20 | hex(minor)?) as u32;
    let inode = fields.next()?.parse().ok()?;
    Some(((hex(begin)?, hex(end)?), FileNumber { device, inode }, path))
}

/// Whether a path is of what has no file any more, or never had: shared memory.
pub(crate) fn is_of_memory(path: &[u8]) -> bool {
    let path = OsStr::from_bytes(path).as_bytes();
    [&b"/memfd:"[..], b"/SYSV", b"/dev/zero"].iter().any(|name| path.starts_with(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_line_of_maps_is_understood() {
        let line = b"7f12a000-7f12c000 r-xp 00002000 fe:01 4711   /usr/lib/a b.so";
        let (range, number, path) = mapping(line).unwrap();
        assert_eq!(range, (0x7f12_a000, 0x7f12_c000));
        assert_eq!(number, FileNumber { device: 0xfe << 20 | 1, inode: 4711 });
        assert_eq!(path, b"/usr/lib/a b.so");
        assert!(mapping(b"7f12a000-7f12c000 rw-p 00000000 00:00 0   [heap]").is_none());
        assert!(mapping(b"").is_none());
    }

    /// Fails where a mapping is found beyond its end, or where a child's changes are its parent's.
    #[test]
    fn an_address_leads_to_what_is_mapped_there() {
        let [a, b]: [Bytes; 2] = [&b"/a"[..], b"/b"].map(Arc::from);
        let mut mapped = Mapped::new();
        mapped.map(1, 4096, 8192, &a);
        mapped.forked(1, 2);
        mapped.map(2, 4096, 4096, &b);
        assert_eq!(mapped.at(1, 4096), Some(&a));
        assert_eq!(mapped.at(1, 12_287), Some(&a));
        assert_eq!(mapped.at(1, 12_288), None);
        assert_eq!((mapped.at(2, 4096), mapped.at(2, 8192)), (Some(&b), None));
        mapped.forget(1);
        assert_eq!(mapped.at(1, 4096), None);
    }

    #[test]
    fn what_this_process_has_open_and_mapped_is_found_by_its_number() {
        let me = std::process::id();
        let file = tempfile::NamedTempFile::new().unwrap();
        let facts = file.as_file().metadata().unwrap();
        let number = FileNumber { device: as_in_kernel(facts.dev()), inode: facts.ino() };
        let path = file.path().as_os_str().as_bytes();
        assert_eq!(Mapped::new().open(me, number).as_deref(), Some(path));
        let program = fs::metadata("/proc/self/exe").unwrap();
        let number = FileNumber { device: as_in_kernel(program.dev()), inode: program.ino() };
        let found = Mapped::new().mapped(me, number);
        assert_eq!(
            found.as_deref(),
            fs::read_link("/proc/self/exe")
                .ok()
                .map(|path| path.into_os_string().into_encoded_bytes())
                .as_deref()
        );
    }
}
