//! What a power failure leaves of a cache that is rebuilt over one that was there.
//!
//! The sources stay as they are, so that the file that was there and the one that takes
//! its place have the same contents: whatever else is found is neither.

use std::os::fd::BorrowedFd;

use engine::recorder::Recorder;
use engine::study::{Doing, Ready, SliceFolders, StudyError, Workload as _};
use model::study::Params;

use super::spec::Operation;
use super::store::{self, Entry};
use super::{Config, scan};
use crate::power::{Left, Trial};

/// A cache that is rebuilt again and again.
pub(crate) struct Rebuilt {
    config: Config,
}

impl Rebuilt {
    pub(crate) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let config = Config::new(strategy, params)?;
        if config.operation != Operation::Rebuild {
            let text = "a power failure is tried with a cache that is rebuilt: set \
                        operation=rebuild";
            return Err(StudyError::Unsuited(text.to_owned()));
        }
        Ok(Self { config })
    }

    /// What is wrong with a file that is neither the old one nor the new one, and whether
    /// that is allowed; one that is not, where there is any.
    fn damage(&self, folders: SliceFolders<'_>) -> Result<Option<(String, bool)>, StudyError> {
        let owned =
            |folder: BorrowedFd<'_>| folder.try_clone_to_owned().doing("keeping the folder open");
        let (sources, cache) = (owned(folders.kept)?, owned(folders.fresh)?);
        let sources = scan(&sources)?;
        let entries: Vec<Entry> = sources.iter().map(Entry::of).collect();
        let mut wanted: Vec<_> = entries
            .iter()
            .zip(&sources)
            .filter(|(entry, _)| entry.is_template())
            .map(|(entry, source)| (entry.compiled(), store::compile(&source.contents)))
            .collect();
        wanted.push((store::MANIFEST.to_owned(), store::manifest(&entries)));
        let put = self.config.put;
        let damaged = wanted.iter().filter_map(|(path, contents)| {
            let (what, allowed) = match store::load_file(&cache, path) {
                Ok(found) if found == *contents => return None,
                Ok(found) if found.is_empty() => ("is empty".to_owned(), put.may_leave_empty()),
                Ok(found) => {
                    let what = format!("has {} of {} bytes", found.len(), contents.len());
                    (what, put.may_leave_a_part())
                }
                Err(error) => (format!("cannot be read: {error}"), false),
            };
            Some((format!("{} {what}", path.to_string_lossy()), allowed))
        });
        Ok(damaged.min_by_key(|(_, allowed)| *allowed))
    }
}

impl Trial for Rebuilt {
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        recorder: &Recorder,
    ) -> Result<Box<dyn Ready + 'a>, StudyError> {
        self.config.prepare(folders)?.ready(operations, recorder)
    }

    fn look(&self, folders: SliceFolders<'_>, _done: u64) -> Result<Left, StudyError> {
        let (damage, allowed) = self.damage(folders)?.unzip();
        Ok(Left::default().with_damage(damage, allowed != Some(false)))
    }

    fn starts_settled(&self) -> bool {
        true
    }
}
