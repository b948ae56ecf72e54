//! The process that something on a shared disk belongs to, told apart from every other:
//! of other hosts, of earlier boots of this one, and of the same number.

use std::fs;
use std::path::Path;

use rustix::process::Pid;

use crate::process::Stat;
use crate::root::Root;

/// A process. What could not be read is empty, and equals nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its number, in its namespace.
    pub pid: u32,
    /// When it began, from the machine's start: tells it from a later process of that number.
    pub started_ns: u64,
    /// The namespace that the number is of: `4026531836`.
    pub pid_namespace: String,
    /// The boot of the machine, a random number that the kernel draws.
    pub boot: String,
    /// `/etc/machine-id`.
    pub machine: String,
    /// What the host calls itself.
    pub host: String,
}

/// What can be said of an owner from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It runs.
    Alive,
    /// It has ended.
    Gone,
    /// It is of another host, or that cannot be told.
    OtherHost,
    /// It is of this host before it was started anew.
    OtherBoot,
    /// It is of another PID namespace of this host, whose processes cannot be seen.
    OtherNamespace,
}

impl Owner {
    /// This process.
    pub fn this_process() -> Self {
        let root = Root::real();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let digits = |c: &char| c.is_ascii_digit();
        Self {
            pid: std::process::id(),
            started_ns: own_stat(&root).map_or(0, |stat| stat.started_ns),
            pid_namespace: namespace.to_string_lossy().chars().filter(digits).collect(),
            boot: root.attribute("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
            machine: root.attribute("/etc/machine-id").unwrap_or_default(),
            host: crate::machine::name(),
        }
    }

    /// What this process, `here`, can say of it.
    pub fn standing(&self, here: &Self) -> Standing {
        let same = |mine: &str, its: &str| !mine.is_empty() && mine == its;
        // A machine may lack the file. Clones of one share it, but rarely their names.
        if self.machine != here.machine || !same(&here.host, &self.host) {
            Standing::OtherHost
        } else if !same(&here.boot, &self.boot) {
            Standing::OtherBoot
        } else if !same(&here.pid_namespace, &self.pid_namespace) {
            Standing::OtherNamespace
        } else if self.has_ended() {
            Standing::Gone
        } else {
            Standing::Alive
        }
    }

    /// Whether no process of that number is the one that it was.
    fn has_ended(&self) -> bool {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return true };
        // A namespace may show the processes of another under `/proc`.
        let shows_ours = fs::read_link("/proc/self")
            .is_ok_and(|link| link == Path::new(&std::process::id().to_string()));
        let stat = shows_ours.then(|| Stat::read(&Root::real(), pid.as_raw_pid())).flatten();
        match stat {
            Some(stat) => stat.started_ns != self.started_ns || matches!(stat.state, 'Z' | 'X'),
            // It may be hidden (`hidepid`), or there is no `/proc`.
            None => rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH),
        }
    }
}

fn own_stat(root: &Root) -> Option<Stat> {
    Stat::parse(&root.read("/proc/self/stat").ok()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> (Child, Owner) {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id();
        let stat = Stat::read(&Root::real(), i32::try_from(pid).unwrap()).unwrap();
        (child, Owner { pid, started_ns: stat.started_ns, ..Owner::this_process() })
    }

    #[test]
    fn a_process_is_alive_until_it_is_killed_though_nobody_has_waited_for_it() {
        let here = Owner::this_process();
        assert_eq!(here.standing(&here), Standing::Alive);
        let (mut child, owner) = sleeper();
        assert_eq!(owner.standing(&here), Standing::Alive);
        let later = Owner { started_ns: owner.started_ns + 10_000_000, ..owner.clone() };
        assert_eq!(later.standing(&here), Standing::Gone, "another of the same number");
        child.kill().unwrap();
        let stat = format!("/proc/{}/stat", child.id());
        while !fs::read_to_string(&stat).unwrap().contains(" Z ") {
            std::thread::yield_now();
        }
        assert_eq!(owner.standing(&here), Standing::Gone);
        child.wait().unwrap();
        assert_eq!(owner.standing(&here), Standing::Gone);
    }

    #[test]
    fn what_is_of_another_host_boot_or_namespace_is_told_apart_and_so_is_what_says_nothing() {
        let here = Owner::this_process();
        let other = || "other".to_owned();
        let standing = |owner: Owner| owner.standing(&here);
        assert_eq!(standing(Owner { host: other(), ..here.clone() }), Standing::OtherHost);
        assert_eq!(standing(Owner { machine: other(), ..here.clone() }), Standing::OtherHost);
        assert_eq!(standing(Owner { boot: other(), ..here.clone() }), Standing::OtherBoot);
        let unknown = Owner { boot: String::new(), ..here.clone() };
        assert_eq!(unknown.standing(&unknown), Standing::OtherBoot);
        let inner = Owner { pid_namespace: other(), ..here.clone() };
        assert_eq!(standing(inner), Standing::OtherNamespace);
    }
}
