//! What the dependencies are held to: licences, sources, duplicates and advisories, by
//! [cargo-deny](https://embarkstudios.github.io/cargo-deny/) and `deny.toml`.
//!
//! Building cargo-deny takes longer than all tests together, so it is used where it is
//! installed. Advisories are looked up in a database on the Internet, which is not there
//! for every machine.

use anyhow::Result;

use xtask::pool::Skipped;
use xtask::process::{cargo, output};

/// What needs nothing but what is here already.
const OFFLINE: [&str; 5] = ["deny", "check", "bans", "licenses", "sources"];

pub(crate) fn check() -> Result<Skipped> {
    if output(&mut cargo(&["deny", "--version"])).is_err() {
        let how = "cargo install --locked cargo-deny";
        return Ok(vec![format!("no cargo-deny; to have it: {how}")]);
    }
    output(&mut cargo(&OFFLINE))?;
    if let Err(error) = output(&mut cargo(&["deny", "fetch", "db"])) {
        let why = error.to_string();
        let last = why.lines().last().unwrap_or_default();
        return Ok(vec![format!("advisories: their database could not be had: {last}")]);
    }
    output(&mut cargo(&["deny", "--offline", "check", "advisories"]))?;
    Ok(Vec::new())
}
