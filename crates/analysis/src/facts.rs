//! What is not the same about two runs besides their times: the machine, the places, and how
//! they were treated. And what makes an arm of two runs the same.

use model::check::{CheckRequest, FOR, Need};
use model::diff::Fact;
use model::place::{DeviceLayer, PlaceFacts};
use model::run::{ArmRecord, Machine, Run};
use units::{exact_size, percent, rough_size};

/// Memory that the kernel tells differs by less between two boots.
const MEMORY_UNIT: u64 = 1 << 30;
/// A file system is told of that is fuller or emptier by this share of its size.
const FILLED_MIN: f64 = 0.1;

/// The facts that differ; `places` pairs places of the earlier run with those of the later.
pub(crate) fn apart(before: &Run, after: &Run, places: &[(usize, usize)]) -> Vec<Fact> {
    let mut facts = Facts::default();
    facts.take("iotoll", &before.run.version, &after.run.version);
    let [old, new] = [&before.machine, &after.machine];
    facts.take("kernel", &old.kernel, &new.kernel);
    facts.take("processor", &old.cpu, &new.cpu);
    facts.take("processors", &old.cpus.to_string(), &new.cpus.to_string());
    if gibibytes(old) != gibibytes(new) {
        facts.take("memory", &rough_size(old.memory_bytes), &rough_size(new.memory_bytes));
    }
    let limit = |machine: &Machine| machine.memory_limit_bytes.map_or("none".into(), exact_size);
    facts.take("memory limit", &limit(old), &limit(new));
    facts.take("clock", &before.floor.clock, &after.floor.clock);
    let gentle = |run: &Run| if run.plan.gentle { "yes" } else { "no" }.to_owned();
    facts.take("--gentle", &gentle(before), &gentle(after));
    if let (Some(old), Some(new)) = (&before.checks, &after.checks) {
        facts.take("--for", &asked_for(old), &asked_for(new));
    }
    for &(old, new) in places {
        if let (Some(old), Some(new)) = (before.places.get(old), after.places.get(new)) {
            facts.take_places(old, new);
        }
    }
    facts.take_materials(before, after);
    facts.0
}

/// The programs of a check, with what the user asked of them.
fn asked_for(check: &CheckRequest) -> String {
    let asked = |need: &Need| need.source.strip_prefix(FOR).map(str::to_owned);
    let told = check.programs.iter().map(|program| {
        program.needs.iter().find_map(asked).unwrap_or_else(|| program.name.clone())
    });
    told.collect::<Vec<_>>().join(",")
}

/// What an arm timed and where, in a text that is the same in runs that repeat each other.
/// Where files lie within a file system is no part of it, nor is how full that is.
pub fn setting(run: &Run, arm: &ArmRecord) -> Option<String> {
    let ArmRecord { study, strategy, params, material, .. } = arm;
    let place = run.places.get(arm.place)?;
    let machine = &run.machine;
    let params: Vec<String> =
        params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let own = material.as_ref().filter(|material| material.own);
    let parts = [
        format!("{study}/{strategy}"),
        params.join(", "),
        format!("{}, {} × {}", machine.kernel, machine.cpus, machine.cpu),
        format!("{} GiB, limit {:?}", gibibytes(machine), machine.memory_limit_bytes),
        place
            .created
            .clone()
            .unwrap_or_else(|| format!("{} at {}", place.filesystem, place.mount_point.display())),
        options(place),
        devices(place),
        format!("gentle {}", run.plan.gentle),
    ];
    // A folder that has other files by now is another one.
    Some(parts.into_iter().chain(own.map(ToString::to_string)).collect::<Vec<_>>().join("\n"))
}

fn gibibytes(machine: &Machine) -> u64 {
    machine.memory_bytes.saturating_add(MEMORY_UNIT / 2) / MEMORY_UNIT
}

#[derive(Default)]
struct Facts(Vec<Fact>);

impl Facts {
    fn take(&mut self, what: &str, before: &str, after: &str) {
        if before != after {
            let text = |text: &str| if text.is_empty() { "none" } else { text }.to_owned();
            self.0.push(Fact { what: what.to_owned(), before: text(before), after: text(after) });
        }
    }

    /// A folder or database of the user's may have other contents by now.
    fn take_materials(&mut self, before: &Run, after: &Run) {
        let mut told: Vec<(&str, &str)> = Vec::new();
        for new in &after.plan.arms {
            let old = before.plan.arms.iter().find(|old| old.id == new.id);
            let both = old.and_then(|old| old.material.as_ref()).zip(new.material.as_ref());
            let Some((was, is)) = both else { continue };
            if !told.contains(&(&new.study, &is.about)) {
                told.push((&new.study, &is.about));
                let what = format!("{}: data", new.study);
                self.take(&what, &was.to_string(), &is.to_string());
            }
        }
    }

    fn take_places(&mut self, before: &PlaceFacts, after: &PlaceFacts) {
        let of = |what: &str| format!("{}: {what}", after.label);
        self.take(&of("label"), &before.label, &after.label);
        self.take(&of("directory"), &before.shown(), &after.shown());
        self.take(&of("file system"), &before.filesystem, &after.filesystem);
        let device = |place: &PlaceFacts| {
            // One that is made gets whichever device is free.
            place.device.clone().filter(|_| place.created.is_none()).unwrap_or_default()
        };
        self.take(&of("device"), &device(before), &device(after));
        self.take(&of("behind it"), &devices(before), &devices(after));
        self.take(&of("mounted"), &options(before), &options(after));
        let size = |place: &PlaceFacts| rough_size(place.total_bytes);
        self.take(&of("size"), &size(before), &size(after));
        let [old, new] = [before, after].map(free_share);
        if (old - new).abs() >= FILLED_MIN {
            self.take(&of("free"), &percent(old), &percent(new));
        }
    }
}

fn options(place: &PlaceFacts) -> String {
    let journal = (place.journal == Some(false)).then(|| "no journal".to_owned());
    place.mount_options.iter().cloned().chain(journal).collect::<Vec<_>>().join(",")
}

fn devices(place: &PlaceFacts) -> String {
    let layer = |layer: &DeviceLayer| {
        let told = [&layer.model, &layer.write_cache, &layer.scheduler];
        let told = told.into_iter().flatten().map(String::as_str);
        let turns = layer.rotational.filter(|turns| *turns).map(|_| "rotational");
        let name = (!is_numbered(layer, place)).then_some(layer.name.as_str());
        let words = std::iter::once(layer.kind.as_str()).chain(name).chain(told).chain(turns);
        let words: Vec<&str> = words.collect();
        words.join(" ")
    };
    place.devices.iter().map(layer).collect::<Vec<_>>().join(" on ")
}

/// Whether a device has its number by chance: one that was made for the run.
fn is_numbered(layer: &DeviceLayer, place: &PlaceFacts) -> bool {
    place.created.is_some() && matches!(layer.kind.as_str(), "loop" | "zram")
}

fn free_share(place: &PlaceFacts) -> f64 {
    place.free_bytes as f64 / place.total_bytes.max(1) as f64
}

#[cfg(test)]
mod tests {
    use model::material::Material;

    use super::*;
    use crate::testing;

    fn run_on(about: &str) -> Run {
        let mut run = testing::run(2, Vec::new());
        for arm in &mut run.plan.arms {
            arm.material = Some(Material::own(about.to_owned(), 7));
        }
        run
    }

    #[test]
    fn ones_own_files_that_are_others_by_now_are_told_once_and_are_another_setting() {
        let [before, after] = ["3 files, 9 kB", "4 files, 9 kB"].map(run_on);
        let facts = apart(&before, &after, &[]);
        assert_eq!(facts.len(), 1, "{facts:?}");
        assert_eq!(facts[0].what, "made: data");
        assert_eq!(facts[0].after, "your files: 4 files, 9 kB");
        assert_eq!(apart(&before, &before, &[]), []);
        let [old, new] = [&before, &after].map(|run| setting(run, &run.plan.arms[0]));
        assert_ne!(old, new);
    }
}
