//! Text in columns: no rules, no wrapping, styles that have no width.

use anstyle::Style;
use model::printable::printable;
use unicode_width::UnicodeWidthStr as _;

/// Between two columns.
pub(crate) const GAP: usize = 2;

/// A piece of text and how it looks.
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self { text: printable(text.as_ref()).into_owned(), style: Style::new() }
    }

    /// Less than the rest, as heads are.
    pub(crate) fn dim(text: impl AsRef<str>) -> Self {
        Self::new(text).styled(Style::new().dimmed())
    }

    /// Replaces the style; text that is empty has none.
    pub(crate) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    fn width(&self) -> usize {
        self.text.width()
    }

    fn push_to(&self, line: &mut String) {
        if self.text.is_empty() {
            return;
        }
        let Self { text, style } = self;
        line.push_str(&format!("{style}{text}{style:#}"));
    }
}

/// Rows of cells, the first of which are the heads of the columns.
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
    aligned_right: Vec<usize>,
    /// The least width of each column.
    least: Vec<usize>,
}

/// Makes columns as wide as the widest of the tables has them, so that what stands below
/// one another in several tables does so on the page.
pub(crate) fn align(tables: &mut [&mut Table]) {
    let mut widths: Vec<usize> = Vec::new();
    for table in &*tables {
        let own = table.widths();
        widths.resize(widths.len().max(own.len()), 0);
        for (width, own) in widths.iter_mut().zip(own) {
            *width = own.max(*width);
        }
    }
    for table in tables {
        table.least.clone_from(&widths);
    }
}

impl Table {
    pub(crate) fn new(heads: impl IntoIterator<Item = Cell>) -> Self {
        Self {
            rows: vec![heads.into_iter().collect()],
            aligned_right: Vec::new(),
            least: Vec::new(),
        }
    }

    /// A row may have fewer cells than there are columns. One of a single cell is a heading of
    /// those below it, for which no column becomes wider.
    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn align_right(&mut self, columns: impl IntoIterator<Item = usize>) {
        self.aligned_right.extend(columns);
    }

    /// The rows, indented by a gap, without the padding at their ends.
    pub(crate) fn indented(&self) -> String {
        self.lines(GAP)
    }

    /// The same without the indent.
    pub(crate) fn flush(&self) -> String {
        self.lines(0)
    }

    /// How wide the rows are without the indent.
    pub(crate) fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
    }

    fn lines(&self, indent: usize) -> String {
        let widths = self.widths();
        self.rows.iter().map(|row| self.line(row, &widths, indent) + "\n").collect()
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let rows = || self.rows.iter().filter(|row| row.len() > 1 || columns == 1);
        let width = |column: usize| rows().filter_map(|row| row.get(column)).map(Cell::width).max();
        let least = |column: usize| self.least.get(column).copied().unwrap_or_default();
        // A column that is empty stands apart all the same.
        let of = |column| width(column).unwrap_or_default().max(least(column)).max(1);
        (0..columns).map(of).collect()
    }

    fn line(&self, row: &[Cell], widths: &[usize], indent: usize) -> String {
        let mut line = String::new();
        // Written before the next text only, so that none is left at the end.
        let mut spaces = indent;
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let padding = width.saturating_sub(cell.width());
            let (before, after) =
                if self.aligned_right.contains(&column) { (padding, 0) } else { (0, padding) };
            spaces += before;
            if !cell.text.is_empty() {
                line.push_str(&" ".repeat(spaces));
                spaces = 0;
            }
            cell.push_to(&mut line);
            spaces += after + GAP;
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["name", "", "n"].map(Cell::new));
        table.add_row(["µs", "–", "1"].map(Cell::new));
        table.add_row(["longer", "", "1000"].map(Cell::new));
        table.align_right([2]);
        let lines = ["  name          n", "  µs      –     1", "  longer     1000", ""];
        assert_eq!(table.indented(), lines.join("\n"));
    }

    #[test]
    fn tables_that_are_aligned_have_columns_of_the_same_width() {
        let mut one = Table::new(["a", "b"].map(Cell::new));
        let mut other = Table::new(["longer", "b", "c"].map(Cell::new));
        align(&mut [&mut one, &mut other]);
        assert_eq!((one.flush(), other.flush()), ("a       b\n".into(), "longer  b  c\n".into()));
    }

    #[test]
    fn a_cell_keeps_its_line() {
        let table = Table::new(["a\nb", "\u{1b}[31mc"].map(Cell::new));
        assert_eq!(table.indented(), "  a\\nb  \\u{1b}[31mc\n");
    }

    #[test]
    fn nothing_stands_at_the_end_of_a_line() {
        let mut table = Table::new(["a", "b"].map(Cell::new));
        table.add_row(["x", ""].map(Cell::new));
        table.add_row([Cell::new("alone")]);
        assert_eq!(table.indented(), "  a  b\n  x\n  alone\n");
    }

    #[test]
    fn styles_have_no_width_and_end_with_their_text() {
        let mut table = Table::new([Cell::new("ab").styled(Style::new().bold()), Cell::new("c")]);
        table.add_row(["abc", "d"].map(Cell::new));
        assert_eq!(table.indented(), "  \u{1b}[1mab\u{1b}[0m   c\n  abc  d\n");
    }
}
