//! Writes a document: elements inside elements, texts escaped so that a reader has them back to the letter.

use bytes::Bytes;

#[derive(Debug)]
pub struct Writer {
    out: String,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    pub fn new() -> Self {
        Self { out: r#"<?xml version="1.0" encoding="utf-8"?>"#.to_owned() }
    }

    /// An element with whatever `inside` writes; `<name />` if that is nothing.
    pub fn element(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.element_with(name, &[], inside);
    }

    /// The same, with attributes.
    pub fn element_with(&mut self, name: &str, attributes: &[(&str, &str)], inside: impl FnOnce(&mut Self)) {
        self.out.push('<');
        self.out.push_str(name);
        for (attribute, value) in attributes {
            self.out.push(' ');
            self.out.push_str(attribute);
            self.out.push_str("=\"");
            escape_into(&mut self.out, value);
            self.out.push('"');
        }
        self.out.push('>');
        let begun = self.out.len();
        inside(self);
        if self.out.len() == begun {
            self.out.pop();
            self.out.push_str(" />");
            return;
        }
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }

    pub fn text(&mut self, name: &str, text: &str) {
        self.text_with(name, &[], text);
    }

    /// The same, with attributes.
    pub fn text_with(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.element_with(name, attributes, |inside| escape_into(&mut inside.out, text));
    }

    /// `<name />`
    pub fn empty(&mut self, name: &str) {
        self.element(name, |_| ());
    }

    pub fn finish(self) -> Bytes {
        self.out.into()
    }
}

/// A carriage return is written as a reference, which readers do not turn into a line feed. What XML has no characters for
/// becomes U+FFFD.
fn escape_into(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#xD;"),
            other if super::read::is_allowed(other) => out.push(other),
            _ => out.push('\u{fffd}'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_closed_and_empty_ones_are_short() {
        let mut writer = Writer::new();
        writer.element_with("List", &[("ServiceEndpoint", "http://h/a?b&c\"")], |list| {
            list.empty("Prefix");
            list.text("Marker", "");
            list.element("Queues", |queues| queues.text("Name", "a<b> & \"c\"\r\n\u{1}"));
        });
        assert_eq!(
            writer.finish(),
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><List ServiceEndpoint=\"http://h/a?b&amp;c&quot;\">\
             <Prefix /><Marker /><Queues><Name>a&lt;b&gt; &amp; &quot;c&quot;&#xD;\n\u{fffd}</Name></Queues></List>"
        );
    }
}
