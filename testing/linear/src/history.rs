//! What was called and what was answered.

/// The tag of a version. Every write names its own before it is sent, so a tag tells which write made a version.
pub type Tag = u128;

/// The item as somebody saw it: its value and its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    pub value: i64,
    pub tag: Tag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Read,
    Create {
        new: Seen,
    },
    /// Takes effect only on the version of this tag.
    ReplaceIf {
        tag: Tag,
        new: Seen,
    },
    Delete,
    /// Adds to the value; a batch of two adds twice and leaves the tag of the second.
    Increment {
        by: i64,
        tag: Tag,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What a read or an increment showed.
    Shown(Seen),
    Done,
    /// There was no such item.
    Missing,
    /// There was one already.
    Exists,
    /// There was another version.
    Changed,
    /// Nobody knows: it happened then or later, or never.
    Unknown,
}

/// One operation. Moments are of one counter, so two are never equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub call: Call,
    pub answer: Answer,
    pub called: u64,
    pub answered: u64,
}

pub type History = Vec<Event>;
