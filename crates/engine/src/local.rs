//! Runs slices on this machine, in real places.

use std::os::fd::{AsFd as _, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use host::clock::{Clock, Moment};
use host::touch::memory_floor;
use model::arm::Arm;
use model::probes::Surroundings;
use model::run::{Floor, PlaceFloor, Writes};
use model::slice::Slice;
use process::StopFlag;
use process::worker::Clients;

use crate::error::{Doing, StudyError};
use crate::first_touch::FirstTouch;
use crate::ledger::{Entry, Ledger};
use crate::leftovers::Leftovers;
use crate::pace::pause_after;
use crate::place_handle::{PlaceHandle, Places, written_bytes, written_since};
use crate::run_limits::{GENTLE_SLICE_BYTES, RunLimits};
use crate::runner::SliceRunner;
use crate::slice_meter::{Devices, SliceMeter};
use crate::slice_process::{SliceProcesses, is_one_process};
use crate::study::{Operations, RunsIn, SliceFolders, Workload};
use crate::{floor, place_floor};

/// Who rests looks so often whether the run was interrupted.
const REST_MAX: Duration = Duration::from_millis(50);

/// How often an arm's folder is created: for each stretch.
pub(crate) const KEPT_FOLDERS: u64 = stats::STRETCHES as u64;

/// Runs slices on this machine.
pub struct LocalRunner<'a> {
    began: Instant,
    stop: StopFlag,
    clock_began: Moment,
    meter: SliceMeter,
    /// Those that slices run in; none where they run in this one.
    processes: Option<SliceProcesses>,
    places: Places<'a>,
    arms: Vec<LocalArm>,
    ledger: Ledger,
    left: Leftovers,
    gentle: bool,
    /// The time after which the run ends.
    budget: Duration,
    /// Pauses that were left out because the run would have ended during them.
    owed: Duration,
    first_touch: FirstTouch,
}

struct LocalArm {
    /// As an index into the places.
    place: usize,
    workload: Box<dyn Workload>,
    /// Kept here because each slice needs it and it never changes.
    runs_in: RunsIn,
    /// The arm's folder, where it is created.
    kept: Option<OwnedFd>,
    /// No slice has used it.
    kept_is_new: bool,
    /// How long its last slice was prepared in a process for slices.
    preparing: Duration,
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
            .map(|(arm, workload)| LocalArm {
                place: arm.place,
                runs_in: workload.about().runs_in,
                workload,
                kept: None,
                kept_is_new: true,
                preparing: Duration::ZERO,
            })
            .collect();
        let RunLimits { write_limit_bytes, gentle } = RunLimits::default();
        let clock = Clock::new();
        Self {
            began,
            clock_began: clock.moment(),
            meter: SliceMeter::new(clock, StopFlag::clone(&stop)),
            processes: None,
            stop,
            ledger: ledger(write_limit_bytes, &places, arms.len()),
            left: Leftovers::new(places.len()),
            gentle,
            budget: Duration::MAX,
            owed: Duration::ZERO,
            first_touch: FirstTouch::default(),
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
    pub fn with_clients(mut self, clients: Option<Rc<dyn Clients>>) -> Self {
        self.meter.clients = clients;
        self
    }

    /// The same with slices in processes that have one thread, new ones for each stretch.
    #[must_use]
    pub fn in_processes(self, processes: SliceProcesses) -> Self {
        Self { processes: Some(processes), ..self }
    }

    /// What a slice will come to.
    fn entry(&self, arm: usize, operations: u64) -> Entry {
        let LocalArm { place, workload, kept_is_new, .. } = &self.arms[arm];
        let slice = workload.footprint(operations);
        let most = if *kept_is_new { slice.and(workload.about().kept) } else { slice };
        Entry { arm, place: *place, operations, most }
    }

    /// Puts away what slices left.
    fn settle(&mut self) -> Result<(), StudyError> {
        self.left.settle(&mut self.places, &mut self.ledger)
    }

    /// Lets neighbours have the machine for a while.
    fn rest(&mut self, pause: Duration) {
        if self.elapsed().saturating_add(pause) > self.budget {
            self.owed += pause;
            return;
        }
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
        let floor = place_floor::measure(&self.meter.clock, folder.as_fd());
        place.leave();
        place.put_away()?;
        place.settle()?;
        floor
    }

    /// Runs a slice. A process for slices prepares it while files of finished slices are put away.
    fn timed_slice(&mut self, entry: &Entry) -> Result<Slice, StudyError> {
        let Entry { arm: number, operations, .. } = *entry;
        let kind = self.kind_of(number);
        self.start_process(kind)?;
        let LocalArm { place, workload, kept, kept_is_new, preparing, .. } = &mut self.arms[number];
        let (at, places) = (*place, &mut self.places);
        let place = &mut places[at];
        if kept.is_none() {
            *kept = Some(place.kept_folder(number).doing("making a folder that is kept")?);
            place.settle().doing("removing a folder that was kept")?;
        }
        let kept_is_new = std::mem::take(kept_is_new);
        let Some(kept) = kept else { unreachable!("made above") };
        let fresh = place.fresh_folder().doing("making a folder for a slice")?;
        let folders = SliceFolders::alone(fresh.as_fd(), kept.as_fd(), kept_is_new);
        let (left, ledger) = (&mut self.left, &mut self.ledger);
        if kind != RunsIn::ThisProcess
            && let Some(processes) = &mut self.processes
        {
            let asked = (number, operations);
            let meanwhile = || left.settle_beside(places, ledger, *preparing);
            let (slice, took) = processes.slice(kind, asked, folders, &self.stop, meanwhile)?;
            *preparing = took;
            return Ok(slice);
        }
        let count = places.len();
        let mut read = |place: usize| places[place].device_bytes();
        let may_start = &mut || Ok(());
        let mut devices = Devices { at, places: count, read: &mut read, may_start };
        self.meter.slice(&mut **workload, operations, folders, &mut devices)
    }

    /// Which process an arm's slices run in.
    fn kind_of(&self, arm: usize) -> RunsIn {
        match &self.processes {
            Some(_) => self.arms[arm].runs_in,
            None => RunsIn::ThisProcess,
        }
    }

    /// Starts the process for such slices where it is not there. A new one knows nothing of the
    /// folders that arms keep, so those are new as well.
    fn start_process(&mut self, kind: RunsIn) -> Result<(), StudyError> {
        let Some(processes) = &mut self.processes else { return Ok(()) };
        if processes.is_running(kind) {
            return Ok(());
        }
        let known = |arm: &&mut LocalArm| is_one_process(arm.runs_in, kind) && !arm.kept_is_new;
        for arm in self.arms.iter_mut().filter(known) {
            (arm.kept, arm.kept_is_new) = (None, true);
        }
        processes.start(kind, self.meter.clock.tell())
    }
}

/// A workload's operations, or fewer, so that a slice writes little.
fn few(workload: &dyn Workload) -> Operations {
    let Operations { granule, max } = workload.about().operations;
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

impl SliceRunner for LocalRunner<'_> {
    fn elapsed(&self) -> Duration {
        self.began.elapsed() + self.owed
    }

    fn end_at(&mut self, budget: Duration) {
        self.budget = budget;
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn floor(&mut self) -> Floor {
        let places = (0..self.places.len()).map(|place| self.place_floor(place).ok()).collect();
        let memory = memory_floor().ok();
        self.first_touch = FirstTouch::beyond(memory.map(|memory| memory.again_ns));
        Floor { memory, places, ..floor::measure(&self.meter.clock, &mut self.meter.timer) }
    }

    fn clock_off_by(&self) -> Option<f64> {
        self.meter.clock.off_by(self.clock_began)
    }

    fn unread(&self) -> Vec<String> {
        let mut unread: Vec<String> = self.meter.unread().cloned().collect();
        let there = self.processes.iter().flat_map(SliceProcesses::unread);
        for sentence in there {
            if !unread.contains(sentence) {
                unread.push(sentence.clone());
            }
        }
        unread
    }

    fn warms_up(&self, arm: usize) -> bool {
        self.arms[arm].workload.about().warms_up
    }

    fn operations(&self, arm: usize) -> Operations {
        let workload = &self.arms[arm].workload;
        if self.gentle { few(&**workload) } else { workload.about().operations }
    }

    fn writes(&self) -> Option<Writes> {
        Some(self.ledger.writes())
    }

    fn begin_stretch(&mut self) {
        // A place that cannot be used any more is an error of the next slice there.
        let _ = self.settle();
        for (number, arm) in self.arms.iter_mut().enumerate() {
            if arm.runs_in == RunsIn::OneFolder && arm.kept.is_some() {
                continue;
            }
            // One that cannot be created now is an error of the arm's next slice.
            arm.kept = self.places[arm.place].kept_folder(number).ok();
            arm.kept_is_new = true;
        }
        for place in &mut self.places {
            // What the arms' folders left is settled once for all of them.
            let _ = place.settle();
        }
        if let Some(processes) = &mut self.processes {
            processes.begin_stretch();
        }
        self.first_touch.measure();
    }

    fn end(&mut self) {
        self.owed = Duration::ZERO;
        let _ = self.settle();
        if let Some(processes) = &mut self.processes {
            processes.end();
        }
    }

    fn slice(&mut self, arm: usize, operations: u64) -> Result<Slice, StudyError> {
        // A place with little room is settled first. What that writes is not the next slice's.
        if self.left.are_too_much(&self.places) {
            self.settle()?;
        }
        let entry = self.entry(arm, operations);
        if let Some(why) = self.ledger.objection(&entry) {
            return Err(StudyError::Enough(why));
        }
        let began = Instant::now();
        let before = written_bytes(&mut *self.places[entry.place]);
        let mut slice = self.timed_slice(&entry);
        self.places[entry.place].leave();
        self.left.add(entry.place, entry.most);
        if let Ok(Slice { surroundings: Surroundings { memory: Some(memory), .. }, .. }) =
            &mut slice
        {
            memory.first_touch_ns = self.first_touch.ns();
        }
        let changes = slice
            .as_ref()
            .map_or(0, |slice| slice.spent.sync_calls.saturating_add(slice.spent.name_changes));
        let written = written_since(&mut *self.places[entry.place], before);
        self.ledger.count(&entry, written, changes);
        // Files go at once after a slice that failed, and where no slice is prepared beside.
        if slice.is_err() || self.gentle || self.kind_of(arm) == RunsIn::ThisProcess {
            let settled = self.settle();
            slice = slice.and_then(|slice| settled.map(|()| slice));
        }
        if self.gentle {
            let on_device = self.places[entry.place].wears();
            let syncs = slice.as_ref().map_or(0, |slice| slice.spent.sync_calls);
            self.rest(pause_after(began.elapsed(), syncs, on_device));
        }
        slice
    }
}
