//! Keeping runs as they go. Where that cannot be done, it is told and the run goes on:
//! what it says is worth more than what is kept of it.

use std::env;

use anyhow::anyhow;
use engine::measure::Event;
use model::run::{ArmFailure, Run};
use serde::Serialize;
use store::{Entry, Kind, Narrowed, Recording, State, Store};
use units::counted;

use crate::terminal::output;

/// Opens the store for a run that is to be saved, and tells of those that were killed.
pub(crate) fn open(no_save: bool) -> Option<Store> {
    if no_save {
        return None;
    }
    let opened = store::usual(|name| env::var_os(name)).and_then(|folder| Store::open(&folder));
    match opened {
        Ok(mut store) => {
            tell_narrowed(&store);
            tell_killed(&mut store);
            Some(store)
        }
        Err(error) => {
            output::note(&unsaved(&error));
            None
        }
    }
}

/// Opens the store, where it has saved runs.
pub(crate) fn if_any() -> Result<Option<Store>, store::Error> {
    let folder = store::usual(|name| env::var_os(name))?;
    let Some(store) = Store::open_existing(&folder)? else { return Ok(None) };
    tell_narrowed(&store);
    Ok(store.latest()?.map(|_| store))
}

/// The same; an error where it has none.
pub(crate) fn existing() -> anyhow::Result<Store> {
    let folder = store::usual(|name| env::var_os(name))?;
    let none = || anyhow!("no runs are saved in {}; `iotoll compare` saves one", folder.display());
    if_any()?.ok_or_else(none)
}

/// Reports that others could read the store until now.
fn tell_narrowed(store: &Store) {
    let narrowed = store.narrowed().iter();
    let each: Vec<String> = narrowed
        .map(|Narrowed { path, mode, now }| {
            format!("{} had mode {mode:04o} and now has {now:04o}", path.display())
        })
        .collect();
    if !each.is_empty() {
        output::note(&format!("other users could read the saved runs: {}", each.join(", ")));
    }
}

/// Tells, once, of each run that was killed.
pub(crate) fn tell_killed(store: &mut Store) {
    match store.find_killed() {
        Ok(killed) => killed.iter().for_each(|entry| output::note(&was_killed(entry))),
        Err(error) => output::note(&format!("could not check for killed runs: {error}")),
    }
}

fn was_killed(entry: &Entry) -> String {
    let Entry { started, subject, .. } = entry;
    let when = match entry.blocks {
        0 => "before its first round was complete".to_owned(),
        rounds => format!("after {}", counted(rounds.into(), "round")),
    };
    format!(
        "the run of {started} ({subject}) was killed {when}: `iotoll show {}`",
        entry.short_id()
    )
}

fn unsaved(error: &store::Error) -> String {
    format!("this run is not saved: {error}")
}

/// What lists have of a run that is over, of a kind that has no blocks.
pub(crate) fn finished(kind: Kind, id: &str, started: &str, seconds: f64) -> Entry {
    Entry {
        id: id.to_owned(),
        kind,
        started: started.to_owned(),
        subject: String::new(),
        state: State::Finished,
        seconds,
        blocks: 0,
        studies: vec![kind.name().to_owned()],
        places: Vec::new(),
        summary: None,
    }
}

/// Keeps such a run.
pub(crate) fn keep(store: Option<Store>, entry: &Entry, document: &impl Serialize) {
    let Some(mut store) = store else { return };
    if let Err(error) = store.keep(entry, document) {
        output::note(&unsaved(&error));
    }
}

/// Keeps a comparison as it goes.
pub(crate) struct RunSaver {
    store: Option<Store>,
    recording: Option<Recording>,
    /// Whether something is yet to be kept, which is tried again at the end.
    is_behind: bool,
}

impl RunSaver {
    /// Keeps it there, if anywhere.
    pub(crate) fn new(store: Option<Store>) -> Self {
        Self { store, recording: None, is_behind: false }
    }

    /// Keeps what has happened; what is to be told where that fails.
    pub(crate) fn take(&mut self, event: &Event<'_>) -> Option<String> {
        if let (Event::Begun(run), Some(store)) = (event, self.store.take()) {
            return match store.begin(run) {
                Ok(recording) => {
                    self.recording = Some(recording);
                    None
                }
                Err(error) => Some(unsaved(&error)),
            };
        }
        let recording = self.recording.as_mut().filter(|_| !self.is_behind)?;
        let kept = match event {
            Event::Kept(slices) => recording.append(slices),
            Event::Failed { arm, why } => {
                recording.fail(ArmFailure { arm: *arm, why: (*why).to_owned() })
            }
            _ => Ok(()),
        };
        let error = kept.err()?;
        self.is_behind = true;
        Some(format!("the run goes on, but its rounds are not saved before its end: {error}"))
    }

    /// Keeps what remains to be kept of the run; gives back where it is kept.
    pub(crate) fn finish(self, run: &Run) -> Option<Store> {
        let finished = self.recording?.finish(run);
        finished
            .map_err(|error| output::note(&format!("the end of this run is not saved: {error}")))
            .ok()
    }
}
