//! What is known of the program: settings that change what its calls cost.

use trace::{Advice, Bill, Change};
use units::{counted, percent, time};

use super::names::folder;
use crate::text::{Width, heading, paragraph};

/// As many as there is room for. The first is there in any case, with the change that loses least.
pub(super) fn all(bill: &Bill, lines_max: usize, width: Width) -> String {
    if bill.advice.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}", heading("Settings of this program that change it"));
    let mut left_out = 0;
    for (index, advice) in bill.advice.iter().enumerate() {
        let mut text = paragraph("• ", "  ", &price(bill, advice), width);
        for (nth, change) in advice.changes.iter().enumerate() {
            let change = paragraph("  - ", "    ", &sentence(change), width);
            // The last line is for what is left out.
            let lines = [&out, &text, &change].map(|text| text.lines().count());
            let is_first = index + nth == 0;
            if is_first || left_out == 0 && lines.iter().sum::<usize>() < lines_max {
                text += &change;
            } else {
                left_out += 1;
            }
        }
        if text.lines().any(|line| line.starts_with("  - ")) {
            out += &text;
        }
    }
    if left_out > 0 {
        out += &format!("And {}: --full.\n", counted(left_out, "more setting"));
    }
    out
}

fn price(bill: &Bill, advice: &Advice) -> String {
    let Advice { program, subject, path, files, calls, summed_ns, share, .. } = advice;
    format!(
        "{program}, {subject}: {} on {} in {}, {}, {} of the time.",
        counted(*calls, "call"),
        counted(*files, "file"),
        folder(bill, path),
        time(*summed_ns as f64),
        percent(*share)
    )
}

fn sentence(change: &Change) -> String {
    let Change { set, promises, loses, undo } = change;
    format!("{set}. Gain: {promises}. Loss: {loses}. Undo: {undo}.")
}
