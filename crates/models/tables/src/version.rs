//! Versions of an entity: its Timestamp is its ETag in another form, byte for byte.

use crate::edm::Ticks;

/// Which version a write wants to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: any, but there must be one.
    Any,
    Version(Ticks),
    /// A tag that no version of ours has.
    NoVersion,
}

const BEFORE: &str = "W/\"datetime'";
const AFTER: &str = "'\"";

/// The tag of the version of that moment: `W/"datetime'2026-11-15T00%3A59%3A26.3287118Z'"`.
pub fn etag(at: Ticks) -> String {
    format!("{BEFORE}{}{AFTER}", at.to_string().replace(':', "%3A"))
}

impl IfMatch {
    /// The value of the header. The colons of a tag may have been decoded on the way.
    pub fn parse(header: &str) -> Self {
        let header = header.trim();
        if header == "*" {
            return Self::Any;
        }
        let inner = header.strip_prefix(BEFORE).and_then(|rest| rest.strip_suffix(AFTER));
        let text = inner.map(|inner| inner.replace("%3A", ":").replace("%3a", ":"));
        let is_ours = |ticks: &Ticks| text.as_deref() == Some(&ticks.to_string());
        text.as_deref().and_then(Ticks::parse).filter(is_ours).map_or(Self::NoVersion, Self::Version)
    }

    pub fn holds(self, now: Ticks) -> bool {
        match self {
            Self::Any => true,
            Self::Version(wanted) => wanted == now,
            Self::NoVersion => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tag_is_found_again(count in 0..=Ticks::MAX.count()) {
            let at = Ticks::from_count(count);
            prop_assert_eq!(IfMatch::parse(&etag(at)), IfMatch::Version(at));
        }
    }

    #[test]
    fn other_tags_match_nothing() {
        assert_eq!(IfMatch::parse(" * "), IfMatch::Any);
        let decoded = IfMatch::parse("W/\"datetime'2026-11-15T00:59:26.3287118Z'\"");
        let at = Ticks::parse("2026-11-15T00:59:26.3287118Z").expect("a moment");
        assert_eq!(decoded, IfMatch::Version(at));
        assert!(decoded.holds(at) && !decoded.holds(at.next()));
        for text in ["", "\"1\"", "W/\"datetime''\"", "W/\"datetime'2026-11-15T00:59:26.32Z'\"", "**"] {
            assert_eq!(IfMatch::parse(text), IfMatch::NoVersion, "{text}");
        }
    }
}
