//! A small simulated machine, on which nothing changes.

use model::between_runs::BetweenRuns;
use model::place::PlaceFacts;
use model::run::{Machine, PlaceAfter, Run};

use crate::run::Environment;

/// It has these places, and finds nothing on them or on itself changed.
#[derive(Debug)]
pub struct Unchanging {
    /// The places.
    pub places: Vec<PlaceFacts>,
    /// What saved runs showed of the pairs.
    pub between_runs: Vec<BetweenRuns>,
}

impl Environment for Unchanging {
    fn machine(&self) -> Machine {
        Machine {
            kernel: "simulated".to_owned(),
            cpu: "simulated".to_owned(),
            cpus: 2,
            memory_bytes: 8 << 30,
            memory_limit_bytes: None,
        }
    }

    fn places(&self) -> Vec<PlaceFacts> {
        self.places.clone()
    }

    fn between_runs(&self, _: &Run) -> Vec<BetweenRuns> {
        self.between_runs.clone()
    }

    fn places_after(&mut self) -> Vec<PlaceAfter> {
        let same = |facts: &PlaceFacts| PlaceAfter::Facts(Box::new(facts.clone()));
        self.places.iter().map(same).collect()
    }
}
