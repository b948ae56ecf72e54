//! A whole run on a simulated machine, from a plan to a result.

use engine::conclude;
use engine::measure::{Job, measure};
use model::arm::pairs;
use model::place::{PlaceFacts, StorageKind};
use model::plan::Plan;
use model::result::{Machine, Run, RunResult, SCHEMA};

use crate::rig::SimulatedRig;

/// Measures a plan on the rig, whose arms are in the plan's order.
pub fn run(plan: &Plan, rig: &mut SimulatedRig) -> RunResult {
    let arms = plan.arms();
    let pairs = pairs(&arms);
    let job =
        Job { arms: &arms, pairs: &pairs, worth: plan.worth, budget: plan.budget, seed: plan.seed };
    let measurement = measure(&job, rig, &mut |_| {});
    let labels: Vec<String> = plan.places.iter().map(|p| p.label.clone()).collect();
    let arms = conclude::arm_results(&arms, &labels, &measurement);
    let comparisons = conclude::comparisons(&job, &measurement, &arms);
    RunResult {
        schema: SCHEMA.to_owned(),
        run: Run {
            id: "0".repeat(16),
            started: "2026-01-01T00:00:00Z".to_owned(),
            seconds: engine::rig::Rig::elapsed(rig).as_secs_f64(),
            seed: plan.seed,
            version: "0.0.0".to_owned(),
            interrupted: measurement.interrupted,
        },
        machine: Machine {
            kernel: "simulated".to_owned(),
            cpu: "simulated".to_owned(),
            cpus: 2,
            memory_bytes: 8 << 30,
            memory_limit_bytes: None,
            noise: model::noise::Noise::default(),
        },
        floor: measurement.floor.clone(),
        places: places(plan),
        arms,
        comparisons,
        unread: measurement.unread.clone(),
        samples: measurement.samples,
    }
}

/// Made-up facts: the first place a disk, the others memory.
pub fn places(plan: &Plan) -> Vec<PlaceFacts> {
    let facts = |(index, request): (usize, &model::place::PlaceRequest)| PlaceFacts {
        label: request.label.clone(),
        path: request.path.clone(),
        kind: if index == 0 { StorageKind::Disk } else { StorageKind::Memory },
        filesystem: if index == 0 { "ext4" } else { "tmpfs" }.to_owned(),
        device: (index == 0).then(|| "/dev/vda1".to_owned()),
        devices: Vec::new(),
        mount_point: request.path.clone(),
        mount_options: vec!["relatime".to_owned()],
        read_only: false,
        total_bytes: 100_000_000_000,
        free_bytes: 80_000_000_000,
        free_inodes: None,
        filesystem_id: index as u64,
        unread: Vec::new(),
    };
    plan.places.iter().enumerate().map(facts).collect()
}
