//! The process that runs slices: it has one thread, and does what its parent asks for.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use host::clock::Clock;
use host::disks::DeviceReader;
use host::root::Root;
use model::run::ArmRecord;
use model::slice::Slice;
use process::{Channel, StopFlag, take_left_behind};

use super::message::{FromProcess, ToProcess};
use crate::error::StudyError;
use crate::slice_meter::{Devices, SliceMeter};
use crate::study::{SliceFolders, Workload};

/// Makes workloads as the run made them.
pub trait Workloads {
    /// Takes something of the user's that the run has read, by its name.
    fn take_user_data(&mut self, name: String, data: OwnedFd);

    /// The workload of an arm.
    ///
    /// # Errors
    /// Where it cannot be made any more.
    fn workload(&mut self, arm: &ArmRecord) -> Result<Box<dyn Workload>, StudyError>;
}

/// Runs slices until the parent closes the channel. `stop` ends the slice that is running.
///
/// # Errors
/// Where the parent cannot be understood or answered.
pub fn serve(
    mut channel: Channel,
    stop: &StopFlag,
    workloads: &mut dyn Workloads,
) -> io::Result<()> {
    let mut slices: Option<Slices<'_>> = None;
    let mut workloads = Some(workloads);
    while let Some((message, descriptors)) = channel.receive()? {
        match (message, &mut slices) {
            (ToProcess::UserData(name), None) => {
                let data = descriptors.into_iter().next().ok_or(io::ErrorKind::InvalidData)?;
                let workloads = workloads.as_mut().ok_or(io::ErrorKind::InvalidData)?;
                workloads.take_user_data(name, data);
            }
            (ToProcess::Begin { clock, places, arms }, None) => {
                let meter = SliceMeter::new(Clock::told(clock), StopFlag::clone(stop));
                let workloads = workloads.take().ok_or(io::ErrorKind::InvalidData)?;
                let reader = |facts| DeviceReader::new(&Root::real(), facts).ok();
                slices = Some(Slices {
                    meter,
                    devices: places.iter().map(reader).collect(),
                    arms: arms.into_iter().map(|arm| (arm, None)).collect(),
                    workloads,
                });
            }
            (ToProcess::Slice { arm, operations, kept_is_new }, Some(slices)) => {
                let folders = <[OwnedFd; 2]>::try_from(descriptors);
                let folders = folders.map_err(|_| io::ErrorKind::InvalidData)?;
                let [fresh, kept] = folders.each_ref().map(|folder| folder.as_fd());
                let asked = SliceFolders::alone(fresh, kept, kept_is_new);
                let mut is_told = false;
                let mut may_start = || {
                    is_told = true;
                    wait_for_start(&mut channel)
                };
                let slice = slices.slice(arm, operations, asked, &mut may_start);
                if !is_told {
                    // It failed before.
                    wait_for_start(&mut channel)?;
                }
                // What is open here cannot be put away there.
                drop(folders);
                let answer = FromProcess {
                    slice: slice.map(Box::new).map_err(Into::into),
                    preparing: slices.meter.preparing,
                    unread: slices.meter.unread().cloned().collect(),
                    left_behind: take_left_behind(),
                };
                channel.send(&answer, &[])?;
            }
            _ => return Err(out_of_turn()),
        }
    }
    Ok(())
}

/// Waits until the clock may start.
fn wait_for_start(channel: &mut Channel) -> io::Result<()> {
    match channel.receive()? {
        Some((ToProcess::Start, _)) => Ok(()),
        Some(_) => Err(out_of_turn()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn out_of_turn() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a message out of turn")
}

struct Slices<'w> {
    meter: SliceMeter,
    /// Of each place.
    devices: Vec<Option<DeviceReader>>,
    /// With their workloads, once they have run.
    arms: Vec<(ArmRecord, Option<Box<dyn Workload>>)>,
    workloads: &'w mut dyn Workloads,
}

impl Slices<'_> {
    fn slice(
        &mut self,
        arm: usize,
        operations: u64,
        folders: SliceFolders<'_>,
        may_start: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<Slice, StudyError> {
        let unknown = || StudyError::Worker(format!("there is no arm {arm}"));
        let (record, workload) = self.arms.get_mut(arm).ok_or_else(unknown)?;
        let workload = match workload {
            Some(workload) => workload,
            None => workload.insert(self.workloads.workload(record)?),
        };
        let readers = &self.devices;
        let mut read = |place: usize| Some(readers[place].as_ref()?.read().ok()?.traffic());
        let at = record.place;
        let mut devices = Devices { at, places: readers.len(), read: &mut read, may_start };
        self.meter.slice(&mut **workload, operations, folders, &mut devices)
    }
}
