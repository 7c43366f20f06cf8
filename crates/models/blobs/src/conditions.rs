//! Conditions of an operation (wire guide §8.7): of ETags, moments, tags, and the lease that the caller holds.

use crate::etag::{BlobETag, ETagMatch};
use crate::lease::LeaseId;
use crate::tags::{TagExpression, TagSet};
use orrery_core::{Ticks, Timestamp};

/// All of them must hold. The lease id is judged by the rules of leases, not here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    pub if_match: Option<ETagMatch>,
    pub if_none_match: Option<ETagMatch>,
    /// To the second, as HTTP dates are.
    pub if_modified_since: Option<Timestamp>,
    pub if_unmodified_since: Option<Timestamp>,
    /// `x-ms-if-tags`
    pub if_tags: Option<TagExpression>,
    pub lease: Option<LeaseId>,
}

/// Which condition did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// `If-Match`, `If-Unmodified-Since` or the tags: 412.
    Failed,
    /// `If-None-Match` with its ETag, or `If-Modified-Since`: 304 to a read and 412 to a write.
    NotModified,
    /// `If-None-Match: *`, and it is there.
    Exists,
}

/// What conditions are about.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub modified: Ticks,
    pub tags: &'a TagSet,
}

impl Conditions {
    /// Whether they are true of a state that exists.
    pub fn check(&self, target: Target<'_>) -> Result<(), Unmet> {
        let etag = BlobETag::new(target.modified);
        let second = target.modified.seconds();
        if self.if_match.as_ref().is_some_and(|wanted| !wanted.holds(etag)) {
            return Err(Unmet::Failed);
        }
        if self.if_unmodified_since.is_some_and(|moment| second > moment.seconds()) {
            return Err(Unmet::Failed);
        }
        match &self.if_none_match {
            Some(ETagMatch::Any) => return Err(Unmet::Exists),
            Some(unwanted) if unwanted.holds(etag) => return Err(Unmet::NotModified),
            // Clients that send both mean the ETag; the moment is for those that do not know ETags.
            Some(_) => {}
            None if self.if_modified_since.is_some_and(|moment| second <= moment.seconds()) => {
                return Err(Unmet::NotModified);
            }
            None => {}
        }
        match &self.if_tags {
            Some(expression) if !expression.matches(target.tags) => Err(Unmet::Failed),
            _ => Ok(()),
        }
    }

    /// Whether they allow a write that makes a blob where there is none.
    pub fn allow_creation(&self) -> bool {
        self.if_match.is_none() && self.if_tags.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_condition_says_what_it_is_about() {
        let modified = Ticks::at(Timestamp::from_millis(1_800_000_000_500));
        let tags = TagSet::new([("a".to_owned(), "1".to_owned())]).expect("a tag");
        let (etag, other) = (BlobETag::new(modified), BlobETag::new(modified.next()));
        let check = |change: &dyn Fn(&mut Conditions), expected: Result<(), Unmet>| {
            let mut conditions = Conditions::default();
            change(&mut conditions);
            assert_eq!(conditions.check(Target { modified, tags: &tags }), expected, "{conditions:?}");
        };
        let one = |etag: BlobETag| Some(ETagMatch::OneOf(vec![etag]));
        let second = |second: u64| Some(Timestamp::from_seconds(second));
        check(&|_| {}, Ok(()));
        check(&|all| all.if_match = Some(ETagMatch::Any), Ok(()));
        check(&|all| all.if_match = one(etag), Ok(()));
        check(&|all| all.if_match = one(other), Err(Unmet::Failed));
        check(&|all| all.if_match = Some(ETagMatch::OneOf(Vec::new())), Err(Unmet::Failed));
        check(&|all| all.if_none_match = one(other), Ok(()));
        check(&|all| all.if_none_match = one(etag), Err(Unmet::NotModified));
        check(&|all| all.if_none_match = Some(ETagMatch::Any), Err(Unmet::Exists));
        // Moments of headers are whole seconds, so half a second later is not later.
        check(&|all| all.if_modified_since = second(1_800_000_000), Err(Unmet::NotModified));
        check(&|all| all.if_modified_since = second(1_799_999_999), Ok(()));
        check(&|all| all.if_unmodified_since = second(1_800_000_000), Ok(()));
        check(&|all| all.if_unmodified_since = second(1_799_999_999), Err(Unmet::Failed));
        let expression = |text: &str| TagExpression::parse(text).ok();
        check(&|all| all.if_tags = expression("a = '1'"), Ok(()));
        check(&|all| all.if_tags = expression("a <> '1'"), Err(Unmet::Failed));
        check(
            &|all| {
                all.if_none_match = one(other);
                all.if_modified_since = second(1_800_000_000);
            },
            Ok(()),
        );
        check(
            &|all| {
                all.if_match = one(other);
                all.if_none_match = one(etag);
            },
            Err(Unmet::Failed),
        );
    }
}
