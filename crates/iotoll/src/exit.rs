//! Exit codes, and how errors become sentences.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use model::place::PlaceSyntaxError;
use model::plan::PlanError;
use model::plan_file::PlanFileError;
use places::{PlaceError, WorkDirError};
use thiserror::Error;

use crate::terminal::output;

/// The codes that most commands end with, for their help.
pub(crate) const CODES: &str = "\
Exit codes:
  0    success
  1    failure
  2    invalid usage or input
  3    a study found corrupted data
  4    a comparison has no verdict (--require-verdict), a limit is undecided
       (--fail), or no round of a replay or command was complete
  5    slower than in an earlier run (--baseline), or a limit is missed (--fail)
  6    a combination of the earlier run was not measured (--baseline)
  130  interrupted; what was measured so far has been reported";

/// How a command ended. The numbers are documented and relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All was done.
    Done,
    /// It could not be done.
    CouldNot,
    /// Wrong usage or input.
    Usage,
    /// A study found corrupted data.
    BrokenData,
    /// A verdict was required and none could be given, a limit is undecided, or no round of a
    /// replay or command was complete.
    NoVerdict,
    /// An arm is slower than in the run that was given as the baseline, or a limit is missed.
    Slower,
    /// A combination of the baseline was not measured.
    Missing,
    /// Interrupted; what was measured so far has been reported.
    Interrupted,
    /// As the command ended that was recorded.
    Command(u8),
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::CouldNot => 1,
            Self::Usage => 2,
            Self::BrokenData => 3,
            Self::NoVerdict => 4,
            Self::Slower => 5,
            Self::Missing => 6,
            Self::Interrupted => 130,
            Self::Command(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Wrong usage that no other type describes.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// What a confined child reported, with the code that it would have ended with.
#[derive(Debug, Error)]
#[error("{text}")]
pub(crate) struct ChildError {
    pub(crate) exit: Exit,
    pub(crate) text: String,
}

/// Runs a command; an error or a panic becomes a sentence and an exit code.
/// A panic has unwound by then, so working folders are gone.
pub(crate) fn guarded(command: impl FnOnce() -> anyhow::Result<Exit>) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |l| format!(" ({l})"));
        let payload = panic.payload();
        let what = payload.downcast_ref::<&str>().copied();
        let what = what.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let what = what.unwrap_or("no reason given");
        output::note(&format!("internal error: {what}{place}; please report it as a bug"));
    }));
    match catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(error)) => {
            output::note(&sentence(&error));
            code_of(&error).into()
        }
        Err(_) => Exit::CouldNot.into(),
    }
}

/// An error with its causes. Many errors have what the system said within their own sentence, where it
/// is not told again, with a number before it or without.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| {
        let said = cause.rsplit(": ").next().unwrap_or_default();
        match told.as_str() {
            "" => cause,
            _ if told.contains(said) => told,
            _ => format!("{told}: {cause}"),
        }
    })
}

/// The code that an error ends the process with.
pub(crate) fn code_of(error: &anyhow::Error) -> Exit {
    if let Some(ChildError { exit, .. }) = error.downcast_ref() {
        return *exit;
    }
    let usage = error.chain().any(|cause| {
        cause.is::<UsageError>()
            || cause.is::<PlanError>()
            || cause.is::<PlanFileError>()
            || cause.is::<PlaceSyntaxError>()
            || cause.downcast_ref().is_some_and(::load::Error::is_usage)
            || cause.downcast_ref().is_some_and(names_no_directory)
            || cause.downcast_ref().is_some_and(record::Error::is_usage)
            || matches!(cause.downcast_ref(), Some(WorkDirError::Place(e)) if names_no_directory(e))
    });
    if usage { Exit::Usage } else { Exit::CouldNot }
}

/// Whether the user named something that is no directory, which is wrong input
/// rather than the machine's refusal.
fn names_no_directory(error: &PlaceError) -> bool {
    use PlaceError::{Missing, NotADirectory, TooLong};
    matches!(error, Missing(_) | NotADirectory(_) | TooLong(_))
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context as _;
    use load::Error;

    use super::*;

    #[test]
    fn a_cause_is_told_once_whether_its_error_tells_it_or_not() {
        let source = || io::Error::from_raw_os_error(libc::ENOSPC);
        let tells_it = Error::System { what: "socket".to_owned(), source: source() };
        let told = sentence(&anyhow::Error::from(tells_it).context("at the start"));
        assert_eq!(told, "at the start: socket: No space left on device (os error 28)");
        let does_not: anyhow::Result<()> = Err(source()).context("cannot write");
        let told = does_not.map_err(|error| sentence(&error));
        assert_eq!(told, Err("cannot write: No space left on device (os error 28)".to_owned()));
    }
}
