//! One run: a folder that is prepared, the command, and what it came to.

use std::os::fd::{BorrowedFd, OwnedFd};

use engine::slice_timer::SliceTimer;
use engine::study::{Ran, Ready, StudyError};
use memchr::memmem;
use model::integrity::Integrity;
use model::slice::Outcome;
use process::{Program, StopFlag};

use super::command::Command;
use crate::file::{Standing, keep_open};
use crate::shell::PLACE;
use crate::tree::sync_tree;

/// How much of an output that differs is shown.
const SHOWN_CHARS: usize = 60;

/// A run that can begin.
pub(super) struct Filled<'a> {
    command: &'a Command,
    /// What the arm's first run wrote to standard output.
    first_output: &'a mut Option<Vec<u8>>,
    folder: OwnedFd,
    standing: Standing,
    stop: StopFlag,
}

/// A run that has ended.
struct Done<'a> {
    filled: Filled<'a>,
    program: Program,
}

impl<'a> Filled<'a> {
    /// Prepares a folder that is empty.
    pub(super) fn new(
        command: &'a Command,
        first_output: &'a mut Option<Vec<u8>>,
        folder: BorrowedFd<'_>,
        timer: &SliceTimer,
    ) -> Result<Self, StudyError> {
        let folder = keep_open(folder)?;
        let standing = Standing::of(&folder)?;
        let stop = StopFlag::clone(timer.stop_flag());
        command.prepare(standing.path(), &stop)?;
        // What the preparation has written is none of the run's affair.
        sync_tree(&folder)?;
        Ok(Self { command, first_output, folder, standing, stop })
    }
}

impl<'a> Ready<'a> for Filled<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { command, standing, stop, .. } = &*self;
        let mut program = command.launch(standing.path())?;
        command.wait(&mut program, stop)?;
        timer.lap_of(program.spent());
        Ok(Box::new(Done { filled: *self, program }))
    }
}

impl Ran for Done<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        sync_tree(&self.filled.folder)
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { filled, program } = *self;
        let Filled { command, first_output, standing, stop, .. } = filled;
        let ended = program.finish()?;
        command.expect_status(&ended)?;
        command.check(standing.path(), &stop)?;
        standing.check()?;
        let mut integrity = Integrity { records: 1, ..Integrity::default() };
        if command.same_output {
            let path = standing.path().as_os_str().as_encoded_bytes();
            // It is another in each run.
            let output = replaced(&ended.output, path, PLACE[0].as_bytes());
            let first = first_output.get_or_insert_with(|| output.clone());
            if *first != output {
                integrity.overwritten = 1;
                integrity.example = Some(difference(first, &output));
            }
        }
        Ok(Outcome { integrity: Some(integrity), ..Outcome::default() })
    }
}

/// A text with every `from` in it become `to`.
fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut end = 0;
    for at in memmem::find_iter(text, from) {
        out.extend_from_slice(&text[end..at]);
        out.extend_from_slice(to);
        end = at + from.len();
    }
    out.extend_from_slice(&text[end..]);
    out
}

/// The first line of an output that is another than the first run's.
fn difference(first: &[u8], other: &[u8]) -> String {
    let lines = |text: &[u8]| {
        String::from_utf8_lossy(text).lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let (first, other) = (lines(first), lines(other));
    let at = first.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let shown = |lines: &[String]| match lines.get(at) {
        Some(line) => format!("`{}`", line.chars().take(SHOWN_CHARS).collect::<String>()),
        None => "nothing".to_owned(),
    };
    format!(
        "line {} of standard output is {} where the first run wrote {}; where that is as it should \
         be, exec.output=any does not compare it",
        at + 1,
        shown(&other),
        shown(&first)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_called_the_same_in_every_run() {
        let replaced =
            |text: &str| String::from_utf8(replaced(text.as_bytes(), b"/a/b", b"{place}"));
        assert_eq!(replaced("in /a/b/c and /a/b\n"), Ok("in {place}/c and {place}\n".to_owned()));
        assert_eq!(replaced("/a/"), Ok("/a/".to_owned()));
    }

    #[test]
    fn the_line_that_differs_is_shown() {
        let shown = difference(b"1\n2\n3\n", b"1\n2\n4\n");
        assert!(shown.starts_with("line 3 of standard output is `4` where"), "{shown}");
        assert!(difference(b"1\n", b"").contains("is nothing where the first run wrote `1`"));
    }
}
