//! `tmpfs:SIZE[:huge=WHEN]`: a file system in memory.

use std::fmt;

use super::{Description, Why, size};

/// Less is no place to measure in.
const BYTES_MIN: u64 = size::MIB;

/// A file system in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tmpfs {
    /// What it may hold.
    pub size_bytes: u64,
    /// Whether its files are held in large pages.
    pub huge: Option<Huge>,
}

/// When a tmpfs holds its files in large pages, in the words of `tmpfs(5)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Huge {
    /// Never.
    Never,
    /// Whenever a page is needed.
    Always,
    /// Where the file is large enough to fill one.
    WithinSize,
    /// Where a program asks for it.
    Advise,
}

impl Huge {
    const ALL: [Self; 4] = [Self::Never, Self::Always, Self::WithinSize, Self::Advise];

    /// As `mount` is told.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Always => "always",
            Self::WithinSize => "within_size",
            Self::Advise => "advise",
        }
    }

    fn parse(option: &str) -> Result<Self, Why> {
        let value = option.strip_prefix("huge=").unwrap_or_default();
        let found = Self::ALL.into_iter().find(|huge| huge.name() == value);
        found.ok_or_else(|| {
            format!(
                "`{option}` is not supported for a tmpfs; use huge=never, huge=always, \
                 huge=within_size or huge=advise"
            )
        })
    }
}

impl Tmpfs {
    pub(super) const WORD: &str = "tmpfs";
    pub(super) const FORM: &str = "tmpfs:SIZE";

    pub(super) fn parse(rest: &str) -> Result<Self, Why> {
        let (size, option) = size::split_option(rest);
        let size_bytes = size::parse(size, BYTES_MIN, "a tmpfs")?;
        let huge = option.map(Huge::parse).transpose()?;
        Ok(Self { size_bytes, huge })
    }
}

impl Description for Tmpfs {
    fn usual_label(&self) -> &'static str {
        Self::WORD
    }
}

impl fmt::Display for Tmpfs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::WORD, size::written(self.size_bytes))?;
        self.huge.map_or(Ok(()), |huge| write!(f, ":huge={}", huge.name()))
    }
}
