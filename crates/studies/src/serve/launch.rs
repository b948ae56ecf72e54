//! A server of the user's: its command filled in, its folder prepared.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use engine::recorder::StopFlag;
use engine::study::StudyError;
use model::shell::quoted;
use model::study::Params;
use rustix::process::{Pid, Signal, kill_process_group};

/// How much of what a preparation says is passed on when it fails.
const SAID_BYTES_MAX: u64 = 2000;
/// Between two looks at whether a preparation has ended.
const LOOK: Duration = Duration::from_millis(2);

/// Where a server finds its files and listens.
pub(super) struct Spot<'a> {
    pub(super) folder: &'a Path,
    pub(super) port: u16,
}

/// Why a command cannot be meant.
pub(super) fn refuse(params: &Params) -> Result<(), String> {
    let fixed = params.count("port") != 0;
    if !fixed && !params.text("command").contains("{port}") && !reads_environment(params) {
        return Err("the command has no {port} to tell the server where to listen; write {port} \
                    where its port belongs, or give serve.port where it is fixed"
            .to_owned());
    }
    let names_variant =
        ["command", "prepare", "url"].iter().any(|name| params.text(name).contains("{variant}"));
    if !params.text("variant").is_empty() && !names_variant {
        return Err(
            "a variant is given, and neither command nor prepare nor url has {variant} to \
                    put it in"
                .to_owned(),
        );
    }
    if params.count("log_lines") > 0 {
        return Err(
            "log_lines is for the servers that are built in; a server of your own logs as \
                    it does"
                .to_owned(),
        );
    }
    if !params.text("url").starts_with('/') {
        return Err(format!("the url `{}` is not a path; begin it with /", params.text("url")));
    }
    Ok(())
}

fn reads_environment(params: &Params) -> bool {
    params.text("command").contains("IOTOLL_PORT")
}

/// The path and query that are asked for.
pub(super) fn url(params: &Params) -> String {
    params.text("url").replace("{variant}", params.text("variant"))
}

/// A text of the user's as a shell's command.
pub(super) fn command(text: &str, params: &Params, spot: &Spot<'_>) -> Command {
    let folder = spot.folder.display().to_string();
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(filled_in(text, params, &folder, &spot.port.to_string()))
        .env("IOTOLL_PLACE", spot.folder)
        .env("IOTOLL_PORT", spot.port.to_string())
        .env("IOTOLL_VARIANT", params.text("variant"));
    command
}

fn filled_in(text: &str, params: &Params, folder: &str, port: &str) -> String {
    // In one pass, so that what is put in is not looked at again.
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        let values = [("{variant}", params.text("variant")), ("{place}", folder), ("{port}", port)];
        let found = values.iter().find(|(name, _)| from.starts_with(name));
        let (put_in, taken) = found.map_or(("{".to_owned(), 1), |(n, v)| (quoted(v), n.len()));
        filled.push_str(&put_in);
        rest = &from[taken..];
    }
    filled + rest
}

/// Runs the user's preparation, if there is one, to its end.
pub(super) fn prepare(params: &Params, spot: &Spot<'_>, stop: &StopFlag) -> Result<(), StudyError> {
    let text = params.text("prepare");
    if text.is_empty() {
        return Ok(());
    }
    let failed = |why: String| StudyError::Refused { doing: "preparing the server's folder", why };
    let mut command = command(text, params, spot);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = Group(command.spawn().map_err(|e| failed(format!("{text}: {e}")))?);
    let mut said = String::new();
    let listening = child.0.stderr.take().map(|pipe| {
        thread::spawn(move || {
            let mut said = Vec::new();
            let mut pipe = pipe;
            // What it could not say is not missed.
            let _ = pipe.by_ref().take(SAID_BYTES_MAX).read_to_end(&mut said);
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            String::from_utf8_lossy(&said).trim().to_owned()
        })
    });
    let status = loop {
        match child.0.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if stop.load(Ordering::Relaxed) => return Err(StudyError::Stopped),
            Ok(None) => thread::sleep(LOOK),
            Err(error) => return Err(failed(format!("{text}: {error}"))),
        }
    };
    drop(child);
    if let Some(Ok(heard)) = listening.map(thread::JoinHandle::join) {
        said = heard;
    }
    if status.success() {
        return Ok(());
    }
    Err(failed(format!("`{text}` ended with {status}; it said: {said}")))
}

/// A process with all that it started, which end with this.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.0.id().cast_signed()) {
            // Gone already is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Instant;

    use super::super::Serve;
    use super::*;
    use crate::testing;

    fn params(given: &[(&str, &str)]) -> Params {
        testing::params(&Serve, given)
    }

    #[test]
    fn what_is_filled_in_is_one_word_for_the_shell() {
        let params = params(&[("variant", "it's $HOME")]);
        let filled = filled_in("serve {variant} {place}:{port}", &params, "/a b/c", "81");
        assert_eq!(filled, r"serve 'it'\''s $HOME' '/a b/c':81");
        // What a variant says is not looked at again.
        let odd = testing::params(&Serve, &[("variant", "{place}")]);
        assert_eq!(filled_in("{variant}", &odd, "/a", "1"), "'{place}'");
    }

    #[test]
    fn a_preparation_that_fails_says_so_and_one_that_hangs_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let spot = Spot { folder: folder.path(), port: 1 };
        let stop = StopFlag::default();
        let made = params(&[("prepare", "echo {port} > {place}/made")]);
        prepare(&made, &spot, &stop).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("made")).unwrap(), "1\n");
        let failing = params(&[("prepare", "echo no such table >&2; exit 3")]);
        let why = prepare(&failing, &spot, &stop).unwrap_err().to_string();
        assert!(why.contains("no such table") && why.contains("exit status: 3"), "{why}");
        stop.store(true, Ordering::Relaxed);
        let began = Instant::now();
        let hanging = params(&[("prepare", "sleep 600 & sleep 600")]);
        assert!(matches!(prepare(&hanging, &spot, &stop), Err(StudyError::Stopped)));
        assert!(began.elapsed() < Duration::from_secs(300));
    }
}
