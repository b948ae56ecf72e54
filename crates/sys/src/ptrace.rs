//! The requests of ptrace(2), each in a safe form.

use std::io;
use std::mem::size_of;

use libc::{c_long, c_uint};

/// The kernel's own stop of a thread that was attached by `PTRACE_SEIZE`.
pub const EVENT_STOP: i32 = 128;
/// The stop of a system call, with `PTRACE_O_TRACESYSGOOD`.
pub const CALL_STOP: i32 = libc::SIGTRAP | 0x80;

/// Everything is followed, and nothing is killed when the recorder is.
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT;

/// Where a thread stands in a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Before it.
    Enters {
        /// Whether its numbers are those of programs like this one.
        native: bool,
        /// Which call.
        number: u64,
        /// As in the registers.
        arguments: [u64; 6],
    },
    /// Behind it.
    Leaves {
        /// What it returned.
        result: i64,
    },
    /// Neither.
    Outside,
}

/// Attaches to a thread without stopping it.
pub fn seize(thread: u32) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, thread, 0, OPTIONS as usize).map(drop)
}

/// Stops it, soon.
pub fn interrupt(thread: u32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, thread, 0, 0).map(drop)
}

/// Lets a stopped thread run to its next call, with this signal; 0 for none.
pub fn go_on(thread: u32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_SYSCALL, thread, 0, signal as usize).map(drop)
}

/// Leaves a thread stopped that a signal to its process has stopped, until one has it continue.
pub fn listen(thread: u32) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, thread, 0, 0).map(drop)
}

/// Lets go of a stopped thread, with this signal; 0 for none.
pub fn detach(thread: u32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_DETACH, thread, 0, signal as usize).map(drop)
}

/// What the present event is about: a new thread's number.
pub fn message(thread: u32) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    request(libc::PTRACE_GETEVENTMSG, thread, 0, &raw mut message as usize)?;
    Ok(message)
}

/// Where a stopped thread stands in a system call.
pub fn standing(thread: u32) -> io::Result<Standing> {
    // SAFETY: the structure is plain numbers, for which all zeros is a value.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let bytes = size_of::<libc::ptrace_syscall_info>();
    request(libc::PTRACE_GET_SYSCALL_INFO, thread, bytes, &raw mut info as usize)?;
    Ok(match info.op {
        libc::PTRACE_SYSCALL_INFO_ENTRY => {
            // SAFETY: `op` says that the kernel has filled in this variant.
            let entry = unsafe { info.u.entry };
            let native = info.arch == NATIVE;
            Standing::Enters { native, number: entry.nr, arguments: entry.args }
        }
        libc::PTRACE_SYSCALL_INFO_EXIT => {
            // SAFETY: `op` says that the kernel has filled in this variant.
            let exit = unsafe { info.u.exit };
            Standing::Leaves { result: exit.sval }
        }
        _ => Standing::Outside,
    })
}

/// `AUDIT_ARCH` of programs like this one, which alone have the table's numbers.
#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
const NATIVE: u32 = 0xc000_00f3;

/// The data is a number, or the address of a variable that the caller holds and the request
/// writes to.
fn request(what: c_uint, thread: u32, address: usize, data: usize) -> io::Result<c_long> {
    // SAFETY: every caller passes data of the kind that its request takes, and variables of
    // the size that the kernel writes; the thread's number is checked by the kernel.
    let returned = unsafe { libc::ptrace(what, thread.cast_signed(), address, data) };
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}
