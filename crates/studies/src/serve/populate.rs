//! What a slice's folder holds before its server is started.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;

use engine::study::StudyError;

use super::built_in::Answer;
use super::config::Content;
use super::spec::Render;
use crate::file::keep_open;
use crate::page::{PageFile, Parts, Sets};
use crate::sqlite::database::{self, Template};

/// Makes the files that a server of ours answers from.
pub(super) fn populate(
    content: &Content,
    template: &mut Template,
    folder: &OwnedFd,
) -> Result<Answer, StudyError> {
    match content {
        Content::Empty => Ok(Answer::Empty),
        Content::Page { parts, render } => {
            let files = page_files(parts.clone(), folder)?;
            Ok(Answer::Page { files, rendered: *render == Render::Html })
        }
        Content::Sqlite { strategy, rows } => {
            database::create(folder, template)?;
            Ok(Answer::Sqlite { strategy: *strategy, rows: *rows })
        }
    }
}

/// Names and sizes, in the order in which a page shows them.
fn page_files(parts: Parts, folder: &OwnedFd) -> Result<Vec<(OsString, u64)>, StudyError> {
    let folder = keep_open(folder)?;
    let mut sets = Sets::new(folder, parts);
    sets.make(1)?;
    let path = |file: &PageFile| OsString::from_vec(file.path.to_bytes().to_vec());
    let file = |file: &PageFile| (path(file), file.bytes);
    Ok(sets.files(0).iter().map(file).collect())
}
