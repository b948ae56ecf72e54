//! `SHA256SUMS` of all files of a release, and its signature.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask::process;

use crate::install_tools;
use crate::release::{Release, TARGETS, Target};
use crate::steps::{Outcome, skip};

pub(crate) const FILE: &str = "SHA256SUMS";
/// The file with the secret key of releases; without it, a key for tests is made.
const KEY: &str = "IOTOLL_MINISIGN_KEY";

/// The files for a target, made or not.
pub(crate) fn files_for(release: &Release, target: &Target) -> [PathBuf; 5] {
    [
        release.tarball(target),
        release.deb(target),
        release.deb_with_mpi(target),
        release.rpm(target),
        release.image(target),
    ]
}

/// The files that were made.
pub(crate) fn files(release: &Release) -> Vec<PathBuf> {
    let files = TARGETS.iter().flat_map(|target| files_for(release, target));
    files.chain([release.sbom()]).filter(|file| file.is_file()).collect()
}

pub(crate) fn make(release: &Release) -> Result<Outcome> {
    let mut sums = Command::new("sha256sum");
    sums.current_dir(&release.out).args(files(release).iter().filter_map(|file| file.file_name()));
    let out = release.file(FILE);
    fs::write(&out, process::output(&mut sums)?)?;
    install_tools::need("minisign", "minisign")
        .map_err(|why| skip(format!("{FILE} is made, not signed: {why}")))?;
    let key = match std::env::var_os(KEY) {
        Some(key) => PathBuf::from(key),
        None => test_key(release)?,
    };
    let mut sign = Command::new("minisign");
    sign.args(["-S", "-W", "-x"]).arg(release.file("SHA256SUMS.minisig")).arg("-s").arg(key);
    sign.args(["-t", &format!("iotoll {}", release.version), "-m"]).arg(&out);
    process::output(&mut sign)?;
    Ok(Outcome::Made(out))
}

/// With which the signature can be checked.
pub(crate) fn public_key(release: &Release) -> PathBuf {
    match std::env::var_os(KEY) {
        Some(_) => process::root().join("iotoll.pub"),
        None => release.file("test.pub"),
    }
}

/// A key without a password, which nobody should trust.
fn test_key(release: &Release) -> Result<PathBuf> {
    let (secret, public) = (release.file("test.key"), release.file("test.pub"));
    if !secret.exists() || !public.exists() {
        let mut make = Command::new("minisign");
        make.args(["-G", "-W", "-f", "-s"]).arg(&secret).arg("-p").arg(&public);
        process::output(&mut make).context("making a key for tests")?;
    }
    eprintln!("dist: {KEY} names no key: signing with a key for tests, target/dist/test.key");
    Ok(secret)
}
