//! Taking from a thread every right that computing does not need.
//!
//! Files from strangers are read by threads that are confined before they look at the first byte.
//! A confined thread reads and writes descriptors that are already open, and has memory and clocks.
//! It opens no file and no socket, starts no program, and sends no signal to others. Several layers
//! say so, because a kernel may lack any of them, and because a gap in one is closed by another:
//!
//! - no new privileges: no program that it could start would have more rights;
//! - no capabilities, in any set: root is left with what its user number owns;
//! - Landlock (Linux 5.13, built in and enabled): no path can be opened, made, renamed or removed,
//!   no TCP port bound or connected to, no process outside signalled. This is what keeps files of
//!   root, such as `/etc/shadow`, from a confined thread of root;
//! - seccomp: a list of the system calls that remain. A call that is not in it does not exist.
//!
//! Nothing of this can be undone, and it holds for the calling thread and what that starts.

use std::collections::BTreeMap;

use landlock::{ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _};
use landlock::{RulesetError, RulesetStatus, Scope};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

/// The newest version of Landlock that this was tried on. An older kernel has less of it.
const LANDLOCK: ABI = ABI::V7;

/// What takes rights from a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// No program gains privileges.
    NoNewPrivileges,
    /// All sets of capabilities are empty.
    NoCapabilities,
    /// Landlock refuses every path.
    Landlock,
    /// The list of system calls is in force.
    Seccomp,
}

/// Confines the calling thread, as far as the kernel can; the layers that are in force. One that it
/// lacks is no error: the rights that are left are those that every other program of the user has.
pub fn confine_thread() -> Vec<Layer> {
    // In this order: the list of calls has none that the other layers need.
    let layers = [
        (Layer::NoNewPrivileges, set_no_new_privs(true).is_ok()),
        (Layer::NoCapabilities, drop_capabilities().is_ok()),
        (Layer::Landlock, refuse_paths().is_ok_and(|is| is != RulesetStatus::NotEnforced)),
        (Layer::Seccomp, refuse_calls().is_ok()),
    ];
    layers.into_iter().filter_map(|(layer, is_in_force)| is_in_force.then_some(layer)).collect()
}

/// Empties the sets of capabilities. Only root may empty the bounding set, which limits what a
/// program could regain, and confined threads start none.
fn drop_capabilities() -> rustix::io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    // The oldest kernels have no ambient set.
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Has Landlock refuse everything that it knows, without an exception.
fn refuse_paths() -> Result<RulesetStatus, RulesetError> {
    let rules = Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .scope(Scope::from_all(LANDLOCK))?;
    Ok(rules.create()?.restrict_self()?.ruleset)
}

/// Installs the list of calls. Calls of another architecture end the process. A call that is not in
/// the list fails as one that the kernel does not have: the C library then falls back to older calls,
/// which are in the list.
fn refuse_calls() -> Result<(), seccompiler::Error> {
    let refused = SeccompAction::Errno(libc::ENOSYS as u32);
    let architecture = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules()?, refused, SeccompAction::Allow, architecture)?;
    apply_filter(&BpfProgram::try_from(filter)?)
}

fn rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        OPEN_FILES.iter().chain(&COMPUTING).map(|call| (*call, Vec::new())).collect();
    #[cfg(target_arch = "x86_64")]
    rules.extend(OLDER.map(|call| (call, Vec::new())));
    // What a terminal's size and kind are asked by.
    let asking = [libc::TCGETS, libc::TCGETS2, libc::TIOCGWINSZ].map(|request| when(1, request));
    rules.insert(libc::SYS_ioctl, asking.into_iter().collect::<Result<_, _>>()?);
    // `abort` signals the process itself.
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![when(0, own)?]);
    Ok(rules)
}

/// Where an argument has this value.
fn when(argument: u8, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    let is = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?;
    SeccompRule::new(vec![is])
}

/// Calls that act on what is open. `statx` and its like take paths, too, and tell no content.
const OPEN_FILES: [i64; 14] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_ppoll,
    libc::SYS_dup,
];

/// Calls for memory, time, chance and threads that end.
const COMPUTING: [i64; 31] = [
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getrandom,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_uname,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// The same by the names that newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLDER: [i64; 4] = [libc::SYS_poll, libc::SYS_stat, libc::SYS_lstat, libc::SYS_time];

#[cfg(test)]
mod tests;
