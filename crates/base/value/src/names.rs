//! Finds duplicate member names in an object.
//!
//! The names of all open objects lie on one stack; closing an object checks and drops its part. Each name has
//! a fingerprint, so unequal names are nearly always distinguished without reading their text. A small object
//! compares every pair; a larger one sorts, so no choice of names makes it quadratic.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::error::JsonError;
use crate::raw::unescape;
use crate::scan::Span;

/// Objects with up to this many members compare pairs, which is faster than sorting.
const PAIRWISE_MAX: usize = 16;
/// The prefix of a repeated name that an error shows.
const NAME_CHARS_SHOWN_MAX: usize = 64;

pub(crate) struct Names<'a> {
    text: &'a str,
    stack: Vec<Name>,
}

#[derive(Clone, Copy)]
struct Name {
    fingerprint: u64,
    span: Span,
    escaped: bool,
}

impl<'a> Names<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, stack: Vec::with_capacity(32) }
    }

    /// The stack position at which the names of a new object begin.
    pub(crate) fn mark(&self) -> usize {
        self.stack.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, span: Span, escaped: bool) {
        let fingerprint = if escaped {
            fingerprint(unescape(span.of(self.text)).as_bytes())
        } else {
            fingerprint(span.of(self.text).as_bytes())
        };
        self.stack.push(Name { fingerprint, span, escaped });
    }

    /// Closes the object whose names begin at `mark`.
    #[inline]
    pub(crate) fn close(&mut self, mark: usize) -> Result<(), JsonError> {
        let repeated = match self.stack.len() - mark {
            0 | 1 => None,
            2..=PAIRWISE_MAX => self.find_by_pairs(mark),
            _ => self.find_by_sorting(mark),
        };
        if let Some(name) = repeated {
            return Err(self.duplicate(name));
        }
        self.stack.truncate(mark);
        Ok(())
    }

    fn find_by_pairs(&self, mark: usize) -> Option<Name> {
        let names = &self.stack[mark..];
        let repeats = |(i, name): &(usize, &Name)| {
            names[..*i].iter().any(|other| other.fingerprint == name.fingerprint && self.same(other, name))
        };
        names.iter().enumerate().find(repeats).map(|(_, name)| *name)
    }

    fn find_by_sorting(&mut self, mark: usize) -> Option<Name> {
        let mut names = self.stack.split_off(mark);
        names.sort_unstable_by(|a, b| self.compare(a, b).then(a.span.start.cmp(&b.span.start)));
        let pair = names.windows(2).find(|pair| self.compare(&pair[0], &pair[1]).is_eq());
        pair.map(|pair| pair[1])
    }

    fn compare(&self, a: &Name, b: &Name) -> Ordering {
        a.fingerprint.cmp(&b.fingerprint).then_with(|| self.plain(a).cmp(&self.plain(b)))
    }

    fn same(&self, a: &Name, b: &Name) -> bool {
        self.plain(a) == self.plain(b)
    }

    fn plain(&self, name: &Name) -> Cow<'a, str> {
        let raw = name.span.of(self.text);
        if name.escaped { unescape(raw) } else { Cow::Borrowed(raw) }
    }

    fn duplicate(&self, name: Name) -> JsonError {
        let shown = self.plain(&name).chars().take(NAME_CHARS_SHOWN_MAX).collect();
        JsonError::DuplicateName { at: name.span.start as usize, name: shown }
    }
}

/// Equal for equal names, usually different for different ones. Reads at most sixteen bytes.
#[inline]
fn fingerprint(name: &[u8]) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let (head, tail) = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
        _ => (short_word(name), 0),
    };
    (head.wrapping_mul(MIX) ^ tail).wrapping_mul(MIX) ^ name.len() as u64
}

#[inline]
fn short_word(name: &[u8]) -> u64 {
    if let (Some(head), Some(tail)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*head)) | u64::from(u32::from_le_bytes(*tail)) << 32;
    }
    name.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
}
