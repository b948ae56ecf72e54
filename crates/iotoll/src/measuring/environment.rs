//! What surrounds a run on this machine: the machine, its places, and what
//! disturbs both meanwhile.

use analysis::Saved;
use engine::run::Environment;
use host::machine;
use model::between_runs::BetweenRuns;
use model::client::Client;
use model::place::{Detail, PlaceFacts};
use model::run::{LeftOut, Machine, PlaceAfter, Run, Watch};
use model::watch::MachineReading;
use ranks::Leader;

use crate::measuring::stop_reason::StopReason;
use crate::results::baseline;

/// This machine, with the places of a run.
pub(crate) struct LocalEnvironment {
    places: Vec<PlaceFacts>,
    left_out: Vec<LeftOut>,
    before: MachineReading,
    stop_reason: StopReason,
    clients: Vec<Client>,
}

impl LocalEnvironment {
    /// Places as they were found, and those that could not be made; what disturbs is watched
    /// from now on, and `stop_reason` knows why the run is ended.
    pub(crate) fn new(
        places: Vec<PlaceFacts>,
        left_out: Vec<LeftOut>,
        stop_reason: StopReason,
    ) -> Self {
        Self { places, left_out, before: machine::read_now(), stop_reason, clients: Vec::new() }
    }

    /// The same with other ranks as clients, each of which has some of the places by itself.
    pub(crate) fn with_clients(mut self, others: Option<&Leader>, local: &[String]) -> Self {
        let Some(leader) = others else { return self };
        self.clients = leader.clients();
        for place in self.places.iter_mut().filter(|place| local.contains(&place.label)) {
            let what = "each has a directory of its own, on its own machine";
            place.details.push(Detail::new("clients", what, "--local"));
        }
        self
    }
}

impl Environment for LocalEnvironment {
    fn machine(&self) -> Machine {
        machine::describe()
    }

    fn clients(&self) -> Vec<Client> {
        self.clients.clone()
    }

    fn places(&self) -> Vec<PlaceFacts> {
        self.places.clone()
    }

    fn left_out(&self) -> Vec<LeftOut> {
        self.left_out.clone()
    }

    fn between_runs(&self, run: &Run) -> Vec<BetweenRuns> {
        let repeats = baseline::repeats();
        let of = |setting: &str| repeats.of(setting, [&run.run.id; 2]);
        let ratios = |base: &str, other: &str| repeats.of_pair(base, other);
        analysis::between_runs(run, &Saved { of: &of, ratios: &ratios })
    }

    fn places_after(&mut self) -> Vec<PlaceAfter> {
        self.places.iter().map(after).collect()
    }

    fn cut_short(&self) -> Option<String> {
        self.stop_reason.why()
    }

    fn watch(&mut self) -> Watch {
        watched_since(self.before.clone())
    }
}

/// The machine at an earlier moment and now.
pub(crate) fn watched_since(mut before: MachineReading) -> Watch {
    let mut after = machine::read_now();
    MachineReading::keep_those_that_ran(&mut before, &mut after);
    Watch { before, after }
}

fn after(before: &PlaceFacts) -> PlaceAfter {
    match places::inspect(&before.label, &before.path) {
        Ok(now) => {
            PlaceAfter::Facts(Box::new(PlaceFacts { created: before.created.clone(), ..now }))
        }
        Err(error) => PlaceAfter::Unreadable(error.to_string()),
    }
}
