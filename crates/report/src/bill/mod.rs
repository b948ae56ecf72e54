//! The bill of a recording: what a program's file calls cost, what no move can beat, and what it
//! does that may pay to be done another way.

mod beside;
mod names;
mod opening;
mod patterns;
mod tables;
#[cfg(test)]
mod tests;

use trace::Bill;

use crate::text::{Width, heading, paragraph};

/// The whole of it: with `full`, every row and pattern that there is.
pub fn bill(bill: &Bill, full: bool, width: Width) -> String {
    let mut out = String::new();
    out += &heading_of(&opening::sentence(bill), width);
    out += &paragraph("", "", &opening::facts(bill), width);
    out += &tables::all(bill, full, width);
    out += &patterns::all(bill, full, width);
    out += &beside::all(bill, full, width);
    out
}

/// The opening sentence, which wraps.
fn heading_of(text: &str, width: Width) -> String {
    let wrapped = paragraph("", "", text, width);
    wrapped.lines().map(heading).collect()
}
