//! What is in the programs, as a software bill of materials (`CycloneDX`). The programs have the same
//! list inside, by `cargo auditable`.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::Value;
use xtask::process::{self, cargo, root};

use crate::install_tools;
use crate::release::Release;
use crate::steps::Outcome;

pub(crate) fn make(release: &Release) -> Result<Outcome> {
    install_tools::cargo_tool("cargo-cyclonedx")?;
    let name = "iotoll.cdx";
    let mut command = cargo(&["cyclonedx", "--format", "json", "--target", "all"]);
    command.args(["--manifest-path", "crates/iotoll/Cargo.toml", "--override-filename", name]);
    command.env("SOURCE_DATE_EPOCH", &release.epoch);
    install_tools::add_to_path(&mut command);
    process::output(&mut command)?;
    let (own, out) = (written(name)?, release.sbom());
    let mut about: Value = serde_json::from_slice(&fs::read(&own)?).context("reading the SBOM")?;
    // It is by chance, and two builds are to be the same.
    about.as_object_mut().map(|fields| fields.remove("serialNumber"));
    let text = serde_json::to_string_pretty(&about)?
        .replace(&root().canonicalize()?.display().to_string(), "/iotoll");
    fs::write(&out, text).with_context(|| format!("writing {}", out.display()))?;
    fs::remove_file(own)?;
    Ok(Outcome::Made(out))
}

/// Takes away the files that the tool leaves in every crate, but for the one that is wanted.
fn written(name: &str) -> Result<std::path::PathBuf> {
    let file = format!("{name}.json");
    let out = root().join("target/dist").join(&file);
    for folder in ["crates", "tools"] {
        for entry in fs::read_dir(root().join(folder))?.flatten() {
            let found = entry.path().join(&file);
            if entry.file_name() == "iotoll" && found.exists() {
                fs::copy(&found, &out)?;
            }
            let _ = fs::remove_file(found);
        }
    }
    let _ = fs::remove_file(root().join("xtask").join(&file));
    Ok(out)
}
