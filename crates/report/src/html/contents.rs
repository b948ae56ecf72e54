//! The contents of a page, which stay in sight.

use super::markup::{Element, el};

/// The parts of a page: what each is called, and its id.
#[derive(Default)]
pub(super) struct Contents(Vec<(String, String)>);

impl Contents {
    pub(super) fn add(&mut self, title: &str, id: &str) {
        self.0.push((title.to_owned(), id.to_owned()));
    }

    /// Links to them; nothing where there is one part at the most.
    pub(super) fn nav(&self) -> Option<Element> {
        let link = |(title, id): &(String, String)| {
            el("li").child(el("a").attr("href", format!("#{id}")).text(title))
        };
        // On a telephone the list is one line, which is moved sideways.
        let list = el("ol").attr("tabindex", 0).children(self.0.iter().map(link));
        (self.0.len() > 1).then(|| el("nav").attr("aria-label", "Contents").child(list))
    }
}
