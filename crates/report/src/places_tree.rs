//! What each place stands on as a tree, with where each fact was read.

use std::collections::BTreeSet;

use model::place::{Detail, DeviceLayer, PlaceFacts};
use model::printable::printable;
use model::run::Machine;
use units::{count, rough_size};

use crate::place::{layer, machine_facts, title, where_it_is};
use crate::text::{Width, heading, paragraph};

/// The names of facts stand in a column of this width.
const NAME: usize = 13;

/// What stands on something else, with what is known of it.
struct Node {
    title: String,
    facts: Vec<Detail>,
    below: Vec<Node>,
}

/// The places, each a tree from the file system down, and the machine.
pub fn places_tree(places: &[PlaceFacts], machine: &Machine, width: Width) -> String {
    let mut out = String::new();
    for place in places {
        out += &heading(&format!("{}  {}", printable(&place.label), where_it_is(place)));
        draw(&file_system(place), "", "", width, &mut out);
        for unread in &place.unread {
            out += &paragraph("unknown: ", "         ", unread, width);
        }
        out.push('\n');
    }
    out + &paragraph("machine: ", "         ", &machine_facts(machine), width)
}

fn file_system(place: &PlaceFacts) -> Node {
    let mut facts = Vec::new();
    if !place.mount_options.is_empty() {
        facts.push(Detail::new("mounted", place.mount_options.join(","), "/proc/self/mountinfo"));
    }
    let (free, total) = (rough_size(place.free_bytes), rough_size(place.total_bytes));
    let source = if place.mount_point.as_os_str().is_empty() { "asked for" } else { "statvfs" };
    facts.push(Detail::new("space", format!("{free} of {total} free"), source));
    if let (Some(free), Some(total)) = (place.free_inodes, place.total_inodes) {
        let value = format!("{} of {} free", count(free), count(total));
        facts.push(Detail::new("inodes", value, "statvfs"));
    }
    facts.extend(place.details.iter().cloned());
    let is_below = |device: &&DeviceLayer| {
        !place.devices.iter().any(|other| other.below.contains(&device.name))
    };
    let mut drawn = BTreeSet::new();
    let tops = place.devices.iter().filter(is_below);
    let below = tops.map(|device| device_node(place, device, &mut drawn)).collect();
    Node { title: title(place), facts, below }
}

/// A device with what is below it; what several stand on is drawn whole once.
fn device_node(place: &PlaceFacts, device: &DeviceLayer, drawn: &mut BTreeSet<String>) -> Node {
    let title = layer(device);
    if !drawn.insert(device.name.clone()) {
        return Node { title, facts: Vec::new(), below: Vec::new() };
    }
    let named = |name: &String| place.devices.iter().find(|other| other.name == *name);
    let below = device.below.iter().filter_map(named);
    let below = below.map(|other| device_node(place, other, drawn)).collect();
    Node { title, facts: device.details.clone(), below }
}

/// A node: `first` stands before its title, and `rest` before all else of it.
fn draw(node: &Node, first: &str, rest: &str, width: Width, out: &mut String) {
    *out += &paragraph(first, &format!("{rest}  "), &node.title, width);
    let bar = if node.below.is_empty() { " " } else { "│" };
    for Detail { name, value, source } in &node.facts {
        let lead = format!("{rest}{bar}  {:<NAME$}", printable(name));
        let indent = format!("{rest}{bar}  {:<NAME$}", "");
        *out += &paragraph(&lead, &indent, &format!("{value} [{source}]"), width);
    }
    let last = node.below.len().saturating_sub(1);
    for (position, below) in node.below.iter().enumerate() {
        let (branch, line) =
            if position == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw(below, &format!("{rest}{branch}"), &format!("{rest}{line}"), width, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, below: &[&str]) -> DeviceLayer {
        DeviceLayer {
            name: name.to_owned(),
            kind: "disk".to_owned(),
            below: below.iter().map(|name| (*name).to_owned()).collect(),
            ..DeviceLayer::default()
        }
    }

    #[test]
    fn a_stack_is_drawn_from_the_top_and_what_two_stand_on_is_drawn_once() {
        let source = "/sys/dev/block/9:0/md/level".to_owned();
        let level = Detail { name: "level".to_owned(), value: "raid1".to_owned(), source };
        let mirror = DeviceLayer { details: vec![level], ..device("md0", &["sda1", "sda2"]) };
        let devices =
            vec![mirror, device("sda1", &["sda"]), device("sda", &[]), device("sda2", &["sda"])];
        let place = PlaceFacts {
            label: "data".to_owned(),
            path: "/srv".into(),
            filesystem: "xfs".to_owned(),
            mount_point: "/srv".into(),
            total_bytes: 2_000_000,
            free_bytes: 1_000_000,
            devices,
            ..PlaceFacts::unknown("data")
        };
        let mut out = String::new();
        draw(&file_system(&place), "", "", 80, &mut out);
        let expected = "\
xfs, mounted at /srv
│  space        1.00 MB of 2.00 MB free [statvfs]
└─ disk md0
   │  level        raid1 [/sys/dev/block/9:0/md/level]
   ├─ disk sda1
   │  └─ disk sda
   └─ disk sda2
      └─ disk sda
";
        assert_eq!(out, expected);
    }

    #[test]
    fn devices_that_stand_on_each_other_end() {
        let devices = vec![device("a", &["b"]), device("b", &["a"]), device("c", &["a"])];
        let place = PlaceFacts { devices, ..PlaceFacts::unknown("x") };
        let mut out = String::new();
        draw(&file_system(&place), "", "", 80, &mut out);
        assert_eq!(out.matches("disk").count(), 4, "{out}");
    }
}
