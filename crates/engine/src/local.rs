//! Runs slices on this machine, in real places, with probes around each.

use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use host::clock::{Clock, Moment};
use host::page_cache::residency;
use host::probes::{Probes, Reading};
use host::root::Root;
use host::touch::{first_touch_more_ns, memory_floor};
use model::arm::Arm;
use model::counters::{Counters as _, Level};
use model::probes::{MemoryTraffic, Residency, Surroundings};
use model::run::{Floor, PlaceFloor, Writes};
use model::slice::{Deferred, Latencies, PlaceTraffic, Slice};
use model::spent::{DeviceTraffic, Spent};
use process::StopFlag;
use process::worker::Clients;

use crate::error::{Doing, StudyError};
use crate::ledger::{Entry, Ledger};
use crate::pace::pause_after;
use crate::run_limits::{GENTLE_SLICE_BYTES, RunLimits};
use crate::runner::SliceRunner;
use crate::slice_timer::SliceTimer;
use crate::study::{Operations, SliceFolders, Workload};
use crate::{floor, place_floor};

/// Who rests looks so often whether the run was interrupted.
const REST_MAX: Duration = Duration::from_millis(50);

/// How often an arm's folder is created: to calibrate, and for each stretch.
pub(crate) const KEPT_FOLDERS: u64 = 1 + stats::STRETCHES as u64;

/// A place as slices use it.
pub trait PlaceHandle {
    /// A fresh and empty folder for one slice.
    fn fresh_folder(&mut self) -> std::io::Result<OwnedFd>;

    /// An arm's own folder: empty when it is made, and kept until the run ends.
    fn kept_folder(&mut self, arm: usize) -> std::io::Result<OwnedFd>;

    /// Does away with the slice's folder, if there is one, and waits, within reason, until the devices
    /// have nothing more to do for it.
    fn settle(&mut self) -> std::io::Result<()>;

    /// Whether what is written there wears anything: all but memory does.
    fn wears(&self) -> bool;

    /// The counters of the devices behind the place, where they can be read.
    fn device_bytes(&mut self) -> Option<DeviceTraffic>;
}

/// Runs slices on this machine.
pub struct LocalRunner<'a> {
    began: Instant,
    stop: StopFlag,
    clock: Clock,
    clock_began: Moment,
    timer: SliceTimer,
    probes: Probes,
    /// Why the page cache cannot be asked, once that is known.
    residency_unread: Option<String>,
    places: Vec<Box<dyn PlaceHandle + 'a>>,
    arms: Vec<LocalArm>,
    ledger: Ledger,
    gentle: bool,
    clients: Option<Rc<dyn Clients>>,
    /// What touching a page again took before the run.
    touch_again_ns: Option<f64>,
    /// What its first touch took when the stretch began.
    first_touch_ns: Option<Level>,
}

struct LocalArm {
    /// As an index into the places.
    place: usize,
    workload: Box<dyn Workload>,
    /// The arm's folder, created before its first slice in a stretch.
    kept: Option<OwnedFd>,
}

impl<'a> LocalRunner<'a> {
    /// A runner for arms, each with its workload, with the usual manners; `began` is when
    /// the budget started to count.
    pub fn new(
        arms: &[Arm],
        workloads: Vec<Box<dyn Workload>>,
        places: Vec<Box<dyn PlaceHandle + 'a>>,
        stop: StopFlag,
        began: Instant,
    ) -> Self {
        assert_eq!(arms.len(), workloads.len(), "every arm has a workload");
        let arms = arms.iter().zip(workloads);
        let arms: Vec<LocalArm> = arms
            .map(|(arm, workload)| LocalArm { place: arm.place, workload, kept: None })
            .collect();
        let RunLimits { write_limit_bytes, gentle } = RunLimits::default();
        let clock = Clock::new();
        let timer = SliceTimer::new(clock.clone(), StopFlag::clone(&stop));
        Self {
            began,
            stop,
            clock_began: clock.moment(),
            clock,
            timer,
            probes: Probes::new(&Root::real(), &[]),
            residency_unread: None,
            ledger: ledger(write_limit_bytes, &places, arms.len()),
            gentle,
            clients: None,
            touch_again_ns: None,
            first_touch_ns: None,
            places,
            arms,
        }
    }

    /// The same with other manners.
    #[must_use]
    pub fn with(mut self, run_limits: RunLimits) -> Self {
        self.ledger = ledger(run_limits.write_limit_bytes, &self.places, self.arms.len());
        self.gentle = run_limits.gentle;
        self
    }

    /// The same with workers on other machines beside it, where there are any.
    #[must_use]
    pub fn with_clients(self, clients: Option<Rc<dyn Clients>>) -> Self {
        Self { clients, ..self }
    }

    /// What a slice will come to.
    fn entry(&self, arm: usize, operations: u64) -> Entry {
        let LocalArm { place, workload, kept } = &self.arms[arm];
        let slice = workload.footprint(operations);
        let most = if kept.is_none() { slice.and(workload.kept_footprint()) } else { slice };
        Entry { arm, place: *place, operations, most }
    }

    fn device_written_bytes(&mut self, place: usize) -> Option<u64> {
        Some(self.places[place].device_bytes()?.written_bytes)
    }

    /// A slice, and what became of its files.
    fn settled_slice(&mut self, arm: usize, operations: u64) -> Result<Slice, StudyError> {
        let outcome = self.timed_slice(arm, operations);
        // Whatever became of the slice, its own files go.
        let settled = self.places[self.arms[arm].place].settle();
        let slice = outcome?;
        settled.doing("putting the slice's files away")?;
        Ok(slice)
    }

    /// Lets neighbours have the machine for a while.
    fn rest(&self, pause: Duration) {
        let began = Instant::now();
        while let Some(left) = pause.checked_sub(began.elapsed())
            && !self.stopped()
        {
            thread::sleep(left.min(REST_MAX));
        }
    }

    fn place_floor(&mut self, place: usize) -> std::io::Result<PlaceFloor> {
        let place = &mut self.places[place];
        let folder = place.fresh_folder()?;
        let floor = place_floor::measure(&self.clock, folder.as_fd());
        place.settle()?;
        floor
    }

    fn timed_slice(&mut self, number: usize, operations: u64) -> Result<Slice, StudyError> {
        let LocalArm { place: place_number, workload, kept } = &mut self.arms[number];
        let (place_number, places) = (*place_number, &mut self.places);
        let place = &mut places[place_number];
        let timer = &mut self.timer;
        let kept_is_new = kept.is_none();
        if kept_is_new {
            *kept = Some(place.kept_folder(number).doing("making an arm's folder")?);
            place.settle().doing("removing an arm's folder")?;
        }
        let Some(kept) = kept else { unreachable!("made above") };
        let fresh = place.fresh_folder().doing("making a folder for a slice")?;
        let (fresh, kept, clients) = (fresh.as_fd(), kept.as_fd(), self.clients.as_ref());
        let folders = SliceFolders { clients, ..SliceFolders::alone(fresh, kept, kept_is_new) };
        let ready = workload.prepare(folders)?.ready(operations, timer)?;

        let cached_before = residency_of(folders, &mut self.residency_unread);
        let all_before = all_device_bytes(places);
        let before = self.probes.before();
        timer.start();
        let ran = ready.run(timer);
        timer.finish();
        let after = self.probes.after();
        let all_after = all_device_bytes(places);
        let cached = residency_of(folders, &mut self.residency_unread);
        let mut ran = ran?;

        let flush_began = self.clock.ticks();
        ran.flush()?;
        let flush_took = self.clock.between(flush_began, self.clock.ticks());
        let device_flushed = places[place_number].device_bytes();

        let Reading { spent, surroundings } = after.since(before);
        let device_after = all_after[place_number];
        let device = device_after.since(all_before[place_number]);
        let memory = surroundings
            .memory
            .map(|memory| MemoryTraffic { first_touch_ns: self.first_touch_ns, ..memory });
        Ok(Slice {
            operations,
            spent: timer.spent(Spent { device, ..spent }),
            latencies: Latencies::from(timer.latencies()),
            deferred: Deferred {
                sync_ns: flush_took.as_nanos() as u64,
                device: device_flushed.since(device_after),
            },
            surroundings: Surroundings {
                residency: with_before(cached, cached_before),
                memory,
                ..surroundings
            },
            other_places: other_places(place_number, &all_before, &all_after),
            outcome: ran.finish()?,
            ..Slice::default()
        })
    }
}

/// A workload's operations, or fewer, so that a slice writes little.
fn few(workload: &dyn Workload) -> Operations {
    let Operations { granule, max } = workload.operations();
    let writes_little =
        |operations: &u64| workload.footprint(*operations).written_bytes <= GENTLE_SLICE_BYTES;
    let halves = std::iter::successors(Some(max), |operations| Some(operations / 2));
    let mut halves = halves.take_while(|operations| *operations > granule);
    let fitting = halves.find(writes_little).unwrap_or(granule.min(max));
    Operations { granule, max: fitting / granule * granule }
}

/// One without an entry so far.
fn ledger(limit_bytes: u64, places: &[Box<dyn PlaceHandle + '_>], arms: usize) -> Ledger {
    let wears: Vec<bool> = places.iter().map(|place| place.wears()).collect();
    Ledger::new(limit_bytes, &wears, arms)
}

fn all_device_bytes(places: &mut [Box<dyn PlaceHandle + '_>]) -> Vec<Option<DeviceTraffic>> {
    places.iter_mut().map(|place| place.device_bytes()).collect()
}

/// What the devices of other places did between two readings of all.
fn other_places(
    own: usize,
    before: &[Option<DeviceTraffic>],
    after: &[Option<DeviceTraffic>],
) -> Vec<PlaceTraffic> {
    let places = before.iter().zip(after).enumerate().filter(|(place, _)| *place != own);
    let did = places.filter_map(|(place, (before, after))| {
        let traffic = after.since(*before)?;
        Some(PlaceTraffic { place, bytes: traffic.read_bytes.plus(traffic.written_bytes) })
    });
    did.filter(|traffic| traffic.bytes > 0).collect()
}

/// What the page cache held when the clock stopped, and before it started.
fn with_before(after: Option<Residency>, before: Option<Residency>) -> Option<Residency> {
    let cached_before_bytes = before.unwrap_or_default().cached_bytes;
    after.map(|after| Residency { cached_before_bytes, ..after })
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

fn both(folders: SliceFolders<'_>) -> std::io::Result<Option<Residency>> {
    let (fresh, kept) = (residency(folders.fresh)?, residency(folders.kept)?);
    Ok(fresh.zip(kept).map(|(fresh, kept)| fresh.plus(kept)))
}

impl SliceRunner for LocalRunner<'_> {
    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn floor(&mut self) -> Floor {
        let places = (0..self.places.len()).map(|place| self.place_floor(place).ok()).collect();
        let memory = memory_floor().ok();
        self.touch_again_ns = memory.map(|memory| memory.again_ns);
        Floor { memory, places, ..floor::measure(&self.clock, &mut self.timer) }
    }

    fn clock_off_by(&self) -> Option<f64> {
        self.clock.off_by(self.clock_began)
    }

    fn unread(&self) -> Vec<String> {
        self.probes.unread().iter().chain(&self.residency_unread).cloned().collect()
    }

    fn warms_up(&self, arm: usize) -> bool {
        self.arms[arm].workload.warms_up()
    }

    fn operations(&self, arm: usize) -> Operations {
        let workload = &self.arms[arm].workload;
        if self.gentle { few(&**workload) } else { workload.operations() }
    }

    fn writes(&self) -> Option<Writes> {
        Some(self.ledger.writes())
    }

    fn begin_stretch(&mut self) {
        self.arms.iter_mut().for_each(|arm| arm.kept = None);
        let first_touch = first_touch_more_ns().ok().zip(self.touch_again_ns);
        self.first_touch_ns =
            first_touch.map(|(more_ns, again_ns)| Level((again_ns + more_ns) as u64));
    }

    fn slice(&mut self, arm: usize, operations: u64) -> Result<Slice, StudyError> {
        let entry = self.entry(arm, operations);
        if let Some(why) = self.ledger.objection(&entry) {
            return Err(StudyError::Enough(why));
        }
        let began = Instant::now();
        let before = self.device_written_bytes(entry.place);
        let slice = self.settled_slice(arm, operations);
        let after = self.device_written_bytes(entry.place);
        let written = after.zip(before).map(|(after, before)| after.saturating_sub(before));
        let changes = slice
            .as_ref()
            .map_or(0, |slice| slice.spent.sync_calls.saturating_add(slice.spent.name_changes));
        self.ledger.count(&entry, written, changes);
        if self.gentle {
            let on_device = self.places[entry.place].wears();
            self.rest(pause_after(began.elapsed(), on_device));
        }
        slice
    }
}
