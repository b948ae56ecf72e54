//! What every command that measures has around its runs: working folders that
//! are gone afterwards, and a flag that Ctrl-C raises.

use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::{Instant, SystemTime};

use engine::folders::Folders;
use engine::local::LocalRunner;
use engine::place_handle::PlaceHandle;
use engine::run::Header;
use engine::run_limits::RunLimits;
use engine::runner::SliceRunner;
use engine::slice_process::SliceProcesses;
use engine::study::Workload;
use model::arm::Arm;
use model::place::PlaceFacts;
use places::{PlaceFolders, WorkDir, note_free_pieces};
use process::StopFlag;
use process::worker::Clients;
use ranks::{Leader, OwnPlace};

use crate::measuring::clients;
use crate::measuring::place_handle::FolderHandle;
use crate::measuring::stop_reason::{FreeSpaceWatchdog, StopReason};
use crate::terminal::output;

/// What a new run is called.
pub(crate) fn header() -> Header {
    Header {
        id: format!("{:016x}", rand::random::<u64>()),
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        article: None,
        checks: None,
    }
}

/// Working folders, one for each place. Dropping it removes them, too, but
/// reports no failure.
pub(crate) struct Session {
    folders: Vec<PlaceFolders>,
    places: Vec<PlaceFacts>,
    stop_reason: StopReason,
    /// Looks while the folders are there.
    lookout: FreeSpaceWatchdog,
    began: Instant,
    run_limits: RunLimits,
    clients: Option<Rc<dyn Clients>>,
}

impl Session {
    /// Makes the folders; `began` is when the budget started to count. `holders` are
    /// directories that the places take space of, each open.
    pub(crate) fn open<'a>(
        places: &'a [PlaceFacts],
        holders: impl IntoIterator<Item = (&'a PlaceFacts, BorrowedFd<'a>)>,
        stop_reason: &StopReason,
        began: Instant,
        run_limits: RunLimits,
    ) -> anyhow::Result<Self> {
        let folders = places
            .iter()
            .map(|place| {
                let work = WorkDir::create(&place.label, &place.path)?;
                Ok(PlaceFolders::new(work, place))
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        for gone in folders.iter().flat_map(|folders| &folders.work().swept().removed) {
            output::note(&format!(
                "removed a folder left by a killed run: {}",
                gone.path.display()
            ));
        }
        for kept in folders.iter().flat_map(|folders| &folders.work().swept().foreign) {
            output::note(&format!(
                "a leftover folder was kept because it may belong to a run on another host or in \
                 another container: {}: {}; see `iotoll clean --help`",
                kept.path.display(),
                kept.why
            ));
        }
        let mut facts = places.to_vec();
        for (place, folders) in facts.iter_mut().zip(&folders) {
            note_free_pieces(place, folders.work().fd());
        }
        let open = folders.iter().map(|folders| folders.work().fd());
        let mut watched: Vec<(&PlaceFacts, BorrowedFd<'_>)> = holders.into_iter().collect();
        watched.extend(places.iter().zip(open));
        let lookout = FreeSpaceWatchdog::start(watched, stop_reason.clone())?;
        let (places, stop_reason) = (facts, stop_reason.clone());
        Ok(Self { folders, places, stop_reason, lookout, began, run_limits, clients: None })
    }

    /// The places, with what could be asked in their folders alone.
    pub(crate) fn facts(&self) -> &[PlaceFacts] {
        &self.places
    }

    /// Has other ranks work in the places, too; an error where they cannot. Each works in its
    /// own directory in those that are `local`, and the others all must see.
    pub(crate) fn share_with(
        &mut self,
        others: Option<&Leader>,
        local: &[String],
    ) -> anyhow::Result<()> {
        let Some(leader) = others else { return Ok(()) };
        let directories: Vec<_> = self.places.iter().map(|place| place.path.clone()).collect();
        leader.describe(&directories, self.places.iter().map(clients::mounted).collect())?;
        let places = self.places.iter().zip(self.folders.iter().map(PlaceFolders::work));
        let (own, shared): (Vec<_>, Vec<_>) =
            places.partition(|(place, _)| local.contains(&place.label));
        clients::check_shared(leader, &shared)?;
        for (place, work) in own {
            let own = OwnPlace { label: place.label.clone(), path: place.path.clone() };
            leader.open_own(&own, work.path().to_owned())?;
        }
        self.clients = Some(Rc::new(leader.clone()));
        Ok(())
    }
}

impl Folders for Session {
    type Error = anyhow::Error;

    fn runner(
        &mut self,
        arms: &[Arm],
        workloads: Vec<Box<dyn Workload>>,
    ) -> Box<dyn SliceRunner + '_> {
        let handle =
            |(folders, facts)| Box::new(FolderHandle::new(folders, facts)) as Box<dyn PlaceHandle>;
        let places = self.folders.iter_mut().zip(&self.places).map(handle).collect();
        let stop = StopFlag::clone(&self.stop_reason.stop);
        let runner = LocalRunner::new(arms, workloads, places, stop, self.began);
        let runner = runner.with(self.run_limits);
        // Ranks work for the thread that began with them.
        if let Some(clients) = &self.clients {
            return Box::new(runner.with_clients(Some(Rc::clone(clients))));
        }
        let processes = SliceProcesses::new(arms, &self.places, studies::user_data);
        Box::new(runner.in_processes(processes))
    }

    fn close(self) -> anyhow::Result<()> {
        drop(self.lookout);
        // One that stays does not keep the others from being removed.
        let removed = self.folders.into_iter().map(PlaceFolders::remove).zip(&self.places);
        // What stays in a place that was made goes with it.
        let stays = |(removed, place): (Result<_, _>, &PlaceFacts)| {
            removed.err().filter(|_| place.created.is_none())
        };
        let mut failures = removed.filter_map(stays).collect::<Vec<_>>().into_iter();
        let first = failures.next();
        failures.for_each(|failure| output::note(&failure.to_string()));
        first.map_or(Ok(()), |failure| Err(failure.into()))
    }
}
