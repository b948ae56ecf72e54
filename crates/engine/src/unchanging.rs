//! A small simulated machine, on which nothing changes.

use model::between_runs::BetweenRuns;
use model::client::Client;
use model::place::PlaceFacts;
use model::run::{LeftOut, Machine, PlaceAfter, Run, Watch};

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

    fn clients(&self) -> Vec<Client> {
        Vec::new()
    }

    fn places(&self) -> Vec<PlaceFacts> {
        self.places.clone()
    }

    fn left_out(&self) -> Vec<LeftOut> {
        Vec::new()
    }

    fn between_runs(&self, _: &Run) -> Vec<BetweenRuns> {
        self.between_runs.clone()
    }

    fn places_after(&mut self) -> Vec<PlaceAfter> {
        let same = |facts: &PlaceFacts| PlaceAfter::Facts(Box::new(facts.clone()));
        self.places.iter().map(same).collect()
    }

    fn cut_short(&self) -> Option<String> {
        None
    }

    fn watch(&mut self) -> Watch {
        Watch::default()
    }
}
