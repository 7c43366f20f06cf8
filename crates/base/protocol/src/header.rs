//! JSON in a header.

/// JSON with what is not ASCII escaped; such characters are only ever inside strings.
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
    fn what_is_not_ascii_is_escaped_in_units_of_16_bits() {
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
