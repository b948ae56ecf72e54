//! What a power failure leaves of documents.

use engine::power::Left;
use engine::slice_timer::SliceTimer;
use engine::study::{PowerTrial, Ready, SliceFolders, StudyError, Workload as _};
use model::study::Params;

use super::spec::Operation;
use super::{Config, Document, DocumentState, Documents, Filing};
use crate::file::keep_open;

/// Documents that are written, each once.
pub(crate) struct Written {
    filing: Filing,
    records: u64,
}

impl Written {
    pub(crate) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let config = Config::new(strategy, params)?;
        if config.operation != Operation::Write {
            let text = "the power failure test needs files that are written: set operation=write";
            return Err(StudyError::Unsuited(text.to_owned()));
        }
        Ok(Self { filing: Filing { config, documents: Vec::new() }, records: 0 })
    }
}

impl PowerTrial for Written {
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        self.records = operations;
        self.filing.ready(folders, operations, timer)
    }

    fn look(&self, folders: SliceFolders<'_>, done: u64) -> Result<Left, StudyError> {
        let config = &self.filing.config;
        let mut names: Vec<Document> =
            (0..self.records).map(|number| config.stock.document(number)).collect();
        let folder = keep_open(folders.fresh)?;
        let used = names.len();
        let mut documents = Documents::new(config, folder, folders.part, &mut names, used);
        let (mut lost, mut damage) = (0, None);
        for number in 0..self.records {
            let found = documents.find(number as usize)?;
            lost += u64::from(number < done && found != DocumentState::Whole);
            let what = match found {
                DocumentState::Whole | DocumentState::Absent => continue,
                DocumentState::Empty => "is empty".to_owned(),
                DocumentState::Cut { bytes } => format!("has {bytes} bytes"),
                DocumentState::Different => "has other contents".to_owned(),
            };
            damage.get_or_insert_with(|| format!("document {number} {what}"));
        }
        let allowed = config.put.may_leave_a_part();
        let may_lose = if allowed { done } else { 0 };
        Ok(Left::lost(lost, may_lose).with_damage(damage, allowed))
    }
}
