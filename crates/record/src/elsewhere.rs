//! Processes with other mounts than this one, as those of a container: what their paths are here.

use std::fs;
use std::path::{Path, PathBuf};

use host::identity::Identity;
use host::mounts::{Mount, Mounts};
use host::root::Root;
use trace::Container;

use crate::inherited;

/// A container's number is shortened to this, as its own tools do.
const NUMBER_CHARS: usize = 12;

/// Where a process with other mounts keeps its files.
pub struct Elsewhere {
    /// Its name is like `docker container 4f1c2a9b7d3e`.
    container: Container,
    theirs: Mounts,
    ours: Mounts,
}

impl Elsewhere {
    /// None for a process whose paths mean the same here.
    pub fn of(process: u32) -> Option<Self> {
        if !inherited::has_other_mounts(process) {
            return None;
        }
        let theirs = fs::read(format!("/proc/{process}/mountinfo")).ok()?;
        let groups = fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
        let name = container(&groups).unwrap_or_else(|| format!("process {process}"));
        Some(Self {
            container: Container { name, process },
            theirs: Mounts::parse(&theirs),
            ours: Mounts::read(&Root::real()).ok()?,
        })
    }

    /// What a bill has of it.
    pub fn container(&self) -> Container {
        self.container.clone()
    }

    /// A path of the process as it is reached here: by a mount of the same files, or through the
    /// process's own root while it lives.
    pub fn path(&self, path: &str) -> String {
        if !path.starts_with('/') {
            return path.to_owned();
        }
        let through_root = || format!("/proc/{}/root{path}", self.container.process);
        let found =
            self.by_mount(Path::new(path)).and_then(|found| found.to_str().map(str::to_owned));
        found.filter(|found| is_one_file(found, &through_root())).unwrap_or_else(through_root)
    }

    fn by_mount(&self, path: &Path) -> Option<PathBuf> {
        let theirs = self.theirs.of(path, &Identity::default())?;
        let rest = path.strip_prefix(&theirs.point).ok()?;
        let within = Path::new(&theirs.root).join(rest);
        let here = |ours: &Mount| {
            let rest = within.strip_prefix(&ours.root).ok()?;
            Some(Path::new(&ours.point).join(rest))
        };
        let of_same_files = self.ours.iter().filter(|ours| ours.device == theirs.device);
        of_same_files.filter_map(here).min_by_key(|path| path.as_os_str().len())
    }
}

/// Whether both are there and the same, or neither can be looked at any more.
fn is_one_file(one: &str, other: &str) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number =
        |path: &str| fs::symlink_metadata(path).map(|facts| (facts.dev(), facts.ino())).ok();
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one == other,
        (_, None) => true,
        (None, Some(_)) => false,
    }
}

/// The container whose control group it is.
fn container(groups: &str) -> Option<String> {
    let path = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2)).next_back()?;
    path.rsplit('/').find_map(|part| {
        let part = part.trim_end_matches(".scope").trim_end_matches(".service");
        for (beginning, what) in [
            ("docker-", "docker container"),
            ("libpod-", "podman container"),
            ("cri-containerd-", "container"),
            ("crio-", "container"),
            ("lxc.payload.", "LXC container"),
            ("systemd-nspawn@", "container"),
            ("machine-", "container"),
        ] {
            if let Some(name) = part.strip_prefix(beginning) {
                return Some(format!("{what} {}", shortened(name)));
            }
        }
        is_number(part).then(|| format!("container {}", shortened(part)))
    })
}

fn is_number(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn shortened(name: &str) -> &str {
    if is_number(name) { &name[..NUMBER_CHARS] } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_named_by_their_control_groups() {
        let number = "4f1c2a9b7d3e".to_owned() + &"0".repeat(52);
        for (path, name) in [
            (format!("/system.slice/docker-{number}.scope"), "docker container 4f1c2a9b7d3e"),
            (format!("/docker/{number}"), "container 4f1c2a9b7d3e"),
            ("/machine.slice/libpod-web.scope/container".to_owned(), "podman container web"),
            ("/lxc.payload.mail/init.scope".to_owned(), "LXC container mail"),
        ] {
            assert_eq!(container(&format!("0::{path}\n")).as_deref(), Some(name), "{path}");
        }
        assert_eq!(container("0::/user.slice/session-1.scope\n"), None);
        assert_eq!(container(""), None);
    }

    /// Fails where the root of a mount is forgotten, or the deepest mount is not taken.
    #[test]
    fn a_path_is_found_by_the_mount_of_the_same_files() {
        let mounts = |text: &str| Mounts::parse(text.as_bytes());
        let elsewhere = Elsewhere {
            container: Container { name: String::new(), process: u32::MAX },
            theirs: mounts(
                "1 0 0:50 / / rw - overlay overlay rw\n\
                 2 1 8:1 /volumes/data /srv rw - ext4 /dev/sda1 rw\n",
            ),
            ours: mounts(
                "9 0 8:2 / / rw - ext4 /dev/sda2 rw\n10 9 8:1 / /var/lib rw - ext4 /dev/sda1 rw\n",
            ),
        };
        assert_eq!(elsewhere.path("/srv/app/log"), "/var/lib/volumes/data/app/log");
        assert_eq!(elsewhere.path("/etc/x"), format!("/proc/{}/root/etc/x", u32::MAX));
        assert_eq!(elsewhere.path("log"), "log");
    }
}
