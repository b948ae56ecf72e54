//! How bytes stand in a trace: in chunks, each compressed and with a checksum.
//!
//! A trace begins with [`BEGINNING`]. Each chunk is a head of [`HEAD_BYTES`], all numbers
//! little-endian, and what the head tells of:
//!
//! | bytes | what |
//! | --- | --- |
//! | 1 | what is in it: 1 the header, 2 entries, 3 the summary |
//! | 4 | how many bytes it has once decompressed, at most [`RAW_BYTES_MAX`] |
//! | 4 | how many it has here |
//! | 8 | XXH3 of the nine bytes before and of what follows, the chunk's number being the seed |
//!
//! A chunk in the place of another thus has the wrong checksum. One that stops before its end
//! is the end of a trace that was cut short.

use std::io::{self, Read, Write};

use xxhash_rust::xxh3::Xxh3;

use crate::error::Error;

/// What traces of each version that is read begin with; the number is the version. Calls of the
/// first one do not say how long they waited, neither of the first two says which thread woke
/// another, and the third has not who that was; otherwise all are alike.
const BEGINNINGS: [&[u8; 16]; 4] =
    [b"iotoll trace 1\n\0", b"iotoll trace 2\n\0", b"iotoll trace 3\n\0", BEGINNING];
/// What a trace begins with that is written.
pub(crate) const BEGINNING: &[u8; 16] = b"iotoll trace 4\n\0";
/// What the beginnings of all versions have in common.
pub(crate) const NAME: &[u8] = b"iotoll trace ";
/// A chunk's head.
const HEAD_BYTES: usize = 17;
/// What a chunk may hold. Writers begin another at half of it, and no entry is nearly as long as
/// the other half.
pub(crate) const RAW_BYTES_MAX: usize = 128 << 10;
/// Fast enough for a million calls a second; higher levels save little in chunks so short.
const LEVEL: i32 = 3;

/// What is in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Header = 1,
    Entries = 2,
    Summary = 3,
}

/// Writes chunks, one after the other.
pub(crate) struct ChunkWriter<W> {
    out: W,
    compressor: zstd::bulk::Compressor<'static>,
    /// How many there are.
    written: u64,
    bytes: u64,
    /// The chunk as it is written: in one call, so that what a crash leaves of it is a prefix.
    chunk: Vec<u8>,
}

impl<W: Write> ChunkWriter<W> {
    pub(crate) fn new(mut out: W) -> Result<Self, Error> {
        let compressor = zstd::bulk::Compressor::new(LEVEL).map_err(Error::Write)?;
        out.write_all(BEGINNING).map_err(Error::Write)?;
        let bytes = BEGINNING.len() as u64;
        Ok(Self { out, compressor, written: 0, bytes, chunk: Vec::new() })
    }

    /// How many bytes the trace has so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn write(&mut self, kind: Kind, raw: &[u8]) -> Result<(), Error> {
        if raw.len() > RAW_BYTES_MAX {
            return Err(Error::Entry("it is longer than any may be"));
        }
        let room = zstd::zstd_safe::compress_bound(raw.len());
        self.chunk.clear();
        self.chunk.resize(HEAD_BYTES + room, 0);
        let (head, body) = self.chunk.split_at_mut(HEAD_BYTES);
        let stored = self.compressor.compress_to_buffer(raw, body).map_err(Error::Write)?;
        head[0] = kind as u8;
        head[1..5].copy_from_slice(&(raw.len() as u32).to_le_bytes());
        head[5..9].copy_from_slice(&(stored as u32).to_le_bytes());
        let sum = checksum(self.written, &head[..9], &body[..stored]);
        head[9..].copy_from_slice(&sum.to_le_bytes());
        self.chunk.truncate(HEAD_BYTES + stored);
        self.out.write_all(&self.chunk).map_err(Error::Write)?;
        self.written += 1;
        self.bytes += self.chunk.len() as u64;
        Ok(())
    }

    /// Has what is below write what it holds back, if it does.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.out.flush().map_err(Error::Write)
    }

    pub(crate) fn into_inner(self) -> W {
        self.out
    }
}

fn checksum(number: u64, head: &[u8], body: &[u8]) -> u64 {
    let mut hash = Xxh3::with_seed(number);
    hash.update(head);
    hash.update(body);
    hash.digest()
}

/// Reads chunks, one after the other.
pub(crate) struct ChunkReader<R> {
    input: R,
    decompressor: zstd::bulk::Decompressor<'static>,
    read: u64,
    stored: Vec<u8>,
    /// What the last chunk had in it.
    raw: Vec<u8>,
}

/// What a chunk reader came upon.
pub(crate) enum Next {
    /// A chunk; its contents are in [`ChunkReader::raw`].
    Chunk(Kind),
    /// The end, right after a chunk.
    End,
    /// The end, within a chunk.
    Cut,
}

impl<R: Read> ChunkReader<R> {
    pub(crate) fn new(mut input: R) -> Result<Self, Error> {
        let mut beginning = [0; BEGINNING.len()];
        let there = fill(&mut input, &mut beginning)?;
        let begun = |known: &&[u8; 16]| known.starts_with(&beginning[..there]);
        if there < BEGINNING.len() && BEGINNINGS.iter().any(begun) {
            return Err(if there == 0 { Error::NotATrace } else { Error::Empty });
        }
        if !BEGINNINGS.contains(&&beginning) {
            let version = beginning.strip_prefix(NAME).ok_or(Error::NotATrace)?;
            let version: String = version
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .map(|byte| char::from(*byte))
                .collect();
            return Err(if version.is_empty() {
                Error::NotATrace
            } else {
                Error::Version(version)
            });
        }
        let decompressor = zstd::bulk::Decompressor::new().map_err(Error::Read)?;
        Ok(Self { input, decompressor, read: 0, stored: Vec::new(), raw: Vec::new() })
    }

    /// What the last chunk had in it.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// That the last chunk is not what was written.
    pub(crate) fn damaged(&self, what: &'static str) -> Error {
        Error::Damaged { chunk: self.read.max(1), what }
    }

    pub(crate) fn next(&mut self) -> Result<Next, Error> {
        let mut head = [0; HEAD_BYTES];
        match fill(&mut self.input, &mut head)? {
            0 => return Ok(Next::End),
            HEAD_BYTES => {}
            _ => return Ok(Next::Cut),
        }
        let number = self.read;
        self.read += 1;
        let length = |at: usize| {
            let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
            u32::from_le_bytes(bytes) as usize
        };
        let (raw, stored) = (length(1), length(5));
        let stored_max = zstd::zstd_safe::compress_bound(RAW_BYTES_MAX);
        if raw > RAW_BYTES_MAX || stored > stored_max {
            return Err(self.damaged("a length is beyond what any part has"));
        }
        self.stored.resize(stored, 0);
        if fill(&mut self.input, &mut self.stored)? < stored {
            return Ok(Next::Cut);
        }
        let mut sum = [0; 8];
        sum.copy_from_slice(&head[9..]);
        if checksum(number, &head[..9], &self.stored) != u64::from_le_bytes(sum) {
            return Err(self.damaged("its checksum does not match"));
        }
        let kind = [Kind::Header, Kind::Entries, Kind::Summary]
            .into_iter()
            .find(|kind| *kind as u8 == head[0])
            .ok_or_else(|| self.damaged("what it holds is not known"))?;
        self.raw.resize(raw, 0);
        match self.decompressor.decompress_to_buffer(&self.stored, self.raw.as_mut_slice()) {
            Ok(length) if length == raw => Ok(Next::Chunk(kind)),
            _ => Err(self.damaged("it cannot be decompressed")),
        }
    }
}

/// Fills the buffer as far as there is something to read; how much there was.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Error> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Read(error)),
        }
    }
    Ok(filled)
}
