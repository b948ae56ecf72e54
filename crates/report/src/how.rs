//! How the advised changes are made: what to type, how to check that it took, and how to undo
//! it.

use model::advice::Advice;
use model::analysis::{Analysis, ArmResult};
use model::arm::Axis;
use model::place::{PlaceFacts, StorageKind};
use model::run::Run;
use model::strategy::Recipe;

use crate::answer::{self, Entry};
use crate::subject::Subject;
use crate::text::{PROSE, Width, heading, paragraph};

/// What stands for the folder that is moved.
const FOLDER: &str = "DIR";
/// The placeholder for the mount point of a file system that replaces one created for the run.
const NEW: &str = "NEW";
const TMPFS: &str = "tmpfs";

/// How every advised change is made; a sentence where none is advised.
pub fn how(run: &Run, analysis: &Analysis, width: Width) -> String {
    let width = width.min(PROSE);
    let changes = changes(Subject { run, analysis });
    let mut told = Vec::new();
    let text: String = changes.iter().map(|change| change.text(&mut told, width)).collect();
    if text.is_empty() { "No change is advised.\n".to_owned() } else { text }
}

/// A change that is advised.
pub(crate) struct Change {
    /// The study.
    pub(crate) study: String,
    /// `sqlite: WAL, synchronous=NORMAL`.
    pub(crate) name: String,
    /// What it saves.
    pub(crate) saves: String,
    /// What must be so.
    pub(crate) condition: Option<String>,
    /// What to change; nothing where the study stands for a program of the user's own.
    pub(crate) steps: Vec<Step>,
}

/// The changes that are advised, in the order of the screen.
pub(crate) fn changes(subject: Subject) -> Vec<Change> {
    let entries = answer::entries(subject);
    let change = |entry: &Entry| {
        let Advice { change, condition, .. } = entry.advice;
        let difference = entry.difference();
        let (ratio, within) = (&difference.ratio, difference.in_brackets());
        Change {
            study: entry.advice.study.clone(),
            name: format!("{}: {}", entry.name, change.as_deref().unwrap_or_default()),
            saves: format!("{} → {}, {ratio}{within}", entry.now(), entry.then()),
            condition: condition.clone(),
            steps: steps(subject, entry.advice),
        }
    };
    entries.iter().filter(|entry| entry.advice.is_a_change()).map(change).collect()
}

impl Change {
    /// A step that was printed before is replaced by the name of the change that has it.
    fn text<'a>(&'a self, told: &mut Vec<(&'a Step, &'a str)>, width: Width) -> String {
        let mut out = heading(&self.name) + &paragraph("  ", "  ", &self.saves, width);
        let mut line = |word: &str, text: &str| {
            out += &paragraph(&format!("  {word:<7}  "), "           ", text, width);
        };
        self.condition.iter().for_each(|condition| line("only if", condition));
        if self.steps.is_empty() {
            line("change", "in your own program, which the study stands for");
        }
        for step in &self.steps {
            if let Some((_, name)) = told.iter().find(|(known, _)| *known == step) {
                line("change", &format!("as above, under {name}"));
                continue;
            }
            told.push((step, &self.name));
            step.lines().into_iter().for_each(|(word, text)| line(word, text));
        }
        out + "\n"
    }
}

/// What to type for the first change that is advised.
pub(crate) fn first(subject: Subject) -> Vec<String> {
    let changes = subject.analysis.advice.iter().filter(|advice| advice.is_a_change());
    let mut told = changes.filter_map(|advice| {
        let step = steps(subject, advice).into_iter().next()?;
        let called = advice.label.as_ref().unwrap_or(&advice.study);
        Some(format!("{called}: {}.", step.adopt.trim_end_matches('.')))
    });
    let first = told.next().unwrap_or_default();
    first.split_inclusive(". ").map(|sentence| sentence.trim_end().to_owned()).collect()
}

/// One thing to change.
#[derive(PartialEq, Eq)]
pub(crate) struct Step {
    adopt: String,
    check: String,
    undo: String,
}

impl Step {
    /// What to do, how to check that it took, how to undo it.
    pub(crate) fn lines(&self) -> [(&'static str, &str); 3] {
        [("change", &self.adopt), ("check", &self.check), ("undo", &self.undo)]
    }
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
    let commands = [now, other].map(|arm| arm.params.get("command"));
    if let [Some(now), Some(other)] = commands
        && now != other
    {
        return Some(Step {
            adopt: format!("run `{other}` instead of `{now}`"),
            check: "it writes the same".to_owned(),
            undo: format!("run `{now}` again"),
        });
    }
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
    if place.kind == StorageKind::Memory && place.filesystem == TMPFS {
        return in_tmpfs(place);
    }
    let (first, target) = match &place.created {
        None => (String::new(), place.path.display().to_string()),
        Some(created) => (
            format!(
                "`{created}` is no more: have a file system like it at {NEW}, also after a reboot; "
            ),
            NEW.to_owned(),
        ),
    };
    Step {
        adopt: format!(
            "{first}stop the program; `cp -a {FOLDER}/. {target}/app/`, where {FOLDER} is the folder to \
             move; `mount --bind {target}/app {FOLDER}`; in /etc/fstab: `{target}/app {FOLDER} none \
             bind 0 0`"
        ),
        check: format!("`findmnt -T {FOLDER}` says {}", place.filesystem),
        undo: format!("stop the program; `umount {FOLDER}`; copy back what is new"),
    }
}

fn in_tmpfs(place: &PlaceFacts) -> Step {
    let huge = place.mount_options.iter().find(|option| option.starts_with("huge="));
    let options = huge.map_or_else(String::new, |huge| format!("{huge},")) + "$OWN";
    Step {
        adopt: format!(
            "stop the program; `OWN=$(stat -c mode=%a,uid=%u,gid=%g {FOLDER})`, where {FOLDER} is the \
             folder to move; `cp -a {FOLDER} {FOLDER}.kept`; `mount -t tmpfs -o size=512M,{options} \
             tmpfs {FOLDER}`, with room for `du -sh {FOLDER}.kept`; `cp -a {FOLDER}.kept/. {FOLDER}/`; \
             start it again. To have it after a reboot, empty: `echo tmpfs {FOLDER} tmpfs \
             size=512M,{options} 0 0 >> /etc/fstab`"
        ),
        check: format!("`findmnt -T {FOLDER}` says tmpfs; `df -h {FOLDER}` has room"),
        undo: format!(
            "stop the program; `cp -a {FOLDER}/. {FOLDER}.kept/` keeps what is new; `umount {FOLDER}`; \
             `cp -a {FOLDER}.kept/. {FOLDER}/`, after which files are there again that were removed \
             meanwhile; take the line out of /etc/fstab"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails where a recipe names what is no folder, or leaves out what made the place fast.
    #[test]
    fn what_was_created_for_the_run_is_no_folder_to_move_to() {
        let place = |filesystem: &str, created: &str, kind, option: &str| PlaceFacts {
            created: Some(created.to_owned()),
            kind,
            filesystem: filesystem.to_owned(),
            mount_options: vec![option.to_owned()],
            ..PlaceFacts::unknown("new")
        };
        let xfs = place("xfs", "image:xfs:1GiB@/", StorageKind::Disk, "noatime");
        let adopt = another_place(&xfs).adopt;
        assert!(adopt.starts_with("`image:xfs:1GiB@/` is no more: have a file system"), "{adopt}");
        assert!(adopt.contains("`mount --bind NEW/app DIR`"), "{adopt}");
        let zram = place("xfs", "zram:1GiB:xfs", StorageKind::Memory, "noatime");
        assert!(!another_place(&zram).adopt.contains("tmpfs"));
        let tmpfs = place("tmpfs", "tmpfs:1GiB:huge=always", StorageKind::Memory, "huge=always");
        let adopt = another_place(&tmpfs).adopt;
        assert_eq!(adopt.matches("size=512M,huge=always,$OWN").count(), 2, "{adopt}");
    }
}
