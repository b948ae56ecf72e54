//! Several clients of a place, each of which does a slice of a study by itself, in a folder of
//! its own.
//!
//! The study knows nothing of it. What [`each`] makes of a workload has a client's worker do
//! whole slices of it ([`client`]), all of which are made ready, started, forced to the device
//! and checked together. So any study can have several clients that has [`PARAM`] among its
//! parameters and whose slices need nothing but their folders.
//!
//! One whose clients share files can do so only where they have a place in common
//! ([`in_one_folder`], [`Kept::Common`]): on disks of their own, they work like those of any
//! other study.

mod client;
mod joined;
mod shared;
mod spec;
mod states;

use std::io;

use engine::study::{
    Doing as _, Footprint, Operations, Prepared, SliceFolders, Study, StudyError, Workload,
};
use model::material::Material;
use model::study::{ParamValue, Params, StudySpec};

use self::client::Task;
pub(crate) use self::client::{ASSIGNMENT, do_assignment};
use self::shared::InOneFolder;
pub(crate) use self::spec::{FIGURES, PARAM, RATE};
use self::states::Folders;

/// Whose the files are that an arm keeps from slice to slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Each client makes its own.
    Own,
    /// All clients read the same, which this process makes.
    Common,
}

/// What an arm does with as many clients as its parameters say: the same, where that is one.
pub(crate) fn each(
    study: &'static StudySpec,
    strategy: &str,
    params: &Params,
    one: Box<dyn Workload>,
    kept: Kept,
) -> Box<dyn Workload> {
    if params.count(PARAM.name) == 1 {
        return one;
    }
    Box::new(Each { kept, ..Each::new(study, strategy, params, one, RATE.name) })
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
    if params.count(PARAM.name) == 1 {
        return Ok(all);
    }
    let one = study.workload(strategy, &of_one(params))?;
    let apart = Box::new(Each::new(study.spec(), strategy, params, one, rate));
    Ok(Box::new(InOneFolder { all, apart }))
}

/// The parameters of one client by itself.
fn of_one(params: &Params) -> Params {
    let one = |(name, value): &(&'static str, ParamValue)| match *name {
        name if name == PARAM.name => (name, ParamValue::Count(1)),
        name => (name, value.clone()),
    };
    Params(params.0.iter().map(one).collect())
}

/// An arm of several clients, each in a folder of its own.
struct Each {
    study: &'static StudySpec,
    clients: u64,
    /// What all of them are told.
    task: Task,
    /// What each of them does, to be asked what that comes to.
    one: Box<dyn Workload>,
    rate: &'static str,
    kept: Kept,
}

impl Each {
    fn new(
        study: &'static StudySpec,
        strategy: &str,
        params: &Params,
        one: Box<dyn Workload>,
        rate: &'static str,
    ) -> Self {
        let task = Task {
            arm: rand::random(),
            study: study.name.to_owned(),
            strategy: strategy.to_owned(),
            params: of_one(params).written(),
            ..Task::default()
        };
        let clients = params.count(PARAM.name);
        Self { study, clients, task, one, rate, kept: Kept::Own }
    }

    /// With a folder for each.
    fn of_all(&self, of_one: Footprint) -> Footprint {
        let folders = Footprint { files: 1, ..Footprint::NOTHING };
        of_one.and(folders).times(self.clients)
    }
}

impl Workload for Each {
    fn material(&self) -> Option<Material> {
        self.one.material()
    }

    fn operations(&self) -> Operations {
        let Operations { granule, max } = self.one.operations();
        let all = |of_one: u64| of_one.saturating_mul(self.clients);
        Operations { granule: all(granule), max: all(max) }
    }

    fn warms_up(&self) -> bool {
        self.one.warms_up()
    }

    fn footprint(&self, operations: u64) -> Footprint {
        self.of_all(self.one.footprint(operations / self.clients))
    }

    fn kept_footprint(&self) -> Footprint {
        match self.kept {
            Kept::Own => self.of_all(self.one.kept_footprint()),
            Kept::Common => self.one.kept_footprint(),
        }
    }

    fn prepare<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, StudyError> {
        const FINDING: &str = "finding a client's folder";
        let there = folders.clients.filter(|there| there.count() as u64 >= self.clients);
        let too_few =
            || StudyError::Unsuited(format!("there are fewer than {} clients", self.clients));
        let there = there.ok_or_else(too_few)?;
        let is_own = there.is_each_ones_own(folders.fresh).doing(FINDING)?;
        let keeps = self.kept == Kept::Own || is_own;
        let task = |client: usize| -> io::Result<Task> {
            let path = |folder| there.path_to(client, folder);
            let fresh = format!("{}/client-{client}", path(folders.fresh)?);
            let kept = path(folders.kept)?;
            let kept = if keeps { format!("{kept}/client-{client}") } else { kept };
            // What the first leaves is put aside here.
            let tidies = is_own && client > 0;
            let kept_is_new = folders.kept_is_new;
            Ok(Task { fresh, kept, kept_is_new, keeps, tidies, ..self.task.clone() })
        };
        let tasks: io::Result<Vec<Task>> = (0..self.clients as usize).map(task).collect();
        let (tasks, group) = (tasks.doing(FINDING)?, there.group(self.clients as usize));
        let (study, rate) = (self.study, self.rate);
        let first = if keeps { None } else { Some(self.one.prepare(folders)?) };
        Ok(Box::new(Folders { study, group, tasks, rate, first }))
    }
}

#[cfg(test)]
mod tests;
