//! A tarball: one folder with the program and all that goes with it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use xtask::process;

use crate::install_tools;
use crate::release::{Release, Target};
use crate::steps::Outcome;

/// Where files of the stage are in the tarball.
const PLACES: [(&str, &str); 8] = [
    ("usr/bin/iotoll", "iotoll"),
    ("usr/share/man/man1", "man"),
    ("usr/share/bash-completion/completions/iotoll", "completions/iotoll.bash"),
    ("usr/share/zsh/vendor-completions/_iotoll", "completions/_iotoll"),
    ("usr/share/fish/vendor_completions.d/iotoll.fish", "completions/iotoll.fish"),
    ("usr/share/doc/iotoll/examples", "examples"),
    ("usr/share/doc/iotoll/install.md", "install.md"),
    ("usr/share/doc/iotoll/third-party-licences.txt", "third-party-licences.txt"),
];

/// Files of the repository that are at the top of the tarball.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

pub(crate) fn make(release: &Release, target: &Target, stage: &Path) -> Result<Outcome> {
    for (program, package) in [("tar", "tar"), ("xz", "xz-utils")] {
        install_tools::need(program, package)?;
    }
    let parent = tempfile::tempdir_in(&release.out)?;
    let folder = parent.path().join(release.folder(target));
    fs::create_dir_all(folder.join("completions"))?;
    for (from, to) in PLACES {
        let mut copy = Command::new("cp");
        copy.args(["--recursive", "--preserve=mode"]).arg(stage.join(from)).arg(folder.join(to));
        process::succeed(&mut copy)?;
    }
    for name in TEXTS {
        fs::copy(process::root().join(name), folder.join(name))?;
    }
    let out = release.tarball(target);
    pack(release, parent.path(), &release.folder(target), &out)?;
    Ok(Outcome::Made(out))
}

/// Nothing but names, contents and modes is in it; owners and times are the same everywhere.
fn pack(release: &Release, parent: &Path, name: &str, out: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=ustar", "--sort=name", "--mode=go=rX,u+rw,a-s"]);
    tar.args(["--owner=0", "--group=0", "--numeric-owner"])
        .arg(format!("--mtime=@{}", release.epoch));
    let mut tar =
        tar.arg(name).current_dir(parent).stdout(Stdio::piped()).spawn().context("running tar")?;
    let packed = tar.stdout.take().context("tar prints the archive")?;
    let file = fs::File::create(out).with_context(|| format!("making {}", out.display()))?;
    process::succeed(
        Command::new("xz").args(["-9", "--extreme", "--threads=1"]).stdin(packed).stdout(file),
    )?;
    ensure!(tar.wait()?.success(), "tar failed");
    Ok(())
}
