//! The registers that a system call's number, arguments and result are in.

use libc::c_long;
use nix::Result;
use nix::sys::ptrace::{getregs, setregs};
use nix::unistd::Pid;

/// A call that is about to be made.
pub(super) struct Entry {
    pub(super) number: c_long,
    pub(super) arguments: [u64; 6],
}

pub(super) fn arguments(thread: Pid) -> Result<Entry> {
    let r = getregs(thread)?;
    let arguments = [r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9];
    Ok(Entry { number: r.orig_rax as c_long, arguments })
}

/// Has the call not made.
pub(super) fn cancel(thread: Pid) -> Result<()> {
    let mut registers = getregs(thread)?;
    registers.orig_rax = u64::MAX;
    setregs(thread, registers)
}

/// Gives the call another argument, or back the one that it had: programs rely on
/// finding it as it was.
pub(super) fn set_argument(thread: Pid, index: usize, value: u64) -> Result<()> {
    let mut r = getregs(thread)?;
    let register = match index {
        0 => &mut r.rdi,
        1 => &mut r.rsi,
        2 => &mut r.rdx,
        3 => &mut r.r10,
        4 => &mut r.r8,
        _ => &mut r.r9,
    };
    *register = value;
    setregs(thread, r)
}

/// Has the call return this.
pub(super) fn returns(thread: Pid, value: i64) -> Result<()> {
    let mut registers = getregs(thread)?;
    registers.rax = value as u64;
    setregs(thread, registers)
}
