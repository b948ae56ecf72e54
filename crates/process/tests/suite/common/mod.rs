//! A load on a server, as a test wants it.

#![allow(clippy::unwrap_used, dead_code)]

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::{Plan, Step, Steps, Target, run};
use model::address::Address;

/// An address on this host.
pub(crate) fn address(port: u16) -> Address {
    Address::Tcp("127.0.0.1".to_owned(), port)
}

pub(crate) fn plan(url: &str, steps: Steps) -> Plan {
    let mut plan = Plan::new(Target::parse(url).unwrap(), steps);
    plan.timeout = Duration::from_secs(20);
    plan
}

/// So many connections at 200 per second.
pub(crate) fn open(connections: u64) -> Steps {
    Steps::Rates { rates: vec![200.0], connections: Some(connections) }
}

pub(crate) fn closed(concurrency: u32, requests: u64) -> Steps {
    Steps::Closed { concurrency, requests }
}

/// Runs a plan of one step.
pub(crate) fn step(plan: &Plan) -> Step {
    run(plan, None, &mut |_| (), &AtomicBool::new(false)).unwrap().steps.remove(0)
}
