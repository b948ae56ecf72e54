//! What all contenders write.

/// The length of a record, which is that of `log` by default.
pub(super) const RECORD_BYTES: usize = 70;

/// What so many records come to.
pub(super) fn bytes(operations: u64) -> u64 {
    operations * RECORD_BYTES as u64
}
