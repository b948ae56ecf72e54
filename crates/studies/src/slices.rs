//! The process of a run that runs its slices, with the workloads of studies.

use std::io;
use std::os::fd::OwnedFd;

use engine::slice_process::{Workloads, serve};
use engine::study::{StudyError, Workload};
use model::run::ArmRecord;
use process::{StopFlag, parents_channel};

use crate::find;
use crate::user_data::inherited;

/// This process was not started by a run.
#[derive(Debug)]
pub struct NotStartedByARun;

/// What the workloads of this process have read of the user's, for the processes that run its
/// slices.
///
/// # Errors
/// Where the system refuses another descriptor.
pub fn user_data() -> io::Result<Vec<(String, OwnedFd)>> {
    inherited::all()
}

/// Runs the slices that the run asks for which started this process, until it closes the channel.
/// SIGTERM ends the slice that is running.
///
/// # Errors
/// Where no run started it; and where the run cannot be understood or answered.
pub fn run_slices() -> Result<io::Result<()>, NotStartedByARun> {
    let channel = parents_channel().ok_or(NotStartedByARun)?;
    let stop = StopFlag::default();
    let ready = sys::signals::raise(libc::SIGTERM, &stop);
    Ok(ready.and_then(|()| serve(channel, &stop, &mut Registered)))
}

/// The workloads of all studies.
struct Registered;

impl Workloads for Registered {
    fn take_user_data(&mut self, name: String, data: OwnedFd) {
        inherited::take(name, data);
    }

    fn workload(&mut self, arm: &ArmRecord) -> Result<Box<dyn Workload>, StudyError> {
        let unknown = || StudyError::Unsuited(format!("there is no study {}", arm.study));
        let study = find(&arm.study).ok_or_else(unknown)?;
        let params = study.spec().params_written(&arm.params).map_err(StudyError::Unsuited)?;
        study.workload(&arm.strategy, &params)
    }
}
