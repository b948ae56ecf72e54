//! The same screen as data, for a page that lays it out itself and has room for all of it.

use model::analysis::Analysis;
use model::run::Run;

use super::entry::{self, Entry};
use super::groups::{self, Section};
use super::notes::{self, Note};
use super::{extent, failures, opening};
use crate::rest::Rest;
use crate::subject::Subject;

/// All that the screen says.
pub(crate) struct Screen<'a> {
    /// `30 s, 33 of 35 sure`.
    pub(crate) extent: String,
    /// Whose files these were, and what is taken for now.
    pub(crate) opening: Vec<String>,
    /// What is said instead of advice, where nothing is known.
    pub(crate) nothing_known: Vec<String>,
    /// What to do.
    entries: Vec<Entry<'a>>,
    /// What else one must know.
    pub(crate) notes: Vec<Note>,
}

impl<'a> Screen<'a> {
    pub(crate) fn of(run: &'a Run, analysis: &'a Analysis) -> Self {
        let subject = Subject { run, analysis };
        let (mut nothing_known, mut entries, mut notes) = Default::default();
        if analysis.blocks > 0 {
            entries = entry::all(subject);
            notes = notes::whole(subject, &entries, Rest::Below);
        } else {
            let why = super::nothing_known_of(run).to_owned();
            nothing_known = std::iter::once(why).chain(failures(run)).collect();
        }
        Self {
            extent: format!("{}, {}", opening::counts(subject), extent(subject)),
            opening: opening::data(subject),
            nothing_known,
            entries,
            notes,
        }
    }

    pub(crate) fn sections(&self) -> Vec<Section<'_>> {
        groups::sections(&self.entries)
    }
}
