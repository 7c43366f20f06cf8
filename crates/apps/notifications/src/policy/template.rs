//! Templates: `{actorName:Someone} liked your {targetType}`.
//!
//! ```text
//! {name}            the member, or nothing
//! {name,other}      the first of them that exists
//! {name:a text}     the member, or the text
//! {{ and }}         literal braces
//! ```

use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Place { names: Vec<String>, otherwise: String },
}

impl Template {
    /// Parses a template; the error continues a sentence that begins with the member's name.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > limits::NOTIFICATION_TEMPLATE_CHARS_MAX {
            return Err(format!("is longer than {} characters", limits::NOTIFICATION_TEMPLATE_CHARS_MAX));
        }
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let (brace, after) = rest[at..].split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            let inside = if brace == "{" { after.split_once('}') } else { None };
            let (inside, after) = inside.ok_or_else(|| {
                format!("has a {brace} without its other half; write {brace}{brace} for the brace itself")
            })?;
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(place(inside)?);
            rest = after;
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        Ok(Self(parts))
    }

    /// Fills in the placeholders; `value` returns the value of a name, `None` or an empty string if
    /// there is none.
    pub fn fill(&self, value: impl Fn(&str) -> Option<String>) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Place { names, otherwise } => {
                    let found =
                        names.iter().filter_map(|name| value(name)).find(|found| !found.trim().is_empty());
                    text.push_str(found.as_deref().unwrap_or(otherwise));
                }
            }
        }
        text
    }
}

fn place(inside: &str) -> Result<Part, String> {
    let (names, otherwise) = inside.split_once(':').unwrap_or((inside, ""));
    let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
    let is_name = |name: &String| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match names.iter().find(|name| !is_name(name)) {
        Some(bad) => Err(format!("has a place '{{{inside}}}' with '{bad}', which is no name of a member")),
        None => Ok(Part::Place { names, otherwise: otherwise.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        let template = Template::parse(text)?;
        Ok(template.fill(|name| match name {
            "actorName" => Some("Noor".to_owned()),
            "blank" => Some("  ".to_owned()),
            "tricky" => Some("{actorName}".to_owned()),
            _ => None,
        }))
    }

    #[test]
    fn placeholders_are_filled_in() {
        let check = |text: &str, expected: &str| assert_eq!(fill(text).as_deref(), Ok(expected), "{text}");
        check("", "");
        check("plain", "plain");
        check("{actorName} liked it", "Noor liked it");
        check("{actorName}{actorName}", "NoorNoor");
        check("a{nobody}b", "ab");
        check("{nobody:Someone} liked it", "Someone liked it");
        check("{nobody:with: colon}", "with: colon");
        check("{nobody, actorName:x}", "Noor");
        check("{blank:Someone}", "Someone");
        check("{{actorName}}", "{actorName}");
        check("{{{actorName}}}", "{Noor}");
        check("{tricky}", "{actorName}");
        check("Größe {actorName} ✓", "Größe Noor ✓");
    }

    #[test]
    fn malformed_templates_are_refused() {
        for text in ["{", "}", "{a", "a}", "{}", "{a b}", "{,a}", "{a-b}", &"x".repeat(1001)] {
            assert!(fill(text).is_err(), "{text}");
        }
    }
}
