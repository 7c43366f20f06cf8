//! Reading a container's indexes within the scope of a query.

use super::cells;
use super::layout::Layout;
use super::locator::Locator;
use super::scope::IndexScope;
use super::span_cursor::SpanCursor;
use super::statistics::StatisticsView;
use super::{DOCUMENTS, INDEXED};
use crate::expiry;
use crate::item::{self, ItemHead, ItemRow, failed};
use crate::limits;
use crate::row::{self, Row};
use crate::spaces::INDEX;
use orrery_catalog::Container;
use orrery_catalog::indexing::number::spatial_number;
use orrery_catalog::jobs::{self, JobKind};
use orrery_core::Timestamp;
use orrery_keys::KeyBuf;
use orrery_kv::{Error, KeyRange, META, Order, Read, Tally};
use orrery_query::QueryError;
use orrery_query::access::{EntryCursor, IndexOf, Path, Rectangle, SeekKey, Span};
use std::cell::OnceCell;
use std::collections::HashSet;

pub(crate) struct IndexReader<'a> {
    state: &'a dyn Read,
    container: &'a Container,
    scope: IndexScope,
    statistics: Option<StatisticsView<'a>>,
    now: Timestamp,
    tally: Tally,
    /// Of each large partition in reach: how many items have each path.
    tallies: OnceCell<Vec<Tally>>,
    /// Items that have expired and are still there; nothing if there may be more than these.
    expired: OnceCell<Option<HashSet<u64>>>,
}

impl<'a> IndexReader<'a> {
    /// `None` when the container has no index that tells of every item.
    pub fn new(
        state: &'a dyn Read,
        container: &'a Container,
        scope: IndexScope,
        statistics: Option<StatisticsView<'a>>,
        now: Timestamp,
    ) -> Result<Option<Self>, Error> {
        if !is_of_one_moment(state, container)? {
            return Ok(None);
        }
        let tally = Tally::of(state, INDEX, &row::tally_key(container.number()))?;
        // An item may be left out of the index by its own request.
        let is_complete = tally.get(DOCUMENTS) == tally.get(INDEXED);
        if !is_complete {
            return Ok(None);
        }
        let (tallies, expired) = (OnceCell::new(), OnceCell::new());
        Ok(Some(Self { state, container, scope, statistics, now, tally, tallies, expired }))
    }

    /// Of a part of the container that is not whole partitions, this tells of the whole container, and so does
    /// [`documents_in`](Self::documents_in): they are equal for a part if they are for the whole.
    pub fn documents(&self) -> u64 {
        match &self.scope {
            IndexScope::Ranges(_) => self.tally.get(DOCUMENTS),
            IndexScope::Partitions { items, .. } => *items,
        }
    }

    /// How many there are that have not expired; of areas, only where they are `whole`: all of the container.
    pub fn documents_there(&self, whole: bool) -> Result<Option<u64>, QueryError> {
        let is_known = match &self.scope {
            IndexScope::Ranges(_) => whole,
            // Who has expired is known of all partitions together.
            IndexScope::Partitions { .. } => self.container.definition().default_ttl().is_none(),
        };
        let expired = if is_known { self.expired()?.as_ref() } else { None };
        Ok(expired.map(|expired| self.documents().saturating_sub(expired.len() as u64)))
    }

    pub fn documents_in(&self, index: &IndexOf) -> Result<u64, QueryError> {
        let number = Layout::of(index).number;
        match &self.scope {
            IndexScope::Ranges(_) => Ok(self.tally.get(number)),
            IndexScope::Partitions { items, .. } if self.tally.get(number) == self.tally.get(DOCUMENTS) => {
                Ok(*items)
            }
            IndexScope::Partitions { epks, .. } => {
                Ok(self.tallies(epks)?.iter().map(|tally| tally.get(number)).sum())
            }
        }
    }

    fn tallies(&self, epks: &[Vec<u8>]) -> Result<&[Tally], QueryError> {
        if let Some(known) = self.tallies.get() {
            return Ok(known);
        }
        let container = self.container.number();
        let tally =
            |epk: &Vec<u8>| Tally::of(self.state, INDEX, &Row::Tally { container, epk: Some(epk) }.key());
        let tallies = epks.iter().map(tally).collect::<Result<_, Error>>().map_err(failed)?;
        Ok(self.tallies.get_or_init(|| tallies))
    }

    pub fn count(&self, index: &IndexOf, span: &Span, max: u64) -> Result<u64, QueryError> {
        let Some(StatisticsView { counts, at }) = self.statistics else {
            return self.count_now(index, span, max);
        };
        let span_hash = counts.span_hash(self.container.number(), &self.scope, &Layout::of(index), span, max);
        if let Some(count) = counts.get(span_hash, at) {
            return Ok(count);
        }
        let count = self.count_now(index, span, max)?;
        counts.put(span_hash, at, count);
        Ok(count)
    }

    fn count_now(&self, index: &IndexOf, span: &Span, max: u64) -> Result<u64, QueryError> {
        let mut walk = self.walk(index, span, false, None);
        let (mut count, mut first, mut last) = (0, 0, 0);
        while count < max
            && let Some(entry) = walk.next()?
        {
            first = if count == 0 { entry.ordinal } else { first };
            last = entry.ordinal;
            count += 1;
        }
        let is_one_value = span.prefix.len() == Layout::of(index).directions.len();
        if count < max || !is_one_value {
            return Ok(count);
        }
        // Numbers are given as items come, so the entries of one value lie about evenly among them.
        let end = self.walk(index, span, true, None).next()?.map_or(last, |entry| entry.ordinal);
        let share = u128::from(end.saturating_sub(first)) * u128::from(count);
        let about = share / u128::from(last.saturating_sub(first).max(1));
        Ok(u64::try_from(about).unwrap_or(u64::MAX).clamp(count + 1, self.documents().max(count + 1)))
    }

    pub fn entries(
        &self,
        index: &IndexOf,
        span: &Span,
        reverse: bool,
        begin: Option<&SeekKey>,
    ) -> Box<dyn EntryCursor + '_> {
        Box::new(self.walk(index, span, reverse, begin))
    }

    fn walk(&self, index: &IndexOf, span: &Span, reverse: bool, begin: Option<&SeekKey>) -> SpanCursor<'_> {
        let layout = Layout::of(index);
        SpanCursor::new(self.state, self.container, &self.scope, layout, span, reverse, begin)
    }

    pub fn near(&self, path: &Path, rectangle: &Rectangle, max: u64) -> Result<Option<Vec<u64>>, QueryError> {
        let bounds = self.container.generations().rules().bounds(path);
        let number = spatial_number(path);
        let base = KeyBuf::new().raw(&row::entries_of(self.container.number())).u64(number).finish();
        let mut found = Vec::new();
        for cells in cells::lookups(rectangle, bounds.as_ref()) {
            let from = [&base[..], &cells.start().to_be_bytes()].concat();
            let last = [&base[..], &cells.end().to_be_bytes()].concat();
            let range = KeyRange { start: from, end: KeyRange::prefix(&last).end };
            for row in self.state.range(INDEX, &range, Order::Ascending) {
                let (key, _) = row.map_err(failed)?;
                found.extend(row::read_entry(&key).map(|(ordinal, _)| ordinal));
                if found.len() as u64 > max {
                    return Ok(None);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(Some(found))
    }

    /// The item of a number, unless it lies elsewhere or has expired.
    pub fn item(&self, ordinal: u64) -> Result<Option<ItemRow>, QueryError> {
        self.head(ordinal)?.map(|item| item.whole(self.state)).transpose().map_err(failed)
    }

    fn head(&self, ordinal: u64) -> Result<Option<ItemHead>, QueryError> {
        let number = self.container.number();
        let key =
            Locator::item_key(self.state, number, ordinal, |epk| self.scope.holds(epk)).map_err(failed)?;
        let Some(key) = key else { return Ok(None) };
        let found = ItemHead::at(self.state, &key).map_err(failed)?;
        Ok(found.filter(|item| !expiry::is_expired(self.container, item, self.now)))
    }

    pub fn is_there(&self, ordinal: u64) -> Result<bool, QueryError> {
        match self.expired()? {
            Some(expired) => Ok(!expired.contains(&ordinal)),
            None => Ok(self.head(ordinal)?.is_some()),
        }
    }

    fn expired(&self) -> Result<&Option<HashSet<u64>>, QueryError> {
        if let Some(expired) = self.expired.get() {
            return Ok(expired);
        }
        let expired = self.remember_expired().map_err(failed)?;
        Ok(self.expired.get_or_init(|| expired))
    }

    fn remember_expired(&self) -> Result<Option<HashSet<u64>>, Error> {
        let container = self.container;
        if container.definition().default_ttl().is_none() {
            return Ok(Some(HashSet::new()));
        }
        // While expiry rows are made anew, some are missing.
        let job = jobs::key(JobKind::Expiry, container.number());
        if self.state.get(META, &job)?.is_some() {
            return Ok(None);
        }
        let range = row::expiring(container.number(), self.now.seconds());
        let mut expired = HashSet::new();
        for (at, row) in self.state.range(INDEX, &range, Order::Ascending).enumerate() {
            if at >= limits::EXPIRED_CACHED_MAX {
                return Ok(None);
            }
            let (key, _) = row?;
            let (_, epk, id) =
                row::read_expiry(&key).ok_or_else(|| Error::Corrupt("an expiry row's key".into()))?;
            let item = item::head(self.state, container, &epk, &id)?;
            expired.extend(
                item.filter(|item| expiry::is_expired(container, item, self.now)).map(|item| item.ordinal()),
            );
        }
        Ok(Some(expired))
    }
}

/// Whether the container's picture tells how the items of this state are indexed. The one is taken a moment before the
/// other, and in between the policy may have changed, or a rebuild ended.
fn is_of_one_moment(state: &dyn Read, container: &Container) -> Result<bool, Error> {
    let definition_row = state.get(META, container.alive_key())?;
    let job = jobs::key(JobKind::Index, container.number());
    Ok(definition_row == Some(container.alive_value())
        && (!container.generations().is_settled() || state.get(META, &job)?.is_none()))
}
