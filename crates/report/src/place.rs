//! What places stand on, in words.

use model::place::{DeviceLayer, PlaceFacts, StorageKind};
use model::units::rough_size;

use crate::terminal::{Width, heading, paragraph};

/// The facts of all places, with what could not be read.
pub fn places(places: &[PlaceFacts], width: Width) -> String {
    let mut out = heading("Places");
    for place in places {
        let label = format!("  {:<10}", place.label);
        out += &paragraph(&label, "            ", &place.path.display().to_string(), width);
        out += &paragraph("            ", "            ", &facts(place), width);
        for unread in &place.unread {
            out +=
                &paragraph("            ", "            ", &format!("not read: {unread}"), width);
        }
    }
    out
}

/// `ext4 on /dev/vda (rotational), relatime, discard; 80.1 GB of 252 GB free`.
fn facts(place: &PlaceFacts) -> String {
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
    if !place.mount_options.is_empty() {
        text += &format!("; mounted {}", place.mount_options.join(","));
    }
    text + &format!("; {} of {} free", rough_size(place.free_bytes), rough_size(place.total_bytes))
}

fn layer(layer: &DeviceLayer) -> String {
    let mut words = vec![format!("{} {}", layer.kind, layer.name)];
    words.extend(layer.model.clone());
    words.extend(layer.rotational.filter(|turns| *turns).map(|_| "rotational".to_owned()));
    words.extend(layer.write_cache.clone().map(|cache| format!("{cache} cache")));
    words.join(", ")
}
