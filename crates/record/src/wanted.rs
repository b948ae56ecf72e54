//! The word that those who see system calls have for each: whether it is recorded, and where its
//! pointers are.

use crate::call_record::ARGUMENTS_MIN;
use crate::shared::{BLOCK_SHIFT, BYTES_SHIFT, LARGE, NUMBERS, PATH_SHIFT, TO_SHIFT, WANTED};
use crate::table::{self, Outcome, Role};

/// A word for each number.
pub(crate) fn words() -> Vec<u8> {
    let mut words = [0_u32; NUMBERS];
    for row in table::rows() {
        let index = |at: Option<usize>| at.map_or(0, |at| at as u32 + 1);
        let block = row.block();
        let path = index(row.find(|role| role == Role::Path)) << PATH_SHIFT;
        let second = index(row.find(|role| role == Role::To)) << TO_SHIFT;
        let at = index(block.map(|(at, _)| at)) << BLOCK_SHIFT;
        let bytes = match block {
            Some((_, Role::Block(bytes))) => u32::from(bytes) << BYTES_SHIFT,
            _ => 0,
        };
        let pointers = path | second | at | bytes;
        let many = row.roles[ARGUMENTS_MIN..].iter().any(|role| *role != Role::Skipped);
        let is_map = row.what == Outcome::Recorded(trace::Op::Map);
        let large = if pointers != 0 || many || is_map { LARGE } else { 0 };
        words[row.number as usize] = WANTED | large | pointers;
    }
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(number: libc::c_long) -> u32 {
        let at = 4 * number as usize;
        u32::from_ne_bytes(std::array::from_fn(|index| words()[at + index]))
    }

    #[test]
    fn what_is_not_recorded_has_no_word() {
        assert_eq!(word(libc::SYS_getpid), 0);
        assert_eq!(word(libc::SYS_write), WANTED);
        assert_eq!(word(libc::SYS_pwrite64), WANTED);
    }

    #[test]
    fn pointers_are_where_the_table_has_them() {
        assert_eq!(word(libc::SYS_openat), WANTED | LARGE | 2 << 4);
        assert_eq!(word(libc::SYS_renameat2), WANTED | LARGE | 2 << 4 | 4 << 8);
        assert_eq!(word(libc::SYS_writev), WANTED | LARGE | 2 << 12);
        assert_eq!(word(libc::SYS_openat2), WANTED | LARGE | 2 << 4 | 3 << 12 | 24 << 16);
        assert_eq!(word(libc::SYS_mmap), WANTED | LARGE);
    }
}
