//! The same screen as data, for a page that lays it out itself and has room for all of it.

use model::advice::Group;
use model::analysis::Analysis;
use model::run::Run;

use super::notes::Note;
use super::{entry, extent, failures, groups, notes, opening};
use crate::difference::{self, Difference};
use crate::rest::Rest;
use crate::subject::Subject;

/// All that the screen says.
pub(crate) struct Screen {
    /// `30 s, 33 of 35 sure`.
    pub(crate) extent: String,
    /// Whose files these were, and what is taken for now.
    pub(crate) opening: Vec<String>,
    /// What is said instead of advice, where nothing is known.
    pub(crate) nothing_known: Vec<String>,
    /// What to do.
    pub(crate) sections: Vec<ScreenSection>,
    /// What else one must know, each note with its word.
    pub(crate) notes: Vec<(&'static str, Vec<String>)>,
}

/// Advice with the same condition.
pub(crate) struct ScreenSection {
    pub(crate) group: Group,
    pub(crate) heading: String,
    pub(crate) entries: Vec<ScreenEntry>,
}

/// One thing that an application does with files.
pub(crate) struct ScreenEntry {
    pub(crate) name: String,
    /// What is changed; empty where the heading names it.
    pub(crate) change: String,
    pub(crate) now: String,
    /// Empty where nothing was compared.
    pub(crate) then: String,
    /// Whether its change is a line of prose that has the figures of several parts.
    pub(crate) is_prose: bool,
    /// The change's time over that of now, and its interval.
    pub(crate) ratio: Option<f64>,
    pub(crate) ratio_low: Option<f64>,
    pub(crate) ratio_high: Option<f64>,
    /// `14× faster`, `26% less`.
    pub(crate) figure: String,
    /// `13–15`.
    pub(crate) interval: String,
    pub(crate) is_sure: bool,
    /// What is known where it is not sure: `1.5–1.9× faster`.
    pub(crate) range: String,
    /// What more there is to say.
    pub(crate) remark: Option<String>,
}

impl ScreenEntry {
    /// Whether there is something to draw of it.
    pub(crate) fn has_bar(&self) -> bool {
        self.ratio.is_some() && !self.is_prose
    }
}

impl Screen {
    pub(crate) fn of(run: &Run, analysis: &Analysis) -> Self {
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
            sections: groups::sections(shown).iter().map(section).collect(),
            notes: notes.into_iter().map(|Note { label, parts, .. }| (label, parts)).collect(),
        }
    }
}

fn section(section: &groups::Section) -> ScreenSection {
    let entries = section.entries.iter().map(|entry| {
        let advice = entry.advice;
        let Difference { ratio: figure, interval } =
            Difference::new(advice.ratio, advice.ratio_low, advice.ratio_high);
        ScreenEntry {
            name: entry.name.clone(),
            change: section.change(entry),
            now: entry.now(),
            then: entry.then(),
            is_prose: entry.is_prose(),
            ratio: advice.ratio,
            ratio_low: advice.ratio_low,
            ratio_high: advice.ratio_high,
            figure,
            interval,
            is_sure: entry.is_sure(),
            range: difference::range(advice.ratio_low, advice.ratio_high),
            remark: entry.remark(),
        }
    });
    let entries = entries.collect();
    ScreenSection { group: section.group, heading: section.heading.clone(), entries }
}
