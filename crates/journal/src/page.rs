//! The unit of which transactions are made.

/// How many bytes a page has.
pub const PAGE_BYTES: usize = 4096;

/// The contents of a page.
pub type Page = [u8; PAGE_BYTES];

/// What a page holds before anything was written to it.
pub const EMPTY_PAGE: &Page = &[0; PAGE_BYTES];
