//! Another checkout, in another folder, makes the same files.

use std::fs;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use xtask::process;

use super::native;
use crate::release::Release;
use crate::steps::{Outcome, skip};
use crate::sums;

pub(super) fn check(release: &Release) -> Result<Outcome> {
    let is_committed = !release.commit.ends_with("-changed");
    ensure!(is_committed, skip("files differ from their commit; commit them first"));
    let root = process::root().canonicalize()?;
    let folder = tempfile::Builder::new().prefix("again-").tempdir_in(&release.out)?;
    let checkout = folder.path().join("elsewhere");
    process::succeed(Command::new("git").args(["clone", "--quiet"]).arg(&root).arg(&checkout))?;
    fs::create_dir(checkout.join("target"))?;
    std::os::unix::fs::symlink(root.join("target/tools"), checkout.join("target/tools"))?;
    let mut make = process::cargo(&["run", "--quiet", "--package", "iotoll-dist", "--", "--only"]);
    make.arg(native().machine).current_dir(&checkout);
    // Both are to be found by where they are.
    make.env_remove("CARGO_MANIFEST_DIR").env("CARGO_TARGET_DIR", checkout.join("target"));
    process::succeed(&mut make)?;
    let files = sums::files_for(release, native()).into_iter().chain([release.sbom()]);
    let mut same = 0;
    for file in files.filter(|file| file.exists()) {
        let other = checkout.join("target/dist").join(file.file_name().unwrap_or_default());
        if fs::read(&file)? != fs::read(&other)? {
            bail!("{} differs:\n{}", file.display(), difference(&file, &other));
        }
        same += 1;
    }
    ensure!(same > 0, "there is nothing to compare");
    Ok(Outcome::Passed(format!("{same} files are the same bits when made elsewhere")))
}

/// Where they differ, as far as a program for that is installed.
fn difference(file: &std::path::Path, other: &std::path::Path) -> String {
    let output = Command::new("diffoscope")
        .args(["--max-report-size", "20000"])
        .arg(file)
        .arg(other)
        .output();
    output.map_or_else(
        |_| "diffoscope is not installed".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}
