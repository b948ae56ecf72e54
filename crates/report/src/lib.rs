//! Results in words and tables. Everything here is a pure function of a run's
//! record and its analysis; nothing here can measure, and nothing knows a study,
//! strategy, figure or cause by its name.
//!
//! Texts carry ANSI styles; whoever prints them strips those where they do not
//! belong.

mod answer;
mod bill;
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
