//! What a run would measure: its arms and comparisons, each study's together. What all
//! arms of a study share is said once, and arms and comparisons only in what differs.

use model::arm::{Arm, Pair};
use model::grouped::{each_once, group_of, in_groups, push_new};
use model::material::Material;
use model::place::PlaceFacts;
use model::scaling::CLIENTS;
use units::{count, counted};

use crate::text::{Width, heading, paragraph};

const INDENT: &str = "            ";

/// Each study with its parameters, its arms and what is compared.
pub fn planned(
    arms: &[Arm],
    materials: &[Option<Material>],
    pairs: &[Pair],
    places: &[PlaceFacts],
    width: Width,
) -> String {
    let mut out = String::new();
    for (subject, own) in in_groups(arms.iter().map(|arm| (arm.subject(), arm))) {
        out += &format!("\n{}", heading(&format!("{subject}: {}", own[0].study.about)));
        let shared = shared_params(&own).join(", ");
        if !shared.is_empty() {
            out += &paragraph("  shared    ", INDENT, &shared, width);
        }
        out += &paragraph("  measured  ", INDENT, &ways(&own, places), width);
        let compared = compared(arms, pairs, &subject, places).join("; ");
        let compared = if compared.is_empty() { "nothing" } else { &compared };
        out += &paragraph("  compared  ", INDENT, compared, width);
        for data in worked_on(arms, materials, &subject) {
            out += &paragraph("  data      ", INDENT, &data, width);
        }
    }
    out
}

/// What a study's arms work on, each thing once, and how much of the user's own is copied.
fn worked_on(arms: &[Arm], materials: &[Option<Material>], subject: &str) -> Vec<String> {
    let mut told = Vec::new();
    let own = arms.iter().zip(materials).filter(|(arm, _)| arm.subject() == subject);
    for (arm, material) in own.filter_map(|(arm, material)| Some((arm, material.as_ref()?))) {
        let more = match (&material.own_by, material.copied_bytes) {
            (Some(param), _) => format!("; {}.{param} takes your own", arm.study.name),
            (None, 0) => String::new(),
            (None, bytes) => format!("; a copy is {} bytes", count(bytes)),
        };
        push_new(&mut told, format!("{material}{more}"));
    }
    told
}

/// The parameters that are the same in all of a study's arms, and mean something to any.
fn shared_params(arms: &[&Arm]) -> Vec<String> {
    let Some(first) = arms.first() else { return Vec::new() };
    let study = first.study;
    let shared = first.params.0.iter().filter(|(name, value)| {
        let is_same =
            arms.iter().all(|arm| arm.params.0.iter().any(|(n, v)| n == name && v == value));
        let mut applying = arms.iter();
        is_same
            && applying.any(|arm| study.applies(name, &arm.strategy.name, &arm.params.written()))
    });
    let written = shared.map(|(name, value)| (name, value.to_string()));
    written
        // One client is what everyone has who names none.
        .filter(|(name, value)| !value.is_empty() && (**name != CLIENTS || value != "1"))
        .map(|(name, value)| format!("{name} {value}"))
        .collect()
}

/// A study's arms: its strategies, the values that vary and the places, where each goes
/// with each; else every strategy with its values.
fn ways(arms: &[&Arm], places: &[PlaceFacts]) -> String {
    let strategies = each_once(arms.iter().map(|arm| arm.strategy.name.as_str()));
    let ways = each_once(arms.iter().map(|arm| way(arm)));
    let mut varying = Vec::new();
    for (name, value) in arms.iter().flat_map(|arm| &arm.params.0) {
        push_new(group_of(&mut varying, *name), value.to_string());
    }
    if arms.len() != ways.len() * places.len() {
        // Not everything is measured everywhere.
        let all: Vec<&str> = arms.iter().map(|arm| without_study(&arm.id)).collect();
        return format!("{} ({})", all.join(", "), counted(arms.len() as u64, "combination"));
    }
    varying.retain(|(_, values)| values.len() > 1);
    let product: usize = varying.iter().map(|(_, values)| values.len()).product();
    let mut parts = if product * strategies.len() == ways.len() {
        let with =
            |(name, values): &(&str, Vec<String>)| format!("with {name} {}", values.join(", "));
        let withs = varying.iter().map(with);
        std::iter::once(strategies.join(", ")).chain(withs).collect()
    } else {
        vec![ways.join(", ")]
    };
    let labels: Vec<&str> = places.iter().map(|place| place.label.as_str()).collect();
    parts.push(format!("on {} ({})", labels.join(", "), counted(arms.len() as u64, "combination")));
    parts.join("; ")
}

/// An arm's name without study and place: `held(sync=each)`.
fn way(arm: &Arm) -> &str {
    let way = without_study(&arm.id);
    way.rsplit_once('@').map_or(way, |(way, _)| way)
}

/// An arm's name without its study: `held(sync=each)@disk`.
fn without_study(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, way)| way)
}

/// What is held against what: `ram against disk`, `held, flock against reopen`.
fn compared(arms: &[Arm], pairs: &[Pair], subject: &str, places: &[PlaceFacts]) -> Vec<String> {
    let mut by_base = Vec::new();
    for pair in pairs.iter().filter(|pair| arms[pair.base].subject() == subject) {
        let (base, other) = (&arms[pair.base], &arms[pair.other]);
        let (base, other) = (apart(base, other, places), apart(other, base, places));
        push_new(group_of(&mut by_base, base), other);
    }
    by_base.iter().map(|(base, others)| format!("{} against {base}", others.join(", "))).collect()
}

/// An arm in what it differs in from another.
fn apart(arm: &Arm, other: &Arm, places: &[PlaceFacts]) -> String {
    let (study, written) = (arm.study, arm.params.written());
    let params = arm.params.0.iter().zip(&other.params.0).filter(|(own, others)| own != others);
    let params = params.map(|(own, _)| own);
    let params = params.filter(|(name, _)| study.applies(name, &arm.strategy.name, &written));
    let mut words: Vec<String> = Vec::new();
    if arm.strategy.name == other.strategy.name {
        words.extend(params.map(|(name, value)| format!("{name} {value}")));
    } else {
        let values: Vec<String> = params.map(|(name, value)| format!("{name}={value}")).collect();
        let values =
            if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
        words.push(format!("{}{values}", arm.strategy.name));
    }
    if arm.place != other.place {
        let label = places.get(arm.place).map_or("", |place| &place.label);
        let on = if words.is_empty() { "" } else { "on " };
        words.push(format!("{on}{label}"));
    }
    words.join(" ")
}
