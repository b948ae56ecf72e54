//! Two runs of one article beside what was published, for a terminal.

use model::reproduction::Reproduction;

use super::table;
use super::words;
use crate::text::{Width, heading, paragraph};

/// The figures and conclusions of a run and another one; nothing where that repeats another
/// article. Each is called by a name.
pub fn beside(runs: [(&str, &Reproduction); 2], width: Width) -> Option<String> {
    let [(name, first), (_, other)] = runs;
    if first.article != other.article {
        return None;
    }
    let Reproduction { article, year, original, question, .. } = first;
    let mut out = heading(&format!("{article} ({year}, {original})"));
    out += &paragraph("", "", question, width);
    for group in words::groups(first) {
        out += &format!("\n{}", heading(&group[0].group));
        let measured = runs.iter().map(|(name, run)| words::either(name, run, group));
        let columns: Vec<_> =
            std::iter::once(words::published(group)).chain(measured).flatten().collect();
        out += &table(&columns, group, width);
        for note in words::notes(group) {
            out += &paragraph("  ", "  ", note, width);
        }
    }
    out += &format!("\n{}", heading("Its conclusions"));
    for conclusion in &first.conclusions {
        out += &paragraph("  ", "    ", &conclusion.says, width);
        let decided = runs.iter().filter_map(|(name, run)| {
            let own = run.conclusions.iter().find(|own| own.says == conclusion.says)?;
            Some(format!("{name}: {}", own.decision.as_str()))
        });
        out += &paragraph("      ", "      ", &decided.collect::<Vec<_>>().join("; "), width);
    }
    let text = format!(
        "Each figure is that of the combinations that the article measured or, where a run lacks these, of \
         native ones. `iotoll show --full` says of {name} what decided."
    );
    Some(out + "\n" + &paragraph("", "", &text, width))
}
