//! What one build makes: every test, and the program as the tests run it.
//!
//! Whoever builds the program alone builds most of it again, because the tests
//! ask its dependencies for more features.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::process;

/// All that `cargo test` would run.
pub(crate) struct Built {
    pub(crate) tests: Vec<TestProgram>,
    pub(crate) iotoll: PathBuf,
}

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
pub(crate) fn all() -> Result<Built> {
    build(&["--workspace"])
}

/// The program with MPI, and the tests of that.
pub(crate) fn with_mpi() -> Result<Built> {
    build(&["--package", "iotoll", "--features", "mpi", "--test", "mpi"])
}

fn build(what: &[&str]) -> Result<Built> {
    let format = "--message-format=json-render-diagnostics";
    let mut build = process::cargo(&[&["test", "--quiet", "--no-run", format], what].concat());
    read(&process::output_alone(&mut build)?)
}

/// Reads what cargo says of each thing that it built.
fn read(messages: &str) -> Result<Built> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let messages: Vec<Value> = messages.collect();
    let executables = messages.iter().filter(|message| message["executable"].is_string());
    let (tests, programs): (Vec<&Value>, Vec<&Value>) =
        executables.partition(|message| message["profile"]["test"] == true);
    let tests = tests.into_iter().map(test_program).collect::<Result<_>>()?;
    let iotoll = programs.iter().find(|program| program["target"]["name"] == "iotoll");
    let iotoll = iotoll.and_then(|program| program["executable"].as_str());
    Ok(Built {
        tests,
        iotoll: iotoll.context("cargo built no iotoll, or did not say where")?.into(),
    })
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
    fn tests_and_the_program_are_told_apart() {
        let messages = r#"
{"reason":"compiler-artifact","executable":null,"target":{"name":"iotoll","kind":["lib"]}}
not JSON
{"manifest_path":"/w/crates/iotoll/Cargo.toml","executable":"/t/a","profile":{"test":true},"target":{"name":"iotoll","kind":["bin"]}}
{"manifest_path":"/w/crates/iotoll/Cargo.toml","executable":"/t/b","profile":{"test":false},"target":{"name":"iotoll","kind":["bin"]}}
{"manifest_path":"/w/crates/load/Cargo.toml","executable":"/t/c","profile":{"test":true},"target":{"name":"syncs","kind":["test"]}}
"#;
        let built = read(messages).expect("there is an iotoll");
        assert_eq!(built.iotoll, Path::new("/t/b"));
        assert!(built.tests.iter().map(|t| t.name.as_str()).eq(["iotoll", "load syncs"]));
        assert_eq!(built.tests[1].folder, Path::new("/w/crates/load"));
    }

    #[test]
    fn without_the_program_there_is_an_error() {
        assert!(read("").is_err());
    }
}
