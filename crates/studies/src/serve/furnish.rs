//! What a slice's folder holds before its server is started, and what a server of
//! ours is told to do with it.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use engine::study::{Doing, StudyError};
use model::study::Params;
use rustix::fs::OFlags;

use super::built_in::{Answer, Duty, LogWhen};
use crate::file::{name, open_for_writing, write_whole};
use crate::page::{self, PageFile, Sets};
use crate::sqlite::client::Work;
use crate::sqlite::database::{self, BUSY_TIMEOUT};

/// Makes the files that a server of ours answers from.
pub(super) fn furnish(
    strategy: &str,
    params: &Params,
    folder: &OwnedFd,
    path: &Path,
) -> Result<Answer, StudyError> {
    match strategy {
        "page" => {
            let rendered = params.choice("render") == "html";
            page_files(params, folder).map(|files| Answer::Page { files, rendered })
        }
        "sqlite" => {
            const MAKING: &str = "making the database";
            let file = open_for_writing(folder, &name(database::NAME), OFlags::EXCL);
            let template = database::template(params.count("rows"))?;
            write_whole(file.doing(MAKING)?, &template, MAKING)?;
            Ok(Answer::Sqlite(database_work(params, path)))
        }
        _ => Ok(Answer::Empty),
    }
}

/// Names and sizes, in the order in which a page shows them.
fn page_files(params: &Params, folder: &OwnedFd) -> Result<Vec<(String, u64)>, StudyError> {
    let folder = folder.try_clone().doing("keeping the folder open")?;
    let parts = page::parts(params).map_err(StudyError::Unsuited)?;
    let mut sets = Sets::new(folder, parts);
    sets.make(1)?;
    let file = |file: &PageFile| (file.path.to_string_lossy().into_owned(), file.bytes);
    Ok(sets.files(0).iter().map(file).collect())
}

fn database_work(params: &Params, path: &Path) -> Work {
    Work {
        file: database_file(path),
        strategy: params.choice("database").to_owned(),
        author: 1,
        rows: params.count("rows"),
        requests: 0,
        connects_each_time: false,
        busy_timeout: BUSY_TIMEOUT,
    }
}

/// Where the database is.
pub(super) fn database_file(path: &Path) -> PathBuf {
    path.join(database::NAME)
}

/// What a server of ours is told.
pub(super) fn duty(answer: Answer, params: &Params, path: &Path, port: u16) -> Duty {
    Duty {
        folder: path.to_owned(),
        port,
        backlog: params.count("backlog") as u32,
        workers: params.count("workers"),
        answer,
        log_lines: params.count("log_lines"),
        log_when: match params.choice("log_when") {
            "sampled" => LogWhen::Sampled,
            "switched" => LogWhen::Switched,
            _ => LogWhen::Always,
        },
    }
}
