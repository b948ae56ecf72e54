//! lintian and rpmlint find nothing.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::native;
use crate::install_tools;
use crate::release::Release;
use crate::steps::Outcome;

pub(super) fn check(release: &Release) -> Result<Outcome> {
    for (program, package) in [("lintian", "lintian"), ("rpmlint", "rpmlint")] {
        install_tools::need(program, package)?;
    }
    let mut lintian = Command::new("lintian");
    lintian.args(["--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"]);
    let lintian = said(lintian.arg(release.deb(native())))?;
    let settings = xtask::process::root().join("tools/dist/rpmlint.toml");
    let mut rpmlint = Command::new("rpmlint");
    rpmlint.arg("--config").arg(settings).arg(release.rpm(native()));
    let rpmlint = said(&mut rpmlint)?;
    let last = rpmlint.lines().rev().find(|line| line.contains("errors")).unwrap_or_default();
    ensure!(last.contains("0 errors, 0 warnings"), "rpmlint:\n{rpmlint}");
    let lintian = if lintian.is_empty() { "nothing" } else { lintian.trim() };
    Ok(Outcome::Passed(format!(
        "lintian: {lintian}; rpmlint: {}",
        last.trim_matches([' ', '='].as_slice())
    )))
}

fn said(command: &mut Command) -> Result<String> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("running {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{} ended with {}:\n{text}",
        command.get_program().display(),
        output.status
    );
    Ok(text)
}
