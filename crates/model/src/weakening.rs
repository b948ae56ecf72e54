//! Mount options with which a file system keeps less than without them.

use crate::place::{PlaceFacts, StorageKind};

/// An option, and what may happen with it that does not happen otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weakening {
    /// The option, as `/proc/self/mountinfo` has it.
    pub option: &'static str,
    /// What may happen, as a sentence without its full stop.
    pub risk: &'static str,
}

const SYNCED: &str = "a power failure may lose or damage synced data";

/// As ext4(5), btrfs(5) and the kernel's documentation of F2FS and overlayfs have it.
const KNOWN: [Weakening; 8] = [
    Weakening { option: "nobarrier", risk: SYNCED },
    Weakening { option: "barrier=0", risk: SYNCED },
    Weakening { option: "fsync_mode=nobarrier", risk: SYNCED },
    Weakening { option: "volatile", risk: SYNCED },
    Weakening { option: "data=writeback", risk: "a power failure may leave old data in files" },
    Weakening { option: "noauto_da_alloc", risk: "a power failure may leave replaced files empty" },
    Weakening { option: "nodatacow", risk: "nobody notices data that the device damages" },
    Weakening { option: "nodatasum", risk: "nobody notices data that the device damages" },
];

impl PlaceFacts {
    /// What its mount options take away; nothing where a reboot loses it all anyway.
    pub fn weakenings(&self) -> impl Iterator<Item = Weakening> {
        let is_in_memory = self.kind == StorageKind::Memory;
        let has = move |known: &Weakening| {
            !is_in_memory && self.mount_options.iter().any(|option| option == known.option)
        };
        KNOWN.into_iter().filter(has)
    }
}
