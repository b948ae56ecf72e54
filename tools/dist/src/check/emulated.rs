//! The program for aarch64 under an emulator of its processor alone: system calls are the kernel's
//! of this machine, so that nothing here shows how another kernel answers.

use anyhow::{Result, ensure};
use xtask::libtest_output::counts;
use xtask::process;

use super::starts::unpacked;
use crate::binary;
use crate::install_tools;
use crate::release::{Release, TARGETS, Target};
use crate::steps::{Outcome, skip};

const TARGET: &Target = &TARGETS[1];

/// Crates whose tests need no kernel of the machine that they are made for.
const CRATES: [&str; 6] = [
    "iotoll-units",
    "iotoll-stats",
    "iotoll-trace",
    "iotoll-model",
    "iotoll-analysis",
    "iotoll-report",
];

/// It starts, and knows its places.
pub(super) fn starts(release: &Release) -> Result<Outcome> {
    ensure!(release.tarball(TARGET).exists(), skip("there is no program for aarch64"));
    install_tools::need("qemu-aarch64", "qemu-user")?;
    let (folder, program) = unpacked(release, TARGET)?;
    let version = process::output(TARGET.command(&program).arg("--version"))?;
    ensure!(version.contains("aarch64"), "it is another build: {version}");
    let places = process::output(TARGET.command(&program).arg("places").arg(folder.path()))?;
    ensure!(places.contains("mounted"), "it does not know its places: {places}");
    Ok(Outcome::Passed(format!("{} under qemu-user", version.trim())))
}

/// What computes, computes the same there.
pub(super) fn tests(release: &Release) -> Result<Outcome> {
    install_tools::need("qemu-aarch64", "qemu-user")?;
    let said = binary::test(TARGET, &CRATES, &release.out.join("build-tests"))?;
    let (passed, failed) = counts(&said);
    ensure!(passed > 0 && failed == 0, "{passed} passed, {failed} failed:\n{said}");
    let crates = CRATES.len();
    Ok(Outcome::Passed(format!("{passed} tests of {crates} crates under qemu-user")))
}
