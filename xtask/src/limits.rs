//! Figures of the project that may only go down, kept in `limits.txt`: circles of modules,
//! crates in the program, its longest function, and its size.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask::process;

const FILE: &str = "xtask/limits.txt";

/// The figures, by name.
type Limits = BTreeMap<String, u64>;

/// What is over its limit, each in a sentence; `found` has what others counted. Prints what
/// could be lower, and what could not be measured.
pub(crate) fn exceeded(mut found: Limits) -> Result<Vec<String>> {
    found.insert("crates".to_owned(), crates_in_program()?);
    match stripped_kib()? {
        Some(kib) => _ = found.insert("stripped_kib".to_owned(), kib),
        None => println!("stripped_kib is not checked: there is no `cargo build --release`"),
    }
    let limits = read()?;
    for (name, is) in &found {
        if limits.get(name).is_some_and(|limit| is < limit) {
            println!("{name} is {is}: write that to {FILE}");
        }
    }
    Ok(over(&limits, &found))
}

/// What the tests took when that was last written down, in seconds.
pub(crate) fn test_seconds() -> Result<Option<u64>> {
    Ok(read()?.get("test_seconds").copied())
}

fn read() -> Result<Limits> {
    parse(&fs::read_to_string(process::root().join(FILE)).context(FILE)?)
}

fn parse(text: &str) -> Result<Limits> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let limit = |line: &str| {
        let (name, figure) = line.split_once(' ').with_context(|| format!("no figure: {line}"))?;
        let figure = figure.trim().parse().with_context(|| format!("no number: {line}"))?;
        Ok((name.to_owned(), figure))
    };
    lines.map(limit).collect()
}

fn over(limits: &Limits, found: &Limits) -> Vec<String> {
    let over = found.iter().filter_map(|(name, is)| match limits.get(name) {
        Some(limit) if is <= limit => None,
        Some(limit) => Some(format!("{FILE}: {name} is {is}, and may be at most {limit}")),
        None => Some(format!("{FILE}: there is no limit for {name}, which is {is}")),
    });
    over.collect()
}

/// How many packages the program is linked from, ours and others'.
fn crates_in_program() -> Result<u64> {
    let arguments = ["tree", "--package", "iotoll", "--edges", "normal", "--prefix", "none"];
    let tree = process::output(process::cargo(&arguments).arg("--locked"))?;
    let name = |line: &str| line.split_once(' ').map(|(name, _)| name.to_owned());
    let packages: BTreeSet<String> = tree.lines().filter_map(name).collect();
    Ok(packages.len() as u64)
}

/// The size of the program that was built for use, without symbols; none where there is none.
fn stripped_kib() -> Result<Option<u64>> {
    let program = process::root().join("target/release/iotoll");
    if !program.is_file() || process::find_program("strip").is_none() {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let stripped = folder.path().join("iotoll");
    process::output(Command::new("strip").arg("-o").arg(&stripped).arg(&program))?;
    Ok(Some(size_kib(&stripped)?))
}

fn size_kib(file: &Path) -> Result<u64> {
    Ok(fs::metadata(file).with_context(|| file.display().to_string())?.len() / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_its_limit_or_has_none_is_found() {
        let limits = parse("# why\ncircles 0\n\ncrates   103\n").expect("it is read");
        let found = |circles, crates| {
            over(&limits, &[("circles".to_owned(), circles), ("crates".to_owned(), crates)].into())
        };
        assert!(found(0, 103).is_empty() && found(0, 90).is_empty());
        assert_eq!(found(1, 104).len(), 2);
        assert_eq!(over(&limits, &[("other".to_owned(), 0)].into()).len(), 1);
        assert!(parse("circles\n").is_err() && parse("circles many\n").is_err());
    }
}
