//! Commits take turns with sixteen slices, 65,536 at a time: which slice a commit's texts and log entries are in, and
//! which slices the entries of a range can be in.

use orrery_core::Lsn;
use orrery_kv::KeyRange;

pub const SLICES: usize = 16;
/// The commits of a turn, as a power of two.
const TURN_BITS: u32 = 16;
/// Where a log entry's key has the LSN of its commit, behind its stream.
const ENTRY_LSN_AT: usize = 8;

/// Turns are counted from the first commit on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn(pub u64);

impl Turn {
    pub fn of(lsn: Lsn) -> Self {
        Self(lsn.0 >> TURN_BITS)
    }

    pub fn of_text(key: &[u8]) -> Self {
        Self::of(lsn_at(key, 0).unwrap_or_default())
    }

    pub fn of_entry(key: &[u8]) -> Self {
        Self::of(lsn_of_entry(key).unwrap_or_default())
    }

    pub fn slice(self) -> usize {
        (self.0 % SLICES as u64) as usize
    }

    /// Whether nothing new goes to a slice for a while: it neither has its turn nor is next.
    pub fn is_far(self, slice: usize) -> bool {
        slice != self.slice() && slice != Self(self.0 + 1).slice()
    }
}

/// The commit of a log entry.
pub fn lsn_of_entry(key: &[u8]) -> Option<Lsn> {
    lsn_at(key, ENTRY_LSN_AT)
}

fn lsn_at(key: &[u8], at: usize) -> Option<Lsn> {
    Some(Lsn(u64::from_be_bytes(*key.get(at..)?.first_chunk()?)))
}

/// Log entries of one stream, from one commit on.
pub struct Span {
    pub first: Lsn,
    /// Of a commit not above this one; if it is not known, of any.
    last: Option<Lsn>,
}

impl Span {
    /// Of a range that is of one stream.
    pub fn of(range: &KeyRange) -> Option<Self> {
        let first = lsn_of_entry(&range.start)?;
        let (stream, end) = (range.start.first_chunk::<ENTRY_LSN_AT>()?, range.end.as_deref()?);
        let next_stream = u64::from_be_bytes(*stream).checked_add(1)?.to_be_bytes();
        let last = if end.starts_with(stream) { Some(lsn_of_entry(end)?) } else { None };
        (end <= next_stream.as_slice()).then_some(Self { first, last })
    }

    /// Whether a slice can have any of them, if `newest` is the newest turn that there was.
    pub fn may_be_in(&self, slice: usize, newest: Option<Turn>) -> bool {
        let first = Turn::of(self.first);
        let Some(last) = self.last.map(Turn::of).or(newest) else { return true };
        let turns = last.0.saturating_sub(first.0);
        (slice + SLICES - first.slice()) as u64 % SLICES as u64 <= turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_kv::LogRecord;
    use proptest::prelude::*;

    const TURN: u64 = 1 << TURN_BITS;

    fn slices(range: &KeyRange, newest: Option<u64>) -> Vec<usize> {
        let span = Span::of(range);
        let may_be =
            |slice: &usize| span.as_ref().is_none_or(|span| span.may_be_in(*slice, newest.map(Turn)));
        (0..SLICES).filter(may_be).collect()
    }

    #[test]
    fn who_reads_on_looks_into_the_turns_since() {
        let after = |turn: u64| LogRecord::range(7, Lsn(turn * TURN + 5));
        assert_eq!(slices(&after(20), Some(20)), [4]);
        assert_eq!(slices(&after(20), Some(22)), [4, 5, 6]);
        assert_eq!(slices(&after(14), Some(17)), [0, 1, 14, 15]);
        assert_eq!(slices(&after(4), Some(19)).len(), 16);
        assert_eq!(slices(&after(4), Some(1_000)).len(), 16);
        assert_eq!(slices(&after(21), Some(20)), [5], "nothing is there");
        assert_eq!(slices(&after(20), None).len(), 16);
    }

    #[test]
    fn a_commit_is_in_one_slice_and_all_streams_are_in_all() {
        assert_eq!(slices(&LogRecord::of_commit(7, Lsn(3 * TURN + 1)), None), [3]);
        assert_eq!(slices(&KeyRange::all(), Some(1)).len(), 16);
        assert_eq!(slices(&KeyRange::prefix(b""), Some(1)).len(), 16);
        let two = KeyRange::new(LogRecord::range(7, Lsn(1)).start, LogRecord::range(8, Lsn(1)).start);
        assert_eq!(slices(&two, Some(1)).len(), 16);
    }

    #[test]
    fn the_slice_that_has_its_turn_and_the_next_one_are_not_far() {
        assert!(!Turn(31).is_far(15) && !Turn(31).is_far(0) && Turn(31).is_far(1) && Turn(31).is_far(14));
    }

    proptest! {
        #[test]
        fn an_entry_of_the_range_is_in_a_slice_that_is_looked_into(
            stream in prop_oneof![0..3u64, Just(255), Just(u64::MAX - 1), Just(u64::MAX)],
            lsn in 0..40 * TURN,
            from in 0..40 * TURN,
            until in prop::option::of(0..40 * TURN),
            newer in 0..20u64,
        ) {
            let start = LogRecord::range(stream, Lsn(from)).start;
            let end = match until {
                Some(until) => Some(LogRecord::range(stream, Lsn(until)).start),
                None => LogRecord::range(stream, Lsn(from)).end,
            };
            let (range, key) = (KeyRange { start, end }, LogRecord::range(stream, Lsn(lsn)).start);
            let turn = Turn::of_entry(&key);
            prop_assume!(range.contains(&key));
            for newest in [None, Some(turn.0 + newer)] {
                prop_assert!(slices(&range, newest).contains(&turn.slice()));
            }
        }
    }
}
