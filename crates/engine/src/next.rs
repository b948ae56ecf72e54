//! What to measure next where moving an application's files to other storage
//! changes nothing, or RAM is no faster: what would have to be otherwise for it
//! to pay, and the command that shows it.

use model::arm::{Arm, Axis, Pair};
use model::place::{PlaceFacts, StorageKind};
use model::result::{Comparison, Next, Verdict};
use model::shell::quoted;
use model::study::{ParamKind, ParamValue, StudySpec, SyncPolicy};

use crate::measure::Job;

/// Fills in `next` where there is something to say. The comparisons are in the
/// order of the job's pairs.
pub fn suggest(comparisons: &mut [Comparison], job: &Job<'_>, places: &[PlaceFacts]) {
    for (comparison, pair) in comparisons.iter_mut().zip(job.pairs) {
        comparison.next = next(comparison, *pair, job.arms, places);
    }
}

fn next(
    comparison: &Comparison,
    Pair { base, other, axis }: Pair,
    arms: &[Arm],
    places: &[PlaceFacts],
) -> Option<Next> {
    if axis != Axis::Place {
        return None;
    }
    let (base, other) = (&places[arms[base].place], &places[arms[other].place]);
    let memory = [base, other].map(|place| place.kind == StorageKind::Memory);
    // Between two in memory, or within one file system, nothing could differ.
    if memory == [true, true] || base.filesystem_id == other.filesystem_id {
        return None;
    }
    let no_faster = match comparison.verdict {
        Verdict::Same => true,
        Verdict::Slower => memory == [false, true],
        Verdict::Faster => memory == [true, false],
        Verdict::Unclear | Verdict::Invalid => false,
    };
    let arm = &arms.iter().find(|arm| arm.id == comparison.other)?;
    no_faster.then(|| Next {
        text: text(comparison, &[base, other], memory),
        command: command(arm, arms, places),
    })
}

fn text(comparison: &Comparison, places: &[&PlaceFacts; 2], memory: [bool; 2]) -> String {
    let absorbed = comparison.causes.iter().any(|cause| cause.code == "absorbed-by-page-cache");
    let [base, other] = places.map(|place| place.label.as_str());
    let (subject, storage) = match memory {
        [false, true] => (other.to_owned(), base),
        [true, false] => (base.to_owned(), other),
        _ => (format!("A choice between {base} and {other}"), "storage"),
    };
    let because = if absorbed {
        format!("Writes went to memory on {storage} as well, and nobody waited for the device. ")
    } else {
        String::new()
    };
    format!(
        "{because}{subject} would pay where the application waits for its storage: where each \
         write is forced to the device (fsync), where files are read that are not in memory yet, \
         or where memory is so short that they do not stay there."
    )
}

/// The same run with every write forced to the device, where the study can do that.
fn command(arm: &Arm, arms: &[Arm], places: &[PlaceFacts]) -> Option<String> {
    let is_sync = |kind| matches!(kind, ParamKind::Sync);
    let sync = arm.study.params.iter().find(|param| is_sync(param.kind))?;
    let forced = ParamValue::Sync(SyncPolicy::Each);
    let mut words = vec!["iotoll".to_owned(), "compare".to_owned()];
    for place in places {
        words.push(quoted(&format!("{}={}", place.label, place.path.to_str()?)));
    }
    words.extend(["--study".to_owned(), arm.study.name.to_owned()]);
    words.extend(strategies(arm.study, arms));
    for (name, value) in &arm.params.0 {
        let param = arm.study.param(name)?;
        if param.name == sync.name {
            if *value == forced {
                return None;
            }
            words.extend(setting(arm.study, name, &forced));
        } else if *value != param.default_value() {
            words.extend(setting(arm.study, name, value));
        }
    }
    Some(words.join(" "))
}

fn setting(study: &StudySpec, name: &str, value: &ParamValue) -> [String; 2] {
    ["--set".to_owned(), quoted(&format!("{}.{name}={value}", study.name))]
}

/// The run's strategies, unless they are those that one gets without asking.
fn strategies(study: &StudySpec, arms: &[Arm]) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for arm in arms.iter().filter(|arm| arm.study.name == study.name) {
        if !names.contains(&arm.strategy.name) {
            names.push(arm.strategy.name);
        }
    }
    let usual = study.strategies.iter().filter(|s| s.by_default).map(|s| s.name);
    if usual.eq(names.iter().copied()) {
        return Vec::new();
    }
    vec!["--strategy".to_owned(), names.join(",")]
}

#[cfg(test)]
mod tests {
    use model::result::TailComparison;
    use model::study::{ParamSpec, Params, StrategySpec};

    use super::*;

    static SPEC: StudySpec = StudySpec {
        name: "log",
        about: "",
        operation: "record",
        moves_bytes: false,
        by_default: true,
        compared: &[],
        strategies: &[StrategySpec { name: "held", about: "", promise: "", by_default: true }],
        params: &[ParamSpec { name: "sync", about: "", kind: ParamKind::Sync, default: "never" }],
        figures: &[],
    };

    fn arm(place: usize, sync: SyncPolicy) -> Arm {
        Arm {
            id: place.to_string(),
            study: &SPEC,
            strategy: &SPEC.strategies[0],
            place,
            params: Params(vec![("sync", ParamValue::Sync(sync))]),
        }
    }

    fn place(label: &str, path: &str, kind: StorageKind) -> PlaceFacts {
        PlaceFacts {
            label: label.to_owned(),
            path: path.into(),
            kind,
            filesystem: String::new(),
            device: None,
            devices: Vec::new(),
            mount_point: "/".into(),
            mount_options: Vec::new(),
            read_only: false,
            total_bytes: 0,
            free_bytes: 0,
            free_inodes: None,
            filesystem_id: u64::from(kind == StorageKind::Disk),
            unread: Vec::new(),
        }
    }

    fn suggested(verdict: Verdict, sync: SyncPolicy) -> Option<Next> {
        let places = [
            place("disk", "/my files", StorageKind::Disk),
            place("ram", "/dev/shm", StorageKind::Memory),
        ];
        let arms = [arm(0, sync), arm(1, sync)];
        let comparison = Comparison {
            base: "0".to_owned(),
            other: "1".to_owned(),
            axis: Axis::Place,
            ratio: None,
            ratio_low: None,
            ratio_high: None,
            confidence: 0.95,
            saves_ns_per_op: None,
            worth: 0.05,
            verdict,
            blocks: 10,
            p99: TailComparison { ratio: None, ratio_low: None, ratio_high: None, verdict },
            errors: None,
            why: None,
            causes: Vec::new(),
            next: None,
        };
        next(&comparison, Pair { base: 0, other: 1, axis: Axis::Place }, &arms, &places)
    }

    #[test]
    fn where_ram_is_no_faster_the_next_command_forces_every_write() {
        for verdict in [Verdict::Same, Verdict::Slower] {
            let next = suggested(verdict, SyncPolicy::Never);
            let command = next.and_then(|next| next.command);
            let expected = "iotoll compare 'disk=/my files' ram=/dev/shm --study log \
                            --set log.sync=each";
            assert_eq!(command.as_deref(), Some(expected));
        }
    }

    #[test]
    fn where_ram_is_faster_or_nothing_is_known_there_is_nothing_to_say() {
        for verdict in [Verdict::Faster, Verdict::Unclear, Verdict::Invalid] {
            assert_eq!(suggested(verdict, SyncPolicy::Never), None);
        }
    }

    #[test]
    fn where_every_write_is_forced_already_there_is_no_command_left() {
        let next = suggested(Verdict::Same, SyncPolicy::Each);
        assert!(next.is_some_and(|next| next.command.is_none()));
    }
}
