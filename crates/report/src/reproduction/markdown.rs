//! A reproduction as Markdown: the figures of one run, or of several beside each other, in
//! tables, and what holds of the conclusions as a list.

use model::analysis::Analysis;
use model::reproduction::{ConclusionHere, FigureHere, Reproduction};
use model::run::Run;

use super::words::{self, Cells};
use crate::manners;
use crate::markdown_text::escaped;
use crate::tables::Section;

/// What a run says of its article, under a name that tells it from others.
pub(super) struct ArticleReport<'a> {
    /// `run 2`; empty for a run alone.
    pub(super) name: String,
    pub(super) reproduction: &'a Reproduction,
}

/// All of one run; nothing where it repeats no article.
pub(crate) fn markdown(run: &Run, analysis: &Analysis) -> Option<String> {
    let reproduction = analysis.reproduction.as_ref()?;
    let Reproduction { article, year, original, question, .. } = reproduction;
    let title = escaped(&format!("{article} ({year}, {original})"));
    let mut out = format!("## {title}\n\n{}\n\n", escaped(question));
    let sentences = words::manner(reproduction);
    for missing in sentences.chain(manners::left_out_sentences(&run.run)) {
        out += &format!("{}\n\n", escaped(&missing));
    }
    let told = [ArticleReport { name: String::new(), reproduction }];
    Some(format!("{out}{}{}", conclusions(&told), tables(&told)))
}

/// A table for each group of figures, with the columns of all runs.
pub(super) fn tables(runs: &[ArticleReport]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    words::groups(first.reproduction).map(|group| table(runs, group)).collect()
}

fn table(runs: &[ArticleReport], group: &[FigureHere]) -> String {
    let runs = runs.iter().map(|run| (run.name.clone(), run.reproduction));
    let columns = words::columns_beside(runs, group);
    let names = columns.iter().map(|column| column.name.as_str());
    let heads: Vec<&str> = std::iter::once("").chain(names).collect();
    let rows = group.iter().enumerate().map(|(row, figure)| {
        let cells = columns.iter().map(|column| cell(&column.cells[row]));
        std::iter::once(figure.what.clone()).chain(cells).collect::<Vec<_>>()
    });
    let table = Section::new("", &heads, rows).markdown();
    let notes: String =
        words::notes(group).into_iter().map(|note| format!("{}\n\n", escaped(note))).collect();
    format!("{}\n\n{table}\n{notes}", escaped(&group[0].group))
}

fn cell(Cells { value, ratio }: &Cells) -> String {
    let gap = if ratio.is_empty() { "" } else { " " };
    format!("{value}{gap}{ratio}")
}

/// Each conclusion, and what each run says of it.
pub(super) fn conclusions(runs: &[ArticleReport]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let mut out = String::new();
    for conclusion in &first.reproduction.conclusions {
        out += &format!("- {}", escaped(&conclusion.says));
        for ArticleReport { name, reproduction } in runs {
            let mut all = reproduction.conclusions.iter();
            let Some(own) = all.find(|own| own.says == conclusion.says) else { continue };
            out += &decided(name, own);
        }
        out.push('\n');
    }
    format!("{out}\n")
}

/// `**holds here**: …`, on lines of their own below the sentence.
fn decided(name: &str, conclusion: &ConclusionHere) -> String {
    let name = if name.is_empty() { String::new() } else { format!("{}: ", escaped(name)) };
    let reasons = words::reasons(conclusion).join(" ");
    format!("\n  {name}**{}**. {}", conclusion.decision.as_str(), escaped(&reasons))
}
