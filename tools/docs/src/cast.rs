//! The README's terminal cast: a real `iotoll compare` on a terminal, as asciicast, which
//! `termtosvg` (of `PyPI`) draws as an SVG that moves.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::json;

use xtask::packages::is_installed;
use xtask::process;

const PICTURE: &str = "docs/compare.svg";
/// `script` is of util-linux.
const PROGRAMS: [&str; 2] = ["script", "termtosvg"];
const WIDTH: u32 = 82;
const HEIGHT: u32 = 42;
/// Nobody wants to watch a pause for longer.
const PAUSE_MAX_S: f64 = 0.35;

/// Records a run in that folder and draws it; says what is missing for that.
pub(crate) fn run(iotoll: &Path, folder: &Path) -> Result<()> {
    if let Some(missing) = PROGRAMS.into_iter().find(|name| !is_installed(name)) {
        println!("{PICTURE} is left as it is: no {missing}");
        return Ok(());
    }
    let work = tempfile::tempdir()?;
    let file = |name| work.path().join(name);
    let (output, timing, cast) = (file("output"), file("timing"), file("run.cast"));
    let command = format!("stty rows {HEIGHT} cols {WIDTH}; {} compare", iotoll.display());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command"]).arg(command).current_dir(folder);
    script.arg("--log-out").arg(&output).arg("--log-timing").arg(&timing);
    script.env("TERM", "xterm-256color");
    // The run would end with its input, which is open as long as this process.
    let mut script = script.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let input = script.stdin.take();
    script.wait().context("script")?;
    drop(input);
    fs::write(&cast, asciicast(&fs::read(&output)?, &fs::read_to_string(&timing)?)?)?;
    let mut draw = Command::new("termtosvg");
    draw.arg("render").arg(&cast).arg(process::root().join(PICTURE));
    process::output(draw.args(["--template", "ubuntu"]))?;
    println!("{PICTURE}");
    Ok(())
}

/// What `script` recorded as asciicast 2: its output after a line of its own, and how long after
/// the one before each part of that came, with its length.
fn asciicast(output: &[u8], timing: &str) -> Result<String> {
    let start = 1 + output.iter().position(|byte| *byte == b'\n').context("an empty recording")?;
    let mut rest = &output[start..];
    let mut cast = json!({ "version": 2, "width": WIDTH, "height": HEIGHT }).to_string() + "\n";
    let mut at_s = 0.0;
    let mut pending = Vec::new();
    for line in timing.lines() {
        let (pause, length) = line.split_once(' ').context("a line without a length")?;
        at_s += pause.parse::<f64>()?.min(PAUSE_MAX_S);
        let (part, after) = rest.split_at(length.trim().parse::<usize>()?.min(rest.len()));
        rest = after;
        pending.extend_from_slice(part);
        // A part may end within a letter.
        if let Ok(text) = std::str::from_utf8(&pending) {
            writeln!(cast, "{}", json!([at_s, "o", text]))?;
            pending.clear();
        }
    }
    Ok(cast)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_recording_have_whole_letters_and_short_pauses() {
        let output = "Script started\na\u{2192}b\r\nScript done".as_bytes();
        let cast = asciicast(output, "0.25 2\n9.0 3\n0.0 2\n").expect("it is one");
        let lines: Vec<&str> = cast.lines().skip(1).collect();
        assert_eq!(lines, [r#"[0.6,"o","a→b"]"#, r#"[0.6,"o","\r\n"]"#]);
        assert!(asciicast(b"", "").is_err());
    }
}
