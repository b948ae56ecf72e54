//! What a screen opens with: the places, how long it took, whose files these were, and what is
//! taken for what an application does now.

use model::analysis::{Analysis, ArmResult};
use model::grouped::{group_of, push_new};
use model::place::PlaceFacts;
use model::run::Run;
use units::counted;

use crate::clients;
use crate::subject::Subject;
use crate::text::{PROSE, Width, head_with, heading, paragraph};

pub(super) fn lines(subject: Subject, width: Width) -> String {
    let head = title(subject.run);
    let extent = extent(subject);
    let head = head_with(&head, &extent, width).unwrap_or_else(|| {
        let wrapped = paragraph("", "        ", &head, width);
        format!("{}{extent}\n", wrapped.lines().map(heading).collect::<String>())
    });
    match data(subject) {
        told if told.is_empty() => head,
        told => head + &paragraph("", "", &told.join(" "), width.min(PROSE)),
    }
}

/// The program and the places: `iotoll  disk=/srv (ext4)  ram=/dev/shm (tmpfs)`.
pub fn title(run: &Run) -> String {
    let place =
        |place: &PlaceFacts| format!("  {}={} ({})", place.label, place.shown(), place.filesystem);
    let places: String = run.places.iter().map(place).collect();
    format!("iotoll{places}")
}

/// `30 s, 33 of 35 sure`.
pub(crate) fn extent(Subject { run, analysis }: Subject) -> String {
    let state = if run.run.interrupted { "interrupted after " } else { "" };
    let clients = clients::count(&run.clients).map_or_else(String::new, |all| format!(", {all}"));
    let cut = if analysis.cut_afterwards { ", cut into stretches afterwards" } else { "" };
    let all = analysis.comparisons.len();
    let sure = if all > 0 { format!(", {} of {all} sure", sure(analysis)) } else { String::new() };
    format!("{state}{:.0} s{clients}{cut}{sure}", run.run.seconds)
}

/// How many comparisons are sure.
pub(super) fn sure(analysis: &Analysis) -> usize {
    analysis.comparisons.iter().filter(|comparison| comparison.verdict.is_sure()).count()
}

/// Which studies worked on the user's own files, and which on generated ones.
pub(super) fn data(subject: Subject) -> Vec<String> {
    let mut own: Vec<(String, Vec<String>)> = Vec::new();
    let (mut generated, mut params) = (Vec::new(), Vec::new());
    for arm in &subject.analysis.arms {
        let Some(material) = subject.material(arm) else { continue };
        if material.own {
            push_new(group_of(&mut own, material.to_string()), subject.called(arm));
        } else {
            push_new(&mut generated, subject.called(arm));
            let param = material.own_by.iter().map(|param| format!("{}.{param}", arm.study));
            param.for_each(|param| push_new(&mut params, param));
        }
    }
    let mut told: Vec<String> =
        own.iter().map(|(text, studies)| format!("{}: {text}.", studies.join(", "))).collect();
    if !generated.is_empty() {
        let which =
            if own.is_empty() { String::new() } else { format!(" ({})", generated.join(", ")) };
        // A replay's files are those of the recorded calls.
        let by_path = !params.iter().all(|param| param.starts_with("replay."));
        let yours = match params.as_slice() {
            [] => String::new(),
            _ if own.is_empty() && by_path => ": add --mine PATH".to_owned(),
            params => format!(": --set {} for yours", params.join(", ")),
        };
        told.push(format!("Generated data{which}, not your files{yours}."));
    }
    told
}

/// Each study that was measured: its operation, and how that is taken to be done now where
/// another way was tried or it is not the study's usual one.
pub(super) fn rows(subject: Subject) -> String {
    let Subject { run, analysis } = subject;
    let mut rows = Vec::new();
    for arm in subject.first_arms() {
        let Some(study) = subject.study_of(arm) else { continue };
        let is_other =
            |other: &ArmResult| other.subject() == arm.subject() && other.strategy != arm.strategy;
        let is_usual = study.strategies.first().is_some_and(|first| first.name == arm.strategy);
        let is_told = !is_usual || analysis.arms.iter().any(is_other);
        let way = study.strategy(&arm.strategy).filter(|_| is_told);
        let way = way.map_or_else(String::new, |way| format!(" (now: {})", way.shown()));
        rows.push(format!("{}: {}{way}", subject.called(arm), study.about));
    }
    let place = run.places.first().filter(|_| run.places.len() > 1);
    let place = place.map_or_else(String::new, |place| format!("; all on {}", place.label));
    format!("{}{place}.", rows.join("; "))
}

/// `10 arms in 34 rounds`.
pub(super) fn counts(Subject { analysis, .. }: Subject) -> String {
    let arms = counted(analysis.arms.len() as u64, "combination");
    format!("{arms} in {}", counted(analysis.blocks, "round"))
}
