//! Which release is made, and for which machines.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask::process;

/// What is released.
pub(crate) struct Release {
    pub(crate) version: &'static str,
    /// The commit that it is made of, marked where files differ from it.
    pub(crate) commit: String,
    /// When that commit was made: the time of all files, so that two builds are the same.
    pub(crate) epoch: String,
    /// Where everything goes.
    pub(crate) out: PathBuf,
}

/// A machine that programs are made for.
pub(crate) struct Target {
    /// As Rust names it.
    pub(crate) triple: &'static str,
    /// As the kernel and RPM name it.
    pub(crate) machine: &'static str,
    /// As Debian and OCI name it.
    pub(crate) short: &'static str,
}

pub(crate) const TARGETS: [Target; 2] = [
    Target { triple: "x86_64-unknown-linux-gnu", machine: "x86_64", short: "amd64" },
    Target { triple: "aarch64-unknown-linux-gnu", machine: "aarch64", short: "arm64" },
];

impl Release {
    /// Of the checkout that this program was built in.
    pub(crate) fn of_checkout() -> Result<Self> {
        let about = "a release names its commit, so it is made in a git checkout";
        let mut commit = git(&["rev-parse", "--short=12", "HEAD"]).context(about)?;
        if !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
            commit += "-changed";
        }
        let epoch = git(&["log", "-1", "--format=%ct"])?;
        let out = process::root().canonicalize()?.join("target/dist");
        std::fs::create_dir_all(&out).with_context(|| format!("making {}", out.display()))?;
        Ok(Self { version: env!("CARGO_PKG_VERSION"), commit, epoch, out })
    }

    /// A file of the release.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    pub(crate) fn tarball(&self, target: &Target) -> PathBuf {
        self.file(&format!("{}.tar.xz", self.folder(target)))
    }

    /// What the tarball unpacks to.
    pub(crate) fn folder(&self, target: &Target) -> String {
        format!("iotoll-{}-{}-linux", self.version, target.machine)
    }

    pub(crate) fn deb(&self, target: &Target) -> PathBuf {
        self.file(&format!("iotoll_{}-1_{}.deb", self.version, target.short))
    }

    pub(crate) fn deb_with_mpi(&self, target: &Target) -> PathBuf {
        self.file(&format!("iotoll-mpi_{}-1_{}.deb", self.version, target.short))
    }

    pub(crate) fn rpm(&self, target: &Target) -> PathBuf {
        self.file(&format!("iotoll-{}-1.{}.rpm", self.version, target.machine))
    }

    pub(crate) fn image(&self, target: &Target) -> PathBuf {
        self.file(&format!("iotoll-{}-{}.oci.tar", self.version, target.short))
    }

    pub(crate) fn sbom(&self) -> PathBuf {
        self.file(&format!("iotoll-{}.cdx.json", self.version))
    }
}

impl Target {
    /// Whether programs for it run here without help.
    pub(crate) fn is_native(&self) -> bool {
        self.machine == std::env::consts::ARCH
    }

    /// A tool of the C compiler for it.
    pub(crate) fn tool(&self, name: &str) -> String {
        if self.is_native() {
            name.to_owned()
        } else {
            format!("{}-linux-gnu-{name}", self.machine)
        }
    }

    /// Runs a program for it.
    pub(crate) fn command(&self, program: &Path) -> Command {
        if self.is_native() {
            return Command::new(program);
        }
        let mut command = Command::new(format!("qemu-{}", self.machine));
        command.arg(program);
        command
    }
}

fn git(arguments: &[&str]) -> Result<String> {
    let text = process::output(Command::new("git").args(arguments).current_dir(process::root()))?;
    Ok(text.trim().to_owned())
}
