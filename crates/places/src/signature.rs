//! What a lock file says: whose the folder is, for people and for cleaners.
//!
//! On a disk that several machines share a lock may hold on one of them alone, and after
//! a boot there is no lock. So a folder is only a leftover by itself where its owner is
//! known to have ended: a process of this boot, of this host and of this PID namespace.

use std::time::SystemTime;

use host::owner::{Owner, Standing};

/// A lock file's text is shorter than this.
pub(crate) const BYTES_MAX: usize = 1024;

/// Stands last, so that one that was cut short is noticed.
const END: &str = "end";

/// What this process writes into its lock files.
pub(crate) fn write(owner: &Owner) -> String {
    let Owner { pid, started_ns, pid_namespace, boot, machine, host } = owner;
    format!(
        "pid {pid}\nstarted {}\nstarted_ns {started_ns}\npid_namespace {pid_namespace}\n\
         boot {boot}\nmachine {machine}\nhost {host}\n{END}\n",
        humantime::format_rfc3339_seconds(SystemTime::now())
    )
}

/// The owner that a lock file names; nothing where it was cut short, or an older version
/// wrote it.
pub(crate) fn read(text: &str) -> Option<Owner> {
    let line = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ').map(str::to_owned))
    };
    (text.lines().last() == Some(END)).then_some(())?;
    Some(Owner {
        pid: line("pid")?.parse().ok()?,
        started_ns: line("started_ns")?.parse().ok()?,
        pid_namespace: line("pid_namespace")?,
        boot: line("boot")?,
        machine: line("machine")?,
        host: line("host")?,
    })
}

/// Why a cleaner cannot know that a folder's owner has ended, if so.
pub(crate) fn doubt(owner: &Owner, standing: Standing) -> Option<String> {
    let Owner { pid, host, .. } = owner;
    match standing {
        Standing::Alive | Standing::Gone => None,
        Standing::OtherHost => Some(format!(
            "it belongs to process {pid} on the host {host}, which may still be running"
        )),
        Standing::OtherBoot => Some(format!(
            "it belongs to process {pid}, which ran on this host, {host}, before its last boot"
        )),
        Standing::OtherNamespace => Some(format!(
            "it belongs to process {pid} in another container (PID namespace) of this host, which \
             may still be running"
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_is_written_reads_back_and_fits() {
        let owner = Owner::this_process();
        assert!(owner.started_ns > 0 && !owner.boot.is_empty() && !owner.host.is_empty());
        assert!(write(&owner).len() < BYTES_MAX, "{}", write(&owner));
        assert_eq!(read(&write(&owner)), Some(owner.clone()));
        let bare = Owner { machine: String::new(), ..owner };
        assert_eq!(read(&write(&bare)), Some(bare));
    }

    #[test]
    fn what_is_cut_short_anywhere_or_older_names_nobody() {
        let text = write(&Owner::this_process());
        for end in 0..text.len() - 1 {
            assert_eq!(read(&text[..end]), None, "{}", &text[..end]);
        }
        assert_eq!(read("pid 7\nstarted 2026-01-01T00:00:00Z\n"), None);
    }
}
