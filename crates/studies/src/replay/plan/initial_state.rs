//! What was there before a recording, as its calls give it away: a file that is opened without
//! being made was there, one that is made by `O_EXCL` was not, and one of which 5,000 bytes are
//! read that nobody wrote had 5,000 bytes.
//!
//! Each path is what it is now; a path that nothing was said of so far lies in a folder that
//! is known, or whose origin is: a folder that was there before and has been renamed since.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::paths::parent;
use super::sizes::Size;

/// A file's number.
pub(super) type FileNumber = usize;

/// What a path is now.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CurrentState {
    Absent,
    File(FileNumber),
    // Where it was before; none of one that was made since, which is empty but for what is
    // known to be in it.
    Folder { origin: Option<Vec<u8>> },
    Link,
}

/// What a path was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Initially {
    Folder,
    File(FileNumber),
    Link { says: Vec<u8> },
}

/// A file with contents.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) size: Size,
    /// How much of its contents is left when they are compressed, from 0 to 1.
    pub(super) compressed: Option<f32>,
    /// Its permissions, where they are known.
    pub(super) mode: Option<u16>,
    /// Where it would have been before, unless it was made since.
    origin: Option<Vec<u8>>,
}

/// All paths and files below the folder.
#[derive(Debug)]
pub(super) struct InitialState {
    now: BTreeMap<Vec<u8>, CurrentState>,
    was: BTreeMap<Vec<u8>, Initially>,
    files: Vec<File>,
}

impl InitialState {
    /// Of the folder nothing is known but that it is there.
    pub(super) fn new() -> Self {
        let folder = CurrentState::Folder { origin: Some(Vec::new()) };
        let now = BTreeMap::from([(Vec::new(), folder)]);
        Self { now, was: BTreeMap::new(), files: Vec::new() }
    }

    pub(super) fn file(&mut self, number: FileNumber) -> &mut File {
        &mut self.files[number]
    }

    /// What was there, by its path: folders before what is in them. A file that may have been
    /// there, or may have been made, was there if bytes were found in it that nobody wrote.
    pub(super) fn found(mut self) -> (BTreeMap<Vec<u8>, Initially>, Vec<File>) {
        for number in 0..self.files.len() {
            let file = &self.files[number];
            if let Some(origin) = file.origin.clone()
                && file.size.before() > 0
                && !self.was.contains_key(&origin)
            {
                self.was_there(&origin, Initially::File(number));
            }
        }
        (self.was, self.files)
    }

    /// The file that a path is, if it is known to be one.
    pub(super) fn file_at(&self, path: &[u8]) -> Option<FileNumber> {
        match self.now.get(path) {
            Some(CurrentState::File(number)) => Some(*number),
            _ => None,
        }
    }

    /// Whether a path is known to be a folder.
    pub(super) fn is_folder(&self, path: &[u8]) -> bool {
        matches!(self.now.get(path), Some(CurrentState::Folder { .. }))
    }

    /// Whether something is known to be there.
    pub(super) fn is_there(&self, path: &[u8]) -> bool {
        !matches!(self.now.get(path), None | Some(CurrentState::Absent))
    }

    /// A file is there; its number.
    pub(super) fn file_exists(&mut self, path: &[u8]) -> FileNumber {
        if let Some(number) = self.file_at(path) {
            return number;
        }
        let number = self.new_file();
        if let Some(origin) = self.origin(path) {
            self.was_there(&origin, Initially::File(number));
        }
        self.set(path, CurrentState::File(number));
        number
    }

    /// A file is there that may just have been made; its number.
    pub(super) fn file_exists_or_made(&mut self, path: &[u8]) -> FileNumber {
        if let Some(number) = self.file_at(path) {
            return number;
        }
        let number = self.new_file();
        self.files[number].origin = match self.now.get(path) {
            Some(_) => None,
            None => self.origin(path),
        };
        self.set(path, CurrentState::File(number));
        number
    }

    /// A file has just been made; its number.
    pub(super) fn file_made(&mut self, path: &[u8]) -> FileNumber {
        let number = self.nameless_made();
        self.set(path, CurrentState::File(number));
        number
    }

    /// A file without a name has just been made.
    pub(super) fn nameless_made(&mut self) -> FileNumber {
        let number = self.new_file();
        self.files[number].size = Size::of_new();
        number
    }

    /// A folder is there.
    pub(super) fn folder_exists(&mut self, path: &[u8]) {
        if self.is_folder(path) {
            return;
        }
        let origin = match self.now.get(path) {
            // What had been taken for a file, before it was seen what it is.
            Some(CurrentState::File(number)) => {
                let number = *number;
                self.was
                    .iter()
                    .find(|(_, was)| **was == Initially::File(number))
                    .map(|(p, _)| p.clone())
            }
            _ => self.origin(path),
        };
        if let Some(origin) = &origin {
            self.was.insert(origin.clone(), Initially::Folder);
            self.parents_exist(origin);
        }
        self.set(path, CurrentState::Folder { origin });
    }

    /// A folder has just been made.
    pub(super) fn folder_made(&mut self, path: &[u8]) {
        self.set(path, CurrentState::Folder { origin: None });
    }

    /// A link is there, which says so.
    pub(super) fn link_exists(&mut self, path: &[u8], says: Vec<u8>) {
        if self.is_there(path) {
            return;
        }
        if let Some(origin) = self.origin(path) {
            self.was_there(&origin, Initially::Link { says });
        }
        self.set(path, CurrentState::Link);
    }

    /// A link has just been made.
    pub(super) fn link_made(&mut self, path: &[u8]) {
        self.set(path, CurrentState::Link);
    }

    /// Something is there, of which it is not known what it is: a file, until it turns out to
    /// be a folder.
    pub(super) fn something_exists(&mut self, path: &[u8]) {
        if !self.is_there(path) {
            self.file_exists(path);
        }
    }

    /// Nothing is there.
    pub(super) fn nothing_exists(&mut self, path: &[u8]) {
        if !self.now.contains_key(path) {
            // Of folders above it nothing follows: one of them may be what is missing.
            self.now.insert(path.to_vec(), CurrentState::Absent);
        }
    }

    /// It was there, and has just been removed.
    pub(super) fn removed(&mut self, path: &[u8], was_folder: bool) {
        if was_folder {
            self.folder_exists(path);
        } else {
            self.something_exists(path);
        }
        self.take_below(path);
        self.set(path, CurrentState::Absent);
    }

    /// It was there, and now is elsewhere; with `exchange`, what was there is here.
    pub(super) fn renamed(&mut self, path: &[u8], to: &[u8], exchange: bool) {
        self.something_exists(path);
        if exchange {
            self.something_exists(to);
        }
        let (moved, replaced) = (self.take_below(path), self.take_below(to));
        self.set(path, CurrentState::Absent);
        self.put_below(to, moved);
        if exchange {
            self.put_below(path, replaced);
        }
    }

    /// One file has another name.
    pub(super) fn linked(&mut self, path: &[u8], to: &[u8]) {
        self.something_exists(path);
        if let Some(now) = self.now.get(path).cloned() {
            self.set(to, now);
        }
    }

    fn new_file(&mut self) -> FileNumber {
        self.files.push(File::default());
        self.files.len() - 1
    }

    /// Something is at a path now, and so all folders above it are there.
    fn set(&mut self, path: &[u8], now: CurrentState) {
        if let Some(folder) = parent(path)
            && !self.is_folder(folder)
        {
            self.folder_exists(folder);
        }
        self.now.insert(path.to_vec(), now);
    }

    /// Something was there before.
    fn was_there(&mut self, origin: &[u8], what: Initially) {
        self.was.entry(origin.to_vec()).or_insert(what);
        self.parents_exist(origin);
    }

    fn parents_exist(&mut self, origin: &[u8]) {
        let mut folder = parent(origin);
        while let Some(path) = folder.filter(|path| !path.is_empty()) {
            // What had been taken for a file has something in it.
            self.was.insert(path.to_vec(), Initially::Folder);
            folder = parent(path);
        }
    }

    /// Where a path was before, if it may have been there; none of one that cannot have been.
    fn origin(&self, path: &[u8]) -> Option<Vec<u8>> {
        if self.now.contains_key(path) {
            // It has changed since, so what was there before is known.
            return None;
        }
        let mut folder = parent(path)?;
        loop {
            match self.now.get(folder) {
                None | Some(CurrentState::File(_) | CurrentState::Link) => folder = parent(folder)?,
                Some(CurrentState::Absent | CurrentState::Folder { origin: None }) => return None,
                Some(CurrentState::Folder { origin: Some(origin) }) => {
                    let rest = &path[folder.len()..];
                    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
                    let slash: &[u8] = if origin.is_empty() { b"" } else { b"/" };
                    return Some([origin, slash, rest].concat());
                }
            }
        }
    }

    /// All that is known at a path and below it, each by the rest of its path, taken away.
    fn take_below(&mut self, path: &[u8]) -> Vec<(Vec<u8>, CurrentState)> {
        let below = [path, b"/"].concat();
        let range = (Bound::Included(below.clone()), Bound::Unbounded);
        let within = self.now.range::<Vec<u8>, _>(range);
        let within = within.take_while(|(found, _)| found.starts_with(&below));
        // The folder first, so that what is in it has one when it is put elsewhere.
        let keys = std::iter::once(path.to_vec()).chain(within.map(|(found, _)| found.clone()));
        let keys: Vec<Vec<u8>> = keys.collect();
        let mut taken = Vec::with_capacity(keys.len());
        for key in keys {
            if let Some(now) = self.now.remove(&key) {
                taken.push((key[path.len()..].to_vec(), now));
            }
        }
        taken
    }

    fn put_below(&mut self, path: &[u8], moved: Vec<(Vec<u8>, CurrentState)>) {
        for (rest, now) in moved {
            self.set(&[path, &rest].concat(), now);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Each path that was there, and what it was.
    fn found(before: InitialState) -> Vec<String> {
        let (was, files) = before.found();
        let shown = |(path, was): (Vec<u8>, Initially)| {
            let path = String::from_utf8(path).unwrap();
            match was {
                Initially::Folder => format!("{path}/"),
                Initially::Link { says } => {
                    format!("{path} -> {}", String::from_utf8(says).unwrap())
                }
                Initially::File(number) => format!("{path} {}", files[number].size.before()),
            }
        };
        was.into_iter().map(shown).collect()
    }

    #[test]
    fn what_is_found_was_there_and_what_is_made_was_not() {
        let mut before = InitialState::new();
        let read = before.file_exists(b"a/b/c");
        before.file(read).size.read(0, 100, 4096);
        before.file_made(b"a/new");
        before.folder_made(b"made");
        before.something_exists(b"made/by-nobody");
        before.nothing_exists(b"missing");
        before.something_exists(b"asked");
        before.something_exists(b"asked/within");
        before.link_exists(b"link", b"asked".to_vec());
        assert_eq!(
            found(before),
            ["a/", "a/b/", "a/b/c 100", "asked/", "asked/within 0", "link -> asked"]
        );
    }

    #[test]
    fn what_may_have_been_made_was_there_if_it_had_bytes_that_nobody_wrote() {
        let mut before = InitialState::new();
        for (path, bytes) in [(&b"old"[..], 500), (b"new", 70)] {
            let log = before.file_exists_or_made(path);
            before.file(log).size.appended(70);
            before.file(log).size.is(bytes);
        }
        assert_eq!(found(before), ["old 430"]);
    }

    #[test]
    fn what_a_renamed_folder_has_was_in_it_under_its_old_name() {
        let mut before = InitialState::new();
        before.folder_exists(b"old");
        before.file_exists(b"old/known");
        before.renamed(b"old", b"new", false);
        before.file_exists(b"new/known");
        before.file_exists(b"new/later");
        before.file_made(b"old");
        before.folder_made(b"here");
        before.renamed(b"here", b"there", false);
        before.something_exists(b"there/x");
        assert_eq!(found(before), ["old/", "old/known 0", "old/later 0"]);
    }

    #[test]
    fn what_was_removed_or_replaced_was_there() {
        let mut before = InitialState::new();
        before.removed(b"file", false);
        before.file_made(b"file");
        before.file_made(b"temporary");
        before.file_exists(b"target");
        before.renamed(b"temporary", b"target", false);
        before.removed(b"folder", true);
        assert_eq!(found(before), ["file 0", "folder/", "target 0"]);
    }
}
