//! The record of a comparison, without names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{LEFT_OUT, kernel, left_out, machine, reason};
use crate::client::Client;
use crate::created::CreatedPlace;
use crate::description::{ParamDescription, ParamForm, StudyDescription};
use crate::material::Material;
use crate::place::{Detail, DeviceLayer, PlaceFacts};
use crate::run::{ArmFailure, ArmRecord, Invocation, LeftOut, PlaceAfter, PlanRecord, Run, Watch};
use crate::slice::{Outcome, Slice};
use crate::watch::{MachineReading, OtherProcess};

/// Labels that say what a place is and not whose.
const LABELS: &[&str] = &[
    "a", "b", "brd", "btrfs", "cold", "disk", "ext4", "f2fs", "fast", "hdd", "image", "local",
    "memory", "nfs", "nvme", "overlay", "place", "ram", "shared", "shm", "slow", "ssd", "tmpfs",
    "warm", "xfs", "zfs", "zram",
];

/// The record as it may be passed on: no names of hosts, users, servers and programs, no
/// paths, commands or serial numbers, and no text of the system or a person. Its arms keep
/// their order and their figures, so that all verdicts follow from it as before.
pub fn without_names(run: Run) -> Run {
    let Run {
        run,
        machine: whose,
        clients,
        floor,
        plan,
        between_runs,
        article,
        checks,
        studies,
        places,
        places_after,
        watch,
        failures,
        unread,
        slices,
    } = run;
    let labels: Vec<String> = places.iter().enumerate().map(label).collect();
    let label_of = |at: usize| labels.get(at).cloned().unwrap_or_else(left_out);
    let places_after = places_after.into_iter().enumerate().map(|(at, after)| match after {
        PlaceAfter::Facts(facts) => PlaceAfter::Facts(Box::new(place(*facts, label_of(at)))),
        PlaceAfter::Unreadable(_) => PlaceAfter::Unreadable(left_out()),
    });
    let evidence = numbered("evidence", slices.iter().flat_map(|s| s.outcome.evidence.keys()));
    let failure = |ArmFailure { arm, .. }| ArmFailure { arm, why: left_out() };
    Run {
        run: Invocation {
            ended_early: reason(run.ended_early),
            left_out: run.left_out.iter().map(not_created).collect(),
            ..run
        },
        machine: machine(whose),
        clients: self::clients(clients),
        floor,
        plan: self::plan(plan, &studies, &label_of),
        between_runs,
        article,
        checks,
        places_after: places_after.collect(),
        places: places.into_iter().enumerate().map(|(at, p)| place(p, label_of(at))).collect(),
        watch: self::watch(watch),
        failures: failures.into_iter().map(failure).collect(),
        unread: unread.into_iter().map(|_| left_out()).take(1).collect(),
        slices: slices.into_iter().map(|one| slice(one, &evidence)).collect(),
        studies,
    }
}

/// Which are on one machine can still be seen.
fn clients(clients: Vec<Client>) -> Vec<Client> {
    let hosts = numbered("host", clients.iter().map(|client| &client.host));
    let anonymous = |client: Client| Client {
        host: hosts.get(&client.host).cloned().unwrap_or_else(left_out),
        kernel: kernel(&client.kernel),
        ..client
    };
    clients.into_iter().map(anonymous).collect()
}

fn label((at, place): (usize, &PlaceFacts)) -> String {
    match &place.label {
        known if LABELS.contains(&known.as_str()) => known.clone(),
        _ => format!("place-{}", at + 1),
    }
}

/// A new name for each, told apart by its number.
fn numbered<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> BTreeMap<String, String> {
    let names: BTreeSet<&String> = names.collect();
    let numbered = names.into_iter().zip(1..);
    numbered.map(|(name, number)| (name.clone(), format!("{what}-{number}"))).collect()
}

fn place(facts: PlaceFacts, label: String) -> PlaceFacts {
    let PlaceFacts {
        label: _,
        path: _,
        created,
        kind,
        filesystem,
        device: mounted,
        devices,
        mount_point: _,
        mount_options,
        journal,
        read_only,
        total_bytes,
        free_bytes,
        total_inodes,
        free_inodes,
        free_pieces,
        filesystem_id,
        details,
        not_kept,
        unread,
    } = facts;
    let top = devices.first().map_or_else(left_out, |device| device.name.clone());
    PlaceFacts {
        label,
        path: PathBuf::from(LEFT_OUT),
        created: created.as_deref().map(target),
        kind,
        filesystem,
        device: mounted.map(|_| top),
        devices: devices.into_iter().map(device).collect(),
        mount_point: PathBuf::from(LEFT_OUT),
        mount_options,
        journal,
        read_only,
        total_bytes,
        free_bytes,
        total_inodes,
        free_inodes,
        free_pieces,
        filesystem_id,
        details: self::details(details),
        not_kept,
        unread: unread.into_iter().map(|_| left_out()).take(1).collect(),
    }
}

fn device(layer: DeviceLayer) -> DeviceLayer {
    DeviceLayer { details: details(layer.details), ..layer }
}

/// What is known of file systems and devices in general; where that was read may have
/// names of devices and users.
fn details(details: Vec<Detail>) -> Vec<Detail> {
    const TOLD: &[&str] = &[
        "age",
        "appends",
        "caching",
        "checksums",
        "compression",
        "free space",
        "fsync",
        "journal",
        "large pages",
        "level",
        "locks",
        "memory",
        "reboot",
        "sectors",
        "swap",
    ];
    let told = details.into_iter().filter(|detail| TOLD.contains(&detail.name.as_str()));
    told.map(|detail| Detail { source: left_out(), ..detail }).collect()
}

/// How a place was asked for, without the directory that it is in and other texts.
fn target(created: &str) -> String {
    let created = created.parse().map(|mut created: CreatedPlace| {
        created.anonymise(LEFT_OUT);
        created.to_string()
    });
    created.unwrap_or_else(|_| left_out())
}

fn not_created(place: &LeftOut) -> LeftOut {
    LeftOut { label: left_out(), target: target(&place.target), why: left_out() }
}

fn plan(
    plan: PlanRecord,
    studies: &[StudyDescription],
    label_of: &impl Fn(usize) -> String,
) -> PlanRecord {
    let PlanRecord {
        threshold,
        error_rate,
        budget_s,
        rounds,
        arms,
        pairs,
        gentle,
        per_second,
        taken_for: _,
    } = plan;
    let labels = numbered("label", arms.iter().filter_map(|arm| arm.label.as_ref()));
    // A key that is no study's is somebody's text.
    let per_second = per_second.into_iter().filter_map(|(subject, rate)| {
        let arm = arms.iter().find(|arm| arm.subject() == subject || arm.study == subject)?;
        let is_labelled = arm.study != subject;
        Some((if is_labelled { relabelled(arm, &labels).subject() } else { subject }, rate))
    });
    let per_second = per_second.collect();
    let texts = arms.iter().flat_map(|arm| {
        arm.params.iter().filter(|(name, text)| is_own(arm, name, text, studies)).map(|(_, t)| t)
    });
    let texts = numbered("text", texts);
    let params = |arm: &ArmRecord| -> BTreeMap<String, String> {
        let known = arm.params.iter().filter(|(name, _)| param(arm, name, studies).is_some());
        let replaced = |(name, text): (&String, &String)| {
            let own = is_own(arm, name, text, studies).then(|| texts.get(text)).flatten();
            (name.clone(), own.unwrap_or(text).clone())
        };
        known.map(replaced).collect()
    };
    let shared = |arm: &ArmRecord| {
        let ArmRecord { id: _, study, label, strategy, place, params: _, material } =
            relabelled(arm, &labels);
        let (id, params, material) = (String::new(), params(arm), material.map(unsaid));
        ArmRecord { id, study, label, strategy, place, params, material }
    };
    let arms: Vec<ArmRecord> = arms.iter().map(shared).collect();
    let ids: Vec<String> = arms.iter().map(|arm| id(arm, &arms, studies, label_of)).collect();
    let arms = arms.into_iter().zip(ids).map(|(arm, id)| ArmRecord { id, ..arm }).collect();
    let taken_for = BTreeMap::new();
    PlanRecord {
        threshold,
        error_rate,
        budget_s,
        rounds,
        arms,
        pairs,
        gentle,
        per_second,
        taken_for,
    }
}

/// The arm with a number for the label that its user gave it.
fn relabelled(arm: &ArmRecord, labels: &BTreeMap<String, String>) -> ArmRecord {
    let label = arm.label.as_ref();
    let label = label.map(|label| labels.get(label).cloned().unwrap_or_else(left_out));
    ArmRecord { label, ..arm.clone() }
}

/// What an arm worked on, without the words for it.
fn unsaid(Material { own, about: _, copied_bytes, own_by: _ }: Material) -> Material {
    Material { own, about: left_out(), copied_bytes, own_by: None }
}

/// What an arm's parameter is; nothing where its study has none of that name.
fn param<'a>(
    arm: &ArmRecord,
    name: &str,
    studies: &'a [StudyDescription],
) -> Option<&'a ParamDescription> {
    studies.iter().find(|study| study.name == arm.study)?.param(name)
}

/// Whether a parameter's value is a text of a person's own.
fn is_own(arm: &ArmRecord, name: &str, text: &str, studies: &[StudyDescription]) -> bool {
    let Some(param) = param(arm, name, studies) else { return true };
    match param.kind {
        ParamForm::Text | ParamForm::Name | ParamForm::Shell => {
            !text.is_empty() && !param.default.iter().any(|default| default == text)
        }
        ParamForm::Size
        | ParamForm::Sizes
        | ParamForm::Count
        | ParamForm::Choice
        | ParamForm::Rate
        | ParamForm::Sync
        | ParamForm::Duration => {
            let known: Vec<&str> = words(&param.accepts)
                .chain(param.default.iter().flat_map(|default| words(default)))
                .chain(UNITS.iter().copied())
                .collect();
            words(text).any(|word| !known.contains(&word))
        }
    }
}

/// What sizes and times are written with.
const UNITS: &[&str] = &[
    "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "ns", "us", "ms", "s", "min", "h", "d",
];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
}

/// An arm's name, made as those of a plan are: with the parameters that vary in the run
/// and mean something to the arm.
fn id(
    arm: &ArmRecord,
    arms: &[ArmRecord],
    studies: &[StudyDescription],
    label_of: &impl Fn(usize) -> String,
) -> String {
    let study = studies.iter().find(|study| study.name == arm.study);
    let order = study.map(|study| study.params.iter().map(|param| param.name.as_str()));
    let applies_to = |name: &str, arm: &ArmRecord| {
        study.is_some_and(|study| study.applies(name, &arm.strategy, &arm.params))
    };
    let applies = |name: &str| applies_to(name, arm);
    let varies = |name: &str| {
        let others = arms.iter().filter(|o| o.subject() == arm.subject() && applies_to(name, o));
        others.into_iter().any(|other| other.params.get(name) != arm.params.get(name))
    };
    let told: Vec<String> = order
        .into_iter()
        .flatten()
        .filter(|name| varies(name) && applies(name))
        .filter_map(|name| Some(format!("{name}={}", arm.params.get(name)?)))
        .collect();
    let params = if told.is_empty() { String::new() } else { format!("({})", told.join(", ")) };
    format!("{}/{}{params}@{}", arm.subject(), arm.strategy, label_of(arm.place))
}

fn watch(watch: Watch) -> Watch {
    let Watch { before, after } = watch;
    let others = before.others.iter().chain(&after.others).filter(|p| !p.kernel_thread);
    let programs = numbered("program", others.map(|program| &program.name));
    let reading = |reading: MachineReading| MachineReading {
        others: reading.others.into_iter().map(|program| renamed(program, &programs)).collect(),
        unread: reading.unread.into_iter().map(|_| left_out()).take(1).collect(),
        ..reading
    };
    Watch { before: reading(before), after: reading(after) }
}

/// The kernel's own threads keep their names, as `kworker/0:1`.
fn renamed(program: OtherProcess, names: &BTreeMap<String, String>) -> OtherProcess {
    let known = names.get(&program.name).filter(|_| !program.kernel_thread).cloned();
    OtherProcess { name: known.unwrap_or(program.name), ..program }
}

fn slice(slice: Slice, evidence: &BTreeMap<String, String>) -> Slice {
    let outcome = slice.outcome;
    let renamed = |(name, value): (String, f64)| {
        (evidence.get(&name).cloned().unwrap_or_else(left_out), value)
    };
    let integrity = outcome.integrity.map(|mut integrity| {
        integrity.example = None;
        integrity
    });
    let outcome = Outcome {
        integrity,
        evidence: outcome.evidence.into_iter().map(renamed).collect(),
        untrusted: reason(outcome.untrusted),
        ..outcome
    };
    Slice { outcome, ..slice }
}
