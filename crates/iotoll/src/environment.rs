//! What surrounds a run on this machine: the machine, its places, and what
//! disturbs both meanwhile.

use engine::run::Environment;
use model::noise::Noise;
use model::place::PlaceFacts;
use model::run::{Machine, PlaceAfter};

use crate::machine::{self, Watch};

/// This machine, with the places of a run.
pub(crate) struct LocalEnvironment {
    places: Vec<PlaceFacts>,
    watch: Watch,
}

impl LocalEnvironment {
    /// Places as they were found; what disturbs is watched from now on.
    pub(crate) fn new(places: Vec<PlaceFacts>) -> Self {
        Self { places, watch: Watch::start() }
    }

    /// The places as they were found.
    pub(crate) fn places(&self) -> &[PlaceFacts] {
        &self.places
    }
}

impl Environment for LocalEnvironment {
    fn machine(&self) -> Machine {
        machine::describe()
    }

    fn places(&self) -> Vec<PlaceFacts> {
        self.places.clone()
    }

    fn places_after(&mut self) -> Vec<PlaceAfter> {
        self.places.iter().map(after).collect()
    }

    fn noise(&mut self) -> Noise {
        self.watch.seen()
    }
}

fn after(before: &PlaceFacts) -> PlaceAfter {
    match places::inspect(&before.label, &before.path) {
        Ok(now) => PlaceAfter::Facts(Box::new(now)),
        Err(error) => PlaceAfter::Unreadable(error.to_string()),
    }
}
