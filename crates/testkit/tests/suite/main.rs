//! Whole runs on a simulated machine, in one program.

#![allow(clippy::unwrap_used, missing_docs)]

mod again;
mod anonymous;
mod another_run;
mod answer;
mod articles;
mod clients;
mod diff;
mod exports;
mod figure;
mod foreign;
mod foreign_numbers;
mod foreign_sizes;
mod foreign_texts;
mod made_up_study;
mod page;
mod parts;
mod pipeline;
