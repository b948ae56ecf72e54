//! Whole runs on a simulated machine, in one program.

mod again;
mod anonymous;
mod answer;
mod articles;
mod clients;
mod diff;
mod exports;
mod made_up_study;
mod page;
mod parts;
mod pipeline;
