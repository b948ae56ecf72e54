//! Compressing and decompressing one block of bytes.

use std::io;

use crate::options::Compression;

/// How a block is stored, as transactions' headers say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    None,
    Lz4,
    Snappy,
    Zstd,
}

impl Codec {
    pub(crate) fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Lz4 => 1,
            Self::Snappy => 2,
            Self::Zstd => 3,
        }
    }

    pub(crate) fn of_id(id: u8) -> Option<Self> {
        [Self::None, Self::Lz4, Self::Snappy, Self::Zstd].into_iter().find(|codec| codec.id() == id)
    }
}

/// Compresses, with the memory that this takes kept from one block to the next.
pub(crate) enum Compressor {
    None,
    Lz4,
    Snappy(Box<snap::raw::Encoder>),
    Zstd(zstd::bulk::Compressor<'static>),
}

impl Compressor {
    pub(crate) fn new(compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::None,
            Compression::Lz4 => Self::Lz4,
            Compression::Snappy => Self::Snappy(Box::new(snap::raw::Encoder::new())),
            Compression::Zstd { level } => Self::Zstd(zstd::bulk::Compressor::new(level)?),
        })
    }

    pub(crate) fn codec(&self) -> Codec {
        match self {
            Self::None => Codec::None,
            Self::Lz4 => Codec::Lz4,
            Self::Snappy(_) => Codec::Snappy,
            Self::Zstd(_) => Codec::Zstd,
        }
    }

    /// How much room `compress` may need for so many bytes.
    pub(crate) fn room(&self, bytes: usize) -> usize {
        match self {
            Self::None => 0,
            Self::Lz4 => lz4_flex::block::get_maximum_output_size(bytes),
            Self::Snappy(_) => snap::raw::max_compress_len(bytes),
            Self::Zstd(_) => zstd::zstd_safe::compress_bound(bytes),
        }
    }

    /// Compresses into `out`, which has the room that it may need. How long it became; none
    /// where it did not become shorter.
    pub(crate) fn compress(&mut self, bytes: &[u8], out: &mut [u8]) -> Option<usize> {
        let len = match self {
            Self::None => None,
            Self::Lz4 => lz4_flex::block::compress_into(bytes, out).ok(),
            Self::Snappy(encoder) => encoder.compress(bytes, out).ok(),
            Self::Zstd(compressor) => compressor.compress_to_buffer(bytes, out).ok(),
        };
        len.filter(|len| *len < bytes.len())
    }
}

/// Decompresses whatever it is given.
#[derive(Default)]
pub(crate) struct Decompressor {
    snappy: snap::raw::Decoder,
    /// Made when it is first needed: it takes some memory.
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Decompressor {
    /// Fills `out` exactly; none where the stored bytes are anything else than that.
    pub(crate) fn decompress(&mut self, codec: Codec, stored: &[u8], out: &mut [u8]) -> Option<()> {
        let len = match codec {
            Codec::None => None,
            Codec::Lz4 => lz4_flex::block::decompress_into(stored, out).ok(),
            Codec::Snappy => self.snappy.decompress(stored, out).ok(),
            Codec::Zstd => {
                if self.zstd.is_none() {
                    self.zstd = zstd::bulk::Decompressor::new().ok();
                }
                self.zstd.as_mut()?.decompress_to_buffer(stored, out).ok()
            }
        };
        (len? == out.len()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Compression; 4] = [
        Compression::Lz4,
        Compression::Snappy,
        Compression::Zstd { level: 1 },
        Compression::Zstd { level: -5 },
    ];

    #[test]
    fn what_is_compressed_comes_back() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n / 100) as u8).collect();
        for compression in ALL {
            let mut compressor = Compressor::new(compression).unwrap();
            let mut out = vec![0; compressor.room(bytes.len())];
            let len = compressor.compress(&bytes, &mut out).unwrap();
            let mut again = vec![0; bytes.len()];
            let mut decompressor = Decompressor::default();
            decompressor.decompress(compressor.codec(), &out[..len], &mut again).unwrap();
            assert!(again == bytes, "{compression:?}");
            for wrong in [bytes.len() - 1, bytes.len() + 1] {
                let mut again = vec![0; wrong];
                let done = decompressor.decompress(compressor.codec(), &out[..len], &mut again);
                assert_eq!(done, None, "{compression:?} into {wrong} bytes");
            }
        }
    }

    #[test]
    fn what_does_not_become_shorter_is_not_compressed() {
        for compression in ALL {
            let mut compressor = Compressor::new(compression).unwrap();
            let mut out = vec![0; compressor.room(3)];
            assert_eq!(compressor.compress(&[1, 2, 3], &mut out), None, "{compression:?}");
        }
    }
}
