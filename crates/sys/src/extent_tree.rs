//! A file's extents as btrfs keeps them, which the superuser may ask for
//! (`BTRFS_IOC_TREE_SEARCH_V2`, `linux/btrfs_tree.h`).

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

/// `BTRFS_IOC_TREE_SEARCH_V2`, which libc lacks: both ways, `Arguments` without their results.
const TREE_SEARCH: libc::c_ulong = 0xC070_9411;
/// `BTRFS_EXTENT_DATA_KEY`.
pub const EXTENTS: u32 = 108;
/// Room for some thousand extents at a time.
const FOUND_BYTES: usize = 64 << 10;

/// `struct btrfs_ioctl_search_args_v2`, with room for what is found.
#[repr(C)]
struct Arguments {
    /// 0 is the tree that the file is in.
    tree: u64,
    object_min: u64,
    object_max: u64,
    offset_min: u64,
    offset_max: u64,
    transaction_min: u64,
    transaction_max: u64,
    type_min: u32,
    type_max: u32,
    /// How many may be found, and then how many were.
    items: u32,
    unused: u32,
    reserved: [u64; 4],
    found_bytes: u64,
    found: [u8; FOUND_BYTES],
}

/// A search for the extents of a file.
pub struct Search(Box<Arguments>);

impl Search {
    /// Of the file with this inode.
    pub fn of(inode: u64) -> Self {
        // SAFETY: all fields are numbers, for which zeros are valid.
        let mut search: Box<Arguments> = unsafe { Box::new(std::mem::zeroed()) };
        (search.object_min, search.object_max) = (inode, inode);
        (search.offset_max, search.transaction_max) = (u64::MAX, u64::MAX);
        (search.type_min, search.type_max) = (EXTENTS, EXTENTS);
        Self(search)
    }

    /// Items of the tree from an offset in the file on, as they are stored, and how many.
    pub fn from(&mut self, file: impl AsFd, offset: u64) -> io::Result<(&[u8], u32)> {
        self.0.offset_min = offset;
        self.0.items = u32::MAX;
        self.0.found_bytes = FOUND_BYTES as u64;
        let request: *mut Arguments = &raw mut *self.0;
        // SAFETY: the structure is laid out as the kernel's, which writes no more into it
        // than it says it has room for.
        crate::done(unsafe { libc::ioctl(file.as_fd().as_raw_fd(), TREE_SEARCH as _, request) })?;
        Ok((&self.0.found, self.0.items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_is_as_large_as_the_kernels() {
        assert_eq!(std::mem::offset_of!(Arguments, found), 112);
    }
}
