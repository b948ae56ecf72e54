//! What an ext4 tells of itself in `/proc/fs/ext4`.

use crate::root::Root;

/// Whether the ext4 on a device, by its kernel name, has no journal; `false` where that
/// cannot be told.
///
/// Without one it does not give out an inode again for minutes after a file was removed
/// (`recently_deleted` in `fs/ext4/ialloc.c`): making a file steps over all of them that
/// are in its group.
pub fn lacks_journal(root: &Root, device: &str) -> bool {
    let options = root.text(format!("/proc/fs/ext4/{device}/options"));
    // The kernel lists how data is journaled wherever there is a journal.
    options.is_ok_and(|text| !text.lines().any(|option| option.starts_with("data=")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_journal_is_told_by_how_data_is_journaled() {
        let fixture = Fixture::empty();
        let root = fixture.root();
        assert!(!lacks_journal(&root, "dm-0"), "nothing can be told");
        fixture.write("/proc/fs/ext4/dm-0/options", "rw\nbarrier\ncommit=5\n");
        assert!(lacks_journal(&root, "dm-0"));
        fixture.write("/proc/fs/ext4/dm-0/options", "rw\nbarrier\ndata=ordered\n");
        assert!(!lacks_journal(&root, "dm-0"));
    }
}
