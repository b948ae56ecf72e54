//! A page's prose, without what stands in code.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Stands for a code span: one word that is none of any list.
pub(super) const CODE: char = '\u{fffc}';
/// Stands before the text of a link.
pub(super) const LINK: char = '\u{200b}';
/// What a generated page says in one of its first lines.
const GENERATED: &str = "Made by `cargo xtask generate`";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A paragraph, or the text of a list's item.
    Text,
    /// A heading or a table's cell, which need be no sentence.
    Label,
}

/// A paragraph, an item, a heading or a table's cell.
pub(super) struct Block {
    pub(super) kind: Kind,
    /// Its first line, from 1.
    pub(super) line: usize,
    /// Lines as they are in the page, code spans as [`CODE`].
    pub(super) text: String,
}

impl Block {
    /// The page's line of a place in the text.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.line + self.text[..offset].matches('\n').count()
    }
}

pub(super) struct Page {
    pub(super) blocks: Vec<Block>,
    /// The code spans with their lines.
    pub(super) codes: Vec<(usize, String)>,
    /// Those outside of code blocks.
    pub(super) words: usize,
}

/// Whether a program wrote the page.
pub(super) fn is_generated(text: &str) -> bool {
    text.lines().take(5).any(|line| line.contains(GENERATED))
}

impl Page {
    pub(super) fn new(markdown: &str) -> Self {
        let mut page = Self { blocks: Vec::new(), codes: Vec::new(), words: 0 };
        let mut in_code = false;
        for (event, at) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
            let line = || 1 + markdown[..at.start].matches('\n').count();
            match event {
                Event::Start(Tag::CodeBlock(_)) => in_code = true,
                Event::End(TagEnd::CodeBlock) => in_code = false,
                // An item's text goes on after a list within it.
                Event::Start(Tag::Paragraph | Tag::Item)
                | Event::End(TagEnd::Item | TagEnd::Paragraph) => page.begin(Kind::Text, line()),
                Event::Start(Tag::Heading { .. } | Tag::TableCell) => {
                    page.begin(Kind::Label, line());
                }
                Event::Text(text) if !in_code => page.push(&text),
                Event::Start(Tag::Link { .. }) => page.push(&LINK.to_string()),
                Event::SoftBreak | Event::HardBreak => page.push("\n"),
                Event::Code(code) => {
                    page.words += count(&code).saturating_sub(1);
                    page.codes.push((line(), code.to_string()));
                    page.push(&CODE.to_string());
                }
                _ => {}
            }
        }
        page.blocks.retain(|block| !block.text.trim().is_empty());
        page.words += page.blocks.iter().map(|block| count(&block.text)).sum::<usize>();
        page
    }

    fn begin(&mut self, kind: Kind, line: usize) {
        self.blocks.push(Block { kind, line, text: String::new() });
    }

    fn push(&mut self, text: &str) {
        if let Some(block) = self.blocks.last_mut() {
            block.text.push_str(text);
        }
    }
}

/// How many words a text has.
pub(super) fn count(text: &str) -> usize {
    text.split_whitespace().filter(|word| is_word(word)).count()
}

pub(super) fn is_word(text: &str) -> bool {
    text.contains(|c: char| c.is_alphanumeric() || c == CODE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_prose_with_lines_and_no_code() {
        let text = "# A log\n\nIt `appends a` line\nto – [it](x.md).\n\n- one\n  - two\n\n\
                    ```\ncode\n```\n\n| a | b c |\n| - | --- |\n| d | e |\n";
        let page = Page::new(text);
        let found: Vec<(Kind, usize, &str)> =
            page.blocks.iter().map(|b| (b.kind, b.line, b.text.as_str())).collect();
        let (label, prose) = (Kind::Label, Kind::Text);
        let line = format!("It {CODE} line\nto – {LINK}it.");
        let cells = [(label, 13, "a"), (label, 13, "b c"), (label, 15, "d"), (label, 15, "e")];
        let texts = [(label, 1, "A log"), (prose, 3, &line), (prose, 6, "one"), (prose, 7, "two")];
        assert_eq!(found, [texts, cells].concat());
        assert_eq!(page.words, 2 + 6 + 2 + 5);
        assert_eq!(page.blocks[1].line_of(line.find("to").expect("it is there")), 4);
    }

    #[test]
    fn a_generated_page_says_so() {
        assert!(is_generated("# R\n\nMade by `cargo xtask generate` from the program itself.\n"));
        assert!(!is_generated(&("x\n".repeat(9) + "Made by `cargo xtask generate`")));
    }
}
