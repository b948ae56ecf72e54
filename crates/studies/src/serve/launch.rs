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
    let names_variant = ["command", "prepare", "url"]
        .iter()
        .any(|name| params.text(name).contains("{variant}"));
    if !params.text("variant").is_empty() && !names_variant {
        return Err("a variant is given, and neither command nor prepare nor url has {variant} to \
                    put it in"
            .to_owned());
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
        .arg(filled_in(text, params, &folder, spot.port))
        .env("IOTOLL_PLACE", spot.folder)
        .env("IOTOLL_PORT", spot.port.to_string())
        .env("IOTOLL_VARIANT", params.text("variant"));
    command
}

fn filled_in(text: &str, params: &Params, folder: &str, port: u16) -> String {
    text.replace("{variant}", &quoted(params.text("variant")))
        .replace("{port}", &port.to_string())
        .replace("{place}", &quoted(folder))
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
