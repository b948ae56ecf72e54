//! A root tree that is made for a check, and entered by chroot in a mount namespace, so that nothing
//! stays mounted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;
use xtask::process;

use super::devices;
use crate::install_tools;
use crate::release::Release;
use crate::steps::skip;

/// What a root tree needs of the kernel.
const MOUNTS: &str = "\
mkdir -p \"$1/proc\" \"$1/sys\" \"$1/dev\" \"$1/tmp\"
mount -t proc proc \"$1/proc\"
mount --rbind /sys \"$1/sys\"
mount -t tmpfs tmpfs \"$1/dev\"
mkdir -p \"$1/dev/shm\"
mount -t tmpfs tmpfs \"$1/dev/shm\"
";

/// It is removed when this is dropped, but for one that is somebody else's.
pub(super) struct Root {
    folder: PathBuf,
    _own: Option<TempDir>,
}

impl Root {
    /// One that is there already.
    pub(super) fn at(folder: PathBuf) -> Self {
        Self { folder, _own: None }
    }

    /// One with nothing in it.
    pub(super) fn empty(release: &Release) -> Result<Self> {
        let own = tempfile::tempdir_in(&release.out)?;
        let folder = own.path().join("root");
        fs::create_dir(&folder)?;
        Ok(Self { folder, _own: Some(own) })
    }

    /// A fresh one of Debian, or why there is none. Packages are loaded once for each suite.
    pub(super) fn debian(release: &Release, suite: &str) -> Result<Self> {
        ensure!(process::is_root(), skip("making a root tree needs root"));
        let packed = packed(release, &format!("debian-{suite}"), suite, &["--variant=apt"])?;
        let root = Self::empty(release)?;
        let mut unpack = Command::new("tar");
        unpack.arg("--extract").arg("--file").arg(packed).arg("-C").arg(&root.folder);
        process::succeed(unpack.arg("--numeric-owner"))?;
        Ok(root)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a shell's script prints in it, on either stream; nothing but success is none.
    pub(super) fn script(&self, script: &str) -> Result<String> {
        self.run("", &format!("exec chroot \"$1\" /bin/sh -e -c {}", quoted(script)))
    }

    /// The same after a script that changes the mounts below `$1`.
    pub(super) fn script_after(&self, before: &str, script: &str) -> Result<String> {
        self.run(before, &format!("exec chroot \"$1\" /bin/sh -e -c {}", quoted(script)))
    }

    /// The same of a program in a tree without a shell.
    pub(super) fn program(&self, words: &str) -> Result<String> {
        self.run("", &format!("exec chroot \"$1\" {words}"))
    }

    fn run(&self, before: &str, last: &str) -> Result<String> {
        let script = format!("set -e\nexec 2>&1\n{MOUNTS}{}{before}\n{last}", devices::MAKE);
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private"]);
        command.args(["sh", "-c", &script, "sh"]).arg(&self.folder).stdin(Stdio::null());
        // As at a login, with nothing of this machine's.
        command
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.envs([("HOME", "/root"), ("LC_ALL", "C"), ("DEBIAN_FRONTEND", "noninteractive")]);
        let output = command.output().context("running unshare")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "{} in {}:\n{text}", output.status, self.folder.display());
        Ok(text)
    }
}

/// A tree of Debian that mmdebstrap makes with these options, packed once, or why there is none.
pub(super) fn packed(
    release: &Release,
    name: &str,
    suite: &str,
    options: &[&str],
) -> Result<PathBuf> {
    install_tools::need("mmdebstrap", "mmdebstrap")?;
    let packed = release.file(&format!("{name}.tar"));
    if packed.exists() {
        return Ok(packed);
    }
    let mirror = mirror().ok_or_else(|| skip("apt-get knows no mirror of Debian"))?;
    let mut make = Command::new("mmdebstrap");
    make.arg("--quiet").args(options).arg(suite).arg(&packed);
    make.arg(format!("deb {mirror} {suite} main"));
    if let Err(error) = process::output(&mut make) {
        let _ = fs::remove_file(&packed);
        bail!(skip(format!("{name} could not be had: {error}")));
    }
    Ok(packed)
}

/// From where this machine has its packages.
fn mirror() -> Option<String> {
    let mut list = Command::new("apt-get");
    let text = process::output(list.args(["indextargets", "--format", "$(REPO_URI)"])).ok()?;
    text.lines().find(|uri| uri.ends_with("/debian/")).map(str::to_owned)
}

fn quoted(script: &str) -> String {
    format!("'{}'", script.replace('\'', r"'\''"))
}
