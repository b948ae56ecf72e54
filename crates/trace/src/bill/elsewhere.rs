//! A bill of a program whose paths mean other files here.

use serde::Serialize;

use super::Bill;
use crate::pattern::{Database, PatternKind};

/// Where the program ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Container {
    /// What it is.
    pub name: String,
    /// The process that was watched.
    pub process: u32,
}

impl Bill {
    /// Names every file as it is reached from here.
    pub fn rename(&mut self, name: impl Fn(&str) -> String) {
        let folders = self.folders.iter_mut().map(|folder| &mut folder.path);
        let files = self.top_files.iter_mut().map(|file| &mut file.path);
        let kinds = self.kinds.iter_mut().filter_map(|kind| kind.folder.as_mut());
        let needless = self.needless.iter_mut().map(|needless| &mut needless.folder);
        let patterns = self.patterns.iter_mut().map(|pattern| path_of(&mut pattern.what));
        let all = folders.chain(files).chain(kinds).chain(needless).chain(patterns);
        for path in all.chain(self.working_folder.as_mut()) {
            *path = name(path);
        }
    }
}

fn path_of(pattern: &mut PatternKind) -> &mut String {
    match pattern {
        PatternKind::Reopened { path, .. }
        | PatternKind::SyncedEach { path, .. }
        | PatternKind::SmallWrites { path, .. }
        | PatternKind::Replaced { path, .. }
        | PatternKind::ReadAgain { path, .. }
        | PatternKind::Looks { path, .. }
        | PatternKind::Locks { path, .. }
        | PatternKind::Sqlite(Database { path, .. }) => path,
    }
}
