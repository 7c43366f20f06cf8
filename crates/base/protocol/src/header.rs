//! JSON in a header.

/// JSON with non-ASCII characters escaped; they occur only inside strings.
pub fn ascii_json(json: &str) -> String {
    let mut units = [0; 2];
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            ' '..='~' => out.push(character),
            _ => character.encode_utf16(&mut units).iter().for_each(|unit| out += &format!("\\u{unit:04x}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_ascii_is_escaped_as_utf16() {
        for (json, expected) in [
            (r#"["sol",1,{}]"#, r#"["sol",1,{}]"#),
            (r#"["söl"]"#, r#"["s\u00f6l"]"#),
            (r#"["🚀\n~"]"#, r#"["\ud83d\ude80\n~"]"#),
            ("[\"\u{7f}\"]", r#"["\u007f"]"#),
        ] {
            assert_eq!(ascii_json(json), expected);
        }
    }
}
