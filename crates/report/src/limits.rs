//! What became of the limits that a gate has, in words.

use anstyle::{AnsiColor, Style};
use model::limit::Limited;
use units::{Judgement, Range};

use crate::columns::{Cell, Table};
use crate::text::{PROSE, Width, bullet, heading};

/// A row for each limit of each combination.
pub fn limits(limits: &[Limited], width: Width) -> String {
    if limits.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["", "limit", "measured", ""].map(Cell::new));
    for limited in limits {
        let cells = [&limited.id, &limited.limit, &measured(limited)].map(Cell::new);
        table.add_row(cells.into_iter().chain([judgement(limited.judgement)]));
    }
    if table.width() <= width {
        return format!("{}{}", heading("Limits"), table.flush());
    }
    let lines = limits.iter().map(|limited| {
        let text = format!("{}: {}", limited.limit, sentence(limited));
        bullet(&text, width.min(PROSE))
    });
    format!("{}{}", heading("Limits"), lines.collect::<String>())
}

/// `log/held@disk: p99 is 6.2 ms (5.5 ms to 7.1 ms), which is surely too much`.
pub(crate) fn sentence(limited: &Limited) -> String {
    let end = match limited.judgement {
        Judgement::Met => "within the limit",
        Judgement::Missed => "beyond the limit",
        Judgement::Undecided if limited.range.is_none() => "so the limit is undecided",
        Judgement::Undecided => "not sure to be on one side of the limit; measure for longer",
    };
    let id = if limited.id.is_empty() { String::new() } else { format!("{}: ", limited.id) };
    format!("{id}{} is {}, {end}", limited.figure, measured(limited))
}

fn measured(limited: &Limited) -> String {
    let Some(Range { value, low, high }) = limited.range else {
        return "not measured".to_owned();
    };
    let quantity = limited.quantity;
    let bound = |bound: f64| quantity.show(bound);
    if low >= high {
        bound(value)
    } else if high.is_infinite() {
        format!("{} in too few stretches", bound(value))
    } else {
        format!("{} ({} to {})", bound(value), bound(low), bound(high))
    }
}

fn judgement(judgement: Judgement) -> Cell {
    let (text, style) = match judgement {
        Judgement::Met => ("kept", Style::new().bold()),
        Judgement::Missed => ("missed", AnsiColor::Red.on_default().bold()),
        Judgement::Undecided => ("undecided", AnsiColor::Yellow.on_default()),
    };
    Cell::new(text).styled(style)
}
