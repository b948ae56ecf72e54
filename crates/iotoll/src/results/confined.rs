//! What strangers may have written is read by a process or a thread that can do nothing else.

use anyhow::anyhow;
use model::document;
use model::run::Run;

use crate::exit::{ChildError, Exit, code_of, sentence};
use crate::results::delivery::Rendered;
use crate::results::source::Source;

/// What is made of the sources. Where any of them is a file, a confined child reads, analyses and
/// renders them all, and this process gets texts.
pub(crate) fn rendered<S: AsRef<[Source]>>(
    sources: S,
    render: impl FnOnce(S) -> anyhow::Result<Rendered>,
) -> anyhow::Result<Rendered> {
    if !sources.as_ref().iter().any(Source::is_file) {
        return render(sources);
    }
    let bounded = || document::within_memory(|| texts_of(render(sources)));
    let texts = process::in_confined_child(bounded)?;
    rendered_of(texts).unwrap_or_else(|| Err(anyhow!("the process that read it said nothing")))
}

/// The run of a source, for commands that go on with it.
pub(crate) fn comparison(source: Source) -> anyhow::Result<Box<Run>> {
    if source.is_file() {
        process::in_confined_thread(|| source.comparison())?
    } else {
        source.comparison()
    }
}

/// An exit code and its sentence, or nothing and what was rendered.
fn texts_of(rendered: anyhow::Result<Rendered>) -> Vec<Vec<u8>> {
    match rendered {
        Ok(Rendered { report, id, files }) => {
            [vec![], report.into_bytes(), id.into_bytes()].into_iter().chain(files).collect()
        }
        Err(error) => vec![vec![code_of(&error).code()], sentence(&error).into_bytes()],
    }
}

/// The same from the child. It may have been taken over, so nothing about it is certain.
fn rendered_of(texts: Vec<Vec<u8>>) -> Option<anyhow::Result<Rendered>> {
    let mut texts = texts.into_iter();
    let code = texts.next()?;
    let mut text = || Some(String::from_utf8_lossy(&texts.next()?).into_owned());
    let first = text()?;
    if let Some(code) = code.first() {
        let exit = if *code == Exit::Usage.code() { Exit::Usage } else { Exit::CouldNot };
        return Some(Err(ChildError { exit, text: first }.into()));
    }
    Some(Ok(Rendered { report: first, id: text()?, files: texts.collect() }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::exit::UsageError;

    #[test]
    fn what_a_child_says_comes_back_and_what_is_cut_short_does_not() {
        let rendered =
            Rendered { report: "text".into(), id: "ab".into(), files: vec![b"{}".into(), vec![]] };
        let texts = texts_of(Ok(rendered.clone()));
        assert_eq!(rendered_of(texts.clone()).unwrap().unwrap(), rendered);
        assert!(rendered_of(texts[..2].to_vec()).is_none());
        let refused = |error: anyhow::Error| {
            let error = rendered_of(texts_of(Err(error))).unwrap().unwrap_err();
            (code_of(&error), error.to_string())
        };
        let usage = UsageError("not a result".into());
        assert_eq!(refused(usage.into()), (Exit::Usage, "not a result".to_owned()));
        assert_eq!(refused(anyhow!("b").context("a")), (Exit::CouldNot, "a: b".to_owned()));
    }
}
