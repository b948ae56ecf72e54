//! What every command does with its result, in this order: save it, then print it.

use std::path::Path;

use anyhow::{Context as _, anyhow, ensure};
use report::formats::{Content, JSON, Variant, Written, json};
use serde::Serialize;

use crate::cli::{Files, flags};
use crate::exit::UsageError;
use crate::results::destination::Destination;
use crate::terminal::output;

/// Where a result goes besides the report.
pub(crate) struct Targets {
    files: Vec<(Variant, Destination)>,
    /// Whether standard output has the report.
    prints: bool,
}

impl Targets {
    /// Finds out what they are, before anything is measured.
    pub(crate) fn open(files: &Files) -> anyhow::Result<Self> {
        let opened = files.iter().map(|(variant, path)| Ok((*variant, Destination::open(path)?)));
        let targets = opened.collect::<anyhow::Result<Vec<_>>>()?;
        let to_stdout = targets.iter().filter(|(_, target)| target.is_stdout()).count();
        ensure!(
            to_stdout < 2,
            UsageError(format!(
                "only one of {} can print to standard output",
                flags(&[], |_| true)
            ))
        );
        for (at, (variant, target)) in targets.iter().enumerate() {
            let Some(file) = target.file() else { continue };
            let same = targets[..at].iter().find(|(_, other)| other.file().as_ref() == Some(&file));
            if let Some((other, _)) = same {
                let flags = [other.format.flag, variant.format.flag];
                return Err(written_twice(flags, &file).into());
            }
        }
        Ok(Self { files: targets, prints: to_stdout == 0 })
    }

    /// Has another output take the report's place.
    pub(crate) fn take_stdout(&mut self, flag: &str) -> Result<(), UsageError> {
        if !self.prints {
            let flags = flags(&[flag], |_| true);
            return Err(UsageError(format!("only one of {flags} can print to standard output")));
        }
        self.prints = false;
        Ok(())
    }

    /// Whether standard output has the report.
    pub(crate) fn print_report(&self) -> bool {
        self.prints
    }

    /// What has to be rendered for them.
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            variants: self.files.iter().map(|(variant, _)| *variant).collect(),
            width: self.print_report().then(output::width),
        }
    }

    /// Writes the files, then prints the report, unless standard output has a file. What goes
    /// wrong with one does not keep the others.
    pub(crate) fn deliver(self, rendered: Rendered) -> anyhow::Result<()> {
        let prints = self.print_report();
        ensure!(rendered.files.len() == self.files.len(), "not every file was rendered");
        let mut delivered = Ok(());
        for ((_, target), bytes) in self.files.into_iter().zip(rendered.files) {
            delivered = delivered.and(target.write(&bytes));
        }
        delivered.and(if prints { output::result(&rendered.report) } else { Ok(()) })
    }
}

fn written_twice([first, second]: [&str; 2], file: &Path) -> UsageError {
    let both = if first == second {
        format!("--{first}, twice,")
    } else {
        format!("--{first} and --{second}")
    };
    UsageError(format!("{both} would write {}, and one be lost: name two files", file.display()))
}

/// What a result is to be rendered as.
pub(crate) struct Asked {
    variants: Vec<Variant>,
    /// The columns of the report, where it is printed.
    width: Option<usize>,
}

/// A result as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// For standard output.
    pub(crate) report: String,
    /// The run's name, where a file is called by it.
    pub(crate) id: String,
    /// For each file that was asked for.
    pub(crate) files: Vec<Vec<u8>>,
}

impl Rendered {
    /// The only file.
    pub(crate) fn into_file(self) -> anyhow::Result<Vec<u8>> {
        self.files.into_iter().next().ok_or_else(|| anyhow!("nothing was rendered"))
    }
}

/// Writes a result to the files that are asked for, and then prints its report, unless standard
/// output has a file.
pub(crate) fn deliver(
    targets: Targets,
    content: Content<'_>,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let rendered = render(&targets.asked(), content, report)?;
    targets.deliver(rendered)
}

/// The same of a list, which has no other format than JSON.
pub(crate) fn deliver_list(
    target: Option<Destination>,
    list: &impl Serialize,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let prints = target.as_ref().is_none_or(|target| !target.is_stdout());
    let files = target.map(|target| (JSON, target)).into_iter().collect();
    let targets = Targets { files, prints };
    let rendered = render_by(&targets.asked(), |_| Some(json(list)), report)?;
    targets.deliver(rendered)
}

/// Renders a result.
pub(crate) fn render(
    asked: &Asked,
    content: Content<'_>,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<Rendered> {
    render_by(asked, |variant| variant.write(content), report)
}

fn render_by(
    asked: &Asked,
    write: impl Fn(Variant) -> Option<Written>,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<Rendered> {
    let file = |variant: &Variant| {
        let flag = variant.format.flag;
        let written = write(*variant).with_context(|| format!("--{flag} does not apply to it"))?;
        written.with_context(|| format!("writing the file of --{flag}"))
    };
    let files = asked.variants.iter().map(file).collect::<anyhow::Result<_>>()?;
    let report = asked.width.map(report).unwrap_or_default();
    Ok(Rendered { report, files, ..Rendered::default() })
}
