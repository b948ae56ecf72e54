//! A page as an application makes it: its files opened, read, closed, and rendered
//! by a template into HTML.

use std::borrow::Cow;
use std::ffi::CString;
use std::fs::File;
use std::path::Path;

use askama::Template;
use engine::study::{Doing, StudyError};

use crate::file::{name, open_for_reading, read_whole};

/// A page's files.
pub(super) struct Page {
    folder: File,
    files: Vec<(CString, usize)>,
    html: String,
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
    pub(super) fn new(folder: &Path, files: &[(String, u64)]) -> Result<Self, StudyError> {
        Ok(Self {
            folder: File::open(folder).doing("opening the page's folder")?,
            files: files.iter().map(|(path, bytes)| (name(path), *bytes as usize)).collect(),
            html: String::new(),
        })
    }

    /// Reads the files and renders them.
    pub(super) fn render(&mut self) -> Result<&str, StudyError> {
        let contents = self.files.iter().map(|(path, bytes)| {
            let mut contents = vec![0; *bytes];
            let file = open_for_reading(&self.folder, path).doing("opening a page's file")?;
            read_whole(file, &mut contents, "reading a page's file")?;
            Ok(contents)
        });
        let contents = contents.collect::<Result<Vec<_>, StudyError>>()?;
        // What is not text, of a page of the user's own, is shown as such.
        let parts: Vec<_> = contents.iter().map(|part| String::from_utf8_lossy(part)).collect();
        self.html.clear();
        let rendered = Markup { parts: &parts }.render_into(&mut self.html);
        rendered
            .map_err(|e| StudyError::Refused { doing: "rendering a page", why: e.to_string() })?;
        Ok(&self.html)
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
        let files = [("a".to_owned(), 5), ("b".to_owned(), 3)];
        let mut page = Page::new(folder.path(), &files).unwrap();
        for _ in 0..2 {
            let html = page.render().unwrap();
            assert!(
                html.ends_with("<section>1 &#60; 2</section>\n<section>end</section>\n"),
                "{html}"
            );
        }
        std::fs::remove_file(folder.path().join("b")).unwrap();
        assert!(page.render().unwrap_err().to_string().contains("opening a page's file"));
    }
}
