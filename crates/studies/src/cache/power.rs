//! What a power failure leaves of a cache that is rebuilt over one that was there.
//!
//! The sources stay as they are, so that the file that was there and the one that takes
//! its place have the same contents: whatever else is found is neither.

use engine::power::Left;
use engine::slice_timer::SliceTimer;
use engine::study::{PowerTrial, Ready, SliceFolders, StudyError, Workload as _};
use model::study::Params;

use super::spec::Operation;
use super::store::{self, Entry};
use super::{Config, scan};
use crate::file::keep_open;

/// A cache that is rebuilt again and again.
pub(crate) struct Rebuilt {
    config: Config,
}

impl Rebuilt {
    pub(crate) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let config = Config::new(strategy, params)?;
        if config.operation != Operation::Rebuild {
            let text = "the power failure test needs a cache that is rebuilt: set \
                        operation=rebuild";
            return Err(StudyError::Unsuited(text.to_owned()));
        }
        Ok(Self { config })
    }

    /// What is wrong with the first file that is neither the old one nor the new one.
    fn damage(&self, folders: SliceFolders<'_>) -> Result<Option<String>, StudyError> {
        let tree = &self.config.tree;
        let (sources, cache) = (keep_open(folders.kept)?, keep_open(folders.fresh)?);
        let sources = scan(&sources)?;
        let entries: Vec<Entry> = sources.iter().map(Entry::of).collect();
        let templates = sources.iter().filter(|source| tree.is_template(&source.path));
        let mut wanted: Vec<_> = templates
            .map(|source| (tree.compiled(&source.path), store::compile(&source.contents)))
            .collect();
        wanted.push((store::MANIFEST.to_owned(), store::manifest(&entries)));
        Ok(wanted.iter().find_map(|(path, contents)| {
            let what = match store::load_file(&cache, path) {
                Ok(found) => difference(&found, contents)?,
                Err(error) => format!("cannot be read: {error}"),
            };
            Some(format!("{} {what}", path.to_string_lossy()))
        }))
    }
}

impl PowerTrial for Rebuilt {
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        self.config.ready(folders, operations, timer)
    }

    fn look(&self, folders: SliceFolders<'_>, _done: u64) -> Result<Left, StudyError> {
        let allowed = self.config.put.may_leave_a_part();
        Ok(Left::default().with_damage(self.damage(folders)?, allowed))
    }
}

/// How a file differs from what should be in it, if it does.
fn difference(found: &[u8], wanted: &[u8]) -> Option<String> {
    let same = found.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    let size = wanted.len();
    match &found[same..] {
        [] if same == size => None,
        [] => Some(format!("ends after {same} of {size} bytes")),
        rest if rest.iter().all(|byte| *byte == 0) => {
            Some(format!("has zeros from byte {same} of {size} on"))
        }
        _ => Some(format!("has something else from byte {same} of {size} on")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_one_that_was_written_or_it_is_told_how_it_differs() {
        let told = |found: &[u8]| difference(found, b"abcd");
        assert_eq!(told(b"abcd"), None);
        assert_eq!(told(b"").as_deref(), Some("ends after 0 of 4 bytes"));
        assert_eq!(told(b"ab\0\0").as_deref(), Some("has zeros from byte 2 of 4 on"));
        assert_eq!(told(b"abxd").as_deref(), Some("has something else from byte 2 of 4 on"));
        assert_eq!(told(b"abcde").as_deref(), Some("has something else from byte 4 of 4 on"));
    }
}
