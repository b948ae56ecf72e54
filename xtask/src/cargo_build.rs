//! What one build makes: every test, and the programs as the tests run them.
//!
//! All builds for tests name the whole workspace, because cargo then asks each dependency for
//! the same features, and builds none of them twice.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use xtask::process;

/// A program of tests.
pub(crate) struct TestProgram {
    /// Its package and target: `iotoll-load syncs`; the package alone where the tests
    /// are in the source itself.
    pub(crate) name: String,
    executable: PathBuf,
    folder: PathBuf,
}

impl TestProgram {
    /// As cargo runs it, showing what tests print as well.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.arg("--show-output").current_dir(&self.folder);
        command.env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }

    /// The same for these tests alone, one after the other.
    pub(crate) fn command_of(&self, names: &[&str]) -> Command {
        let mut command = self.command();
        command.args(["--test-threads=1", "--exact"]).args(names);
        command
    }
}

/// Builds everything for development, showing what the compiler has to say.
pub(crate) fn all() -> Result<Vec<TestProgram>> {
    build(&[])
}

/// The program with MPI, and the tests of that.
pub(crate) fn with_mpi() -> Result<Vec<TestProgram>> {
    build(&["--features", "iotoll/mpi", "--test", "mpi"])
}

fn build(what: &[&str]) -> Result<Vec<TestProgram>> {
    let format = "--message-format=json-render-diagnostics";
    let usual = ["test", "--quiet", "--no-run", "--workspace", format];
    let mut build = process::cargo(&[&usual, what].concat());
    read(&process::output_alone(&mut build)?)
}

/// Reads what cargo says of each thing that it built.
fn read(messages: &str) -> Result<Vec<TestProgram>> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let is_test =
        |message: &Value| message["executable"].is_string() && message["profile"]["test"] == true;
    let tests = messages.filter(is_test).map(|message| test_program(&message));
    let tests: Vec<_> = tests.collect::<Result<_>>()?;
    ensure!(!tests.is_empty(), "cargo built no tests, or did not say where");
    Ok(tests)
}

fn test_program(message: &Value) -> Result<TestProgram> {
    let text =
        |value: &Value| value.as_str().map(str::to_owned).context("cargo says what it built");
    let manifest = PathBuf::from(text(&message["manifest_path"])?);
    let folder = manifest.parent().unwrap_or(Path::new("/")).to_owned();
    let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_own = message["target"]["kind"] == serde_json::json!(["test"]);
    let name =
        if is_own { format!("{package} {}", text(&message["target"]["name"])?) } else { package };
    Ok(TestProgram { name, executable: text(&message["executable"])?.into(), folder })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_programs_are_told_apart() {
        let messages = r#"
{"reason":"compiler-artifact","executable":null,"target":{"name":"iotoll","kind":["lib"]}}
not JSON
{"manifest_path":"/w/crates/iotoll/Cargo.toml","executable":"/t/a","profile":{"test":true},"target":{"name":"iotoll","kind":["bin"]}}
{"manifest_path":"/w/crates/iotoll/Cargo.toml","executable":"/t/b","profile":{"test":false},"target":{"name":"iotoll","kind":["bin"]}}
{"manifest_path":"/w/crates/load/Cargo.toml","executable":"/t/c","profile":{"test":true},"target":{"name":"syncs","kind":["test"]}}
"#;
        let tests = read(messages).expect("there are tests");
        assert!(tests.iter().map(|t| t.name.as_str()).eq(["iotoll", "load syncs"]));
        assert_eq!(tests[1].folder, Path::new("/w/crates/load"));
    }

    #[test]
    fn without_tests_there_is_an_error() {
        assert!(read("").is_err());
    }
}
