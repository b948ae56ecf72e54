//! What simulated ranks report: a slice of the study `files`, each file of which took as long as
//! was planted.

use std::sync::Mutex;

use ::process::worker::{Assignment, Report};
use model::integrity::Integrity;
use model::slice::Outcome;
use model::spent::Spent;
use ranks::simulated::Does;
use serde::Deserialize;
use stats::Histogram;

/// Within what slices differ by chance.
const NOISE: f64 = 0.03;
/// Latencies lie evenly between half of the mean and half as much again, in so many steps.
const STEPS: u64 = 200;
const STARTS_WITHIN_NS: u64 = 50_000;

/// What an operation takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planted {
    /// By the first strategy.
    pub(super) typical_ns: f64,
    /// By the other, relative to that.
    pub(super) ratio: f64,
}

/// What all ranks go by.
pub(super) static PLANTED: Mutex<Planted> = Mutex::new(Planted { typical_ns: 1.0, ratio: 1.0 });

pub(super) struct Files;

/// What is looked at of what clients are told.
#[derive(Deserialize)]
struct Told {
    orders: Orders,
    operations: u64,
}

#[derive(Deserialize)]
struct Orders {
    strategy: String,
}

impl Does for Files {
    fn steps(assignment: &Assignment) -> Vec<Report> {
        let Ok(Planted { typical_ns, ratio }) = PLANTED.lock().map(|planted| *planted) else {
            return Vec::new();
        };
        let Ok(Told { orders: Orders { strategy }, operations }) = assignment.read() else {
            return Vec::new();
        };
        let ratio = if strategy == "rename" { ratio } else { 1.0 };
        let typical_ns = typical_ns * ratio * rand::random_range(1.0 - NOISE..1.0 + NOISE);
        let mut latencies = Histogram::new();
        let mut left = operations;
        for step in 0..STEPS.min(operations) {
            let times = left.div_ceil(STEPS.min(operations) - step);
            left -= times;
            let share = step as f64 / STEPS.min(operations) as f64;
            latencies.record_many((typical_ns * (0.5 + share)) as u64, times);
        }
        let elapsed_ns = (typical_ns * operations as f64) as u64;
        let started_after_ns = rand::random_range(0..STARTS_WITHIN_NS);
        let worked = Report {
            acknowledged: operations,
            started_after_ns,
            ended_after_ns: started_after_ns + elapsed_ns,
            unit_ns: 1.0,
            latencies: latencies.buckets(),
            latency_max: latencies.max(),
            spent: Spent { elapsed_ns, ..Spent::default() },
            ..Report::default()
        };
        let integrity = Some(Integrity { records: operations, ..Integrity::default() });
        let outcome = Some(Outcome { integrity, ..Outcome::default() });
        vec![worked, Report::default(), Report { outcome, ..Report::default() }]
    }
}
