//! What the running kernel says of its own types (`/sys/kernel/btf/vmlinux`): the numbers of its
//! tracepoints, and where the members of its structures are, which differs from kernel to kernel.
//!
//! The format: Documentation/bpf/btf.rst.

use std::fs;
use std::io;

use crate::bytes::four;

/// Where the kernel has it.
const FILE: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u16 = 0xeb9f;
const KIND_POINTER: u32 = 2;
const KIND_STRUCT: u32 = 4;
const KIND_UNION: u32 = 5;
const KIND_TYPEDEF: u32 = 8;
const KIND_PARAMETERS: u32 = 13;
/// The names that are asked for are far shorter.
const NAME_MAX: usize = 256;

/// The kernel's types.
pub(super) struct Btf {
    bytes: Vec<u8>,
    strings: usize,
    /// Where each type begins; the first number is 1.
    types: Vec<usize>,
}

impl Btf {
    pub(super) fn of_kernel() -> io::Result<Self> {
        let bytes = fs::read(FILE)?;
        Self::parse(bytes).ok_or_else(|| io::Error::other(format!("{FILE} cannot be understood")))
    }

    fn parse(bytes: Vec<u8>) -> Option<Self> {
        let word = |at: usize| four(&bytes, at);
        if bytes.get(..2)? != MAGIC.to_ne_bytes() {
            return None;
        }
        let head = word(4)? as usize;
        let begin = head.checked_add(word(8)? as usize)?;
        let end = begin.checked_add(word(12)? as usize)?;
        let strings = head.checked_add(word(16)? as usize)?;
        // The strings come last.
        bytes.get(strings.checked_add(word(20)? as usize)?.checked_sub(1)?)?;
        let mut types = vec![0];
        let mut at = begin;
        while at < end {
            types.push(at);
            let info = word(at + 4)?;
            at += 12 + extra_bytes(info)?;
        }
        Some(Self { bytes, strings, types })
    }

    fn word(&self, at: usize) -> u32 {
        four(&self.bytes, at).unwrap_or(0)
    }

    fn is_named(&self, at: usize, name: &str) -> bool {
        let from = self.strings + self.word(at) as usize;
        let text = self.bytes.get(from..).unwrap_or_default();
        text.iter().take(NAME_MAX).take_while(|byte| **byte != 0).eq(name.as_bytes())
    }

    fn find(&self, kind: u32, name: &str) -> Option<usize> {
        let is_it = |at: &usize| kind_of(self.word(at + 4)) == kind && self.is_named(*at, name);
        self.types.iter().skip(1).position(is_it).map(|position| position + 1)
    }

    /// The number of a tracepoint, for a program to be attached to it.
    pub(super) fn tracepoint(&self, name: &str) -> Option<u32> {
        self.find(KIND_TYPEDEF, &format!("btf_trace_{name}")).map(|id| id as u32)
    }

    /// How many values a tracepoint hands to a program.
    pub(super) fn values(&self, tracepoint: &str) -> Option<usize> {
        let typedef = *self.types.get(self.tracepoint(tracepoint)? as usize)?;
        let pointer = *self.types.get(self.word(typedef + 8) as usize)?;
        let parameters = *self.types.get(self.word(pointer + 8) as usize)?;
        let is_kind = |at: usize, kind| kind_of(self.word(at + 4)) == kind;
        let are_there = is_kind(pointer, KIND_POINTER) && is_kind(parameters, KIND_PARAMETERS);
        // The first is the program's own.
        are_there.then(|| (self.word(parameters + 4) & 0xffff).saturating_sub(1) as usize)
    }

    /// The offset of a member of a structure, in bytes. The member may be in a structure or union
    /// without a name within it.
    pub(super) fn member(&self, structure: &str, member: &str) -> Option<i16> {
        let at = *self.types.get(self.find(KIND_STRUCT, structure)?)?;
        i16::try_from(self.bits(at, member, 0)? / 8).ok()
    }

    fn bits(&self, at: usize, member: &str, depth: u32) -> Option<u32> {
        const DEPTH_MAX: u32 = 8;
        let info = self.word(at + 4);
        if ![KIND_STRUCT, KIND_UNION].contains(&kind_of(info)) || depth > DEPTH_MAX {
            return None;
        }
        let members = (0..(info & 0xffff) as usize).map(|index| at + 12 + 12 * index);
        for of in members {
            let bits =
                if info >> 31 == 1 { self.word(of + 8) & 0x00ff_ffff } else { self.word(of + 8) };
            if self.is_named(of, member) {
                return Some(bits);
            }
            if self.is_named(of, "")
                && let Some(inner) = self.types.get(self.word(of + 4) as usize)
                && let Some(inner) = self.bits(*inner, member, depth + 1)
            {
                return Some(bits + inner);
            }
        }
        None
    }

    /// Where a member of one bit is: the word of four bytes that it is in, and which bit of it.
    pub(super) fn bit(&self, structure: &str, member: &str) -> Option<(i16, i32)> {
        let at = *self.types.get(self.find(KIND_STRUCT, structure)?)?;
        let bits = self.bits(at, member, 0)?;
        Some((i16::try_from(bits / 32 * 4).ok()?, 1_u32.wrapping_shl(bits % 32).cast_signed()))
    }
}

fn kind_of(info: u32) -> u32 {
    info >> 24 & 0x1f
}

/// What a type has behind its first twelve bytes.
fn extra_bytes(info: u32) -> Option<usize> {
    let members = (info & 0xffff) as usize;
    Some(match kind_of(info) {
        // An integer, a variable, a tag of a declaration.
        1 | 14 | 17 => 4,
        // An array.
        3 => 12,
        // A structure, a union, a section, an enumeration of 64 bits.
        4 | 5 | 15 | 19 => 12 * members,
        // An enumeration, a function's parameters.
        6 | 13 => 8 * members,
        2 | 7..=12 | 16 | 18 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A typedef `btf_trace_x` and a structure `s` with the members `a` and `b`.
    fn made() -> Vec<u8> {
        let strings = b"\0btf_trace_x\0s\0a\0b\0";
        let types: [u32; 3 + 9] = [1, 8 << 24, 0, 13, 4 << 24 | 2, 16, 15, 1, 0, 17, 1, 64];
        let types: Vec<u8> = types.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        for word in [24, 0, types.len() as u32, types.len() as u32, strings.len() as u32] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(types);
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn tracepoints_and_members_are_found() {
        let btf = Btf::parse(made()).unwrap();
        assert_eq!(btf.tracepoint("x"), Some(1));
        assert_eq!(btf.tracepoint("y"), None);
        assert_eq!((btf.member("s", "a"), btf.member("s", "b")), (Some(0), Some(8)));
        assert_eq!((btf.member("s", "c"), btf.member("t", "a")), (None, None));
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        let whole = made();
        for length in 0..whole.len() {
            assert!(Btf::parse(whole[..length].to_vec()).is_none(), "{length}");
        }
    }

    #[test]
    fn this_kernels_own_is_understood() {
        let Ok(btf) = Btf::of_kernel() else { return };
        assert!(btf.tracepoint("sys_enter").is_some());
        assert!(btf.member("task_struct", "pid").unwrap() > 0);
    }
}
