//! What a power failure leaves of a database.

use engine::power::Left;
use engine::slice_timer::SliceTimer;
use engine::study::{PowerTrial, Ready, SliceFolders, StudyError};
use model::study::Params;
use process::worker::WorkerPool;

use super::client::WRITES;
use super::config::Config;
use super::database::{self, DatabaseCheck, NAME, Template, refused};
use super::folder::path_in;
use super::slice::Database;
use super::spec::{AtPowerFailure, Connect};

const LOOKING: &str = "looking at the database";

/// A database that one connection makes requests to.
pub(crate) struct Changed {
    config: Config,
    template: Template,
    pool: WorkerPool,
    /// Updates that were in it before the first request.
    updates_before: u64,
}

impl Changed {
    pub(crate) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let config = Config::new(strategy, params)?;
        if config.connections > 1 || config.connect == Connect::Request {
            let text = "the power failure test needs one connection that stays open: set \
                        connections=1 and connect=once";
            return Err(StudyError::Unsuited(text.to_owned()));
        }
        if config.data.is_own() {
            let text = "the power failure test knows what should be in the generated database \
                        alone: leave out database and statements";
            return Err(StudyError::Unsuited(text.to_owned()));
        }
        let template = config.data.template();
        Ok(Self { config, template, pool: WorkerPool::new(), updates_before: 0 })
    }

    /// What is there and should not be, or is not as the statements left it.
    fn damage(&self, found: &DatabaseCheck, updates_done: u64) -> Option<String> {
        let DatabaseCheck { complaint, rows, changed, updates, left_over, foreign } = found;
        if let Some(complaint) = complaint {
            return Some(complaint.clone());
        }
        if *rows != self.config.data.rows() {
            return Some(format!("{rows} of {} rows are there", self.config.data.rows()));
        }
        if changed + foreign > 0 {
            return Some(format!(
                "{changed} rows have changed, and {foreign} rows or tables were not written by any \
                 request"
            ));
        }
        let in_one = self.config.strategy.mode().one_transaction;
        let partly = updates % WRITES;
        let fits = match (partly, *left_over) {
            (0, 0) => true,
            (0, 1..=WRITES) | (1.., WRITES) => !in_one,
            _ => false,
        };
        let too_many = *updates > updates_done + WRITES;
        (!fits || too_many).then(|| {
            format!(
                "{updates} updates together with {left_over} new rows are a state that the \
                 database was never in"
            )
        })
    }
}

impl PowerTrial for Changed {
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let Self { config, template, pool, updates_before } = self;
        let database = Database::create(config, template, pool, folders.fresh, 0.0)?;
        let ready = database.ready(operations, timer)?;
        let found = database::look(&path_in(folders.fresh, NAME), config.data.rows());
        *updates_before = found.map_err(|e| refused(LOOKING, &e))?.updates;
        Ok(ready)
    }

    fn look(&self, folders: SliceFolders<'_>, done: u64) -> Result<Left, StudyError> {
        let may = self.config.strategy.at_power_failure();
        let breaks = may == AtPowerFailure::Breaks;
        let found = match database::look(&path_in(folders.fresh, NAME), self.config.data.rows()) {
            Ok(found) => found,
            Err(e) => return Ok(Left::lost(done, done).with_damage(Some(e.to_string()), breaks)),
        };
        let updates_done = self.updates_before + done * WRITES;
        let lost = updates_done.saturating_sub(found.updates).div_ceil(WRITES);
        let allowed = match may {
            AtPowerFailure::LosesNothing => 0,
            AtPowerFailure::LosesTheLast => 1,
            AtPowerFailure::LosesTheLatest | AtPowerFailure::Breaks => u64::MAX,
        };
        Ok(Left::lost(lost, allowed).with_damage(self.damage(&found, updates_done), breaks))
    }
}
