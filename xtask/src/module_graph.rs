//! Finds circles of modules: files of one crate that import each other, over others or not.
//!
//! An import is a path that begins with `crate`, `super` or `self`, wherever it stands outside
//! of tests. A module may use its own parents, and they declare it, so these are no circles.
//! In C, a file uses another where it calls a function that the other defines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use xtask::process;

use crate::rust_files::{is_test, outside_tests, rust_files};

/// What each file uses, by path.
type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// Where packages are, and where the one library in C is.
const PACKAGES: [&str; 4] = ["crates", "tools", "xtask", "bench"];
const LIBRARY_IN_C: &str = "crates/record/src/preload/library";

/// All circles of the project, each in a line with its files.
pub(crate) fn circles() -> Result<Vec<String>> {
    let mut sources = Vec::new();
    for folder in PACKAGES {
        find_sources(&process::root().join(folder), &mut sources)?;
    }
    let mut graphs = sources.iter().map(|src| in_rust(src)).collect::<Result<Vec<_>>>()?;
    graphs.push(in_c(&process::root().join(LIBRARY_IN_C))?);
    let names = |circle: Vec<PathBuf>| {
        let shown = |file: &PathBuf| {
            file.strip_prefix(process::root()).unwrap_or(file).display().to_string()
        };
        circle.iter().map(shown).collect::<Vec<_>>().join(" → ")
    };
    Ok(graphs.iter().flat_map(found).map(names).collect())
}

/// The `src` folders of packages.
fn find_sources(folder: &Path, sources: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join("Cargo.toml").is_file() {
        sources.push(folder.join("src"));
        return Ok(());
    }
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            find_sources(&entry.path(), sources)?;
        }
    }
    Ok(())
}

fn in_rust(src: &Path) -> Result<Graph> {
    let mut files = rust_files(src, &[""])?;
    files.retain(|file| !is_test(file));
    let modules: BTreeMap<Vec<String>, PathBuf> =
        files.iter().map(|file| (module_of(src, file), file.clone())).collect();
    let mut graph = Graph::new();
    for (module, file) in &modules {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let used = paths(outside_tests(&text)).into_iter().filter_map(|path| {
            let path = absolute(module, &path)?;
            (0..=path.len()).rev().find_map(|length| {
                modules.get_key_value(&path[..length]).filter(|(to, _)| !module.starts_with(to))
            })
        });
        graph.insert(file.clone(), used.map(|(_, file)| file.clone()).collect());
    }
    Ok(graph)
}

/// The names of a file's module, from the crate's root on.
fn module_of(src: &Path, file: &Path) -> Vec<String> {
    let within = file.strip_prefix(src).unwrap_or(file).with_extension("");
    let mut names: Vec<String> =
        within.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        names.pop();
    }
    names
}

/// The paths in a text that begin with `crate`, `super` or `self`.
fn paths(text: &str) -> Vec<Vec<String>> {
    paths_from(text, &["crate::", "super::", "self::"])
}

/// The paths in a text that begin so; those in braces one by one.
pub(crate) fn paths_from(text: &str, beginnings: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let code: String = text.lines().map(without_comment).collect::<Vec<_>>().join("\n");
    for start in beginnings {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                expand(&code[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

fn without_comment(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

/// Reads a path, and gives what is behind it; each path in braces is one of its own.
fn expand<'a>(text: &'a str, so_far: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let depth = so_far.len();
    let mut rest = text.trim_start();
    loop {
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        so_far.push(rest[..length].to_owned());
        match rest[length..].strip_prefix("::") {
            Some(after) if after.starts_with('{') => {
                rest = &after[1..];
                while !rest.is_empty() && !rest.starts_with('}') {
                    rest = expand(rest, so_far, found).trim_start();
                    rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
                }
                rest = rest.strip_prefix('}').unwrap_or(rest);
                break;
            }
            Some(after) if after.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                rest = after;
            }
            _ => {
                found.push(so_far.clone());
                // A renaming, or the end of this one.
                let end = rest.find([',', '}', ';']).unwrap_or(rest.len());
                rest = &rest[length.max(1).min(rest.len()).max(end)..];
                break;
            }
        }
    }
    so_far.truncate(depth);
    rest
}

/// A path from the crate's root on.
fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (&[][..], &path[1..]),
        "self" => (module, &path[1..]),
        _ => (&module[..module.len().checked_sub(ups)?], &path[ups..]),
    };
    Some([base, rest].concat())
}

fn in_c(folder: &Path) -> Result<Graph> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let files = files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "c"));
    let read = |file: PathBuf| Ok((fs::read_to_string(&file)?, file));
    let texts = files.map(read).collect::<Result<Vec<(String, PathBuf)>>>()?;
    let calls = |text: &str, name: &str| {
        text.match_indices(&format!("{name}("))
            .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let uses = |text: &String, file: &PathBuf| {
        let others = texts.iter().filter(|(_, other)| other != file);
        let used = others.filter(|(other, _)| defined(other).any(|name| calls(text, name)));
        used.map(|(_, other)| other.clone()).collect()
    };
    Ok(texts.iter().map(|(text, file)| (file.clone(), uses(text, file))).collect())
}

/// The functions that a file defines for others.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    let definitions = text.lines().filter(|line| {
        line.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !["static", "extern", "typedef", "__attribute__"]
                .iter()
                .any(|word| line.starts_with(word))
            && line.ends_with(')')
    });
    definitions.filter_map(|line| {
        let (before, _) = line.split_once('(')?;
        before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()
    })
}

/// A circle for each group of files that reach each other.
fn found(graph: &Graph) -> Vec<Vec<PathBuf>> {
    let reached = |from: &PathBuf| {
        let mut reached: BTreeSet<&PathBuf> = BTreeSet::new();
        let mut next: Vec<&PathBuf> = graph.get(from).into_iter().flatten().collect();
        while let Some(file) = next.pop() {
            if reached.insert(file) {
                next.extend(graph.get(file).into_iter().flatten());
            }
        }
        reached
    };
    let reached: BTreeMap<&PathBuf, _> = graph.keys().map(|file| (file, reached(file))).collect();
    let mut circles = BTreeSet::new();
    for (file, others) in &reached {
        let back = |other: &&&PathBuf| reached.get(**other).is_some_and(|set| set.contains(file));
        let circle: Vec<PathBuf> = others.iter().filter(back).map(|file| (*file).clone()).collect();
        if !circle.is_empty() {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let mut found: Vec<String> = paths(text).iter().map(|path| path.join("::")).collect();
        found.sort();
        found
    }

    #[test]
    fn paths_are_found_in_imports_and_in_code_and_not_in_comments() {
        let text = "use super::{a, b::{C, D as E}, f as g};\nuse other::crate_x;\n// crate::no\n\
                    fn f() -> crate::h::I { x::self::y(); $crate::m }\n";
        assert_eq!(
            read(text),
            ["crate::h::I", "super::a", "super::b::C", "super::b::D", "super::f"]
        );
    }

    #[test]
    fn a_circle_over_three_files_is_found_and_parents_are_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().expect("it has one")).expect("it is made");
            fs::write(file, text).expect("it is written");
        };
        write("lib.rs", "mod a;\nmod b;\nmod c;\n");
        write("a/mod.rs", "mod inner;\nuse self::inner::X;\nuse crate::b::Y;\n");
        write("a/inner.rs", "use super::Z;\n");
        write("b.rs", "use crate::c;\n");
        write("c.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::X;\n}\n");
        assert!(found(&in_rust(folder.path()).expect("it is read")).is_empty());
        write("c.rs", "use crate::a::{self, X};\n");
        let circles = found(&in_rust(folder.path()).expect("it is read"));
        assert_eq!(circles.len(), 1);
        assert_eq!(circles[0].len(), 3);
    }

    #[test]
    fn files_in_c_that_call_each_other_are_a_circle() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text);
        write("a.c", "int first(void)\n{\n    return second(1);\n}\n").expect("it is written");
        write("b.c", "long second(int x)\n{\n    return not_first(x);\n}\n")
            .expect("it is written");
        assert!(found(&in_c(folder.path()).expect("it is read")).is_empty());
        write("b.c", "long second(int x)\n{\n    return first();\n}\n").expect("it is written");
        assert_eq!(found(&in_c(folder.path()).expect("it is read")).len(), 1);
    }
}
