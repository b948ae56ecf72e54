//! The licences that go with a program: ours, and those of everything that is in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use xtask::process::{self, cargo};

/// Who looks after the packages.
pub(crate) const MAINTAINER: &str = env!("CARGO_PKG_AUTHORS");

/// A static program contains it, and its licence wants the source named and relinking possible.
const GLIBC: &str = "\
GNU C Library, LGPL-2.1-or-later. The programs for Linux contain it as the distribution of the build \
machine has it; its source is at https://sourceware.org/glibc/. Build iotoll from its own source to \
link another version of it.\n";

/// Debian's file: machine-readable, and with the text of the licence that Debian does not have.
pub(crate) fn copyright() -> Result<String> {
    let mit = fs::read_to_string(process::root().join("LICENSE-MIT"))?;
    let indented =
        |line: &str| if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") };
    let text: String = mit
        .lines()
        .skip(2)
        .skip_while(|line| !line.starts_with("Permission"))
        .map(indented)
        .collect();
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: iotoll\n\
         Source: {}\n\
         Comment: Licences of the libraries in the program are in third-party-licences.txt.\n\n\
         Files: *\n\
         Copyright: 2026 The iotoll developers\n\
         License: Expat or Apache-2.0\n\n\
         License: Expat\n{text}\n\
         License: Apache-2.0\n \
         On Debian systems, the text of the licence is in /usr/share/common-licenses/Apache-2.0.\n",
        env!("CARGO_PKG_REPOSITORY"),
    ))
}

/// The texts of the licences of all crates in the program, each once with the crates it is of.
pub(crate) fn of_dependencies() -> Result<String> {
    let mut list = cargo(&["tree", "--package", "iotoll", "--target", "all", "--locked"]);
    list.args(["--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let tree = process::output(&mut list)?;
    let about = process::json(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
    let packages = about["packages"].as_array().context("cargo metadata lists packages")?;
    let mut texts = BTreeMap::<String, Vec<String>>::new();
    for package in packages.iter().filter(|package| package["source"].is_string()) {
        let word = |key: &str| package[key].as_str().unwrap_or_default();
        let named = format!("{} v{}", word("name"), word("version"));
        if !tree.lines().any(|line| line.split(" (").next() == Some(&named)) {
            continue;
        }
        let folder =
            Path::new(word("manifest_path")).parent().context("a manifest has a folder")?;
        let crate_name = format!("{named}, {}", word("license"));
        for text in texts_in(folder)? {
            texts.entry(text).or_default().push(crate_name.clone());
        }
    }
    let section = |(text, crates): (&String, &Vec<String>)| {
        format!("{}\n\n{}\n{}\n", crates.join("\n"), text.trim_end(), "-".repeat(80))
    };
    Ok(format!("{GLIBC}{}\n{}", "-".repeat(80), texts.iter().map(section).collect::<String>()))
}

fn texts_in(folder: &Path) -> Result<Vec<String>> {
    let is_licence = |name: &str| {
        let name = name.to_uppercase();
        ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        if is_licence(&entry.file_name().to_string_lossy()) && entry.path().is_file() {
            texts.push(String::from_utf8_lossy(&fs::read(entry.path())?).into_owned());
        }
    }
    texts.sort();
    Ok(texts)
}
