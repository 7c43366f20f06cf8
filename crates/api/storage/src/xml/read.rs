//! Reads a document into its elements, strictly: one root, everything closed, no DTD, within the limits.

use super::Element;
use crate::error::StorageError;
use crate::limits::{XML_ELEMENTS_MAX, XML_LEVELS_MAX};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidXml {
    #[error("the document is not UTF-8")]
    NotText,
    #[error("the document has a character that XML does not allow")]
    Character,
    #[error("{0}")]
    Syntax(String),
    #[error("the document has no root element, or more than one")]
    Root,
    #[error("a document with a DTD is not taken")]
    Dtd,
    #[error("the reference '&{0};' is not known")]
    Reference(String),
    #[error("the document has more than {XML_ELEMENTS_MAX} elements")]
    Elements,
    #[error("the document has elements more than {XML_LEVELS_MAX} levels inside one another")]
    Levels,
}

impl From<InvalidXml> for StorageError {
    fn from(error: InvalidXml) -> Self {
        Self::invalid_xml(error.to_string())
    }
}

/// The root element of a document.
pub fn read(document: &[u8]) -> Result<Element, InvalidXml> {
    let text = std::str::from_utf8(document).map_err(|_| InvalidXml::NotText)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.chars().all(is_allowed) {
        return Err(InvalidXml::Character);
    }
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_comments = true;
    let mut tree = Tree::default();
    loop {
        match reader.read_event().map_err(syntax)? {
            Event::Start(start) => tree.open(start.name().as_ref())?,
            Event::Empty(start) => {
                tree.open(start.name().as_ref())?;
                tree.close();
            }
            Event::End(_) => tree.close(),
            Event::Text(text) => tree.push(&text)?,
            Event::CData(text) => tree.push(&text)?,
            Event::GeneralRef(reference) => tree.push(&resolve(&reference)?)?,
            Event::DocType(_) => return Err(InvalidXml::Dtd),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => return tree.finish(),
        }
    }
}

/// XML 1.0, 2.2.
pub(super) fn is_allowed(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

fn syntax(error: impl std::fmt::Display) -> InvalidXml {
    InvalidXml::Syntax(error.to_string())
}

fn resolve(reference: &BytesRef<'_>) -> Result<String, InvalidXml> {
    if let Some(character) = reference.resolve_char_ref().map_err(syntax)? {
        return if is_allowed(character) { Ok(character.to_string()) } else { Err(InvalidXml::Character) };
    }
    let name: &str = reference;
    let known = [("lt", "<"), ("gt", ">"), ("amp", "&"), ("quot", "\""), ("apos", "'")];
    let found = known.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    found.ok_or_else(|| InvalidXml::Reference(name.to_owned()))
}

/// The elements that are open, the innermost last, and the root once it is closed.
#[derive(Default)]
struct Tree {
    open: Vec<Element>,
    root: Option<Element>,
    elements: usize,
}

impl Tree {
    fn open(&mut self, name: &str) -> Result<(), InvalidXml> {
        self.elements += 1;
        if self.elements > XML_ELEMENTS_MAX {
            return Err(InvalidXml::Elements);
        }
        if self.open.len() >= XML_LEVELS_MAX {
            return Err(InvalidXml::Levels);
        }
        if self.open.is_empty() && self.root.is_some() {
            return Err(InvalidXml::Root);
        }
        let name = name.to_owned();
        self.open.push(Element { name, ..Element::default() });
        Ok(())
    }

    /// The reader has checked that an element is open, and that it has this name.
    fn close(&mut self) {
        let Some(closed) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(closed),
            None => self.root = Some(closed),
        }
    }

    fn push(&mut self, text: &str) -> Result<(), InvalidXml> {
        match self.open.last_mut() {
            Some(element) => element.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err(InvalidXml::Root),
        }
        Ok(())
    }

    fn finish(self) -> Result<Element, InvalidXml> {
        if self.open.is_empty() { self.root.ok_or(InvalidXml::Root) } else { Err(InvalidXml::Root) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Writer;

    fn text(document: &str) -> Result<String, InvalidXml> {
        read(document.as_bytes()).map(|root| root.text)
    }

    #[test]
    fn texts_are_kept_to_the_letter() {
        let check = |inside: &str, expected: &str| {
            assert_eq!(text(&format!("<T>{inside}</T>")).as_deref(), Ok(expected), "{inside:?}");
        };
        check("  a\n b\t", "  a\n b\t");
        check("a&lt;b&amp;&quot;&apos;&gt;", "a<b&\"'>");
        check("&#65;&#x1F680;&#xD;&#10;", "A🚀\r\n");
        check("x<![CDATA[ <a> & ]]>y", "x <a> & y");
        check("a<!-- no text -->b", "ab");
        check("", "");
    }

    #[test]
    fn a_document_has_one_root_with_its_children() {
        let root = read(b"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<A x='1'><B>1</B><C/><B>2</B></A>\n")
            .expect("a root");
        assert_eq!((root.name.as_str(), root.text_of("B"), root.text_of("C")), ("A", Some("1"), Some("")));
        assert_eq!(root.children.len(), 3);
        assert!(root.required("D").is_err() && root.only(&["B", "C"]).is_err() && root.only(&["B"]).is_err());
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for wrong in [
            "",
            "  ",
            "text",
            "<a>",
            "<a></b>",
            "</a>",
            "<a/><b/>",
            "<a/>x",
            "x<a/>",
            "<a>&no;</a>",
            "<a>&#0;</a>",
            "<a>&#xFFFF;</a>",
            "<a>&lt</a>",
            "<!DOCTYPE a><a/>",
            "<a>\u{1}</a>",
            "<a",
            "<a><![CDATA[x</a>",
        ] {
            assert!(text(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(read(b"<a>\xff</a>"), Err(InvalidXml::NotText));
        let deep = |levels: usize| format!("{}{}", "<a>".repeat(levels), "</a>".repeat(levels));
        assert!(text(&deep(XML_LEVELS_MAX)).is_ok());
        assert_eq!(text(&deep(XML_LEVELS_MAX + 1)), Err(InvalidXml::Levels));
        assert_eq!(text(&format!("<r>{}</r>", "<a/>".repeat(XML_ELEMENTS_MAX))), Err(InvalidXml::Elements));
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["", "a", " \r\n\t<>&\"' ]]>", "é🚀\u{85}\u{2028}"] {
            let mut writer = Writer::new();
            writer.text("T", text);
            assert_eq!(read(&writer.finish()).map(|root| root.text).as_deref(), Ok(text));
        }
    }
}
