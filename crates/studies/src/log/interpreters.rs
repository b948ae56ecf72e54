//! Writers in the users' own languages, run by the real interpreters.
//!
//! Each language has one script, which speaks the workers' protocol on its
//! standard input and output, reads its records from a file in memory before the
//! clock starts, and times each append with one reading of `CLOCK_MONOTONIC`.

use process::worker::Program;

pub(super) const PHP: Program = Program {
    command: "php",
    // Without a php.ini, which may have files run before every script.
    args: &[
        "-n",
        "-d",
        "memory_limit=-1",
        "-d",
        "display_errors=stderr",
        "-r",
        include_str!("scripts/log.php"),
    ],
    install: "install it, as in `apt install php-cli`, or leave the php strategies out",
};
pub(super) const PYTHON: Program = Program {
    command: "python3",
    // Modules of Python's own alone, whatever the current directory and the user have.
    args: &["-I", "-c", include_str!("scripts/log.py")],
    install: "install it, as in `apt install python3`, or leave the python strategies out",
};
pub(super) const NODE: Program = Program {
    command: "node",
    // Said, so that no package.json is looked for to tell it.
    args: &["--input-type=commonjs", "-e", include_str!("scripts/log.js")],
    install: "install it, as in `apt install nodejs`, or leave the node strategies out",
};

/// All of them.
pub(super) const PROGRAMS: [Program; 3] = [PHP, PYTHON, NODE];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stderr)]

    use std::fs;
    use std::process::{Command, Stdio};

    use super::*;

    /// What keeps them apart besides their environment and where they start.
    #[test]
    fn by_their_arguments_alone_they_heed_nothing_that_is_planted() {
        let planted = tempfile::tempdir().unwrap();
        let here = planted.path();
        let ran = here.join("ran");
        fs::write(here.join("logging.py"), format!("open({:?}, 'w')", ran.display())).unwrap();
        // Which takes from the script what it cannot do without.
        fs::write(here.join("php.ini"), "disable_functions = fgets\n").unwrap();
        fs::write(here.join("package.json"), r#"{"type": "module"}"#).unwrap();
        for program in [PHP, PYTHON, NODE] {
            let mut command = Command::new(program.command);
            command.args(program.args).current_dir(here).stdin(Stdio::null());
            command.env("PYTHONPATH", here).env("PHPRC", here).env("NODE_PATH", here);
            match command.output() {
                Err(_) => eprintln!("SKIPPED: {} is not installed", program.command),
                Ok(output) => {
                    let said = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{}: {said}", program.command);
                    assert!(!ran.exists(), "{} ran what was planted", program.command);
                }
            }
        }
    }
}
