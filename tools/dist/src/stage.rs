//! The tree of files that packages install: `target/dist/stage`, as below `/`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use xtask::process;

use crate::licences;
use crate::release::{Release, Target};

const DOCUMENTATION: &str = "usr/share/doc/iotoll";
/// The shells, and where each looks for completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/iotoll"),
    ("zsh", "usr/share/zsh/vendor-completions/_iotoll"),
    ("fish", "usr/share/fish/vendor_completions.d/iotoll.fish"),
];

/// Fills the tree for a program.
pub(crate) fn fill(release: &Release, target: &Target, program: &Path) -> Result<PathBuf> {
    let stage = release.out.join("stage");
    if stage.exists() {
        fs::remove_dir_all(&stage).with_context(|| format!("removing {}", stage.display()))?;
    }
    put(&stage, "usr/bin/iotoll", &fs::read(program)?)?;
    fs::set_permissions(stage.join("usr/bin/iotoll"), fs::Permissions::from_mode(0o755))?;
    // The compiler leaves the names of functions. The list of `cargo auditable` stays.
    let strip = target.tool("strip");
    process::succeed(Command::new(strip).arg("--strip-all").arg(stage.join("usr/bin/iotoll")))?;
    let run = |arguments: &[&str]| process::output(target.command(program).args(arguments));
    for name in commands(&run(&["--help"])?)? {
        let (page, arguments) = match name.as_str() {
            "iotoll" => (name.clone(), vec!["man"]),
            command => (format!("iotoll-{command}"), vec!["man", command]),
        };
        put(&stage, &format!("usr/share/man/man1/{page}.1"), run(&arguments)?.as_bytes())?;
    }
    for (shell, place) in COMPLETIONS {
        put(&stage, place, run(&["completions", shell])?.as_bytes())?;
    }
    documentation(release, &stage)?;
    same_times(release, &stage)?;
    Ok(stage)
}

/// The commands with a manual page, iotoll itself first, as the help lists them.
fn commands(help: &str) -> Result<Vec<String>> {
    let listed = help.split("\nOptions:").next().unwrap_or_default();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned);
    let names: Vec<_> = std::iter::once("iotoll".to_owned()).chain(names).collect();
    ensure!(names.len() > 10, "the help lists no commands:\n{help}");
    Ok(names)
}

fn documentation(release: &Release, stage: &Path) -> Result<()> {
    let root = process::root();
    let doc = |name: &str| format!("{DOCUMENTATION}/{name}");
    put(stage, &doc("copyright"), licences::copyright()?.as_bytes())?;
    put(stage, &doc("third-party-licences.txt"), licences::of_dependencies()?.as_bytes())?;
    put(stage, &doc("changelog"), &fs::read(root.join("CHANGELOG.md"))?)?;
    put(stage, &doc("changelog.Debian"), debian_changelog(release)?.as_bytes())?;
    put(stage, &doc("README.md"), &fs::read(root.join("README.md"))?)?;
    put(stage, &doc("install.md"), &fs::read(root.join("docs/install.md"))?)?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let place = format!("usr/share/licenses/iotoll/{name}");
        put(stage, &place, &fs::read(root.join(name))?)?;
    }
    put(stage, "usr/share/lintian/overrides/iotoll", OVERRIDES.as_bytes())?;
    let examples = git_files("examples")?;
    for file in examples {
        let name = file.strip_prefix(root)?.to_owned();
        let place = format!("{DOCUMENTATION}/{}", name.display());
        put(stage, &place, &fs::read(&file)?)?;
        let mode = fs::metadata(&file)?.permissions().mode() & 0o111 | 0o644;
        fs::set_permissions(stage.join(place), fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Why the package is not as lintian expects.
const OVERRIDES: &str = "\
# Starts on machines with any C library or none.
iotoll: statically-linked-binary [usr/bin/iotoll]
iotoll: shared-library-lacks-prerequisites [usr/bin/iotoll]
iotoll: empty-field Depends
# The project makes the package; it is not uploaded to Debian.
iotoll: initial-upload-closes-no-bugs *
# What is measured must not differ from machine to machine.
iotoll: embedded-library *
";

/// What Debian's tools read of a version.
fn debian_changelog(release: &Release) -> Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "--rfc-email", "--date", &format!("@{}", release.epoch)]);
    let date = process::output(date.env("LC_ALL", "C"))?;
    Ok(format!(
        "iotoll ({}-1) unstable; urgency=medium\n\n  * Release of {}; see changelog.gz.\n\n \
         -- {}  {}\n",
        release.version,
        release.version,
        licences::MAINTAINER,
        date.trim()
    ))
}

/// Files of the repository below a folder, and nothing else that lies there.
fn git_files(folder: &str) -> Result<Vec<PathBuf>> {
    let root = process::root();
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", folder]).current_dir(root);
    let list = process::output(&mut git)?;
    Ok(list.split_terminator('\0').map(|name| root.join(name)).collect())
}

fn put(stage: &Path, place: &str, content: &[u8]) -> Result<()> {
    let path = stage.join(place);
    let folder = path.parent().context("a file has a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    fs::write(&path, content).with_context(|| format!("writing {}", path.display()))
}

/// Gives all files the time of the release.
fn same_times(release: &Release, stage: &Path) -> Result<()> {
    let time = format!("@{}", release.epoch);
    let mut find = Command::new("find");
    find.arg(stage).args(["-exec", "touch", "--no-dereference", "--date", &time, "{}", "+"]);
    process::succeed(&mut find)
}

#[cfg(test)]
mod tests {
    use super::commands;

    /// Fails where a line of the options or the examples is taken for a command.
    #[test]
    fn commands_are_those_that_the_help_lists() {
        let names: Vec<_> = (0..12).map(|number| format!("name{number}")).collect();
        let lines: Vec<_> = names.iter().map(|name| format!("  {name}  Do it\n")).collect();
        let help = format!(
            "About\n\nMeasure:\n{}  help  Print\n\nOptions:\n  -h, --help\n\
                            \nExamples:\n  iotoll compare\n",
            lines.concat()
        );
        let found = commands(&help);
        let found = found.as_deref().unwrap_or_default();
        assert_eq!(found[0], "iotoll");
        assert_eq!(found[1..], names);
    }
}
