//! What disturbed a run, and what to do about it.

use model::noise::Noise;

use crate::text::{Width, bullet, paragraph};

/// Every source with its remedy, and what could not be looked at.
pub(crate) fn with_remedies(noise: &Noise, width: Width) -> String {
    let mut out = String::new();
    for source in &noise.sources {
        out += &bullet(&source.text, width);
        out += &paragraph("    → ", "      ", &source.remedy, width);
    }
    if noise.sources.is_empty() {
        out += &paragraph("  ", "  ", "No source of noise was found.", width);
    }
    for unread in &noise.unread {
        out += &paragraph("  ", "    ", &format!("Not available: {unread}."), width);
    }
    out
}

/// Every source in a line, or two where it is long.
pub(crate) fn in_short(noise: &Noise, width: Width) -> String {
    let lines = noise.sources.iter();
    lines.map(|source| paragraph("  ", "    ", &source.text, width)).collect()
}
