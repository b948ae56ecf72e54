//! One client's part: a whole slice of a study, as `engine::local::LocalRunner` runs one, whose
//! steps wait for those of the other clients.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing as _, Part, SliceFolders, StudyError, Workload};
use host::probes::WorkerProbe;
use host::root::Root;
use model::counters::Counters as _;
use process::StopFlag;
use process::worker::{Assignment, Report, Session};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::workers::with_latencies;

/// What its assignments are called.
pub(crate) const ASSIGNMENT: &str = "clients";

/// What a client is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Whose slices these are: the arm keeps files from one to the next.
    pub(crate) arm: u64,
    /// What all clients of the arm are told ([`Orders`]), written down once.
    pub(crate) orders: Box<RawValue>,
    /// Which part of the folders that clients have in common is this client's.
    pub(crate) part: Part,
    /// Its folder of this slice.
    pub(crate) fresh: Folder,
    /// Its folder of the arm.
    pub(crate) kept: Folder,
    /// Whether that one is another than before.
    pub(crate) kept_is_new: bool,
    /// Whether nobody but the client removes what it leaves in its folders.
    pub(crate) tidies: bool,
    /// How many operations to do.
    pub(crate) operations: u64,
}

/// What clients do in all slices of an arm.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    /// What they do.
    pub(crate) study: String,
    /// How they do it.
    pub(crate) strategy: String,
    /// The parameters, all of them, as a plan file has them.
    pub(crate) params: BTreeMap<String, String>,
}

/// A folder that a client works in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Folder {
    pub(crate) path: String,
    /// Whether it is this client's own, which makes it.
    pub(crate) is_own: bool,
}

thread_local! {
    /// The arms whose slices this worker has done.
    static ARMS: RefCell<HashMap<u64, Arm>> = RefCell::default();
}

/// An arm of this client.
struct Arm {
    kept: String,
    /// What knows of the files in there.
    workload: Box<dyn Workload>,
}

/// Does a client's part.
pub(crate) fn do_assignment(
    assignment: &Assignment,
    session: Session<'_>,
) -> Result<Report, String> {
    slice(assignment.read()?, session).map_err(|error| error.to_string())
}

fn slice(mut task: Task, session: Session<'_>) -> Result<Report, StudyError> {
    const MAKING: &str = "making a client's folder";
    const REMOVING: &str = "removing a client's folder";
    let known = ARMS.with_borrow_mut(|arms| arms.remove(&task.arm));
    // What a worker before this one left there, that one alone knew.
    task.kept_is_new |= known.is_none();
    if task.fresh.is_own {
        make_anew(&task.fresh.path).doing(MAKING)?;
    }
    if task.kept.is_own && task.kept_is_new {
        make_anew(&task.kept.path).doing(MAKING)?;
    }
    let mut arm = match known {
        Some(known) if known.kept != task.kept.path => {
            if task.tidies {
                remove(&known.kept).doing(REMOVING)?;
            }
            Arm { kept: task.kept.path.clone(), ..known }
        }
        Some(known) => known,
        None => Arm { kept: task.kept.path.clone(), workload: workload(&task.orders)? },
    };
    let done = parts(&mut *arm.workload, &task, session)?;
    if task.tidies {
        remove(&task.fresh.path).doing(REMOVING)?;
    }
    ARMS.with_borrow_mut(|arms| arms.insert(task.arm, arm));
    Ok(done)
}

fn make_anew(folder: &str) -> io::Result<()> {
    remove(folder)?;
    fs::create_dir_all(folder)
}

/// With all that is in it; none is fine.
fn remove(folder: &str) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// That of one client by itself.
fn workload(orders: &RawValue) -> Result<Box<dyn Workload>, StudyError> {
    let wrong = |why: String| StudyError::Worker(format!("cannot read an assignment: {why}"));
    let orders = serde_json::from_str(orders.get()).map_err(|error| wrong(error.to_string()))?;
    let Orders { study: name, strategy, params } = orders;
    let study = crate::find(&name).ok_or_else(|| wrong(format!("there is no study {name}")))?;
    let given = params.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    study.workload(&strategy, &study.spec().params_with(given).map_err(wrong)?)
}

/// The slice: its operations, then forcing them to the device, then looking at the files.
fn parts(
    workload: &mut dyn Workload,
    task: &Task,
    mut session: Session<'_>,
) -> Result<Report, StudyError> {
    const WAITING: &str = "waiting for the other clients";
    let open = |folder: &Folder| fs::File::open(&folder.path).doing("opening a client's folder");
    let (fresh, kept) = (open(&task.fresh)?, open(&task.kept)?);
    let (fresh, kept, kept_is_new) = (fresh.as_fd(), kept.as_fd(), task.kept_is_new);
    let folders = SliceFolders { part: task.part, ..SliceFolders::alone(fresh, kept, kept_is_new) };
    let mut timer = SliceTimer::new(session.clock.clone(), StopFlag::clone(session.stop));
    let ready = workload.ready(folders, task.operations, &timer)?;
    let probe = WorkerProbe::open(&Root::real(), &[], &mut Vec::new());
    let start = session.begin().doing(WAITING)?;
    let before = probe.before();
    let started_after_ns = start.elapsed_ns();
    timer.start();
    let ran = ready.run(&mut timer);
    timer.finish();
    let ended_after_ns = start.elapsed_ns();
    let used = probe.after().since(before);
    let mut ran = ran?;
    let worked = Report {
        acknowledged: task.operations,
        started_after_ns,
        ended_after_ns,
        spent: timer.spent(used),
        ..Report::default()
    };
    session.report(with_latencies(worked, &timer)).doing(WAITING)?;
    ran.flush()?;
    session.report(Report::default()).doing(WAITING)?;
    Ok(Report { outcome: Some(ran.finish()?), ..Report::default() })
}
