//! The copies on which the runs of all variants take place.

use std::path::{Path, PathBuf};

use units::counted_as;

use crate::chosen::Chosen;
use crate::copies::Copies;
use crate::variant::Variant;
use crate::view::StandIn;

/// The copies that variants have in common.
pub(crate) struct Ground {
    pub(crate) chosen: Chosen,
    pub(crate) disk: Copies,
    pub(crate) ram: Option<Copies>,
    /// In memory as well: folders that are moved, and that the command only reads.
    pub(crate) only_read: Copies,
    /// The stretch that they were made for.
    pub(crate) stretch: usize,
    /// Whether a run was not accounted for.
    pub(crate) is_dirty: bool,
}

impl Ground {
    /// What is seen in a variant.
    pub(crate) fn stand_ins(&self, variant: &Variant) -> Vec<StandIn> {
        match (variant, &self.ram) {
            (Variant::AllInRam, Some(ram)) => {
                let only_read = Copies::read_only(self.only_read.stand_ins());
                ram.stand_ins().into_iter().chain(only_read).collect()
            }
            (Variant::InRam(folder), Some(ram)) => {
                let mut stand_ins = self.disk.stand_ins();
                stand_ins.retain(|stand_in| !stand_in.at.starts_with(folder));
                stand_ins.extend(ram.stand_ins_of(folder));
                stand_ins.extend(Copies::read_only(self.only_read.stand_ins_of(folder)));
                stand_ins
            }
            _ => self.disk.stand_ins(),
        }
    }

    /// Whether a folder is in memory whole: others' files in it may be too large, or be gone.
    pub(crate) fn has_in_ram(&self, folder: &Path) -> bool {
        let copies = self.ram.iter().chain([&self.only_read]);
        copies.filter_map(|copies| copies.path_of(folder)).any(|copy| copy.exists())
    }

    /// What is copied otherwise than it is, each in a sentence.
    pub(crate) fn unlike(&self) -> Vec<String> {
        let all = || [&self.disk, &self.only_read].into_iter().flat_map(Copies::unlike);
        let of_others = all().map(|unlike| unlike.of_others.len()).sum::<usize>() as u64;
        let unread: Vec<&PathBuf> = all().flat_map(|unlike| &unlike.unread).collect();
        let mut notes = Vec::new();
        if of_others > 0 {
            let are =
                counted_as(of_others, "file of another owner is", "files of other owners are");
            notes.push(format!("{are} copied as yours."));
        }
        if let Some(first) = unread.first() {
            let are = counted_as(
                unread.len() as u64,
                "file that you may not read is",
                "files that you may not read are",
            );
            notes.push(format!(
                "{are} not copied, and cannot be written, such as {}.",
                first.display()
            ));
        }
        notes
    }

    /// Those that runs change.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut Copies> {
        [Some(&mut self.disk), self.ram.as_mut()].into_iter().flatten()
    }
}
