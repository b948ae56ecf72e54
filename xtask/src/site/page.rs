//! A page of the site, from its Markdown.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::links::anchor;

/// Headings with the links below them: their texts, and where they lead.
pub(super) type Groups = Vec<(String, Vec<(String, String)>)>;

/// A page.
pub(super) struct Page {
    /// Its Markdown, from the repository's root.
    pub(super) source: String,
    /// Its file in the site.
    pub(super) name: String,
    pub(super) title: String,
    /// What its headings are linked by.
    pub(super) anchors: Vec<String>,
    /// Its text, once its links are known.
    pub(super) html: String,
    events: Vec<Event<'static>>,
}

impl Page {
    pub(super) fn new(source: &str, text: &str) -> Self {
        let events: Vec<Event> =
            Parser::new_ext(text, Options::ENABLE_TABLES).map(Event::into_static).collect();
        let mut page = Self {
            source: source.to_owned(),
            name: name(source),
            title: String::new(),
            anchors: Vec::new(),
            html: String::new(),
            events,
        };
        page.name_headings();
        page
    }

    /// Gives every heading a name to be linked by.
    fn name_headings(&mut self) {
        let starts = self.events.iter().enumerate().filter_map(|(place, event)| match event {
            Event::Start(Tag::Heading { level, .. }) => Some((place, *level)),
            _ => None,
        });
        for (place, heading_level) in starts.collect::<Vec<_>>() {
            let text = text(&self.events[place..]);
            if heading_level == HeadingLevel::H1 && self.title.is_empty() {
                self.title.clone_from(&text);
            }
            let name = anchor(&text);
            let before = self.anchors.iter().filter(|known| **known == name).count();
            let name = if before > 0 { format!("{name}-{before}") } else { name };
            if let Event::Start(Tag::Heading { id, .. }) = &mut self.events[place] {
                *id = Some(CowStr::from(name.clone()));
            }
            self.anchors.push(name);
        }
    }

    /// The page as HTML, with the address that each link and picture has in the site.
    pub(super) fn link(&mut self, mut address: impl FnMut(&str) -> Option<String>) {
        for event in &mut self.events {
            if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
                && let Some(to) = address(dest_url)
            {
                *dest_url = CowStr::from(to);
            }
        }
        html::push_html(&mut self.html, self.events.iter().cloned());
        // What is wider than the page is scrolled by itself, by keyboard as well.
        for (plain, scrolling) in [
            ("<pre>", "<pre tabindex=\"0\">"),
            ("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>"),
            ("</table>", "</table></div>"),
        ] {
            self.html = self.html.replace(plain, scrolling);
        }
    }

    /// The headings of the second level, with the links that follow each.
    pub(super) fn groups(&self) -> Groups {
        let mut groups = Groups::new();
        for (place, event) in self.events.iter().enumerate() {
            match event {
                Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) => {
                    groups.push((text(&self.events[place..]), Vec::new()));
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    let link = (text(&self.events[place..]), dest_url.to_string());
                    groups.last_mut().into_iter().for_each(|(_, links)| links.push(link.clone()));
                }
                _ => {}
            }
        }
        groups
    }
}

/// `docs/log.md` is `log.html`; the README is where a site begins.
fn name(source: &str) -> String {
    match source {
        super::FRONT => "index.html".to_owned(),
        super::INDEX => "contents.html".to_owned(),
        source => {
            let file = source.rsplit('/').next().unwrap_or(source);
            format!("{}.html", file.trim_end_matches(".md").to_lowercase())
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

/// Text as HTML shows it.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_headings_named_and_its_links_replaced() {
        let text = "# Log: `a` & b\n\n## Two\n\n[x](y.md) ![p](p.png)\n\n## Two\n\n|a|\n|-|\n|1|\n";
        let mut page = Page::new("docs/log.md", text);
        assert_eq!((page.name.as_str(), page.title.as_str()), ("log.html", "Log: a & b"));
        assert_eq!(page.anchors, ["log-a--b", "two", "two-1"]);
        page.link(|to| (to == "y.md").then(|| "z.html".to_owned()));
        for part in ["<h2 id=\"two-1\">", "href=\"z.html\"", "src=\"p.png\"", "\"0\"><table>"] {
            assert!(page.html.contains(part), "{part} is not in {}", page.html);
        }
    }

    #[test]
    fn groups_are_headings_with_their_links() {
        let page = Page::new(
            "docs/README.md",
            "# D\n\n[o](o.md)\n\n## A\n\n- [x](x.md)\n- [y](y.md)\n\n## B\n",
        );
        let link = |text: &str, to: &str| (text.to_owned(), to.to_owned());
        let expected = [
            ("A".to_owned(), vec![link("x", "x.md"), link("y", "y.md")]),
            ("B".to_owned(), vec![]),
        ];
        assert_eq!(page.groups(), expected);
    }
}
