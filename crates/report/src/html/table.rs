//! Tables, in which every row has a name.

use super::markup::{Markup, classed, el};

/// A table whose first columns are words and whose others are figures.
pub(super) struct Table {
    heads: Vec<String>,
    /// How many columns are words.
    words: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<T: Into<String>>(words: usize, heads: impl IntoIterator<Item = T>) -> Self {
        Self { heads: heads.into_iter().map(Into::into).collect(), words, rows: Vec::new() }
    }

    pub(super) fn add_row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table, in a part of the page that is moved sideways where there is no room.
    pub(super) fn scrolling(self, title: &str) -> Markup {
        let class = |column: usize| if column < self.words { "w" } else { "n" };
        let heads = self.heads.iter().enumerate().map(|(column, head)| {
            el("th").attr("scope", "col").attr("class", class(column)).text(head)
        });
        let head = el("thead").child(el("tr").children(heads));
        let rows = self.rows.iter().map(|cells| {
            let cells = cells.iter().enumerate().map(|(column, cell)| match column {
                0 => el("th").attr("scope", "row").attr("class", "w").text(cell),
                _ => el("td").attr("class", class(column)).text(cell),
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
