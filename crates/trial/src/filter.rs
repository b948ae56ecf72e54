//! A filter under which forcing data to the device succeeds at once, and does nothing.
//!
//! It answers fsync(2), fdatasync(2), `sync_file_range`(2), msync(2), sync(2) and syncfs(2). Numbers of
//! system calls mean something else on another architecture, so it looks at the architecture of each
//! call first: a 64-bit kernel runs 32-bit programs, and on x86 also those of x32, whose numbers have
//! a bit of their own. It does not see what makes no such call: files opened with `O_SYNC` or
//! `O_DSYNC`, writes with `RWF_DSYNC`, and syncs by `io_uring`.

use std::mem::offset_of;

use sys::call_filter::Instruction;

/// The numbers of the calls, on an architecture.
struct Numbers {
    /// As the kernel has it (`linux/audit.h`).
    architecture: u32,
    /// What is left of a number to be compared.
    mask: u32,
    calls: &'static [u32],
}

#[cfg(target_arch = "x86_64")]
const ALL: &[Numbers] = &[
    // Numbers of x32 have bit 30, and are those of x86-64 otherwise (`syscall_64.tbl`).
    Numbers { architecture: 0xc000_003e, mask: !0x4000_0000, calls: &[74, 75, 277, 26, 162, 306] },
    Numbers { architecture: 0x4000_0003, mask: !0, calls: &[118, 148, 314, 144, 36, 344] },
];
#[cfg(target_arch = "aarch64")]
const ALL: &[Numbers] = &[
    Numbers { architecture: 0xc000_00b7, mask: !0, calls: &[82, 83, 84, 227, 81, 267] },
    Numbers { architecture: 0x4000_0028, mask: !0, calls: &[118, 148, 341, 144, 36, 373] },
];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ALL: &[Numbers] = &[];

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IS_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

/// The filter; none where the numbers of this architecture are not known.
pub fn syncs_free() -> Option<Vec<Instruction>> {
    if ALL.is_empty() {
        return None;
    }
    let data = |field: usize| statement(LOAD, field as u32);
    let mut filter = vec![data(offset_of!(libc::seccomp_data, arch))];
    for Numbers { architecture, mask, calls } in ALL {
        let count = calls.len() as u8;
        // Over the number, the mask, the calls and both answers.
        filter.push(jump(*architecture, 0, count + 4));
        filter.push(data(offset_of!(libc::seccomp_data, nr)));
        filter.push(statement(AND, *mask));
        filter.extend(
            calls.iter().zip((0..count).rev()).map(|(call, left)| jump(*call, left + 1, 0)),
        );
        filter.push(statement(RETURN, libc::SECCOMP_RET_ALLOW));
        // An error of number 0 is none: the call returns 0.
        filter.push(statement(RETURN, libc::SECCOMP_RET_ERRNO));
    }
    filter.push(statement(RETURN, libc::SECCOMP_RET_ALLOW));
    Some(filter)
}

fn statement(code: u32, k: u32) -> Instruction {
    Instruction { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(k: u32, jt: u8, jf: u8) -> Instruction {
    Instruction { code: IS_EQUAL as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Runs the filter as the kernel does; whether it answers the call.
    fn answers(filter: &[Instruction], architecture: u32, number: u32) -> bool {
        let (mut accumulator, mut at) = (0, 0);
        loop {
            let Instruction { code, jt, jf, k } = filter[at];
            at += 1;
            match u32::from(code) {
                LOAD if k as usize == offset_of!(libc::seccomp_data, arch) => {
                    accumulator = architecture;
                }
                LOAD => accumulator = number,
                AND => accumulator &= k,
                IS_EQUAL => at += usize::from(if accumulator == k { jt } else { jf }),
                _ => return k == libc::SECCOMP_RET_ERRNO,
            }
        }
    }

    #[test]
    fn each_sync_is_answered_on_its_own_architecture_alone() {
        let filter = syncs_free().unwrap();
        for Numbers { architecture, calls, .. } in ALL {
            let answered = (0..1024).filter(|number| answers(&filter, *architecture, *number));
            let mut expected = calls.to_vec();
            expected.sort_unstable();
            assert_eq!(answered.collect::<Vec<_>>(), expected, "{architecture:x}");
        }
        assert!((0..1024).all(|number| !answers(&filter, 0, number)), "an unknown architecture");
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_call_of_x32_is_answered_as_well_and_a_number_of_another_architecture_is_not() {
        let filter = syncs_free().unwrap();
        assert!(answers(&filter, 0xc000_003e, 0x4000_0000 + 74));
        // 118 is fsync of i386, and getresuid of x86-64; 74 is fsync of x86-64, and sethostname of
        // i386.
        assert!(!answers(&filter, 0xc000_003e, 118) && answers(&filter, 0x4000_0003, 118));
        assert!(!answers(&filter, 0x4000_0003, 74));
        assert_eq!(libc::SYS_fsync, 74);
    }
}
