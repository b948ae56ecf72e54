//! What shows that a saved run is as it was saved.
//!
//! Each text of a run has a checksum (XXH3), whose seed is the run's name and what the text is:
//! one that became another run's, or changed its place among others, does not match either. This
//! finds damage, and not forgery: who may write to the database may write checksums, too.
//!
//! Runs that older versions saved have none.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Which text of a run it is.
#[derive(Clone, Copy)]
pub(crate) enum Text {
    Record,
    Analysis,
    /// By its place among the parts.
    Part(u64),
}

/// The checksum of a run's text, as the database keeps numbers.
pub(crate) fn of(run: &str, which: Text, text: &[u8]) -> i64 {
    let which = match which {
        Text::Record => 0,
        Text::Analysis => 1,
        Text::Part(position) => 2 + position,
    };
    xxh3_64_with_seed(text, xxh3_64_with_seed(run.as_bytes(), which)).cast_signed()
}

/// A text with its checksum, as they were found.
pub(crate) struct Kept {
    pub(crate) text: Vec<u8>,
    pub(crate) checksum: Option<i64>,
}

impl Kept {
    /// Those in two columns, the text first. It is not taken for UTF-8 before it is checked.
    pub(crate) fn at(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Self> {
        let text = row.get_ref(column)?.as_bytes()?.to_vec();
        Ok(Self { text, checksum: row.get(column + 1)? })
    }

    /// Whether it is what was saved, as far as that can be known.
    pub(crate) fn is_sound(&self, run: &str, which: Text) -> bool {
        self.checksum.is_none_or(|checksum| checksum == of(run, which, &self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_of_one_text_of_one_run() {
        let sound = of("aa11", Text::Part(0), b"text");
        let others = [
            of("aa11", Text::Part(0), b"texu"),
            of("aa12", Text::Part(0), b"text"),
            of("aa11", Text::Part(1), b"text"),
            of("aa11", Text::Record, b"text"),
            of("aa11", Text::Analysis, b"text"),
        ];
        assert!(others.iter().all(|other| *other != sound));
        let kept = |checksum| Kept { text: b"text".to_vec(), checksum };
        assert!(kept(Some(sound)).is_sound("aa11", Text::Part(0)));
        assert!(!kept(Some(others[0])).is_sound("aa11", Text::Part(0)));
        assert!(kept(None).is_sound("aa11", Text::Part(0)));
    }
}
