//! Numbers and strings at places of a byte string, which may be too short for them.

/// A string of that length, 0 at its end included; nothing of none.
pub(crate) fn text(bytes: &[u8], from: usize, length: usize) -> Option<&[u8]> {
    bytes.get(from..from.checked_add(length.checked_sub(1)?)?)
}

/// A number of eight bytes.
pub(crate) fn eight(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// A number of four bytes.
pub(crate) fn four(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A number of two bytes.
pub(crate) fn two(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
