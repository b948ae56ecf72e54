//! A page as an application makes it: its files opened, read and closed, and then
//! rendered by a template into HTML, or sent as they are.

use std::borrow::Cow;
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use askama::Template;
use engine::study::{Doing, StudyError};
use sys::aligned::Aligned;

use crate::file::{open_for_reading, read_whole};

/// A page's files.
pub(super) struct Page {
    folder: OwnedFd,
    files: Vec<(CString, usize)>,
    rendered: bool,
    contents: Vec<Aligned>,
    made: Vec<u8>,
}

#[derive(Template)]
#[template(
    source = "<!doctype html>\n<title>A page</title>\n\
              {% for part in parts %}<section>{{ part }}</section>\n{% endfor %}",
    ext = "html"
)]
struct Markup<'a> {
    parts: &'a [Cow<'a, str>],
}

impl Page {
    pub(super) fn new(
        folder: &OwnedFd,
        files: &[(OsString, u64)],
        rendered: bool,
    ) -> Result<Self, StudyError> {
        let file = |(path, bytes): &(OsString, u64)| {
            let path = CString::new(path.as_bytes()).map_err(io::Error::from);
            Ok((path.doing("reading a page's path")?, *bytes as usize))
        };
        Ok(Self {
            folder: folder.try_clone().doing("keeping the page's folder open")?,
            files: files.iter().map(file).collect::<Result<_, StudyError>>()?,
            rendered,
            contents: files.iter().map(|(_, bytes)| Aligned::zeros(*bytes as usize)).collect(),
            made: Vec::new(),
        })
    }

    /// Opens, reads and closes the files.
    pub(super) fn read(&mut self) -> Result<(), StudyError> {
        for ((path, _), contents) in self.files.iter().zip(&mut self.contents) {
            let file = open_for_reading(&self.folder, path).doing("opening a page's file")?;
            read_whole(file, contents.bytes_mut(), "reading a page's file")?;
        }
        Ok(())
    }

    /// The page made of what was read.
    pub(super) fn made(&mut self) -> Result<&[u8], StudyError> {
        self.made.clear();
        if self.rendered {
            // What is not text, of a page of the user's own, is shown as such.
            let parts = self.contents.iter().map(|part| String::from_utf8_lossy(part.bytes()));
            let parts: Vec<_> = parts.collect();
            let rendered = Markup { parts: &parts }.write_into(&mut self.made);
            rendered.doing("rendering a page")?;
        } else {
            self.contents.iter().for_each(|part| self.made.extend_from_slice(part.bytes()));
        }
        Ok(&self.made)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_page_has_its_files_in_order_and_escaped() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "1 < 2").unwrap();
        std::fs::write(folder.path().join("b"), "end").unwrap();
        let files = [(OsString::from("a"), 5), (OsString::from("b"), 3)];
        let opened = std::fs::File::open(folder.path()).unwrap().into();
        let mut page = Page::new(&opened, &files, true).unwrap();
        for _ in 0..2 {
            page.read().unwrap();
            let html = String::from_utf8(page.made().unwrap().to_vec()).unwrap();
            let shown = "<section>1 &#60; 2</section>\n<section>end</section>\n";
            assert!(html.ends_with(shown), "{html}");
        }
        let mut plain = Page::new(&opened, &files, false).unwrap();
        plain.read().unwrap();
        assert_eq!(plain.made().unwrap(), b"1 < 2end");
        std::fs::remove_file(folder.path().join("b")).unwrap();
        assert!(page.read().unwrap_err().to_string().contains("opening a page's file"));
    }
}
