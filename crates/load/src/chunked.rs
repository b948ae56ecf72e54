//! The chunked coding (RFC 9112, section 7.1), one byte state at a time.

use crate::malformed::Malformed;

/// Extensions of chunks and trailers longer than this are taken for nonsense.
const SKIPPED_BYTES_MAX: u32 = 16 << 10;
/// Digits of a chunk's size; 2^60 bytes will not come.
const SIZE_DIGITS_MAX: u8 = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size,
    Extension,
    Data,
    /// Behind a chunk's data, before its line ends.
    DataEnd,
    /// In a trailer; `empty` while the line has nothing on it.
    Trailer {
        empty: bool,
    },
    Done,
}

/// Where in a chunked body we are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunked {
    state: State,
    size: u64,
    digits: u8,
    skipped: u32,
}

impl Chunked {
    pub(crate) fn new() -> Self {
        Self { state: State::Size, size: 0, digits: 0, skipped: 0 }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes in bytes, handing on those of the body; returns how many were
    /// used, which is all of them unless the body ended.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        body: &mut impl FnMut(&[u8]),
    ) -> Result<usize, Malformed> {
        let mut used = 0;
        while used < bytes.len() && self.state != State::Done {
            if self.state == State::Data {
                let n = self.size.min((bytes.len() - used) as u64) as usize;
                body(&bytes[used..used + n]);
                used += n;
                self.size -= n as u64;
                if self.size == 0 {
                    self.state = State::DataEnd;
                }
            } else {
                self.framing(bytes[used])?;
                used += 1;
            }
        }
        Ok(used)
    }

    fn framing(&mut self, byte: u8) -> Result<(), Malformed> {
        match (self.state, byte) {
            (State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.digits += 1;
                if self.digits > SIZE_DIGITS_MAX {
                    return Err(Malformed("chunk size is out of range"));
                }
                let digit = (byte as char).to_digit(16).unwrap_or(0);
                self.size = self.size << 4 | u64::from(digit);
            }
            (State::Size, b';' | b' ' | b'\t' | b'\r') if self.digits > 0 => {
                self.state = State::Extension;
            }
            (State::Size, b'\n') if self.digits > 0 => self.size_ends(),
            (State::Size, _) => return Err(Malformed("chunk size is not a number")),
            (State::Extension, b'\n') => self.size_ends(),
            (State::Extension, _) | (State::DataEnd | State::Trailer { .. }, b'\r') => {
                self.skip()?;
            }
            (State::DataEnd, b'\n') => {
                *self = Self { skipped: self.skipped, ..Self::new() };
            }
            (State::DataEnd, _) => return Err(Malformed("chunk is longer than its size")),
            (State::Trailer { empty: true }, b'\n') => self.state = State::Done,
            (State::Trailer { .. }, b'\n') => self.state = State::Trailer { empty: true },
            (State::Trailer { .. }, _) => {
                self.state = State::Trailer { empty: false };
                self.skip()?;
            }
            (State::Data | State::Done, _) => {}
        }
        Ok(())
    }

    fn size_ends(&mut self) {
        self.skipped = 0;
        self.state = if self.size == 0 { State::Trailer { empty: true } } else { State::Data };
    }

    fn skip(&mut self) -> Result<(), Malformed> {
        self.skipped += 1;
        if self.skipped > SKIPPED_BYTES_MAX {
            return Err(Malformed("chunk extension or trailer is too long"));
        }
        Ok(())
    }
}
