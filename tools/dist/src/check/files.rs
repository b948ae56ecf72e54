//! The files themselves: their sums and signature, their size, and what the image holds.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use xtask::process;

use super::native;
use super::root::Root;
use crate::release::Release;
use crate::steps::{Outcome, skip};
use crate::sums;

/// What a download may take.
const BYTES_MAX: u64 = 8_000_000;

pub(super) fn sums(release: &Release) -> Result<Outcome> {
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--strict", sums::FILE]).current_dir(&release.out);
    let checked = process::output(&mut check)?.lines().count();
    ensure!(checked == sums::files(release).len(), "{} lists other files", sums::FILE);
    let signature = release.file("SHA256SUMS.minisig");
    ensure!(signature.exists(), skip("there is no signature"));
    let mut verify = Command::new("minisign");
    verify.args(["-V", "-q", "-x"]).arg(signature).arg("-p").arg(sums::public_key(release));
    process::output(verify.arg("-m").arg(release.file(sums::FILE)))?;
    Ok(Outcome::Passed(format!("{checked} files are as listed; the list is signed")))
}

pub(super) fn size(release: &Release) -> Result<Outcome> {
    let mut largest = 0;
    for file in sums::files(release) {
        let bytes = fs::metadata(&file)?.len();
        let name = file.file_name().unwrap_or_default().display();
        ensure!(bytes <= BYTES_MAX, "{name} takes {bytes} bytes, more than {BYTES_MAX}");
        largest = largest.max(bytes);
    }
    Ok(Outcome::Passed(format!("{:.2} MB at the most", largest as f64 / 1e6)))
}

/// Unpacks the image, and runs what it has where nothing else is.
pub(super) fn image(release: &Release) -> Result<Outcome> {
    let image = release.image(native());
    ensure!(image.exists(), skip("there is no image"));
    ensure!(process::is_root(), skip("entering a root tree needs root"));
    let folder = tempfile::tempdir_in(&release.out)?;
    let (layout, bundle) = (folder.path().join("layout"), folder.path().join("bundle"));
    fs::create_dir(&layout)?;
    process::succeed(
        Command::new("tar").arg("--extract").arg("--file").arg(image).arg("-C").arg(&layout),
    )?;
    let mut unpack = Command::new("umoci");
    unpack.args(["unpack", "--image", &format!("{}:{}", layout.display(), release.version)]);
    process::output(unpack.arg(&bundle))?;
    let config = fs::read_to_string(bundle.join("config.json"))
        .context("reading the image's configuration")?;
    ensure!(config.contains("\"/iotoll\""), "the image does not run iotoll: {config}");
    let root = Root::at(bundle.join("rootfs"));
    let version = root.program("/iotoll --version")?;
    ensure!(version.contains(&release.commit), "it is another build: {version}");
    Ok(Outcome::Passed(format!("runs by itself: {}", version.trim())))
}
