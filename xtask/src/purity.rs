//! Keeps what asks the system or acts on it out of what is a function of its input.

use std::fs;

use anyhow::{Context as _, Result};
use xtask::process;

use crate::module_graph::paths_from;
use crate::rust_files::{is_test, outside_tests, rust_files};

/// Folders whose files ask nothing and act on nothing.
const PURE: [&str; 7] = [
    "crates/analysis/src",
    "crates/model/src",
    "crates/report/src",
    "crates/stats/src",
    "crates/studies/src/replay/plan",
    "crates/trace/src",
    "crates/units/src",
];
/// Where paths to what asks or acts begin.
const BEGINNINGS: [&str; 6] = ["std::", "rustix::", "sys::", "host::", "process::", "engine::"];
/// Of the standard library's modules, those that do.
const ACTING: [&str; 5] = ["std::env", "std::fs", "std::net", "std::process", "std::thread"];

/// Each file that is to be pure and is not.
pub(crate) fn check() -> Result<Vec<String>> {
    let files = rust_files(process::root(), &PURE)?;
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| !is_test(file)) {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let name = file.strip_prefix(process::root()).unwrap_or(file).display();
        let impure = impure(outside_tests(&text));
        findings.extend(impure.iter().map(|path| format!("{name}:1: {path} is not pure")));
    }
    Ok(findings)
}

fn impure(text: &str) -> Vec<String> {
    let paths = paths_from(text, &BEGINNINGS).into_iter().map(|path| path.join("::") + "::");
    let acts = |path: &String| {
        !path.starts_with("std::")
            || ACTING.iter().any(|acting| path.starts_with(&format!("{acting}::")))
    };
    paths.filter(acts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_or_acts_is_found_and_what_computes_is_not() {
        let pure =
            "use std::{fmt, io};\nuse super::process;\n// std::fs::read\nlet x = libc::EINTR;\n";
        assert!(impure(pure).is_empty(), "{:?}", impure(pure));
        let found = impure("use std::{fmt, fs};\nlet x = rustix::io::Errno::INTR;\n");
        assert_eq!(found, ["std::fs::", "rustix::io::Errno::INTR::"]);
    }
}
