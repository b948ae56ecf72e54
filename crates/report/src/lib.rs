//! Results in words and tables. Everything here is a pure function of a run's
//! record and its analysis; nothing here can measure, and nothing knows a study,
//! strategy, figure or cause by its name.
//!
//! Texts carry ANSI styles; whoever prints them strips those where they do not
//! belong.
//!
//! # Inside
//!
//! - `answer` prints the first screen of at most 40 lines, and `detail.rs` the rest for `--full`.
//! - `formats` has one description for each format of files. Flags, help and messages follow from it.
//! - `html` makes pages. `html/markup.rs` escapes every text; a text that is not escaped is `&'static str`.
//!   Charts are SVG with places in percentages. A chart also has a text and a table.
//! - `recording` shows bills and what differs between two, as tables for screens, Markdown, pages and CSV.
//! - `ci.rs` writes gates for `JUnit` and GitHub, by a template that escapes what has a meaning in XML.
//! - OpenMetrics is written by hand: lines of three kinds, of which older versions of Prometheus know all.

mod answer;
mod bill;
mod check;
pub mod ci;
mod clients;
mod columns;
mod detail;
mod diff;
mod difference;
mod figures;
pub mod formats;
mod history;
mod how;
pub mod html;
mod integrity;
mod limits;
pub mod load;
#[cfg(test)]
mod made_diff;
mod manners;
mod markdown_text;
mod names;
mod noise;
mod of_study;
mod other_runs;
mod parts;
mod place;
mod places_tree;
mod planned;
pub mod recording;
mod reproduction;
mod rest;
mod risk;
mod scaling;
pub mod selftest;
mod short;
mod steadiness;
mod subject;
mod table;
mod tables;
pub mod terminal;
mod text;
mod trend;
pub mod trial;
mod why;
mod words;

pub use answer::{so_far, title};
pub use bill::{bill, command_of};
pub use diff::diff;
pub use history::{Listed, history};
pub use how::how;
pub use limits::limits;
pub use place::places;
pub use places_tree::places_tree;
pub use planned::planned;
pub use reproduction::{articles, beside};
pub use short::in_short;
pub use tables::Tables;
pub use text::paragraph;
pub use trend::trend;
