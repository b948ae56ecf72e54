//! How the advised changes are made: what to type, how to check that it took, and how to undo
//! it.

use model::advice::Advice;
use model::analysis::{Analysis, ArmResult};
use model::arm::Axis;
use model::place::{PlaceFacts, StorageKind};
use model::run::Run;
use model::strategy::Recipe;

use crate::answer::{self, ScreenEntry};
use crate::subject::Subject;
use crate::text::{PROSE, Width, heading, paragraph};

/// What stands for the folder that is moved.
const FOLDER: &str = "/srv/app/cache";

/// How every advised change is made; a sentence where none is advised.
pub fn how(run: &Run, analysis: &Analysis, width: Width) -> String {
    let subject = Subject { run, analysis };
    let screen = answer::Screen::of(run, analysis);
    let width = width.min(PROSE);
    let mut out = String::new();
    let mut advice = analysis.advice.iter();
    for section in &screen.sections {
        for entry in &section.entries {
            let Some(advice) = advice.next().filter(|advice| advice.is_a_change()) else {
                continue;
            };
            out += &of_one(subject, advice, entry, width);
        }
    }
    if out.is_empty() { "No change is advised.\n".to_owned() } else { out }
}

/// What to type for the first change that is advised.
pub(crate) fn first(subject: Subject) -> Vec<String> {
    let changes = subject.analysis.advice.iter().filter(|advice| advice.is_a_change());
    let mut told = changes.filter_map(|advice| {
        let step = steps(subject, advice).into_iter().next()?;
        Some(format!("{}: {}.", advice.study, step.adopt.trim_end_matches('.')))
    });
    told.next().into_iter().collect()
}

fn of_one(subject: Subject, advice: &Advice, entry: &ScreenEntry, width: Width) -> String {
    let change = advice.change.as_deref().unwrap_or_default();
    let mut out = heading(&format!("{}: {change}", entry.name));
    out += &paragraph(
        "  ",
        "  ",
        &format!("{} → {}, {} ({})", entry.now, entry.then, entry.figure, entry.interval),
        width,
    );
    if let Some(condition) = &advice.condition {
        out += &paragraph("  only if  ", "           ", condition, width);
    }
    let steps = steps(subject, advice);
    if steps.is_empty() {
        out += "  The study is of your own program: change it there.\n";
    }
    for Step { adopt, check, undo } in steps {
        for (word, text) in [("change", adopt), ("check", check), ("undo", undo)] {
            out += &paragraph(&format!("  {word:<7}  "), "           ", &text, width);
        }
    }
    out + "\n"
}

/// One thing to change.
struct Step {
    adopt: String,
    check: String,
    undo: String,
}

/// The other way of doing it first, then the other place.
fn steps(subject: Subject, advice: &Advice) -> Vec<Step> {
    let found = advice.comparisons.first().and_then(|index| {
        let comparison = subject.analysis.comparisons.get(*index)?;
        Some((comparison.axis, subject.sides(comparison)?))
    });
    let Some((axis, [now, other])) = found else { return Vec::new() };
    let place = subject.run.places.iter().find(|place| place.label == other.place);
    let way = (axis != Axis::Place).then(|| another_way(subject, now, other)).flatten();
    let place = (axis != Axis::Strategy).then_some(place).flatten().map(another_place);
    way.into_iter().chain(place).collect()
}

fn another_way(subject: Subject, now: &ArmResult, other: &ArmResult) -> Option<Step> {
    if now.strategy == other.strategy {
        let params = subject.difference(other, now);
        return Some(Step {
            adopt: format!("set {params}"),
            check: format!("iotoll record your program: it does as with {params}"),
            undo: format!("set {}", subject.difference(now, other)),
        });
    }
    match &subject.study_of(other)?.strategy(&other.strategy)?.facts.recipe {
        Recipe::Change { adopt, check, undo } => {
            Some(Step { adopt: adopt.clone(), check: check.clone(), undo: undo.clone() })
        }
        Recipe::Control | Recipe::AsItIs => None,
    }
}

fn another_place(place: &PlaceFacts) -> Step {
    if place.kind == StorageKind::Memory {
        return Step {
            adopt: format!(
                "size it with `du -sh {FOLDER}`; `mount -t tmpfs -o size=512M,mode=0755 tmpfs \
                 {FOLDER}`; to have it after a reboot, this line in /etc/fstab: `tmpfs {FOLDER} tmpfs \
                 size=512M,mode=0755 0 0`; for one systemd service alone: \
                 `TemporaryFileSystem={FOLDER}` in `systemctl edit SERVICE`"
            ),
            check: format!("`findmnt -T {FOLDER}` says tmpfs; `df -h {FOLDER}` has room"),
            undo: format!("`umount {FOLDER}`, and take the line out of /etc/fstab"),
        };
    }
    let target = place.shown();
    Step {
        adopt: format!(
            "stop the program; `cp -a {FOLDER}/. {target}/app/`; `mount --bind {target}/app {FOLDER}`; \
             in /etc/fstab: `{target}/app {FOLDER} none bind 0 0`"
        ),
        check: format!("`findmnt -T {FOLDER}` says {}", place.filesystem),
        undo: format!("stop the program; `umount {FOLDER}`; copy back what is new"),
    }
}
