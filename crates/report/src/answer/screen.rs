//! The same screen as data, for a page that lays it out itself and has room for all of it.

use model::analysis::Analysis;
use model::run::Run;

use super::groups::{self, Section};
use super::notes::{self, Note};
use super::{entry, extent, failures, opening};
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
    pub(crate) sections: Vec<Section<'a>>,
    /// What else one must know.
    pub(crate) notes: Vec<Note>,
}

impl<'a> Screen<'a> {
    pub(crate) fn of(run: &'a Run, analysis: &'a Analysis) -> Self {
        let subject = Subject { run, analysis };
        let entries = entry::all(subject);
        let is_known = analysis.blocks > 0;
        let mut nothing_known = Vec::new();
        if !is_known {
            nothing_known.push(super::nothing_known_of(run).to_owned());
            nothing_known.extend(failures(run));
        }
        let shown = if is_known { entries.as_slice() } else { &[] };
        let notes = if is_known { notes::whole(subject, shown, Rest::Below) } else { Vec::new() };
        Self {
            extent: format!("{}, {}", opening::counts(subject), extent(subject)),
            opening: opening::data(subject),
            nothing_known,
            sections: groups::sections(shown),
            notes,
        }
    }
}
