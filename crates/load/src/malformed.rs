//! What is wrong with bytes that are not an HTTP reply.

/// Bytes that are not an HTTP reply, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);
