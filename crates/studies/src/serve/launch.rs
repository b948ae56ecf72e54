//! A server of the user's: whether its command can be meant, and how the command and
//! what prepares its folder become one for the shell.

use std::path::Path;
use std::process::Command;

use engine::study::StudyError;
use load::Target;
use model::study::Params;

use crate::shell::{PLACE, PORT, VARIANT, filled_in, names, shell};

/// A server of the user's, as the parameters describe it.
pub(super) struct CommandServer {
    pub(super) command: String,
    prepare: String,
    variant: String,
    /// The path and query that are asked for, with the variant in its place.
    pub(super) url: String,
    /// The path whose reply is the server's evidence, if there is one.
    pub(super) evidence: Option<String>,
}

impl CommandServer {
    pub(super) fn new(params: &Params) -> Result<Self, StudyError> {
        let unsuited = |why: &str| Err(StudyError::Unsuited(why.to_owned()));
        let text = |name: &str| params.text(name);
        let command = text("command");
        if command.is_empty() {
            return unsuited(
                "there is no command to start the server with; give one, as in --set \
                 'serve.command=php -S 127.0.0.1:{port} -t {place}'",
            );
        }
        if params.count("port") == 0 && !names(command, PORT) {
            return unsuited(
                "the command has no {port} to tell the server where to listen; write {port} \
                 or $IOTOLL_PORT where its port belongs, or give serve.port where it is fixed",
            );
        }
        let variant = text("variant");
        let with_variant = ["command", "prepare", "url"].map(text);
        if !variant.is_empty() && !with_variant.into_iter().any(|text| names(text, VARIANT)) {
            return unsuited(
                "a variant is given, but none of command, prepare and url contains {variant}; \
                 write {variant} where it belongs, as in --set 'serve.command=./serve --mode \
                 {variant} --port {port}'",
            );
        }
        let url = text("url").replace(VARIANT[0], variant);
        check_path("url", &url)?;
        let evidence = Some(text("evidence").to_owned()).filter(|path| !path.is_empty());
        evidence.iter().try_for_each(|path| check_path("evidence", path))?;
        Ok(Self {
            command: command.to_owned(),
            prepare: text("prepare").to_owned(),
            variant: variant.to_owned(),
            url,
            evidence,
        })
    }

    /// The shell's command that prepares the folder and then becomes the server, so that
    /// both are watched, and ended, as one.
    pub(super) fn shell(&self, folder: &Path, port: u16) -> Command {
        let mut command = shell(&self.script(folder, port), folder, &self.variant);
        command.env(PORT[1], port.to_string());
        command
    }

    fn script(&self, folder: &Path, port: u16) -> String {
        let (folder, port) = (folder.display().to_string(), port.to_string());
        let values = [(VARIANT[0], &*self.variant), (PLACE[0], &folder), (PORT[0], &port)];
        let [prepare, command] =
            [&self.prepare, &self.command].map(|text| filled_in(text, &values));
        if prepare.is_empty() {
            return command;
        }
        // On lines of their own, for either may end in a comment.
        format!(
            "(\n{prepare}\n) || {{ echo \"preparing the folder ended with status $?\" >&2; exit 1; \
             }}\n{command}"
        )
    }
}

fn check_path(name: &str, path: &str) -> Result<(), StudyError> {
    if !path.starts_with('/') {
        let text = format!("the {name} `{path}` is not a path; begin it with /");
        return Err(StudyError::Unsuited(text));
    }
    let parsed = Target::parse(&format!("http://127.0.0.1{path}"));
    parsed
        .map(drop)
        .map_err(|e| StudyError::Unsuited(format!("the {name} `{path}` cannot be asked for: {e}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::SERVE;
    use super::*;
    use crate::testing::{params, try_workload};

    #[test]
    fn a_preparation_comes_first_and_its_failure_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let run = |prepare: &str| {
            let given = [("prepare", prepare), ("command", "cat {place}/made; echo $IOTOLL_PORT")];
            let server = CommandServer::new(&params(&SERVE, &given)).unwrap();
            server.shell(folder.path(), 81).output().unwrap()
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
        let refused = |strategy: &str, given: &[(&str, &str)]| {
            let refusal = try_workload(&SERVE, strategy, given).err();
            refusal.map(|error| error.to_string()).unwrap_or_default()
        };
        // The last of two values counts.
        let command = |given: &[(&str, &str)]| {
            refused("command", &[&[("command", "serve {port}")], given].concat())
        };
        assert_eq!(command(&[]), "");
        assert_eq!(command(&[("command", "serve $IOTOLL_PORT")]), "");
        assert!(command(&[("command", "serve")]).contains("has no {port}"));
        assert!(command(&[("url", "/a b")]).contains("cannot be asked for"));
        assert!(command(&[("evidence", "stats")]).contains("begin it with /"));
        assert!(command(&[("workers", "9")]).contains("workers applies only to the built-in"));
        assert!(refused("page", &[("variant", "x")]).contains("variant was given"));
        assert_eq!(refused("page", &[("workers", "9")]), "");
    }
}
