//! A result as a title, a few sentences and tables, which every form but a screen is made of.

use csv::Writer;
use model::printable::without_commands;

use crate::columns::{Cell, Table};
use crate::formats::csv::plain;
use crate::markdown_text::escaped;
use crate::text::{PROSE, Width, heading, paragraph};

/// A title, sentences and tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    pub(crate) title: String,
    pub(crate) lead: Vec<String>,
    pub(crate) sections: Vec<Section>,
}

/// A table under a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Whether the last column is no figure.
    pub(crate) ends_in_words: bool,
}

impl Section {
    pub(crate) fn new(
        title: &str,
        heads: &[&str],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        Self {
            title: title.to_owned(),
            heads: heads.iter().map(ToString::to_string).collect(),
            rows: rows.into_iter().collect(),
            ends_in_words: false,
        }
    }

    pub(crate) fn ending_in_words(self) -> Self {
        Self { ends_in_words: true, ..self }
    }

    /// As a table of Markdown. Cells are escaped, so that none ends a column.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells = cells.iter().map(|cell| escaped(cell));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let rule =
            self.heads.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "---:" });
        let rule = format!("| {} |\n", rule.collect::<Vec<_>>().join(" | "));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{}{rule}{rows}", line(&self.heads))
    }
}

impl Tables {
    fn shown(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| !section.rows.is_empty())
    }

    /// For a terminal.
    pub fn text(&self, width: Width) -> String {
        let prose = width.min(PROSE);
        let mut out = heading(&self.title);
        out.extend(self.lead.iter().map(|text| paragraph("", "", text, prose)));
        for section in self.shown() {
            let mut table = Table::new(section.heads.iter().map(Cell::new));
            for row in &section.rows {
                table.add_row(row.iter().map(Cell::new));
            }
            table.align_right(1..section.heads.len());
            out += &format!("\n{}{}", heading(&section.title), table.flush());
        }
        out
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("## {}\n\n", escaped(&self.title));
        out.extend(self.lead.iter().map(|text| format!("{}\n\n", escaped(text))));
        for section in self.shown() {
            out += &format!("### {}\n\n{}\n", escaped(&section.title), section.markdown());
        }
        without_commands(&out).into_owned()
    }
}

/// Rows with a line of heads as CSV.
pub(crate) fn csv((heads, rows): (Vec<String>, Vec<Vec<String>>)) -> Vec<u8> {
    let mut table = Writer::from_writer(Vec::new());
    // Memory takes all that is written to it.
    let _ = table.write_record(&heads);
    for row in rows {
        let _ = table.write_record(row.iter().map(|cell| plain(cell).into_owned()));
    }
    table.into_inner().unwrap_or_default()
}
