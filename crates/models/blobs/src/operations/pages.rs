//! Page blobs: ranges of 512 bytes that are written and cleared in place.

use super::append::written;
use super::read::check_read;
use super::write::{Place, Stored, Write, select};
use super::{ByteRange, ListPages, PageConditions, PageList, PageRange, PagesWritten, Stamp};
use crate::address::Selector;
use crate::blob::{Blob, BlobKind};
use crate::content::{Content, Upload, slices, write_pages};
use crate::limits;
use crate::refusal::{BlobError, Refusal};
use orrery_core::Timestamp;
use orrery_kv::{Error, Read, Txn};

/// Put Page, update.
pub fn put_pages(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    offset: u64,
    upload: Upload<'_>,
    asked: &PageConditions,
    stamp: Stamp,
) -> Result<PagesWritten, BlobError> {
    let end = offset.checked_add(upload.length()).ok_or(Refusal::InvalidPageRange)?;
    change(txn, place, ByteRange { start: offset, end }, Some(upload), asked, stamp)
}

/// Put Page, clear.
pub fn clear_pages(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    range: ByteRange,
    asked: &PageConditions,
    stamp: Stamp,
) -> Result<PagesWritten, BlobError> {
    change(txn, place, range, None, asked, stamp)
}

fn change(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    range: ByteRange,
    upload: Option<Upload<'_>>,
    asked: &PageConditions,
    stamp: Stamp,
) -> Result<PagesWritten, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.existing()?;
    let BlobKind::Page { sequence } = old.blob.kind else { return Err(Refusal::InvalidBlobType.into()) };
    write.check_change(&old, &asked.conditions)?;
    let is_met = asked.sequence_at_most.is_none_or(|most| sequence <= most)
        && asked.sequence_below.is_none_or(|bound| sequence < bound)
        && asked.sequence_equal.is_none_or(|wanted| sequence == wanted);
    if !is_met {
        return Err(Refusal::SequenceNumberNotMet.into());
    }
    check_range(range, old.blob.length())?;
    let pieces = upload.map(|upload| upload.pieces(write.txn)).unwrap_or_default();
    let ordinal = old.blob.content.ordinal;
    write_pages(write.txn, place.container, ordinal, range.start, range.end, pieces, stamp.now)?;
    let blob = Blob {
        modified: write.moment_after(Some(&old)),
        lease: old.blob.lease.after_write(stamp.now),
        ..old.blob.clone()
    };
    write.put(Some(&old), &blob);
    Ok(PagesWritten { written: written(&blob), sequence })
}

fn check_range(range: ByteRange, length: u64) -> Result<(), Refusal> {
    let is_aligned = [range.start, range.end].iter().all(|at| at.is_multiple_of(limits::PAGE_BYTES));
    if range.is_empty() || !is_aligned || range.end > length {
        return Err(Refusal::InvalidPageRange);
    }
    Ok(())
}

/// Get Page Ranges: what has data, or what is different from an earlier snapshot.
pub fn page_ranges(
    state: &dyn Read,
    place: Place<'_>,
    selector: Selector,
    request: &ListPages,
    now: Timestamp,
) -> Result<PageList, BlobError> {
    let found = check_read(state, place, selector, &request.conditions, now)?;
    if !matches!(found.blob.kind, BlobKind::Page { .. }) {
        return Err(Refusal::InvalidBlobType.into());
    }
    let length = found.blob.length();
    let whole = ByteRange { start: 0, end: length };
    let asked = request.range.map_or(Some(whole), |range| range.within(length));
    let Some(asked) = asked.or((length == 0).then_some(whole)) else {
        return Err(Refusal::InvalidRange { length }.into());
    };
    let mut from = asked.start;
    if let Some(marker) = &request.marker {
        from =
            marker.parse().ok().filter(|from| *from >= asked.start).ok_or(Refusal::InvalidInput("marker"))?;
    }
    let window = ByteRange { start: from, end: asked.end };
    let earlier = request.since.map(|since| earlier(state, place, selector, since)).transpose()?;
    let most = request.count_max.unwrap_or(limits::PAGE_RANGES_MAX).clamp(1, limits::PAGE_RANGES_MAX);
    let mut ranges = match earlier {
        None => written_ranges(state, found.blob.content, window, most + 1)?,
        Some(earlier) => changed_ranges(state, found.blob.content, earlier.blob.content, window, most + 1)?,
    };
    let next = (ranges.len() > most).then(|| ranges[most].range.start.to_string());
    ranges.truncate(most);
    Ok(PageList { blob: found.blob, ranges, next })
}

fn earlier(
    state: &dyn Read,
    place: Place<'_>,
    selector: Selector,
    since: orrery_core::Ticks,
) -> Result<Stored, BlobError> {
    if matches!(selector, Selector::Snapshot(at) if at < since) {
        return Err(Refusal::PreviousSnapshotNewer.into());
    }
    let found = select(state, place.container, place.name.as_str(), Selector::Snapshot(since))?;
    Ok(found.filter(|found| found.blob.deleted.is_none()).ok_or(Refusal::PreviousSnapshotNotFound)?)
}

/// Ranges that have data; those that touch each other are one.
fn written_ranges(
    state: &dyn Read,
    content: Content,
    window: ByteRange,
    most: usize,
) -> Result<Vec<PageRange>, Error> {
    let mut ranges = Ranges { found: Vec::new(), most };
    for slice in slices(state, content.ordinal, window.start, window.end) {
        let (start, piece) = slice?;
        if !ranges.add(start, start + piece.length(), false) {
            break;
        }
    }
    Ok(ranges.found)
}

/// Compares two states piece by piece. Pieces are the same if their bytes are in the same place of the same chunk, or equal.
fn changed_ranges(
    state: &dyn Read,
    new: Content,
    old: Content,
    window: ByteRange,
    most: usize,
) -> Result<Vec<PageRange>, Error> {
    let mut ranges = Ranges { found: Vec::new(), most };
    let mut news = slices(state, new.ordinal, window.start, window.end).peekable();
    let mut olds = slices(state, old.ordinal, window.start, window.end.min(old.length)).peekable();
    let mut at = window.start;
    loop {
        let take = |found: Option<&Result<(u64, crate::content::Piece), Error>>| found.cloned().transpose();
        let (new, old) = (take(news.peek())?, take(olds.peek())?);
        let next = [&new, &old].into_iter().flatten().map(|(start, _)| *start.max(&at)).min();
        let Some(start) = next else { break };
        // Up to where neither of them changes.
        let bound = |found: &Option<(u64, crate::content::Piece)>| match found {
            None => u64::MAX,
            Some((from, _)) if *from > start => *from,
            Some((from, piece)) => from + piece.length(),
        };
        let end = bound(&new).min(bound(&old));
        let cut = |found: &Option<(u64, crate::content::Piece)>| match found {
            Some((from, piece)) if *from <= start => Some(piece.slice(start - from, end - from)),
            _ => None,
        };
        let is_full = match (cut(&new), cut(&old)) {
            (Some(new), Some(old)) if new == old => false,
            (Some(_), _) => !ranges.add(start, end, false),
            (None, Some(_)) => !ranges.add(start, end, true),
            (None, None) => false,
        };
        if is_full {
            break;
        }
        at = end;
        let is_done = |found: &Option<(u64, crate::content::Piece)>| {
            found.as_ref().is_some_and(|(from, piece)| from + piece.length() <= end)
        };
        if is_done(&new) {
            news.next();
        }
        if is_done(&old) {
            olds.next();
        }
    }
    Ok(ranges.found)
}

struct Ranges {
    found: Vec<PageRange>,
    most: usize,
}

impl Ranges {
    /// Returns whether there is room for more.
    fn add(&mut self, start: u64, end: u64, is_cleared: bool) -> bool {
        let is_full = self.found.len() == self.most;
        match self.found.last_mut() {
            Some(last) if last.range.end == start && last.is_cleared == is_cleared => last.range.end = end,
            _ if is_full => return false,
            _ => self.found.push(PageRange { range: ByteRange { start, end }, is_cleared }),
        }
        true
    }
}
