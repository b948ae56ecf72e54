//! The same screen as data, for a page that lays it out itself and has room for all of it.

use model::analysis::{Advice, Analysis, Verdict};
use model::run::Run;

use super::notes::Note;
use super::{advice, extent, failures, notes, row, table};
use crate::subject::Subject;

/// All that the screen says.
pub(crate) struct Screen {
    /// `28 arms, 109 blocks, took 60 s`.
    pub(crate) extent: String,
    /// What is said instead of advice, where nothing is known.
    pub(crate) nothing_known: Vec<String>,
    /// What to do: the kind of advice, its word and the sentences.
    pub(crate) advice: Vec<(Advice, &'static str, String)>,
    /// The heads of the names and tolls.
    pub(crate) heads: Vec<String>,
    /// Whether anything is compared, so that rows have factors.
    pub(crate) compares: bool,
    /// A row for each thing that an application does with files.
    pub(crate) rows: Vec<ScreenRow>,
    /// What else one must know, each note with its word.
    pub(crate) notes: Vec<(&'static str, Vec<String>)>,
}

/// One thing that an application does with files.
pub(crate) struct ScreenRow {
    pub(crate) name: String,
    /// The tolls, in the order of the heads.
    pub(crate) typical_times: Vec<Option<TypicalTime>>,
    pub(crate) factor: String,
    pub(crate) threshold: String,
    pub(crate) advice: Advice,
    pub(crate) cause: String,
}

/// A toll, with what is said of it against the present one.
pub(crate) struct TypicalTime {
    pub(crate) text: String,
    pub(crate) verdict: Option<Verdict>,
}

impl Screen {
    pub(crate) fn of(run: &Run, analysis: &Analysis) -> Self {
        let subject = Subject { run, analysis };
        let rows = row::all(subject);
        let columns = table::Columns::of(subject, &rows);
        let is_known = analysis.blocks > 0;
        let mut nothing_known = Vec::new();
        if !is_known {
            nothing_known.push(super::NOTHING_KNOWN.to_owned());
            nothing_known.extend(failures(run));
        }
        let shown = if is_known { rows.as_slice() } else { &[] };
        let notes = if is_known { notes::whole(subject, shown, true) } else { Vec::new() };
        Self {
            extent: extent(subject),
            nothing_known,
            advice: advice::whole(shown),
            heads: columns.heads().into_iter().map(str::to_owned).collect(),
            compares: columns.compares(),
            rows: shown.iter().map(|row| screen_row(row, &columns)).collect(),
            notes: notes.into_iter().map(|Note { label, parts, .. }| (label, parts)).collect(),
        }
    }
}

fn screen_row(row: &row::Row, columns: &table::Columns) -> ScreenRow {
    let now = TypicalTime { text: row.typical(), verdict: None };
    let changes = columns.changes(row).into_iter().map(|change| {
        change.map(|change| TypicalTime {
            text: table::typical_text(&change),
            verdict: Some(change.comparison.verdict),
        })
    });
    ScreenRow {
        name: row.name.clone(),
        typical_times: std::iter::once(Some(now)).chain(changes).collect(),
        factor: row.best().map_or_else(String::new, |best| best.factor()),
        threshold: if row.best().is_some() { table::threshold_text(row) } else { String::new() },
        advice: row.answer.advice,
        cause: table::cause(row),
    }
}
