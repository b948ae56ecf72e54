//! A reproduction as Markdown: the figures of one run, or of several beside each other, in
//! tables, and what holds of the conclusions as a list.

use model::analysis::Analysis;
use model::reproduction::{ConclusionHere, FigureHere, Reproduction};
use model::run::Run;

use super::words::{self, Cells, Column, same};
use crate::manners;
use crate::markdown_text::escaped;

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
    let mut heads = vec![String::new()];
    let mut rows: Vec<Vec<String>> =
        group.iter().map(|figure| vec![escaped(&figure.what)]).collect();
    for (number, ArticleReport { name, reproduction }) in runs.iter().enumerate() {
        let own: Vec<FigureHere> =
            group.iter().filter_map(|figure| same(reproduction, figure)).cloned().collect();
        if own.len() != group.len() {
            continue;
        }
        let columns = words::columns(reproduction, &own).into_iter();
        for column in columns.filter(|column| number == 0 || !column.is_published) {
            heads.push(head(name, &column));
            rows.iter_mut().zip(&column.cells).for_each(|(row, cells)| row.push(cell(cells)));
        }
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> =
        (0..heads.len()).map(|at| if at == 0 { "---" } else { "---:" }.to_owned()).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    let notes: String =
        words::notes(group).into_iter().map(|note| format!("{}\n\n", escaped(note))).collect();
    format!("{}\n\n{}{}{rows}\n{notes}", escaped(&group[0].group), line(&heads), line(&rule))
}

fn head(name: &str, column: &Column) -> String {
    if name.is_empty() || column.is_published {
        return escaped(&column.name);
    }
    escaped(&format!("{name}: {}", column.short_name()))
}

fn cell(Cells { value, ratio }: &Cells) -> String {
    let gap = if ratio.is_empty() { "" } else { " " };
    escaped(&format!("{value}{gap}{ratio}"))
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
