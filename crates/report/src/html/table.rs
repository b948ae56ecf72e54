//! Tables, in which every row has a name.

use super::markup::{Markup, classed, el};

/// A table whose first columns are words, and the last if it says so; the others are figures.
pub(super) struct Table {
    heads: Vec<String>,
    /// How many columns are words.
    words: usize,
    ends_in_words: bool,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<T: Into<String>>(words: usize, heads: impl IntoIterator<Item = T>) -> Self {
        let heads = heads.into_iter().map(Into::into).collect();
        Self { heads, words, ends_in_words: false, rows: Vec::new() }
    }

    pub(super) fn ending_in_words(mut self, ends_in_words: bool) -> Self {
        self.ends_in_words = ends_in_words;
        self
    }

    pub(super) fn add_row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table, in a part of the page that is moved sideways where there is no room.
    pub(super) fn scrolling(self, title: &str) -> Markup {
        let is_last = |column: usize| column + 1 == self.heads.len();
        let is_words = |column| column < self.words || self.ends_in_words && is_last(column);
        let cell = |name, column| if is_words(column) { classed(name, "w") } else { el(name) };
        let heads = self.heads.iter().enumerate();
        let heads = heads.map(|(column, head)| cell("th", column).attr("scope", "col").text(head));
        let head = el("thead").child(el("tr").children(heads));
        let rows = self.rows.iter().map(|cells| {
            let cells = cells.iter().enumerate().map(|(column, text)| match column {
                0 => el("th").attr("scope", "row").text(text),
                _ => cell("td", column).text(text),
            });
            el("tr").children(cells)
        });
        let table = el("table").child(head).child(el("tbody").children(rows));
        scrolling(title, table)
    }
}

/// Something wide, which is moved sideways by itself; the keyboard can do that too.
pub(super) fn scrolling(title: &str, content: impl Into<Markup>) -> Markup {
    classed("div", "scroll")
        .attr("tabindex", 0)
        .attr("role", "region")
        .attr("aria-label", title)
        .child(content)
        .into()
}
