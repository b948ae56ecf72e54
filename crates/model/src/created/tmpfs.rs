//! `tmpfs:SIZE[:huge=WHEN]`: a file system in memory.

use std::fmt;

use super::{Description, Why, size};

/// Less is no place to measure in.
const BYTES_MIN: u64 = size::MIB;
const HUGE: [&str; 4] = ["never", "always", "within_size", "advise"];

/// A file system in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tmpfs {
    /// What it may hold.
    pub size_bytes: u64,
    /// When its files are held in large pages, in the words of `tmpfs(5)`.
    pub huge: Option<&'static str>,
}

fn huge(option: &str) -> Result<&'static str, Why> {
    let value = option.strip_prefix("huge=").unwrap_or_default();
    HUGE.into_iter().find(|huge| *huge == value).ok_or_else(|| {
        format!(
            "`{option}` is not supported for a tmpfs; use huge=never, huge=always, \
             huge=within_size or huge=advise"
        )
    })
}

impl Tmpfs {
    pub(super) const WORD: &str = "tmpfs";
    pub(super) const FORM: &str = "tmpfs:SIZE";

    pub(super) fn parse(rest: &str) -> Result<Self, Why> {
        let (size, option) = size::split_option(rest);
        let size_bytes = size::parse(size, BYTES_MIN, "a tmpfs")?;
        let huge = option.map(huge).transpose()?;
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
        self.huge.map_or(Ok(()), |huge| write!(f, ":huge={huge}"))
    }
}
