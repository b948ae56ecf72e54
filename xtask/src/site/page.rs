//! A page of the site: what is linked in it and to it.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::links::anchor;

/// Headings with the links below them: their texts, and where they lead.
pub(super) type Groups = Vec<(String, Vec<(String, String)>)>;

/// A page.
#[derive(Default)]
pub(super) struct Page {
    /// Its Markdown, from the repository's root.
    pub(super) source: String,
    pub(super) title: String,
    /// What its headings are linked by.
    pub(super) anchors: Vec<String>,
    /// Where its links and pictures lead.
    pub(super) links: Vec<String>,
    /// The headings of the second level, with the links that follow each.
    pub(super) groups: Groups,
}

impl Page {
    pub(super) fn new(source: &str, markdown: &str) -> Self {
        let mut page = Self { source: source.to_owned(), ..Self::default() };
        let events: Vec<Event> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
        for (place, event) in events.iter().enumerate() {
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    page.add_heading(*level, text(&events[place..]));
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    page.links.push(dest_url.to_string());
                    let link = (text(&events[place..]), dest_url.to_string());
                    page.groups
                        .last_mut()
                        .into_iter()
                        .for_each(|(_, links)| links.push(link.clone()));
                }
                Event::Start(Tag::Image { dest_url, .. }) => page.links.push(dest_url.to_string()),
                _ => {}
            }
        }
        page
    }

    fn add_heading(&mut self, level: HeadingLevel, text: String) {
        let name = anchor(&text);
        let before = self.anchors.iter().filter(|known| **known == name).count();
        self.anchors.push(if before > 0 { format!("{name}-{before}") } else { name });
        match level {
            HeadingLevel::H1 if self.title.is_empty() => self.title = text,
            HeadingLevel::H2 => self.groups.push((text, Vec::new())),
            _ => {}
        }
    }
}

/// The text of a heading or a link that begins there.
fn text(events: &[Event]) -> String {
    let is_end = |event: &&Event| matches!(event, Event::End(TagEnd::Heading(_) | TagEnd::Link));
    let within = events.iter().take_while(|event| !is_end(event));
    let texts = within.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_headings_named_and_its_links_found() {
        let text = "# Log: `a` & b\n\n## Two\n\n[x](y.md) ![p](p.png)\n\n## Two\n\n[`z`](z.md)\n";
        let page = Page::new("docs/log.md", text);
        assert_eq!(page.title, "Log: a & b");
        assert_eq!(page.anchors, ["log-a--b", "two", "two-1"]);
        assert_eq!(page.links, ["y.md", "p.png", "z.md"]);
        let group =
            |text: &str, to: &str| ("Two".to_owned(), vec![(text.to_owned(), to.to_owned())]);
        assert_eq!(page.groups, [group("x", "y.md"), group("z", "z.md")]);
    }
}
