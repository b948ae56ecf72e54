//! What is run, and whether it can be meant.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::study::StudyError;
use model::study::Params;
use process::{Ended, Program};

use super::spec::{Output, WorksIn};
use crate::shell::{PLACE, VARIANT, filled_in, names, shell};

/// The most of standard output that is compared.
const OUTPUT_MAX: u64 = 1 << 20;

/// A command with what comes before and after it.
pub(super) struct Command {
    text: String,
    prepare: String,
    check: String,
    variant: String,
    status: i32,
    /// Whether each run must write the same.
    pub(super) same_output: bool,
    timeout: Duration,
    pub(super) space_bytes: u64,
}

impl Command {
    pub(super) fn new(params: &Params) -> Result<Self, StudyError> {
        let [command, prepare, check, variant] =
            ["command", "prepare", "check", "variant"].map(|name| params.text(name).to_owned());
        let unsuited = |why: &str| Err(StudyError::Unsuited(why.to_owned()));
        if command.is_empty() {
            return unsuited(
                "there is no command to run; give one, as in --set 'exec.command=git clone -q \
                 /srv/project {place}/clone'",
            );
        }
        let has = |what| [&command, &prepare, &check].into_iter().any(|text| names(text, what));
        let works_in = WorksIn::of(params.choice("works-in"))?;
        if works_in == WorksIn::Place && !has(PLACE) {
            return unsuited(
                "the command does the same in every place, for neither it nor exec.prepare contains \
                 {place}; write {place} where the folder belongs that it is to work in, or set \
                 exec.works-in=current if it works on files in the current directory",
            );
        }
        if !variant.is_empty() && !has(VARIANT) {
            return unsuited(
                "a variant is given, but none of command, prepare and check contains {variant}; \
                 write {variant} where it belongs",
            );
        }
        Ok(Self {
            text: command,
            prepare,
            check,
            variant,
            status: params.count("status") as i32,
            same_output: Output::of(params.choice("output"))? == Output::Same,
            timeout: params.duration("timeout"),
            space_bytes: params.size("space"),
        })
    }

    /// Fills the folder.
    pub(super) fn prepare(&self, folder: &Path, stop: &AtomicBool) -> Result<(), StudyError> {
        self.aside("exec.prepare", &self.prepare, folder, stop)
    }

    /// Looks at what a run has left in the folder.
    pub(super) fn check(&self, folder: &Path, stop: &AtomicBool) -> Result<(), StudyError> {
        self.aside("exec.check", &self.check, folder, stop)
    }

    fn aside(
        &self,
        name: &str,
        text: &str,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<(), StudyError> {
        if text.is_empty() {
            return Ok(());
        }
        let mut program = self.start(text, folder, None)?;
        self.wait(&mut program, stop)?;
        expect(name, &program.finish()?, 0)
    }

    /// Starts what is timed.
    pub(super) fn launch(&self, folder: &Path) -> Result<Program, StudyError> {
        self.start(&self.text, folder, self.same_output.then_some(OUTPUT_MAX))
    }

    /// Waits for its end.
    pub(super) fn wait(&self, program: &mut Program, stop: &AtomicBool) -> Result<(), StudyError> {
        program.wait(self.timeout, stop)?;
        Ok(())
    }

    /// An error where it ended in another way than it should.
    pub(super) fn expect_status(&self, ended: &Ended) -> Result<(), StudyError> {
        expect("the command", ended, self.status)
    }

    fn start(
        &self,
        text: &str,
        folder: &Path,
        output_max: Option<u64>,
    ) -> Result<Program, StudyError> {
        let place = folder.display().to_string();
        let values = [(VARIANT[0], &*self.variant), (PLACE[0], &place)];
        let command = shell(&filled_in(text, &values), folder, &self.variant);
        Ok(Program::start(command, text, output_max)?)
    }
}

fn expect(name: &str, ended: &Ended, status: i32) -> Result<(), StudyError> {
    if ended.status == status {
        return Ok(());
    }
    let said = match ended.stderr.last() {
        Some(last) => format!("; the last that it wrote to standard error: {last}"),
        None => String::new(),
    };
    let found = ended.status;
    let why = format!("{name} ended with exit status {found} instead of {status}{said}");
    Err(StudyError::Refused { doing: "running a command", why })
}
