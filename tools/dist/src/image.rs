//! An image for containers with nothing but the program, as an archive in OCI's layout.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use xtask::process;

use crate::install_tools;
use crate::release::{Release, Target};
use crate::steps::Outcome;

pub(crate) fn make(release: &Release, target: &Target, stage: &Path) -> Result<Outcome> {
    install_tools::need("umoci", "umoci")?;
    let folder = tempfile::tempdir_in(&release.out)?;
    let layout = folder.path().join("layout");
    let image = format!("{}:{}", layout.display(), release.version);
    let date = rfc_3339(release)?;
    let umoci = |arguments: &[&str]| process::output(Command::new("umoci").args(arguments));
    umoci(&["init", "--layout", &layout.display().to_string()])?;
    umoci(&["new", "--image", &image])?;
    let program = stage.join("usr/bin/iotoll").display().to_string();
    umoci(&["insert", "--rootless", "--no-history", "--image", &image, &program, "/iotoll"])?;
    let config = ["config", "--no-history", "--image", &image, "--created", &date];
    let settings =
        ["--architecture", target.short, "--os", "linux", "--config.entrypoint", "/iotoll"];
    umoci(&[&config[..], &settings].concat())?;
    umoci(&["gc", "--layout", &layout.display().to_string()])?;
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=ustar", "--sort=name", "--mode=u=rwX,go=rX", "--owner=0"]);
    tar.args(["--group=0", "--numeric-owner"]).arg(format!("--mtime=@{}", release.epoch));
    tar.arg("--file").arg(release.image(target)).args([
        "--directory",
        &layout.display().to_string(),
        ".",
    ]);
    process::succeed(&mut tar)?;
    Ok(Outcome::Made(release.image(target)))
}

fn rfc_3339(release: &Release) -> Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "+%Y-%m-%dT%H:%M:%SZ", "--date", &format!("@{}", release.epoch)]);
    Ok(process::output(&mut date)?.trim().to_owned())
}
