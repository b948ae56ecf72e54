//! Several clients of a place, each of which does a slice of a study by itself.
//!
//! The study knows nothing of it. What [`each`] makes of a workload has a client's worker do
//! whole slices of it ([`client`]), all of which are made ready, started, forced to the device
//! and checked together. So any study can have several clients that has [`param`] among its
//! parameters and whose slices need nothing but their folders.
//!
//! Clients work in folders of their own, or have files or folders in common ([`Common`]), in
//! which each knows its [`Part`]. They can have something in common only where the place is the
//! same for all: on disks of their own, they work as if there were nothing.

mod client;
mod joined;
mod shared;
mod spec;
mod states;

use std::io;

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Doing as _, Footprint, Operations, Part, Ready, RunsIn, SliceFolders, Study, StudyError,
    Workload,
};
use model::scaling::{CLIENTS, CLIENTS_PER_S};
use model::study::{ParamValue, Params, StudyDescription};
use serde_json::value::to_raw_value;

pub(crate) use self::client::{ASSIGNMENT, do_assignment};
use self::client::{Folder, Task};
use self::shared::InOneFolder;
pub(crate) use self::spec::{OwnOrSame, figures, param, rate};
use self::states::Waiting;

/// What clients have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Common {
    /// Each has folders of its own.
    Nothing,
    /// Files that the arm keeps from slice to slice, which this process makes and all read.
    Files,
    /// The same, of which each has a part.
    PartsOfFiles,
    /// The folders, in which each makes files of its own.
    Folders,
}

/// What an arm does with as many clients as its parameters say: the same, where that is one.
pub(crate) fn each(
    study: &'static StudyDescription,
    strategy: &str,
    params: &Params,
    one: Box<dyn Workload>,
    common: Common,
) -> Box<dyn Workload> {
    if params.count(CLIENTS) == 1 {
        return one;
    }
    Box::new(Each { common, ..Each::new(study, strategy, params, one, CLIENTS_PER_S) })
}

/// The same where `all` is what clients do in one folder, and `rate` the study's figure of what
/// they get done.
pub(crate) fn in_one_folder(
    study: &dyn Study,
    strategy: &str,
    params: &Params,
    all: Box<dyn Workload>,
    rate: &'static str,
) -> Result<Box<dyn Workload>, StudyError> {
    if params.count(CLIENTS) == 1 {
        return Ok(all);
    }
    let one = study.workload(strategy, &of_one(params))?;
    let apart = Box::new(Each::new(study.spec(), strategy, params, one, rate));
    Ok(Box::new(InOneFolder { all, apart }))
}

/// The parameters of one client by itself.
fn of_one(params: &Params) -> Params {
    let one = |(name, value): &(&'static str, ParamValue)| match *name {
        name if name == CLIENTS => (name, ParamValue::Count(1)),
        name => (name, value.clone()),
    };
    Params(params.0.iter().map(one).collect())
}

/// An arm of several clients, each in a folder of its own.
struct Each {
    study: &'static StudyDescription,
    clients: u64,
    /// What all of them are told.
    task: Task,
    /// What each of them does, to be asked what that comes to.
    one: Box<dyn Workload>,
    rate: &'static str,
    common: Common,
}

impl Each {
    fn new(
        study: &'static StudyDescription,
        strategy: &str,
        params: &Params,
        one: Box<dyn Workload>,
        rate: &'static str,
    ) -> Self {
        let orders = client::Orders {
            study: study.name.clone(),
            strategy: strategy.to_owned(),
            params: of_one(params).written(),
        };
        let task = Task {
            arm: rand::random(),
            orders: to_raw_value(&orders).unwrap_or_else(|_| unreachable!("it is text alone")),
            part: Part::WHOLE,
            fresh: Folder::default(),
            kept: Folder::default(),
            kept_is_new: false,
            tidies: false,
            operations: 0,
        };
        let clients = params.count(CLIENTS);
        Self { study, clients, task, one, rate, common: Common::Nothing }
    }

    /// With a folder for each.
    fn of_all(&self, of_one: Footprint) -> Footprint {
        let folders = Footprint { files: 1, ..Footprint::NOTHING };
        of_one.and(folders).times(self.clients)
    }
}

impl Workload for Each {
    fn about(&self) -> About {
        let one = self.one.about();
        let Operations { granule, max } = one.operations;
        let all = |of_one: u64| of_one.saturating_mul(self.clients);
        let kept = match self.common {
            Common::Nothing | Common::Folders => self.of_all(one.kept),
            Common::PartsOfFiles => one.kept.times(self.clients),
            Common::Files => one.kept,
        };
        let operations = Operations { granule: all(granule), max: all(max) };
        About { operations, runs_in: RunsIn::EachStretch, kept, ..one }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        self.of_all(self.one.footprint(operations / self.clients))
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        const FINDING: &str = "finding a client's folder";
        let there = folders.clients.filter(|there| there.count() as u64 >= self.clients);
        let too_few =
            || StudyError::Unsuited(format!("there are fewer than {} clients", self.clients));
        let there = there.ok_or_else(too_few)?;
        let is_own = there.is_each_ones_own(folders.fresh).doing(FINDING)?;
        let common = if is_own { Common::Nothing } else { self.common };
        let paths = |client| -> io::Result<_> {
            Ok((there.path_to(client, folders.fresh)?, there.path_to(client, folders.kept)?))
        };
        let here = paths(0).doing(FINDING)?;
        let (owns_fresh, owns_kept) = (common != Common::Folders, common == Common::Nothing);
        let task = |client: usize| -> io::Result<Task> {
            let (fresh, kept) = if is_own { paths(client)? } else { here.clone() };
            let of_client = |path, is_own: bool| {
                let path = if is_own { format!("{path}/client-{client}") } else { path };
                Folder { path, is_own }
            };
            let part = Part { number: client as u64, of: self.clients };
            Ok(Task {
                part: if owns_kept { Part::WHOLE } else { part },
                fresh: of_client(fresh, owns_fresh),
                kept: of_client(kept, owns_kept),
                kept_is_new: folders.kept_is_new,
                // What the first leaves is put aside here.
                tidies: is_own && client > 0,
                ..self.task.clone()
            })
        };
        let tasks: io::Result<Vec<Task>> = (0..self.clients as usize).map(task).collect();
        let (tasks, group) = (tasks.doing(FINDING)?, there.group(self.clients as usize));
        let each = operations / self.clients;
        if matches!(common, Common::Files | Common::PartsOfFiles) {
            let part = Part { number: 0, of: self.clients };
            // The files that all read are there once it is ready.
            drop(self.one.ready(SliceFolders { part, ..folders }, each, timer)?);
        }
        Ok(Box::new(Waiting::new(self.study, self.rate, group, tasks, each, timer)?))
    }
}

#[cfg(test)]
mod tests;
