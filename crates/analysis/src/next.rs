//! What to measure next where moving an application's files to other storage
//! changes nothing, or RAM is no faster: what would have to be otherwise for it
//! to pay, and the command that shows it.

use model::analysis::{Comparison, Next, Verdict};
use model::arm::{Axis, Pair};
use model::cause::CauseCode;
use model::description::{ParamDescription, ParamForm, StudyDescription};
use model::place::{PlaceFacts, StorageKind};
use model::run::{ArmRecord, Run};
use units::quoted;

/// What to measure next, where there is something to say.
pub(crate) fn suggest(run: &Run, pair: Pair, comparison: &Comparison) -> Option<Next> {
    if pair.axis != Axis::Place {
        return None;
    }
    if let Some(next) = huge_pages(run, pair, comparison) {
        return Some(next);
    }
    let [base, other] = [pair.base, pair.other].map(|arm| &run.places[run.plan.arms[arm].place]);
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
    no_faster.then(|| Next {
        text: text(comparison, &[base, other], memory),
        command: command(run, &run.plan.arms[pair.other]),
    })
}

/// Where a tmpfs lost to its small pages: how it gets huge ones, and what that brings.
fn huge_pages(run: &Run, pair: Pair, comparison: &Comparison) -> Option<Next> {
    /// A trial with huge pages, which iotoll makes for the run.
    const TRIAL: &str = "huge=tmpfs:1G:huge=within_size";
    if comparison.causes.first()?.code != CauseCode::SmallPages {
        return None;
    }
    let (slower, arm) = match comparison.verdict {
        Verdict::Slower => (pair.other, &run.plan.arms[pair.other]),
        _ => (pair.base, &run.plan.arms[pair.base]),
    };
    let place = &run.places[run.plan.arms[slower].place];
    if place.filesystem != "tmpfs" {
        return None;
    }
    let study = run.study(&arm.study)?;
    let places = vec![place_argument(place)?, TRIAL.to_owned()];
    let command = compare(run, places, arm, study, None);
    let label = &place.label;
    let text = match place.created {
        Some(_) => format!(
            "{label} can hold its files in huge pages if it is created as \
             tmpfs:SIZE:huge=within_size."
        ),
        None => format!(
            "{label} can hold its files in huge pages: mount it with -o huge=within_size (until \
             the next reboot: mount -o remount,huge=within_size {}; permanently: in /etc/fstab).",
            place.mount_point.display()
        ),
    };
    Some(Next { text, command: Some(command) })
}

fn text(comparison: &Comparison, places: &[&PlaceFacts; 2], memory: [bool; 2]) -> String {
    let absorbed =
        comparison.causes.iter().any(|cause| cause.code == CauseCode::AbsorbedByPageCache);
    let [base, other] = places.map(|place| place.label.as_str());
    let (subject, storage) = match memory {
        [false, true] => (other.to_owned(), base),
        [true, false] => (base.to_owned(), other),
        _ => (format!("A choice between {base} and {other}"), "storage"),
    };
    let because = if absorbed {
        format!("On {storage}, too, writes only went to memory; nothing waited for the device. ")
    } else {
        String::new()
    };
    format!(
        "{because}{subject} pays off when the application waits for storage: when every write \
         is synced (fsync), when files are read that are not cached, or when memory is too short \
         to keep them cached."
    )
}

/// The same run with every write forced to the device, where the study can do that.
fn command(run: &Run, arm: &ArmRecord) -> Option<String> {
    let study = run.study(&arm.study)?;
    let sync = study.params.iter().find(|param| param.kind == ParamForm::Sync)?;
    if arm.params.get(&sync.name)? == FORCED {
        return None;
    }
    let places = run.places.iter().map(place_argument).collect::<Option<_>>()?;
    Some(compare(run, places, arm, study, Some(sync)))
}

/// How a plan writes that each operation is forced to the device.
const FORCED: &str = "each";

/// The command that measures an arm's study on places, with the run's strategies and the arm's
/// parameters where these are not the default, and with one that is forced.
fn compare(
    run: &Run,
    places: Vec<String>,
    arm: &ArmRecord,
    study: &StudyDescription,
    forced: Option<&ParamDescription>,
) -> String {
    let strategies = run.chosen_strategies(study);
    let strategies = strategies.map(|names| format!("--strategy {}", names.join(",")));
    let settings = study.params.iter().filter_map(|param| {
        let own = arm.params.get(&param.name).filter(|value| !param.is_default(value));
        let value = if forced == Some(param) { FORCED } else { own? };
        Some(format!("--set {}", quoted(&format!("{}.{}={value}", study.name, param.name))))
    });
    let study = format!("--study {}", study.name);
    let words = std::iter::once("iotoll compare".to_owned()).chain(places).chain([study]);
    words.chain(strategies).chain(settings).collect::<Vec<_>>().join(" ")
}

fn place_argument(place: &PlaceFacts) -> Option<String> {
    Some(quoted(&format!("{}={}", place.label, place.target()?)))
}

#[cfg(test)]
mod tests {
    use model::cause::{Cause, Scope};
    use model::study::{ParamDescription, ParamKind, StrategyDescription};

    use super::*;
    use crate::testing;

    /// A run of a study that can sync, on a disk and in memory.
    fn run(sync: &str) -> Run {
        let mut run = testing::run(2, Vec::new());
        let study = &mut run.studies[0];
        study.params.push(ParamDescription::new("sync", "", ParamKind::Sync, "never"));
        study.strategies.push(StrategyDescription::new("plain", "", ""));
        for arm in &mut run.plan.arms {
            arm.params.insert("sync".to_owned(), sync.to_owned());
        }
        for (place, (label, path)) in
            run.places.iter_mut().zip([("disk", "/my files"), ("ram", "/dev/shm")])
        {
            (place.label, place.path) = (label.to_owned(), path.into());
        }
        run
    }

    fn suggested(verdict: Verdict, sync: &str) -> Option<Next> {
        let run = run(sync);
        let comparison = Comparison {
            base: "0".to_owned(),
            other: "1".to_owned(),
            ..testing::comparison(verdict)
        };
        suggest(&run, run.plan.pairs[0], &comparison)
    }

    #[test]
    fn where_ram_is_no_faster_the_next_command_forces_every_write() {
        for verdict in [Verdict::Same, Verdict::Slower] {
            let next = suggested(verdict, "never");
            let command = next.and_then(|next| next.command);
            let expected = "iotoll compare 'disk=/my files' ram=/dev/shm --study made \
                            --set made.sync=each";
            assert_eq!(command.as_deref(), Some(expected));
        }
    }

    #[test]
    fn small_pages_come_with_how_to_get_larger_ones_and_what_measures_them() {
        let mut run = run("each");
        run.places[1].filesystem = "tmpfs".to_owned();
        let cause = Cause {
            code: CauseCode::SmallPages,
            scope: Scope::Arm,
            evidence: [].into(),
            text: String::new(),
        };
        let slower = Comparison { causes: vec![cause], ..testing::comparison(Verdict::Slower) };
        let command = |run: &Run, comparison: &Comparison| {
            suggest(run, run.plan.pairs[0], comparison).and_then(|next| next.command)
        };
        let expected = "iotoll compare ram=/dev/shm huge=tmpfs:1G:huge=within_size --study made \
                        --set made.sync=each";
        assert_eq!(command(&run, &slower).as_deref(), Some(expected));
        // The disk's pages are not to be had larger by mounting it otherwise.
        let faster = Comparison { verdict: Verdict::Faster, ..slower };
        assert_eq!(command(&run, &faster), None);
    }

    #[test]
    fn where_ram_is_faster_or_nothing_is_known_there_is_nothing_to_say() {
        for verdict in [Verdict::Faster, Verdict::Unclear, Verdict::Invalid] {
            assert_eq!(suggested(verdict, "never"), None);
        }
    }

    #[test]
    fn where_every_write_is_forced_already_there_is_no_command_left() {
        let next = suggested(Verdict::Same, "each");
        assert!(next.is_some_and(|next| next.command.is_none()));
    }
}
