//! bpf(2): maps and programs.
#![expect(unsafe_code, reason = "bpf(2) takes addresses in words")]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use super::assembler::Instruction;

/// `enum bpf_cmd`.
#[derive(Clone, Copy)]
enum Command {
    MapCreate = 0,
    MapLookup = 1,
    MapUpdate = 2,
    ProgramLoad = 5,
    InfoByDescriptor = 15,
    RawTracepointOpen = 17,
}

/// `enum bpf_map_type`.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Hash = 1,
    Array = 2,
    PerProcessorArray = 6,
    RecentHash = 9,
    Ring = 27,
}

const PROGRAM_TRACING: u64 = 26;
const ATTACH_RAW_TRACEPOINT: u64 = 23;
/// Some helpers are for programs that the GPL allows as well; MIT is one of our own licences.
const LICENCE: &[u8] = b"Dual MIT/GPL\0";
/// What the kernel says of a program that it refuses.
const LOG_BYTES: usize = 1 << 20;
/// Of which the end is shown.
const LOG_SHOWN: usize = 400;

/// The kernel's `union bpf_attr`, as words: each request has its own use for them.
type Attributes = [u64; 18];

/// Those of a request that has these words first, and nothing else.
fn beginning<const N: usize>(words: [u64; N]) -> Attributes {
    let mut attributes = Attributes::default();
    attributes[..N].copy_from_slice(&words);
    attributes
}

fn pair(low: u64, high: u64) -> u64 {
    low | high << 32
}

/// The words have to be those of the request, and addresses in them valid for it.
unsafe fn bpf(command: Command, attributes: &mut Attributes) -> io::Result<i64> {
    // SAFETY: as the caller promises; the array outlives the call.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command as libc::c_int,
            attributes.as_mut_ptr(),
            size_of::<Attributes>(),
        )
    };
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

fn owned(descriptor: i64) -> OwnedFd {
    // SAFETY: the kernel has just made it for us.
    unsafe { OwnedFd::from_raw_fd(descriptor as i32) }
}

/// A map of the kernel's.
#[derive(Debug)]
pub(super) struct Map {
    descriptor: OwnedFd,
    key_bytes: usize,
    value_bytes: usize,
}

impl Map {
    pub(super) fn new(
        kind: Kind,
        key_bytes: u32,
        value_bytes: u32,
        count: u32,
    ) -> io::Result<Self> {
        Self::with(0, kind, key_bytes, value_bytes, count)
    }

    /// An array of one value, which processes can map.
    pub(super) fn shared(value_bytes: u32) -> io::Result<Self> {
        const MAPPABLE: u64 = 1 << 10;
        Self::with(MAPPABLE, Kind::Array, 4, value_bytes, 1)
    }

    fn with(
        flags: u64,
        kind: Kind,
        key_bytes: u32,
        value_bytes: u32,
        count: u32,
    ) -> io::Result<Self> {
        let (kind, sizes) = (kind as u64, pair(value_bytes.into(), count.into()));
        let mut attributes = beginning([pair(kind, key_bytes.into()), sizes, flags]);
        // SAFETY: type, sizes and count, as `BPF_MAP_CREATE` has them.
        let descriptor = unsafe { bpf(Command::MapCreate, &mut attributes) }.map(owned)?;
        let (key_bytes, value_bytes) = (key_bytes as usize, value_bytes as usize);
        Ok(Self { descriptor, key_bytes, value_bytes })
    }

    pub(super) fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    pub(super) fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// Sets the value of a key.
    pub(super) fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        const ANY: u64 = 0;
        self.update(key, value, ANY)
    }

    /// Gives a key that has none a value; whether it had none.
    pub(super) fn add(&self, key: &[u8], value: &[u8]) -> io::Result<bool> {
        const NO_EXIST: u64 = 1;
        match self.update(key, value, NO_EXIST) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            done => done.map(|()| true),
        }
    }

    fn update(&self, key: &[u8], value: &[u8], flags: u64) -> io::Result<()> {
        assert!(key.len() == self.key_bytes && value.len() == self.value_bytes);
        let (map, key, value) = (self.number() as u64, key.as_ptr(), value.as_ptr());
        let mut attributes = beginning([map, key as u64, value as u64, flags]);
        // SAFETY: both are as long as the map's, and outlive the call.
        unsafe { bpf(Command::MapUpdate, &mut attributes) }.map(drop)
    }

    /// The eight bytes of a key's value.
    pub(super) fn number_at(&self, key: u32) -> io::Result<u64> {
        assert!(self.key_bytes == size_of_val(&key) && self.value_bytes == size_of::<u64>());
        let mut value = 0_u64;
        let (at, into) = (&raw const key as u64, &raw mut value as u64);
        let mut attributes = beginning([self.number() as u64, at, into]);
        // SAFETY: key and value are as long as the map's, and outlive the call.
        unsafe { bpf(Command::MapLookup, &mut attributes) }?;
        Ok(value)
    }
}

/// A program in the kernel, which runs at its tracepoint while it is attached.
#[derive(Debug)]
pub(super) struct Program {
    program: OwnedFd,
    /// While it is attached.
    link: Option<OwnedFd>,
}

impl Program {
    /// Loads a program for the tracepoint with this number, without attaching it. What the
    /// kernel refuses comes with the end of what it says of it.
    pub(super) fn load(name: &str, tracepoint: u32, code: &[Instruction]) -> io::Result<Self> {
        let mut log = vec![0_u8; LOG_BYTES];
        let kind = pair(PROGRAM_TRACING, code.len() as u64);
        let mut attributes = beginning([kind, code.as_ptr() as u64, LICENCE.as_ptr() as u64]);
        attributes[6..8].copy_from_slice(&name_words(name));
        attributes[8] = pair(0, ATTACH_RAW_TRACEPOINT);
        attributes[13] = pair(0, tracepoint.into());
        // SAFETY: code and licence are as long as is said, and outlive the call.
        let mut loaded = unsafe { bpf(Command::ProgramLoad, &mut attributes) };
        if loaded.is_err() {
            // Once more, to be told why: a log costs time.
            attributes[3] = pair(1, log.len() as u64);
            attributes[4] = log.as_mut_ptr() as u64;
            // SAFETY: as before; the log is as long as is said.
            loaded = unsafe { bpf(Command::ProgramLoad, &mut attributes) };
        }
        let program = owned(loaded.map_err(|error| explained(name, &error, &log))?);
        Ok(Self { program, link: None })
    }

    /// From now on it runs, if it did not.
    pub(super) fn attach(&mut self) -> io::Result<()> {
        if self.link.is_some() {
            return Ok(());
        }
        let mut attributes = beginning([0, self.program.as_raw_fd() as u64]);
        // SAFETY: no name, which a program of this type has itself, and its descriptor.
        self.link = Some(unsafe { bpf(Command::RawTracepointOpen, &mut attributes) }.map(owned)?);
        Ok(())
    }

    /// From now on it costs nobody anything.
    pub(super) fn detach(&mut self) {
        self.link = None;
    }

    /// How often it did not run because it was running on the same processor.
    pub(super) fn missed(&self) -> u64 {
        /// `recursion_misses` in `struct bpf_prog_info`, in words.
        const MISSES: usize = 26;
        let mut info = [0_u64; 32];
        let program = pair(self.program.as_raw_fd() as u64, size_of_val(&info) as u64);
        let mut attributes = beginning([program, info.as_mut_ptr() as u64]);
        // SAFETY: the kernel writes no more than the length that is said.
        let asked = unsafe { bpf(Command::InfoByDescriptor, &mut attributes) };
        if asked.is_ok() { info[MISSES] } else { 0 }
    }
}

/// Up to 15 bytes, and 0.
fn name_words(name: &str) -> [u64; 2] {
    let mut bytes = [0; 16];
    for (to, from) in bytes[..15].iter_mut().zip(name.bytes()) {
        *to = from;
    }
    let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|index| bytes[at + index]));
    [word(0), word(8)]
}

fn explained(name: &str, error: &io::Error, log: &[u8]) -> io::Error {
    let text = String::from_utf8_lossy(log);
    let text = text.trim_end_matches('\0').trim();
    if text.is_empty() {
        return io::Error::new(error.kind(), format!("the program {name}: {error}"));
    }
    let from = text.len().saturating_sub(LOG_SHOWN);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    io::Error::new(error.kind(), format!("the program {name}: {error}: {}", &text[from..]))
}
