//! What a place that is to be made will be, for whoever wants to know before it is made.

use std::path::Path;

use host::root::Root;
use host::zram;
use model::made::MadePlace;
use model::place::{DeviceLayer, PlaceFacts, StorageKind};

use super::error::MadeError;
use super::mkfs;
use crate::inspect::inspect;

/// The facts as far as they are known before, or why it cannot be made. What only the
/// attempt shows, such as a kernel without the file system, is not found here.
pub fn foreseen(label: &str, made: &MadePlace) -> Result<PlaceFacts, MadeError> {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root && !matches!(made, MadePlace::Tmpfs { .. }) {
        return Err(MadeError::NeedsRoot);
    }
    let below = |path: Option<&Path>| inspect(label, path.unwrap_or(Path::new(super::HERE)));
    let facts = match made {
        MadePlace::Tmpfs { size_bytes, huge } => {
            let huge = huge.map(|huge| format!("huge={}", huge.name()));
            PlaceFacts {
                kind: StorageKind::Memory,
                filesystem: "tmpfs".to_owned(),
                mount_options: huge.into_iter().collect(),
                ..sized(PlaceFacts::unknown(label), *size_bytes)
            }
        }
        MadePlace::Image { filesystem, size_bytes, options, directory } => {
            mkfs::check(*filesystem)?;
            let below = below(directory.as_deref())?;
            let options = options.split(',').filter(|option| !option.is_empty());
            let first = below.devices.first().map(|device| device.name.clone());
            let device = DeviceLayer { below: first.into_iter().collect(), ..device("loop") };
            PlaceFacts {
                filesystem: filesystem.name().to_owned(),
                mount_options: options.map(str::to_owned).collect(),
                devices: [vec![device], below.devices].concat(),
                kind: below.kind,
                unread: below.unread,
                ..sized(PlaceFacts::unknown(label), *size_bytes)
            }
        }
        MadePlace::Zram { size_bytes, filesystem } => {
            mkfs::check(*filesystem)?;
            if !zram::is_there(&Root::real()) {
                return Err(MadeError::NoZram);
            }
            PlaceFacts {
                kind: StorageKind::Memory,
                filesystem: filesystem.name().to_owned(),
                devices: vec![device("zram")],
                ..sized(PlaceFacts::unknown(label), *size_bytes)
            }
        }
        MadePlace::Overlay { over } => PlaceFacts {
            filesystem: "overlay".to_owned(),
            device: None,
            mount_options: Vec::new(),
            journal: None,
            ..below(Some(over))?
        },
    };
    Ok(PlaceFacts { made: Some(made.to_string()), ..facts })
}

fn sized(facts: PlaceFacts, bytes: u64) -> PlaceFacts {
    PlaceFacts { total_bytes: bytes, free_bytes: bytes, ..facts }
}

/// A device that has no number yet.
fn device(kind: &str) -> DeviceLayer {
    DeviceLayer { name: kind.to_owned(), kind: kind.to_owned(), ..DeviceLayer::default() }
}
