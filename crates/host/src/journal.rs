//! Whether a file system keeps a journal, as far as that is told without reading its
//! superblock, which is for root.

use crate::root::Root;

/// Whether a file system of this type on this device (`vda2`) keeps a journal of its
/// metadata; nothing where the kernel does not say, or where the question has no answer.
pub fn has_journal(root: &Root, filesystem: &str, device: &str) -> Option<bool> {
    match filesystem {
        // The journal's thread, or `<none>` (`fs/ext4/sysfs.c`).
        "ext4" => {
            let task = root.attribute(format!("/sys/fs/ext4/{device}/journal_task"))?;
            Some(task != "<none>")
        }
        "ext3" | "xfs" | "jfs" => Some(true),
        "ext2" | "vfat" | "exfat" | "msdos" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn ext4_has_one_where_a_task_writes_it_and_others_by_their_kind() {
        let fixture = Fixture::empty();
        let ext4 = || has_journal(&fixture.root(), "ext4", "vda");
        assert_eq!(ext4(), None);
        fixture.write("/sys/fs/ext4/vda/journal_task", "<none>\n");
        assert_eq!(ext4(), Some(false));
        fixture.write("/sys/fs/ext4/vda/journal_task", "123\n");
        assert_eq!(ext4(), Some(true));
        let other = |filesystem| has_journal(&fixture.root(), filesystem, "vda");
        assert_eq!([other("xfs"), other("ext2"), other("btrfs")], [Some(true), Some(false), None]);
    }
}
