//! What places stand on, in words.

use model::place::{DeviceLayer, PlaceFacts, StorageKind};
use model::printable::printable;
use model::run::{Floor, Machine, MemoryFloor};
use units::{rough_size, time};

use crate::text::{Width, heading, paragraph};

/// The facts of all places and of the machine, with what could not be read.
pub fn places(places: &[PlaceFacts], machine: &Machine, width: Width) -> String {
    let mut out = heading("Places");
    for place in places {
        let label = format!("  {:<10}", printable(&place.label));
        out += &paragraph(&label, "            ", &where_it_is(place), width);
        out += &paragraph("            ", "            ", &facts(place), width);
        for unread in &place.unread {
            out += &paragraph("            ", "            ", &format!("unknown: {unread}"), width);
        }
    }
    out + &paragraph("  machine   ", "            ", &machine_facts(machine), width)
}

/// The directory, or what was made for the run.
pub(crate) fn where_it_is(place: &PlaceFacts) -> String {
    match &place.created {
        Some(created) => format!("{created}, created for the run and removed after it"),
        None => place.path.display().to_string(),
    }
}

/// What memory costs that nothing has used before, where that is dearer: a hypervisor gives
/// it at the first touch.
pub(crate) fn first_touch(floor: &Floor, width: Width) -> String {
    let told = first_touch_sentence(floor);
    told.map_or_else(String::new, |text| paragraph("            ", "            ", &text, width))
}

/// The same in a sentence.
pub(crate) fn first_touch_sentence(floor: &Floor) -> Option<String> {
    /// What first and second touch differ by is told from here on.
    const DEARER_MIN: f64 = 2.0;
    let dearer = |memory: &MemoryFloor| memory.first_touch_ns >= memory.again_ns * DEARER_MIN;
    let memory = floor.memory.filter(dearer)?;
    Some(format!(
        "a page of memory takes {} on first use, probably because a hypervisor must provide it, \
         and {} after that",
        time(memory.first_touch_ns),
        time(memory.again_ns)
    ))
}

/// What timing costs and with which clock, which on aarch64 may be a coarse one.
pub(crate) fn timing_sentence(floor: &Floor) -> String {
    /// Shorter ticks do not show in any time that is printed.
    const COARSE_NS: f64 = 2.0;
    let ticks = if floor.tick_ns < COARSE_NS {
        String::new()
    } else {
        format!(", in ticks of {}", time(floor.tick_ns))
    };
    format!(
        "Times include the cost of timing an operation, {} here (clock: {}{ticks}).",
        time(floor.record_ns),
        floor.clock
    )
}

/// `Linux 6.18.4, 2 processors (Intel Xeon), 25.3 GB of RAM`.
pub(crate) fn machine_facts(machine: &Machine) -> String {
    let Machine { kernel, cpu, cpus, memory_bytes, memory_limit_bytes, .. } = machine;
    let limit = memory_limit_bytes
        .map_or_else(String::new, |bytes| format!(", limited to {} of it", rough_size(bytes)));
    let processors = if *cpus == 1 { "processor" } else { "processors" };
    let memory = rough_size(*memory_bytes);
    format!("Linux {kernel}, {cpus} {processors} ({cpu}), {memory} of RAM{limit}")
}

/// `ext4 on /dev/vda, mounted at /`.
pub(crate) fn title(place: &PlaceFacts) -> String {
    let device = place.device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
    let at = match &place.created {
        Some(_) => String::new(),
        None => format!(", mounted at {}", place.mount_point.display()),
    };
    let read_only = if place.read_only { ", read-only" } else { "" };
    place.filesystem.clone() + &device + &at + read_only
}

/// `ext4 on /dev/vda (rotational), relatime, discard; 80.1 GB of 252 GB free`.
pub(crate) fn facts(place: &PlaceFacts) -> String {
    let mut text = place.filesystem.clone();
    match (&place.device, place.kind) {
        (_, StorageKind::Memory) if place.devices.is_empty() => text += ", in memory",
        (Some(device), _) => text += &format!(" on {device}"),
        (None, _) => {}
    }
    let hardware: Vec<String> = place.devices.iter().map(layer).collect();
    if !hardware.is_empty() {
        text += &format!(" ({})", hardware.join(" on "));
    }
    if place.journal == Some(false) {
        text += ", without a journal";
    }
    if !place.mount_options.is_empty() {
        text += &format!("; mounted {}", place.mount_options.join(","));
    }
    text + &format!("; {} of {} free", rough_size(place.free_bytes), rough_size(place.total_bytes))
}

pub(crate) fn layer(layer: &DeviceLayer) -> String {
    let DeviceLayer { kind, name, .. } = layer;
    // One that is yet to be made has no name.
    let mut words = vec![if kind == name { kind.clone() } else { format!("{kind} {name}") }];
    words.extend(layer.model.clone());
    words.extend(layer.rotational.filter(|turns| *turns).map(|_| "rotational".to_owned()));
    words.extend(layer.write_cache.clone().map(|cache| format!("{cache} cache")));
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_touch_is_told_where_it_costs_more() {
        let told = |first_touch_ns| {
            let memory = MemoryFloor {
                fault_ns: 500.0,
                first_touch_ns,
                again_ns: 1500.0,
                huge_clear_ns: None,
            };
            first_touch(&Floor { memory: Some(memory), ..Floor::default() }, 200)
        };
        assert_eq!(told(1600.0), "");
        let text = told(12_500.0);
        assert!(text.contains("a page of memory takes 12.5 µs on first use"), "{text}");
        assert_eq!(first_touch(&Floor::default(), 200), "");
    }

    #[test]
    fn only_a_coarse_clock_has_its_ticks_told() {
        let told = |clock: &str, tick_ns| {
            let floor = Floor { clock: clock.to_owned(), tick_ns, ..Floor::default() };
            timing_sentence(&Floor { record_ns: 20.0, ..floor })
        };
        assert!(told("tsc", 0.4).ends_with("(clock: tsc)."), "{}", told("tsc", 0.4));
        let coarse = told("cycle counter", 40.0);
        assert!(coarse.ends_with("(clock: cycle counter, in ticks of 40.0 ns)."), "{coarse}");
    }
}
