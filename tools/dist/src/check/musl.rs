//! A root tree whose programs are of musl, another C library than the one within the released program.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use xtask::process;

use super::starts::{COMPARE, busybox, verdict};
use crate::install_tools;
use crate::release::Release;
use crate::steps::Outcome;

/// Appends to a file as many times as [`WRITES`] says.
const PROGRAM: &str = "\
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 50; i++) {
        int fd = open(\"/tmp/log\", O_WRONLY | O_CREAT | O_APPEND, 0644);
        if (fd < 0 || write(fd, \"hello\\n\", 6) != 6 || close(fd) != 0) return 1;
    }
    return 0;
}
";
const WRITES: &str = "\"kind\":\"write\",\"calls\":50,";

/// The main job is done, and a program of that library is recorded.
pub(super) fn check(release: &Release) -> Result<Outcome> {
    install_tools::need("musl-gcc", "musl-tools")?;
    let root = busybox(release)?;
    let source = root.folder().join("log.c");
    fs::write(&source, PROGRAM)?;
    let program = root.folder().join("usr/bin/log");
    process::succeed(Command::new("musl-gcc").arg(&source).arg("-o").arg(&program))?;
    let linker = format!("lib/ld-musl-{}.so.1", std::env::consts::ARCH);
    fs::create_dir_all(root.folder().join("lib"))?;
    fs::copy(format!("/{linker}"), root.folder().join(&linker)).context("copying musl")?;
    let seen = verdict(&root.script(COMPARE)?)?;
    let bill =
        root.script("iotoll record -o /tmp/t -- log >/dev/null; iotoll show /tmp/t --json -")?;
    let bill: String = bill.split_whitespace().collect();
    ensure!(bill.contains(WRITES), "recording does not count 50 writes: {bill}");
    let refused = "iotoll record --mechanism preload -- log && exit 1 || exit 0";
    let refused = root.script(refused)?.split_whitespace().collect::<Vec<_>>().join(" ");
    let says_why = refused.contains("is of another C library than glibc");
    ensure!(says_why, "the preloaded library does not say why it cannot be used: {refused}");
    Ok(Outcome::Passed(format!("{seen}; record counts 50 writes of a program of musl")))
}
