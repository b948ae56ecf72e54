//! Times one slice after another in the process that it is in, with probes around each.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use host::clock::Clock;
use host::page_cache::residency;
use host::probes::{Probes, Reading};
use host::root::Root;
use model::counters::Counters as _;
use model::probes::{Residency, Surroundings};
use model::slice::{Deferred, Latencies, PlaceTraffic, Slice};
use model::spent::{DeviceTraffic, Spent};
use process::StopFlag;
use process::worker::Clients;

use crate::error::{Doing as _, StudyError};
use crate::slice_timer::SliceTimer;
use crate::study::{SliceFolders, Workload};

/// The devices behind all places, and which place a slice is at.
pub(crate) struct Devices<'a> {
    pub(crate) at: usize,
    pub(crate) places: usize,
    /// Reads the counters of a place's devices, where they can be read.
    pub(crate) read: &'a mut dyn FnMut(usize) -> Option<DeviceTraffic>,
    /// Returns once nobody does anything more for the slice before.
    pub(crate) may_start: &'a mut dyn FnMut() -> io::Result<()>,
}

impl Devices<'_> {
    fn all(&mut self) -> Vec<Option<DeviceTraffic>> {
        (0..self.places).map(|place| (self.read)(place)).collect()
    }

    /// What the devices of other places did between two readings of all.
    fn others(
        &self,
        before: &[Option<DeviceTraffic>],
        after: &[Option<DeviceTraffic>],
    ) -> Vec<PlaceTraffic> {
        let places = before.iter().zip(after).enumerate().filter(|(place, _)| *place != self.at);
        let did = places.filter_map(|(place, (before, after))| {
            let traffic = after.since(*before)?;
            Some(PlaceTraffic { place, bytes: traffic.read_bytes.plus(traffic.written_bytes) })
        });
        did.filter(|traffic| traffic.bytes > 0).collect()
    }
}

pub(crate) struct SliceMeter {
    pub(crate) clock: Clock,
    pub(crate) timer: SliceTimer,
    probes: Probes,
    /// Why the page cache cannot be asked, once that is known.
    residency_unread: Option<String>,
    pub(crate) clients: Option<Rc<dyn Clients>>,
    /// How long the last slice was prepared.
    pub(crate) preparing: Duration,
}

impl SliceMeter {
    pub(crate) fn new(clock: Clock, stop: StopFlag) -> Self {
        Self {
            timer: SliceTimer::new(clock.clone(), stop),
            clock,
            probes: Probes::new(&Root::real(), &[]),
            residency_unread: None,
            clients: None,
            preparing: Duration::ZERO,
        }
    }

    /// What cannot be read here, each with what is not known for it.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &String> {
        self.probes.unread().iter().chain(&self.residency_unread)
    }

    /// Times a slice. Its arm, phase and position are left for the caller to fill in.
    pub(crate) fn slice(
        &mut self,
        workload: &mut dyn Workload,
        operations: u64,
        folders: SliceFolders<'_>,
        devices: &mut Devices<'_>,
    ) -> Result<Slice, StudyError> {
        let timer = &mut self.timer;
        let began = self.clock.ticks();
        let folders = SliceFolders { clients: self.clients.as_ref(), ..folders };
        let ready = workload.ready(folders, operations, timer)?;
        self.preparing = self.clock.between(began, self.clock.ticks());
        (devices.may_start)().doing("waiting for the slice before to be put away")?;

        let cached_before = residency_of(folders, &mut self.residency_unread);
        let all_before = devices.all();
        let before = self.probes.before();
        timer.start();
        let ran = ready.run(timer);
        timer.finish();
        let after = self.probes.after();
        let all_after = devices.all();
        let cached = residency_of(folders, &mut self.residency_unread);
        let mut ran = ran?;

        let flush_began = self.clock.ticks();
        ran.flush()?;
        let flush_took = self.clock.between(flush_began, self.clock.ticks());
        let device_flushed = (devices.read)(devices.at);

        let Reading { spent, surroundings } = after.since(before);
        let device_after = all_after[devices.at];
        let cached_before_bytes = cached_before.unwrap_or_default().cached_bytes;
        let device = device_after.since(all_before[devices.at]);
        Ok(Slice {
            operations,
            spent: timer.spent(Spent { device, ..spent }),
            latencies: Latencies::from(timer.latencies()),
            deferred: Deferred {
                sync_ns: flush_took.as_nanos() as u64,
                device: device_flushed.since(device_after),
            },
            surroundings: Surroundings {
                residency: cached.map(|cached| Residency { cached_before_bytes, ..cached }),
                ..surroundings
            },
            other_places: devices.others(&all_before, &all_after),
            outcome: ran.finish()?.with_measured_digits(),
            ..Slice::default()
        })
    }
}

/// What the page cache holds of a slice's files, unless that could not be read before.
fn residency_of(folders: SliceFolders<'_>, unread: &mut Option<String>) -> Option<Residency> {
    if unread.is_some() {
        return None;
    }
    both(folders).unwrap_or_else(|error| {
        *unread = Some(format!(
            "how much of a file had reached the device: cachestat(2) does not answer ({error})"
        ));
        None
    })
}

fn both(folders: SliceFolders<'_>) -> io::Result<Option<Residency>> {
    let (fresh, kept) = (residency(folders.fresh)?, residency(folders.kept)?);
    Ok(fresh.zip(kept).map(|(fresh, kept)| fresh.plus(kept)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::cell::RefCell;
    use std::os::fd::AsFd as _;

    use model::slice::Outcome;

    use super::*;
    use crate::study::{About, Footprint, Operations, Ran, Ready};

    /// What was done, in order, by a workload in each of its states.
    #[derive(Clone, Default)]
    struct Steps(Rc<RefCell<Vec<&'static str>>>);

    impl Steps {
        fn add(&self, step: &'static str) {
            self.0.borrow_mut().push(step);
        }
    }

    impl Workload for Steps {
        fn about(&self) -> About {
            About { warms_up: false, ..About::of(Operations::exactly(1)) }
        }

        fn footprint(&self, _: u64) -> Footprint {
            Footprint::NOTHING
        }

        fn ready<'a>(
            &'a mut self,
            _: SliceFolders<'_>,
            _: u64,
            _: &SliceTimer,
        ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
            self.add("ready");
            Ok(Box::new(self.clone()))
        }
    }

    impl<'a> Ready<'a> for Steps {
        fn run(self: Box<Self>, _: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
            self.add("run");
            Ok(self)
        }
    }

    impl Ran for Steps {
        fn flush(&mut self) -> Result<(), StudyError> {
            self.add("flush");
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
            self.add("finish");
            Ok(Outcome::default())
        }
    }

    #[test]
    fn the_clock_starts_when_a_slice_is_ready_and_nobody_works_for_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let folder = std::fs::File::open(folder.path()).unwrap();
        let folders = SliceFolders::alone(folder.as_fd(), folder.as_fd(), true);
        let mut steps = Steps::default();
        let (read, told) = (steps.clone(), steps.clone());
        let mut devices = Devices {
            at: 0,
            places: 1,
            read: &mut |_| {
                read.add("devices");
                None
            },
            may_start: &mut || {
                told.add("may start");
                Ok(())
            },
        };
        let mut meter = SliceMeter::new(Clock::new(), StopFlag::default());
        meter.slice(&mut steps, 1, folders, &mut devices).unwrap();
        let before = ["ready", "may start", "devices", "run", "devices"];
        let after = ["flush", "devices", "finish"];
        assert_eq!(*steps.0.borrow(), [&before[..], &after[..]].concat());
    }
}
