//! Reading a trace.

use std::io::Read;
use std::sync::Arc;

use crate::call::PathId;
use crate::chunk::{ChunkReader, Kind, NAME, Next};
use crate::coder::{Coder, told};
use crate::entry::Entry;
use crate::error::Error;
use crate::header::{Header, Summary};
use crate::paths::Paths;

/// Whether a file that begins so may be a trace, of whatever version.
pub fn is_trace(beginning: &[u8]) -> bool {
    beginning.starts_with(NAME)
}

/// Reads a trace from `R`, entry by entry. It needs no buffer around it.
///
/// The memory that it takes does not grow with the trace, whatever is in it.
pub struct TraceReader<R: Read> {
    chunks: ChunkReader<R>,
    header: Header,
    coder: Coder,
    paths: Paths,
    /// How much of the chunk has been taken.
    taken: usize,
    /// How much it has.
    length: usize,
    end: Option<End>,
    lost: u64,
}

/// How a trace ended.
#[derive(Clone, Copy)]
enum End {
    Whole(Summary),
    CutShort,
    Damaged,
}

impl<R: Read> TraceReader<R> {
    /// Begins to read.
    pub fn new(input: R) -> Result<Self, Error> {
        let mut chunks = ChunkReader::new(input)?;
        let header = match chunks.next()? {
            Next::Chunk(Kind::Header) => serde_json::from_slice(chunks.raw())
                .map_err(|_| chunks.damaged("its header cannot be understood"))?,
            Next::Chunk(_) => return Err(chunks.damaged("its header is missing")),
            Next::End | Next::Cut => return Err(Error::Empty),
        };
        let (coder, paths) = (Coder::new(), Paths::default());
        Ok(Self { chunks, header, coder, paths, taken: 0, length: 0, end: None, lost: 0 })
    }

    /// What was recorded, and how.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next entry; none at the end, also where the trace was cut short.
    ///
    /// After an error there is nothing more; the entries before it are as they were written.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, Error> {
        while self.end.is_none() && self.taken == self.length {
            if let Err(error) = self.next_chunk() {
                self.end = Some(End::Damaged);
                return Err(error);
            }
        }
        if self.end.is_some() {
            return Ok(None);
        }
        let mut bytes = &self.chunks.raw()[self.taken..self.length];
        let Some(entry) = self.coder.take(&mut bytes, &self.paths) else {
            self.end = Some(End::Damaged);
            return Err(self.chunks.damaged("it has an entry that no recorder writes"));
        };
        self.taken = self.length - bytes.len();
        if let Some((_, bytes)) = told(&entry) {
            self.paths.add(Arc::clone(bytes));
        }
        if let Entry::Lost { count } = &entry {
            self.lost = self.lost.saturating_add(*count);
        }
        Ok(Some(entry))
    }

    /// The path of a number that an entry had just now.
    pub fn path(&self, id: PathId) -> Option<&Arc<[u8]>> {
        self.paths.get(id)
    }

    /// What the recording amounted to, once its end has been read.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.end {
            Some(End::Whole(summary)) => Some(summary),
            _ => None,
        }
    }

    /// Whether the trace stopped before its end: the recorder was killed, or its disk was full.
    pub fn cut_short(&self) -> bool {
        matches!(self.end, Some(End::CutShort))
    }

    /// How many entries could not be kept, of what has been read.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn next_chunk(&mut self) -> Result<(), Error> {
        (self.taken, self.length) = (0, 0);
        match self.chunks.next()? {
            Next::Chunk(Kind::Entries) => self.length = self.chunks.raw().len(),
            Next::Chunk(Kind::Summary) => {
                let summary = serde_json::from_slice(self.chunks.raw())
                    .map_err(|_| self.chunks.damaged("its summary cannot be understood"))?;
                if !matches!(self.chunks.next()?, Next::End) {
                    return Err(self.chunks.damaged("it goes on after its end"));
                }
                self.end = Some(End::Whole(summary));
            }
            Next::Chunk(Kind::Header) => return Err(self.chunks.damaged("it has two headers")),
            Next::End | Next::Cut => self.end = Some(End::CutShort),
        }
        Ok(())
    }
}
