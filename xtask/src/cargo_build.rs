//! One build for all: every test, the programs as the tests run them, and the lints.
//!
//! `clippy-driver` is a compiler that lints, too: given to cargo as such, it saves a second pass over
//! the whole workspace. All builds for tests name the whole workspace and the same features, because
//! cargo then asks each dependency for the same features, and builds none of them twice.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use xtask::process;

/// What a build made.
pub(crate) struct Built {
    pub(crate) tests: Vec<TestProgram>,
    /// What the compiler and clippy have to say, as they print it.
    pub(crate) warnings: Vec<String>,
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

/// Builds everything for development.
pub(crate) fn all() -> Result<Built> {
    build(command("build").args(["--lib", "--bins", "--examples", "--tests"]))
}

/// The program with MPI, and the tests of that; the program without it stays where it is. Tests
/// run beside it.
pub(crate) fn with_mpi() -> Result<Built> {
    let target = process::target_folder();
    let mut build_mpi = command("build");
    build_mpi.args(["--features", "iotoll/mpi", "--test", "mpi", "--target-dir"]);
    build_mpi.arg(target.join("mpi")).env("CARGO_BUILD_BUILD_DIR", target);
    build(&mut process::giving_way(&build_mpi))
}

/// Cargo for the whole workspace with what all builds for tests have in common.
pub(crate) fn command(subcommand: &str) -> Command {
    let mut command = process::cargo(&[subcommand, "--quiet", "--workspace"]);
    command.args(["--features", "iotoll-fuzz/engine"]);
    if std::env::var_os("CI").is_some() {
        // There is no next build that incremental files would speed up, and a panic names its line
        // without debug information.
        command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
    }
    if let Some(clippy) = clippy() {
        // As `cargo clippy` does it. A lint that is denied is reported with the others.
        command.env("RUSTC_WORKSPACE_WRAPPER", clippy);
        command.env("CLIPPY_ARGS", "--cap-lints=warn__CLIPPY_HACKERY__");
    }
    command
}

/// What is not linted here, and why.
pub(crate) fn unlinted() -> Vec<String> {
    match clippy() {
        Some(_) => Vec::new(),
        None => vec!["no clippy; to have it: rustup component add clippy".to_owned()],
    }
}

/// The compiler that lints, where it is installed next to the other.
fn clippy() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let root = process::output(Command::new(rustc).args(["--print", "sysroot"])).ok()?;
    let driver = Path::new(root.trim()).join("bin/clippy-driver");
    driver.is_file().then_some(driver)
}

fn build(command: &mut Command) -> Result<Built> {
    command.arg("--message-format=json").stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().context("running cargo")?;
    let messages = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        for said in diagnostics(&messages) {
            eprint!("{said}");
        }
    }
    ensure!(output.status.success(), "cargo ended with {}", output.status);
    Ok(Built { tests: read(&messages)?, warnings: diagnostics(&messages) })
}

/// What compilers say, once where they say it of a library and of its tests.
fn diagnostics(messages: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of_compilers = messages.filter(|message| message["reason"] == "compiler-message");
    let rendered = of_compilers
        .filter_map(|message| Some(message["message"]["rendered"].as_str()?.to_owned()));
    rendered.filter(|text| seen.insert(text.clone())).collect()
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
    fn what_is_said_of_a_library_and_of_its_tests_is_said_once() {
        let message = r#"{"reason":"compiler-message","message":{"rendered":"warning: late\n"}}"#;
        let other = r#"{"reason":"compiler-artifact","message":{"rendered":"not one"}}"#;
        let messages = [message, other, "no JSON", message].join("\n");
        assert_eq!(diagnostics(&messages), ["warning: late\n"]);
    }

    #[test]
    fn without_tests_there_is_an_error() {
        assert!(read("").is_err());
    }
}
