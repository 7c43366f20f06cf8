//! Parses XML responses into a tree of elements with texts.

use super::error::StorageError;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    pub name: String,
    pub text: String,
    pub children: Vec<Element>,
}

/// No response is deeper.
const LEVELS_MAX: usize = 16;

impl Element {
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    pub fn children_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }

    /// The text of a required child.
    pub fn required(&self, name: &str) -> Result<&str, StorageError> {
        let missing = || StorageError::not_understood(format!("{} has no {name}", self.name));
        self.text_of(name).ok_or_else(missing)
    }
}

/// The root element.
pub(super) fn read(document: &[u8]) -> Result<Element, StorageError> {
    let text = std::str::from_utf8(document).map_err(StorageError::not_understood)?;
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    // The last is the innermost open element; the first contains the root.
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().map_err(StorageError::not_understood)? {
            Event::Start(start) => {
                if open.len() > LEVELS_MAX {
                    return Err(StorageError::not_understood("its XML is too deep"));
                }
                open.push(Element { name: start.name().as_ref().to_owned(), ..Element::default() });
            }
            Event::Empty(start) => {
                let element = Element { name: start.name().as_ref().to_owned(), ..Element::default() };
                innermost(&mut open).children.push(element);
            }
            Event::End(_) => {
                let closed = open.pop().unwrap_or_default();
                innermost(&mut open).children.push(closed);
            }
            Event::Text(text) => innermost(&mut open).text.push_str(&text),
            Event::CData(text) => innermost(&mut open).text.push_str(&text),
            Event::GeneralRef(reference) => innermost(&mut open).text.push_str(&resolve(&reference)?),
            Event::DocType(_) => return Err(StorageError::not_understood("its XML has a DTD")),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    let root = open.pop().and_then(|mut document| document.children.pop());
    root.filter(|_| open.is_empty()).ok_or_else(|| StorageError::not_understood("its XML has no root"))
}

/// The reader has checked that every element is closed.
fn innermost(open: &mut [Element]) -> &mut Element {
    open.last_mut().expect("the document itself is never closed")
}

fn resolve(reference: &BytesRef<'_>) -> Result<String, StorageError> {
    if let Some(character) = reference.resolve_char_ref().map_err(StorageError::not_understood)? {
        return Ok(character.to_string());
    }
    let name: &str = reference;
    let known = [("lt", "<"), ("gt", ">"), ("amp", "&"), ("quot", "\""), ("apos", "'")];
    let found = known.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    found.ok_or_else(|| StorageError::not_understood(format!("its XML has a reference '&{name};'")))
}

/// The text inside an element. A carriage return is written as a reference, which readers preserve; characters that XML
/// does not allow are refused.
pub(super) fn escaped(text: &str) -> Result<String, StorageError> {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#xD;"),
            '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'.. => out.push(character),
            other => {
                let code = u32::from(other);
                return Err(StorageError::Invalid(format!(
                    "a message is sent as XML, which has no character U+{code:04X}; encode it, for example in Base64"
                )));
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_elements_and_texts() {
        let root = read(b"\xef\xbb\xbf<?xml version=\"1.0\"?><a x=\"1\"><b> 1 &amp; &#xD;\n<![CDATA[<2>]]></b><c /><b/></a>");
        let root = root.expect("a document");
        assert_eq!(
            (root.name.as_str(), root.text_of("b"), root.text_of("c")),
            ("a", Some(" 1 & \r\n<2>"), Some(""))
        );
        assert_eq!((root.children_named("b").count(), root.text_of("d")), (2, None));
        assert!(root.required("d").is_err());
    }

    #[test]
    fn a_malformed_document_is_refused() {
        for text in ["", "<a>", "</a>", "<a></b>", "<!DOCTYPE a><a/>", "<a>&x;</a>", &"<a>".repeat(20)] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(read(b"\xff").is_err());
    }

    #[test]
    fn a_text_comes_back_to_the_letter() {
        let text = " <a & \"b\">\r\n\t]]> é🚀 ";
        let document = format!("<m>{}</m>", escaped(text).expect("characters of XML"));
        assert_eq!(read(document.as_bytes()).expect("a document").text, text);
        assert!(escaped("a\u{1}").is_err() && escaped("\u{ffff}").is_err());
    }
}
