//! Runs made up for tests.

use std::collections::BTreeMap;

use model::analysis::{Comparison, TailComparison, Verdict};
use model::arm::{Axis, Pair};
use model::description::StudyDescription;
use model::place::{PlaceFacts, StorageKind};
use model::run::{ArmRecord, Floor, Invocation, Machine, PlanRecord, Run, Watch};
use model::slice::{Phase, Slice};

/// A slice of an arm in a block, of a hundred operations that took a microsecond.
pub(crate) fn slice(arm: usize, block: usize) -> Slice {
    let mut slice = Slice { arm, phase: Phase::Block(block), operations: 100, ..Slice::default() };
    slice.spent.elapsed_ns = 1000;
    slice
}

/// A run of arms `a`, `b`, … each on a place of its name, all held against the
/// first; the first place is a disk, the others are memory.
pub(crate) fn run(arms: usize, slices: Vec<Slice>) -> Run {
    let names: Vec<String> = ('a'..='z').take(arms).map(String::from).collect();
    let arm = |(place, id): (usize, &String)| ArmRecord {
        id: id.clone(),
        study: "made".to_owned(),
        label: None,
        strategy: "plain".to_owned(),
        place,
        params: [].into(),
        material: None,
    };
    let pair = |other| Pair { base: 0, other, axis: Axis::Place };
    Run {
        run: Invocation { seconds: 1.0, seed: 1, ..Invocation::default() },
        machine: Machine {
            kernel: String::new(),
            cpu: String::new(),
            cpus: 1,
            memory_bytes: 0,
            memory_limit_bytes: None,
        },
        clients: Vec::new(),
        floor: Floor {
            record_ns: 20.0,
            clock: "tsc".to_owned(),
            tick_ns: 1.0,
            clock_off_by: Some(1e-6),
            ..Floor::default()
        },
        plan: PlanRecord {
            threshold: 0.05,
            error_rate: 0.05,
            budget_s: 60.0,
            rounds: None,
            arms: names.iter().enumerate().map(arm).collect(),
            pairs: (1..arms).map(pair).collect(),
            gentle: false,
            per_second: BTreeMap::new(),
            taken_for: BTreeMap::new(),
        },
        between_runs: Vec::new(),
        article: None,
        checks: None,
        studies: vec![study()],
        places: names.iter().enumerate().map(place).collect(),
        places_after: Vec::new(),
        watch: Watch::default(),
        failures: Vec::new(),
        unread: Vec::new(),
        slices,
    }
}

/// A study without anything of its own.
pub(crate) fn study() -> StudyDescription {
    StudyDescription::new("made", "", "step")
}

/// A place, the first a disk's.
pub(crate) fn place((index, label): (usize, &String)) -> PlaceFacts {
    PlaceFacts {
        path: format!("/{label}").into(),
        kind: if index == 0 { StorageKind::Disk } else { StorageKind::Memory },
        filesystem: String::new(),
        mount_point: "/".into(),
        filesystem_id: index as u64,
        ..PlaceFacts::unknown(label)
    }
}

/// A comparison of the arm `b` with `a` that says nothing but its verdict.
pub(crate) fn comparison(verdict: Verdict) -> Comparison {
    Comparison {
        base: "a".to_owned(),
        other: "b".to_owned(),
        confidence: 0.95,
        threshold: 0.05,
        verdict,
        blocks: 10,
        p99: TailComparison { verdict, ..TailComparison::default() },
        ..Comparison::default()
    }
}
