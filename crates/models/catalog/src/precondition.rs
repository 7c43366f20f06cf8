//! `If-Match` and `If-None-Match`, evaluated in one place.

use orrery_core::ETag;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagMatch {
    /// `*`
    Any,
    /// One etag; `None` is an etag that no version of ours can have.
    Tag(Option<ETag>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    pub if_match: Option<TagMatch>,
    pub if_none_match: Option<TagMatch>,
}

/// The result of the conditions for an existing resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    /// `If-Match` names another version: 412.
    Changed,
    /// `If-None-Match` names this version: 304 for a read, 412 for a write.
    Same,
}

impl TagMatch {
    fn is(self, tag: ETag) -> bool {
        match self {
            TagMatch::Any => true,
            TagMatch::Tag(wanted) => wanted == Some(tag),
        }
    }
}

impl Preconditions {
    pub fn check(&self, tag: ETag) -> Verdict {
        if self.if_match.is_some_and(|wanted| !wanted.is(tag)) {
            return Verdict::Changed;
        }
        if self.if_none_match.is_some_and(|unwanted| unwanted.is(tag)) {
            return Verdict::Same;
        }
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_kinds_of_condition() {
        let (ours, other) = (ETag::from_u128(1), ETag::from_u128(2));
        let check = |if_match, if_none_match| Preconditions { if_match, if_none_match }.check(ours);
        let tag = |tag| Some(TagMatch::Tag(Some(tag)));
        assert_eq!(check(None, None), Verdict::Holds);
        assert_eq!(check(tag(ours), None), Verdict::Holds);
        assert_eq!(check(Some(TagMatch::Any), None), Verdict::Holds);
        assert_eq!(check(tag(other), None), Verdict::Changed);
        assert_eq!(check(Some(TagMatch::Tag(None)), None), Verdict::Changed);
        assert_eq!(check(None, tag(ours)), Verdict::Same);
        assert_eq!(check(None, Some(TagMatch::Any)), Verdict::Same);
        assert_eq!(check(None, tag(other)), Verdict::Holds);
    }
}
