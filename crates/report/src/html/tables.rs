//! A page of sentences and tables: a recording, or what differs between two results.

use super::chart::Ids;
use super::markup::{Element, classed, el};
use super::table::Table;
use super::{document, over_runs};
use crate::tables::{Section, Tables};
use model::trend::Trend;

/// A page of its own.
pub fn page_of_tables(tables: &Tables) -> String {
    let mut section = classed("section", "run").child(el("h1").text(&tables.title));
    section = section.children(tables.lead.iter().map(|text| el("p").text(text)));
    for part in tables.sections.iter().filter(|part| !part.rows.is_empty()) {
        section =
            section.child(el("h2").text(&part.title)).child(table(part).scrolling(&part.title));
    }
    document(&tables.title, el("main").child(section))
}

fn table(section: &Section) -> Table {
    let mut table =
        Table::new(1, section.heads.iter().cloned()).ending_in_words(section.ends_in_words);
    for row in &section.rows {
        table.add_row(row.iter().cloned());
    }
    table
}

/// The page of a trend.
pub fn page_of_trend(trend: &Trend) -> String {
    let mut ids = Ids::default();
    let main: Element = over_runs::main(trend, &mut ids);
    document("Times over all saved runs", main)
}
