//! Reads data back and compares it with the bytes that were to be written.

use std::io::{self, Read};

/// What is compared at once stays in the processor's nearest caches.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// Whether these bytes are all that there is.
pub(crate) fn is_just(mut from: impl Read, expected: &[u8]) -> io::Result<bool> {
    let (_, is_same) = compared(&mut from, expected, &mut vec![0; PIECE_BYTES])?;
    Ok(is_same && ends(&mut from)?)
}

/// Whether nothing more can be read.
pub(crate) fn ends(from: &mut impl Read) -> io::Result<bool> {
    Ok(read_up_to(from, &mut [0])? == 0)
}

/// Reads what should be these bytes, as much at once as `piece` has room for: how many bytes there
/// are, and whether all that were read are as expected.
pub(crate) fn compared(
    from: &mut impl Read,
    expected: &[u8],
    piece: &mut [u8],
) -> io::Result<(usize, bool)> {
    let (mut length, mut is_same) = (0, true);
    for expected in expected.chunks(piece.len()) {
        let found = &mut piece[..expected.len()];
        let read = read_up_to(from, found)?;
        is_same &= found[..read] == *expected;
        length += read;
        if read < expected.len() {
            break;
        }
    }
    Ok((length, is_same))
}

/// Fills a buffer from where the file stands, and says how much of it before the file's end.
fn read_up_to(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_byte_that_differs_is_missing_or_is_too_many_is_noticed_wherever_it_is() {
        for size in [1, 3000, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES] {
            let bytes: Vec<u8> = (0..size).map(|n| (n % 251) as u8).collect();
            assert!(is_just(&bytes[..], &bytes).unwrap());
            assert!(!is_just(&bytes[..size - 1], &bytes).unwrap());
            assert!(!is_just(&[&bytes[..], &[0]].concat()[..], &bytes).unwrap());
            for place in [0, size / 2, size - 1] {
                let mut changed = bytes.clone();
                changed[place] ^= 1;
                assert!(!is_just(&changed[..], &bytes).unwrap(), "{place} of {size}");
            }
        }
        assert!(is_just(&b""[..], b"").unwrap() && !is_just(&b"a"[..], b"").unwrap());
    }
}
