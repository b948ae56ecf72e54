//! Commands of the user's, for a shell.

use std::path::Path;
use std::process::Command;

pub(crate) use model::shell::{PLACE, PORT, VARIANT, filled_in};

/// Whether a text says, in either way, where that belongs.
pub(crate) fn names(text: &str, what: [&str; 2]) -> bool {
    what.iter().any(|name| text.contains(name))
}

/// The shell that runs a script for an arm in a folder.
pub(crate) fn shell(script: &str, folder: &Path, variant: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(script).env(PLACE[1], folder).env(VARIANT[1], variant);
    shell
}
