//! Running other programs, cargo above all, from the root of the workspace.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::timeout;

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The cargo that runs this, with these arguments, in the root.
pub fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    command
}

/// The same command, which gives way to all others: what only computes and compiles does not
/// disturb those whose time matters.
pub fn giving_way(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "19"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        nice.current_dir(folder);
    }
    nice
}

/// Runs it to its end; anything but success is an error.
pub fn succeed(command: &mut Command) -> Result<()> {
    let words = words(command);
    let status = command.status().with_context(|| format!("running `{words}`"))?;
    ensure!(status.success(), "`{words}` ended with {status}");
    Ok(())
}

/// What it prints on standard output; anything but success is an error.
pub fn output(command: &mut Command) -> Result<String> {
    printed(command.stdin(Stdio::null()).stderr(Stdio::piped()), |command| Ok(command.output()?))
}

/// The same, read as JSON.
pub fn json(command: &mut Command) -> Result<Value> {
    let text = output(command)?;
    serde_json::from_str(&text).with_context(|| format!("what `{}` printed", words(command)))
}

/// The same, and one that hangs is an error, too.
pub fn output_in_time(command: &mut Command) -> Result<String> {
    printed(command.stdin(Stdio::null()), timeout::output)
}

/// The same, while what it says on standard error is shown as it comes.
pub fn output_alone(command: &mut Command) -> Result<String> {
    printed(command.stdin(Stdio::null()).stderr(Stdio::inherit()), |command| Ok(command.output()?))
}

fn printed(
    command: &mut Command,
    run: impl FnOnce(&mut Command) -> Result<Output>,
) -> Result<String> {
    let words = words(command);
    let output = run(command).with_context(|| format!("running `{words}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let failure = format!("`{words}` ended with {}\n{said}", output.status);
        bail!("{}", failure.trim_end());
    }
    String::from_utf8(output.stdout).with_context(|| format!("what `{words}` printed"))
}

/// The command as one would type it.
fn words(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Whether this process is root's.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Where a program is, if it is installed. Debian keeps those for root where
/// the search path of others does not lead.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The program that was built together with this one, a tool or a test.
///
/// # Panics
/// Where the kernel does not say which program this is.
pub fn built_iotoll() -> PathBuf {
    profile_folder().join("iotoll")
}

/// Where cargo put this program, and puts all that it builds: `target`.
///
/// # Panics
/// Where the kernel does not say which program this is.
pub fn target_folder() -> PathBuf {
    let profile = profile_folder();
    profile.parent().unwrap_or(&profile).to_owned()
}

fn profile_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a process has a program");
    let folder = program.parent().unwrap_or(Path::new("/"));
    let folder = if folder.ends_with("deps") { folder.parent().unwrap_or(folder) } else { folder };
    folder.to_owned()
}

/// Builds the program for development and says where it is.
pub fn build_iotoll() -> Result<PathBuf> {
    build(&[])
}

/// Builds the program for use and says where it is.
pub fn build_release_iotoll() -> Result<PathBuf> {
    build(&["--release"])
}

/// The same with MPI.
pub fn build_release_iotoll_with_mpi() -> Result<PathBuf> {
    build(&["--release", "--features", "mpi"])
}

fn build(profile: &[&str]) -> Result<PathBuf> {
    let mut build = cargo(&["build", "--quiet", "--package", "iotoll", "--message-format=json"]);
    executable(&output(build.args(profile))?)
}

/// The last program that was built, by what cargo says of each thing that it builds.
pub fn executable(messages: &str) -> Result<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back()
        .context("cargo built a program and did not say where it is")
}
