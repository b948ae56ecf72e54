//! All that must be published can be, and builds from what is published alone.

use anyhow::Result;
use xtask::process::{self, cargo};

use crate::release::Release;
use crate::steps::Outcome;

/// Cargo finds the order, and takes what was not published yet from here.
pub(super) fn check(release: &Release) -> Result<Outcome> {
    let mut publish = cargo(&["publish", "--dry-run", "--workspace", "--locked", "--allow-dirty"]);
    publish.arg("--target-dir").arg(release.out.join("publish"));
    process::succeed(&mut publish)?;
    let mut list = cargo(&["metadata", "--format-version", "1", "--no-deps"]);
    let about = process::json(&mut list)?;
    let packages = about["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let published = packages.iter().filter(|package| package["publish"].is_null()).count();
    Ok(Outcome::Passed(format!("{published} crates would be published")))
}
