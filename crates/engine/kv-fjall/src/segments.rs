//! A space that is ordered by commit is a ring of sixteen segments, each for 65,536 consecutive commits: which ring slot a
//! row is in, and which slots the rows of a range can be in.
//!
//! The keys of such a space have the LSN of their commit at a fixed offset, `lsn_at` ([`Layout::lsn_at`]). Rows with the
//! same bytes before it are a stream.
//!
//! [`Layout::lsn_at`]: orrery_kv::Layout::lsn_at

use orrery_core::Lsn;
use orrery_kv::KeyRange;

pub const SEGMENT_SLOTS: usize = 16;
/// Commits per segment, as a power of two.
const SEGMENT_BITS: u32 = 16;

/// The number of a segment, counted from the first commit on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment(pub u64);

impl Segment {
    pub fn of(lsn: Lsn) -> Self {
        Self(lsn.0 >> SEGMENT_BITS)
    }

    pub fn slot(self) -> usize {
        (self.0 % SEGMENT_SLOTS as u64) as usize
    }

    /// Whether nothing new goes to a ring slot for a while: it is neither the current one nor the
    /// next.
    pub fn is_idle_slot(self, slot: usize) -> bool {
        slot != self.slot() && slot != Self(self.0 + 1).slot()
    }
}

/// The commit of a key; `None` if the key is too short.
pub fn lsn_of(key: &[u8], lsn_at: usize) -> Option<Lsn> {
    Some(Lsn(u64::from_be_bytes(*key.get(lsn_at..)?.first_chunk()?)))
}

/// Rows of one stream, from one commit on.
pub struct Span {
    pub first: Lsn,
    /// The last commit of the range, if it has one.
    last: Option<Lsn>,
}

impl Span {
    /// `None` unless the range is of one stream.
    pub fn of(range: &KeyRange, lsn_at: usize) -> Option<Self> {
        let first = lsn_of(&range.start, lsn_at)?;
        let stream = &range.start[..lsn_at];
        let last = match &range.end {
            Some(end) if end.starts_with(stream) => Some(lsn_of(end, lsn_at)?),
            _ => None,
        };
        let is_one = ends_with_stream(range.end.as_deref(), stream);
        is_one.then_some(Self { first, last })
    }

    /// Whether a ring slot can have any of them, if `newest` is the current segment.
    pub fn may_be_in(&self, slot: usize, newest: Option<Segment>) -> bool {
        let first = Segment::of(self.first);
        let Some(last) = self.last.map(Segment::of).or(newest) else { return true };
        let segments = last.0.saturating_sub(first.0);
        (slot + SEGMENT_SLOTS - first.slot()) as u64 % SEGMENT_SLOTS as u64 <= segments
    }
}

/// Whether a range with this end has no key behind those that begin with `stream`.
fn ends_with_stream(end: Option<&[u8]>, stream: &[u8]) -> bool {
    // The first key behind them: the last byte that can be raised is, and what follows it is cut off.
    let Some(last) = stream.iter().rposition(|byte| *byte != 0xff) else { return true };
    let next = stream[..last].iter().copied().chain([stream[last] + 1]);
    end.is_some_and(|end| end.iter().copied().le(next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_kv::LogRecord;
    use proptest::prelude::*;

    /// As in a log.
    const LSN_AT: usize = 8;
    const SEGMENT: u64 = 1 << SEGMENT_BITS;

    fn slots(range: &KeyRange, newest: Option<u64>) -> Vec<usize> {
        let span = Span::of(range, LSN_AT);
        let may_be =
            |slot: &usize| span.as_ref().is_none_or(|span| span.may_be_in(*slot, newest.map(Segment)));
        (0..SEGMENT_SLOTS).filter(may_be).collect()
    }

    #[test]
    fn a_reader_that_continues_reads_the_segments_since() {
        let after = |segment: u64| LogRecord::range(7, Lsn(segment * SEGMENT + 5));
        assert_eq!(slots(&after(20), Some(20)), [4]);
        assert_eq!(slots(&after(20), Some(22)), [4, 5, 6]);
        assert_eq!(slots(&after(14), Some(17)), [0, 1, 14, 15]);
        assert_eq!(slots(&after(4), Some(19)).len(), 16);
        assert_eq!(slots(&after(4), Some(1_000)).len(), 16);
        assert_eq!(slots(&after(21), Some(20)), [5], "nothing is there");
        assert_eq!(slots(&after(20), None).len(), 16);
    }

    #[test]
    fn a_commit_is_in_one_segment_and_all_streams_are_in_all() {
        assert_eq!(slots(&LogRecord::of_commit(7, Lsn(3 * SEGMENT + 1)), None), [3]);
        assert_eq!(slots(&KeyRange::all(), Some(1)).len(), 16);
        assert_eq!(slots(&KeyRange::prefix(b""), Some(1)).len(), 16);
        let two = KeyRange::new(LogRecord::range(7, Lsn(1)).start, LogRecord::range(8, Lsn(1)).start);
        assert_eq!(slots(&two, Some(1)).len(), 16);
    }

    #[test]
    fn the_current_segment_and_the_next_one_are_not_idle() {
        assert!(
            !Segment(31).is_idle_slot(15)
                && !Segment(31).is_idle_slot(0)
                && Segment(31).is_idle_slot(1)
                && Segment(31).is_idle_slot(14)
        );
    }

    proptest! {
        #[test]
        fn an_entry_of_the_range_is_in_a_segment_that_is_read(
            stream in prop_oneof![0..3u64, Just(255), Just(u64::MAX - 1), Just(u64::MAX)],
            lsn in 0..40 * SEGMENT,
            from in 0..40 * SEGMENT,
            until in prop::option::of(0..40 * SEGMENT),
            newer in 0..20u64,
        ) {
            let start = LogRecord::range(stream, Lsn(from)).start;
            let end = match until {
                Some(until) => Some(LogRecord::range(stream, Lsn(until)).start),
                None => LogRecord::range(stream, Lsn(from)).end,
            };
            let (range, key) = (KeyRange { start, end }, LogRecord::range(stream, Lsn(lsn)).start);
            let segment = Segment::of(lsn_of(&key, LSN_AT).expect("a key of a log"));
            prop_assume!(range.contains(&key));
            for newest in [None, Some(segment.0 + newer)] {
                prop_assert!(slots(&range, newest).contains(&segment.slot()));
            }
        }
    }
}
