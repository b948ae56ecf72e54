//! HTML and SVG in which nothing that was read from a run can be anything but text.
//!
//! A text becomes part of a page by [`Element::text`] or as the value of an attribute, and
//! both escape it. Names of elements and attributes, and what is not escaped, are
//! `&'static str`: a label, a path or a server's name cannot be given for one. That is why
//! there are functions here instead of templates, in which each place may be exempted.

use std::fmt::{Display, Write as _};

use model::printable::printable;

/// Elements that have no content and no end.
const VOID: [&str; 4] = ["br", "col", "hr", "meta"];
/// Elements of SVG that may end where they begin.
const CLOSED: [&str; 4] = ["circle", "line", "path", "rect"];

/// A part of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup(String);

/// An element that is being put together.
pub(crate) struct Element {
    name: &'static str,
    attributes: String,
    content: Markup,
}

/// An element without attributes and content.
pub(crate) fn el(name: &'static str) -> Element {
    Element { name, attributes: String::new(), content: Markup::default() }
}

/// An element of that class.
pub(crate) fn classed(name: &'static str, class: &'static str) -> Element {
    el(name).attr("class", class)
}

impl Element {
    /// With an attribute, whose value may be any text.
    pub(crate) fn attr(mut self, name: &'static str, value: impl Display) -> Self {
        // Memory takes all that is written to it.
        let _ = write!(self.attributes, " {name}=\"");
        escape_into(&mut self.attributes, &value.to_string());
        self.attributes.push('"');
        self
    }

    /// With any text behind what it has.
    pub(crate) fn text(mut self, text: impl AsRef<str>) -> Self {
        escape_into(&mut self.content.0, text.as_ref());
        self
    }

    /// With a sentence behind what it has, in which what stands between two backquotes is code.
    pub(crate) fn prose(self, sentence: impl AsRef<str>) -> Self {
        let sentence = sentence.as_ref();
        let parts: Vec<&str> = sentence.split('`').collect();
        if parts.len().is_multiple_of(2) {
            return self.text(sentence);
        }
        let add = |element: Self, (at, part): (usize, &&str)| match at % 2 {
            0 => element.text(part),
            _ => element.child(el("code").text(part)),
        };
        parts.iter().enumerate().fold(self, add)
    }

    /// With another part of the page behind what it has.
    pub(crate) fn child(mut self, child: impl Into<Markup>) -> Self {
        self.content.push(child);
        self
    }

    /// With several of them.
    pub(crate) fn children<T: Into<Markup>>(self, children: impl IntoIterator<Item = T>) -> Self {
        children.into_iter().fold(self, Self::child)
    }
}

impl Markup {
    /// What is written in this program itself: a style sheet, a script.
    pub(crate) fn of_ours(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// Adds a part behind what is there.
    pub(crate) fn push(&mut self, part: impl Into<Self>) {
        self.0 += &part.into().0;
    }

    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl From<Element> for Markup {
    fn from(Element { name, attributes, content }: Element) -> Self {
        let line =
            if matches!(name, "figure" | "section" | "tr" | "svg" | "g") { "\n" } else { "" };
        Self(if VOID.contains(&name) {
            format!("<{name}{attributes}>\n")
        } else if content.is_empty() && CLOSED.contains(&name) {
            format!("<{name}{attributes}/>")
        } else {
            format!("{line}<{name}{attributes}>{}</{name}>", content.0)
        })
    }
}

impl<T: Into<Markup>> FromIterator<T> for Markup {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.push(part));
        all
    }
}

/// Text as HTML shows it, in one line, with nothing in it that cannot be seen.
fn escape_into(out: &mut String, text: &str) {
    for c in printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "</script><img src=x onerror='alert(1)'>\"&\u{202e}\n";

    #[test]
    fn a_text_stays_text_wherever_it_stands() {
        let escaped = "&lt;/script&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&quot;&amp;\
                       \\u{202e}\\n";
        let markup = Markup::from(el("td").attr("title", HOSTILE).text(HOSTILE));
        assert_eq!(markup.0, format!("<td title=\"{escaped}\">{escaped}</td>"));
    }

    #[test]
    fn what_stands_between_backquotes_is_code_and_stays_text() {
        let told = |sentence| Markup::from(el("p").prose(sentence)).0;
        assert_eq!(
            told("`?`: see `a <b>`."),
            "<p><code>?</code>: see <code>a &lt;b&gt;</code>.</p>"
        );
        assert_eq!(told("one ` alone"), "<p>one ` alone</p>");
    }

    #[test]
    fn elements_are_nested_and_closed() {
        let line = classed("line", "grid").attr("x1", 3);
        let svg = el("svg").child(line).children([el("text").text("a"), el("text")]);
        let expected = "\n<svg><line class=\"grid\" x1=\"3\"/><text>a</text><text></text></svg>";
        assert_eq!(Markup::from(svg).0, expected);
        assert_eq!(Markup::from(el("br")).0, "<br>\n");
    }
}
