//! Places between two texts, and the ranges of texts from one to another.

use crate::utf16;
use std::borrow::Cow;
use std::sync::Arc;

/// A place in the order of all texts: right before one, right after one, or behind all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// The text, in bytes that sort as it does, and whether the place is after it.
    At(Arc<[u8]>, Side),
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Before,
    After,
}

/// The texts between two places; never none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    pub from: Cut,
    pub to: Cut,
}

/// Intervals in order; no two touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals(pub Vec<Interval>);

impl Cut {
    pub fn before(text: &str) -> Self {
        Self::At(utf16::encode(text).into(), Side::Before)
    }

    pub fn after(text: &str) -> Self {
        Self::At(utf16::encode(text).into(), Side::After)
    }

    /// Before every text.
    pub fn start() -> Self {
        Self::before("")
    }
}

/// A text in the bytes of a cut.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    utf16::decode(bytes).expect("a cut is at a text")
}

impl Interval {
    pub fn all() -> Self {
        Self { from: Cut::start(), to: Cut::End }
    }

    /// `None` if nothing is between the two.
    pub fn between(from: Cut, to: Cut) -> Option<Self> {
        (from < to).then_some(Self { from, to })
    }

    /// The text, if there is only one.
    pub fn single(&self) -> Option<&Arc<[u8]>> {
        match (&self.from, &self.to) {
            (Cut::At(from, Side::Before), Cut::At(to, Side::After)) if from == to => Some(from),
            _ => None,
        }
    }
}

impl Intervals {
    pub fn all() -> Self {
        Self(vec![Interval::all()])
    }

    pub fn of(intervals: impl IntoIterator<Item = Option<Interval>>) -> Self {
        Self(intervals.into_iter().flatten().collect())
    }

    pub fn is_all(&self) -> bool {
        self.0.len() == 1 && self.0[0] == Interval::all()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn intersection(&self, other: &Self) -> Self {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut common = Vec::new();
        while let (Some(one), Some(two)) = (ours.peek(), theirs.peek()) {
            let from = (&one.from).max(&two.from).clone();
            let to = (&one.to).min(&two.to).clone();
            let is_first_done = one.to < two.to;
            common.extend(Interval::between(from, to));
            if is_first_done {
                ours.next()
            } else {
                theirs.next()
            };
        }
        Self(common)
    }

    pub fn union(&self, other: &Self) -> Self {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut all: Vec<Interval> = Vec::with_capacity(self.0.len() + other.0.len());
        loop {
            let next = match (ours.peek(), theirs.peek()) {
                (Some(one), Some(two)) if one.from <= two.from => ours.next(),
                (_, Some(_)) => theirs.next(),
                (Some(_), None) => ours.next(),
                (None, None) => return Self(all),
            };
            let next = next.expect("it was peeked at");
            match all.last_mut() {
                Some(last) if next.from <= last.to => {
                    if next.to > last.to {
                        last.to = next.to.clone();
                    }
                }
                _ => all.push(next.clone()),
            }
        }
    }

    /// One interval that has all of them.
    #[must_use]
    pub fn hull(&self) -> Self {
        match (self.0.first(), self.0.last()) {
            (Some(first), Some(last)) => {
                Self(vec![Interval { from: first.from.clone(), to: last.to.clone() }])
            }
            _ => Self::default(),
        }
    }
}
