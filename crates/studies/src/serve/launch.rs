//! A server of the user's: whether its command can be meant, and how the command and
//! what prepares its folder become one for the shell.

use std::path::Path;
use std::process::Command;

use load::Target;
use model::shell::quoted;
use model::study::Params;

use super::spec::{BUILT_IN_ALONE, COMMAND_ALONE, SPEC};

/// Where a server finds its files and listens.
pub(super) struct Spot<'a> {
    pub(super) folder: &'a Path,
    pub(super) port: u16,
}

/// Why a server that is built in cannot be told so.
pub(super) fn refuse_built_in(strategy: &str, params: &Params) -> Result<(), String> {
    match unused(params, COMMAND_ALONE) {
        None => Ok(()),
        Some(name) => Err(format!(
            "{name} was given, and {strategy} is a server that is built in; add --strategy command \
             to time a server of your own"
        )),
    }
}

/// Why a command cannot be meant.
pub(super) fn refuse(params: &Params) -> Result<(), String> {
    let command = params.text("command");
    if command.is_empty() {
        return Err("there is no command to start the server with; give one, as in --set \
                    'serve.command=php -S 127.0.0.1:{port} -t {place}'"
            .to_owned());
    }
    if let Some(name) = unused(params, BUILT_IN_ALONE) {
        return Err(format!("{name} is for the servers that are built in, and not for a command"));
    }
    let told_the_port = command.contains("{port}") || command.contains("IOTOLL_PORT");
    if params.count("port") == 0 && !told_the_port {
        return Err("the command has no {port} to tell the server where to listen; write {port} \
                    or $IOTOLL_PORT where its port belongs, or give serve.port where it is fixed"
            .to_owned());
    }
    let names_variant = |name: &&str| {
        let text = params.text(name);
        text.contains("{variant}") || text.contains("IOTOLL_VARIANT")
    };
    if !params.text("variant").is_empty()
        && !["command", "prepare", "url"].iter().any(names_variant)
    {
        return Err(
            "a variant is given, and neither command nor prepare nor url has {variant} to \
                    put it in"
                .to_owned(),
        );
    }
    refuse_path("url", &url(params))?;
    match params.text("evidence") {
        "" => Ok(()),
        evidence => refuse_path("evidence", evidence),
    }
}

/// The first of some parameters that is not at its default.
fn unused(params: &Params, names: &[&'static str]) -> Option<&'static str> {
    let given = |name: &&&str| {
        let param = SPEC.param(name);
        let value = params.0.iter().find(|(known, _)| known == *name);
        param.zip(value).is_some_and(|(param, (_, value))| *value != param.default_value())
    };
    names.iter().find(given).copied()
}

fn refuse_path(name: &str, path: &str) -> Result<(), String> {
    if !path.starts_with('/') {
        return Err(format!("the {name} `{path}` is not a path; begin it with /"));
    }
    let parsed = Target::parse(&format!("http://127.0.0.1{path}"));
    parsed.map(drop).map_err(|e| format!("the {name} `{path}` cannot be asked for: {e}"))
}

/// The path and query that are asked for.
pub(super) fn url(params: &Params) -> String {
    params.text("url").replace("{variant}", params.text("variant"))
}

/// The shell's command that prepares the folder and then becomes the server, so that
/// both are watched, and ended, as one.
pub(super) fn command(params: &Params, spot: &Spot<'_>) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(script(params, spot))
        .env("IOTOLL_PLACE", spot.folder)
        .env("IOTOLL_PORT", spot.port.to_string())
        .env("IOTOLL_VARIANT", params.text("variant"));
    command
}

fn script(params: &Params, spot: &Spot<'_>) -> String {
    let folder = spot.folder.display().to_string();
    let port = spot.port.to_string();
    let [prepare, command] =
        ["prepare", "command"].map(|name| filled_in(params.text(name), params, &folder, &port));
    if prepare.is_empty() {
        return command;
    }
    // On lines of their own, for either may end in a comment.
    format!(
        "(\n{prepare}\n) || {{ echo \"preparing the folder ended with status $?\" >&2; exit 1; }}\n\
         {command}"
    )
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::Serve;
    use super::*;
    use crate::testing::params;

    #[test]
    fn what_is_filled_in_is_one_word_for_the_shell() {
        let odd = params(&Serve, &[("variant", "it's $HOME")]);
        let filled = filled_in("serve {variant} {place}:{port}", &odd, "/a b/c", "81");
        assert_eq!(filled, r"serve 'it'\''s $HOME' '/a b/c':81");
        let none = params(&Serve, &[]);
        assert_eq!(filled_in("serve {variant} {x}", &none, "/a", "1"), "serve '' {x}");
        // What a variant says is not looked at again.
        let braces = params(&Serve, &[("variant", "{place}")]);
        assert_eq!(filled_in("{variant}", &braces, "/a", "1"), "'{place}'");
    }

    #[test]
    fn a_preparation_comes_first_and_its_failure_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let spot = Spot { folder: folder.path(), port: 81 };
        let run = |prepare: &str| {
            let given = [("prepare", prepare), ("command", "cat {place}/made; echo $IOTOLL_PORT")];
            command(&params(&Serve, &given), &spot).output().unwrap()
        };
        let made = run("echo {port} > {place}/made # as told");
        assert_eq!(String::from_utf8_lossy(&made.stdout), "81\n81\n");
        let failed = run("echo no such table >&2; exit 3");
        let said = String::from_utf8_lossy(&failed.stderr);
        assert_eq!(said, "no such table\npreparing the folder ended with status 3\n");
        assert_eq!((failed.status.code(), failed.stdout.len()), (Some(1), 0));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let refused = |given: &[(&str, &str)]| {
            let given = [&[("command", "serve {port}")], given].concat();
            refuse(&params(&Serve, &given)).err().unwrap_or_default()
        };
        assert_eq!(refused(&[]), "");
        assert_eq!(refused(&[("command", "serve $IOTOLL_PORT")]), "");
        assert!(refused(&[("url", "/a b")]).contains("cannot be asked for"));
        assert!(refused(&[("evidence", "stats")]).contains("begin it with /"));
        assert!(refused(&[("workers", "9")]).contains("workers is for the servers"));
        assert!(refuse_built_in("page", &params(&Serve, &[("variant", "x")])).is_err());
        assert!(refuse_built_in("page", &params(&Serve, &[("workers", "9")])).is_ok());
    }
}
