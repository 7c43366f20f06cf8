//! Rust source with its comments and literals taken out.
//!
//! The checks ask what the code says, so a comment about `todo!` or a string with `mod` in it must not count.
//! [`Code::read`] blanks both with spaces, byte for byte, so that an offset means the same place in the code
//! and in the file. It is a lexer for this purpose alone: it knows nested comments, raw strings, and how a
//! lifetime differs from a character.

/// A string literal: the offset of its opening quote, and what is between the quotes, escapes untouched.
pub struct Literal {
    pub start: usize,
    pub text: String,
}

pub struct Code {
    pub blanked: String,
    pub literals: Vec<Literal>,
}

impl Code {
    pub fn read(text: &str) -> Self {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0, blanked: Vec::new(), literals: Vec::new() };
        while reader.at < reader.bytes.len() {
            reader.step();
        }
        let blanked = String::from_utf8_lossy(&reader.blanked).into_owned();
        Self { blanked, literals: reader.literals }
    }

    /// The words and marks of the code, each with its offset.
    pub fn tokens(&self) -> Vec<(usize, &str)> {
        let mut tokens = Vec::new();
        let mut rest = self.blanked.as_str();
        while let Some(first) = rest.chars().next() {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len()).max(first.len_utf8());
            if !first.is_whitespace() {
                tokens.push((self.blanked.len() - rest.len(), &rest[..length]));
            }
            rest = &rest[length..];
        }
        tokens
    }

    /// The first literal that opens after `offset`.
    pub fn literal_after(&self, offset: usize) -> Option<&Literal> {
        self.literals.iter().find(|literal| literal.start > offset)
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    blanked: Vec<u8>,
    literals: Vec<Literal>,
}

impl Reader<'_> {
    fn step(&mut self) {
        match self.bytes[self.at] {
            b'/' if self.sees(1, b'/') => self.line_comment(),
            b'/' if self.sees(1, b'*') => self.block_comment(),
            b'"' => self.string(),
            b'\'' => self.character_or_lifetime(),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => self.word(),
            _ => self.keep(1),
        }
    }

    fn sees(&self, ahead: usize, byte: u8) -> bool {
        self.bytes.get(self.at + ahead) == Some(&byte)
    }

    fn keep(&mut self, count: usize) {
        self.blanked.extend_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
    }

    /// Everything up to `end` becomes spaces; newlines stay, so lines keep their numbers.
    fn blank_to(&mut self, end: usize) {
        let end = end.min(self.bytes.len());
        let blanks = self.bytes[self.at..end].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' });
        self.blanked.extend(blanks);
        self.at = end;
    }

    fn line_comment(&mut self) {
        let length = self.bytes[self.at..].iter().position(|byte| *byte == b'\n');
        self.blank_to(length.map_or(self.bytes.len(), |length| self.at + length));
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        let mut end = self.at;
        while end < self.bytes.len() {
            match &self.bytes[end..] {
                [b'/', b'*', ..] => (depth, end) = (depth + 1, end + 2),
                [b'*', b'/', ..] => (depth, end) = (depth - 1, end + 2),
                _ => end += 1,
            }
            if depth == 0 {
                break;
            }
        }
        self.blank_to(end);
    }

    fn string(&mut self) {
        let mut end = self.at + 1;
        while end < self.bytes.len() && self.bytes[end] != b'"' {
            end += if self.bytes[end] == b'\\' { 2 } else { 1 };
        }
        self.literal(self.at + 1, end, 1);
    }

    /// `'a'` and `'\n'` are characters; `'a` and `'static` are not.
    fn character_or_lifetime(&mut self) {
        let after = self.at + 1;
        let width = match self.bytes.get(after) {
            Some(b'\\') => 2,
            Some(byte) => (byte.leading_ones() as usize).max(1),
            None => 1,
        };
        let escaped = self.sees(1, b'\\');
        let close =
            self.bytes[(after + width).min(self.bytes.len())..].iter().position(|byte| *byte == b'\'');
        match close {
            Some(distance) if distance == 0 || escaped => self.blank_to(after + width + distance + 1),
            _ => self.keep(1),
        }
    }

    /// An identifier, a keyword, a number's tail, or the prefix of a raw string.
    fn word(&mut self) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let length = length.unwrap_or(rest.len());
        let hashes = rest[length..].iter().take_while(|byte| **byte == b'#').count();
        let is_raw = matches!(&rest[..length], b"r" | b"br" | b"cr");
        let opens = rest.get(length + hashes) == Some(&b'"');
        self.keep(length);
        if is_raw && opens {
            self.raw_string(hashes);
        }
    }

    fn raw_string(&mut self, hashes: usize) {
        let start = self.at + hashes + 1;
        let mut close = vec![b'"'];
        close.resize(1 + hashes, b'#');
        let length = self.bytes[start..].windows(close.len()).position(|window| window == close);
        let end = length.map_or(self.bytes.len(), |length| start + length);
        self.literal(start, end, close.len());
    }

    fn literal(&mut self, start: usize, end: usize, close: usize) {
        let end = end.min(self.bytes.len());
        let text = String::from_utf8_lossy(&self.bytes[start.min(end)..end]).into_owned();
        self.literals.push(Literal { start: start - 1, text });
        self.blank_to(end + close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, code: &str) {
        let blanked = Code::read(source).blanked;
        assert_eq!(blanked.len(), source.len(), "offsets moved in {source}");
        assert_eq!(blanked.split_whitespace().collect::<Vec<_>>().join(" "), code, "{source}");
    }

    #[test]
    fn comments_are_not_code() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check("a / b", "a / b");
        check("a /* never closed", "a");
    }

    #[test]
    fn strings_are_not_code() {
        check(r#"f("x \" y") + 1"#, "f( ) + 1");
        check(r##"r#"a " b"# ; br"c\" ; x"##, "r ; br ; x");
        check("r#mod + x", "r#mod + x");
        check("\"// not a comment\" x", "x");
        check("\"never closed \\", "");
        check("r#\"never closed", "r");
    }

    #[test]
    fn characters_are_not_code_and_lifetimes_are() {
        check("'\"' x '\\'' y '\\u{1F600}' z", "x y z");
        check("'é' x", "x");
        check("fn f<'a>(x: &'a str, y: &'static str) {}", "fn f<'a>(x: &'a str, y: &'static str) {}");
        check("'", "'");
    }

    #[test]
    fn literals_are_kept_beside_the_code_with_their_place() {
        let code = Code::read(r##"f("a", r#"b"#)"##);
        let found: Vec<_> = code.literals.iter().map(|l| (l.start, l.text.as_str())).collect();
        assert_eq!(found, [(2, "a"), (9, "b")]);
        assert_eq!(code.literal_after(2).map(|l| l.text.as_str()), Some("b"));
    }

    #[test]
    fn tokens_are_words_and_single_marks() {
        let code = Code::read("mod é_1; x!");
        let words: Vec<_> = code.tokens().into_iter().map(|(_, word)| word).collect();
        assert_eq!(words, ["mod", "é_1", ";", "x", "!"]);
    }
}
