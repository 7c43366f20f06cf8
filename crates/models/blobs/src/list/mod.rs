//! List Blobs: the states of a container's blobs in the order of their names, folded at a delimiter.
//!
//! Three ranges of rows are merged by name: current states, history, and names with blocks that wait. The last two are read only
//! if the list shows what is in them. After a common prefix was given, all three seek to its end.

mod position;
mod states;

use crate::blob::{Blob, BlobState};
use crate::limits;
use crate::operations::{BlobPage, ListBlobs, ListEntry, ListInclude, ShowOnly};
use crate::refusal::{BlobError, Refusal};
use orrery_kv::{Error, Read};
use position::Position;
use states::{Group, States};

/// A page of the list.
pub fn list(state: &dyn Read, container: u32, request: &ListBlobs) -> Result<BlobPage, BlobError> {
    let delimiter = request.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty());
    let start = match &request.marker {
        Some(marker) if !marker.is_empty() => {
            Some(Position::read(marker).ok_or(Refusal::InvalidInput("marker"))?)
        }
        _ => None,
    };
    let count_max = request.count_max.unwrap_or(limits::LIST_ENTRIES_MAX).clamp(1, limits::LIST_ENTRIES_MAX);
    let lister = Lister { request, delimiter, count_max };
    Ok(lister.run(States::new(state, container, request.include, request.show_only), start)?)
}

struct Lister<'a> {
    request: &'a ListBlobs,
    delimiter: Option<&'a str>,
    count_max: usize,
}

impl Lister<'_> {
    fn run(&self, mut states: States<'_>, start: Option<Position>) -> Result<BlobPage, Error> {
        let mut page = BlobPage { entries: Vec::new(), next: None };
        let prefix = self.request.prefix.as_str();
        let from = self.request.start_from.as_deref().unwrap_or_default().max(prefix);
        match &start {
            Some(Position::After { name, .. }) => states.seek(name.as_str().max(from).as_bytes()),
            Some(Position::Behind { prefix: before }) => match orrery_keys::prefix_end(before.as_bytes()) {
                Some(end) => states.seek(&end),
                None => return Ok(page),
            },
            None => states.seek(from.as_bytes()),
        }
        let mut resumed = start;
        while let Some(group) = states.next()? {
            if !group.name.starts_with(prefix) || self.is_behind_end(&group.name) {
                return Ok(page);
            }
            let is_seen_enough = states.seen() > limits::LIST_ROWS_SEEN_MAX;
            let entries = self.visible(&group);
            if let Some(common) = self.common_prefix(&group.name) {
                let shows = self.request.show_only.is_none_or(|only| only != ShowOnly::Files);
                if !entries.is_empty() {
                    if shows {
                        if page.entries.len() == self.count_max {
                            page.next = Some(Position::before(&group.name).write());
                            return Ok(page);
                        }
                        page.entries.push(ListEntry::Prefix(common.to_owned()));
                    }
                    match orrery_keys::prefix_end(common.as_bytes()) {
                        Some(end) => states.seek(&end),
                        None => return Ok(page),
                    }
                    if is_seen_enough {
                        page.next = Some(Position::Behind { prefix: common.to_owned() }.write());
                        return Ok(page);
                    }
                }
                continue;
            }
            if self.request.show_only == Some(ShowOnly::Directories) {
                continue;
            }
            for (order, entry) in entries {
                let at = Position::After { name: group.name.clone(), order };
                if matches!(&resumed, Some(after) if !after.is_before(&at)) {
                    continue;
                }
                if page.entries.len() == self.count_max {
                    page.next = Some(self.last_position(&page, resumed.as_ref()).write());
                    return Ok(page);
                }
                page.entries.push(entry);
                resumed = Some(at);
            }
            if is_seen_enough {
                page.next = Some(Position::behind_name(&group.name).write());
                return Ok(page);
            }
        }
        Ok(page)
    }

    /// Where the page ends: behind its last entry.
    fn last_position(&self, page: &BlobPage, last_state: Option<&Position>) -> Position {
        match (page.entries.last(), last_state) {
            (Some(ListEntry::Prefix(prefix)), _) => Position::Behind { prefix: prefix.clone() },
            (_, Some(last)) => last.clone(),
            _ => Position::before(""),
        }
    }

    fn is_behind_end(&self, name: &str) -> bool {
        self.request.end_before.as_deref().is_some_and(|end| name >= end)
    }

    fn common_prefix<'n>(&self, name: &'n str) -> Option<&'n str> {
        let delimiter = self.delimiter?;
        let from = self.request.prefix.len();
        let at = name[from..].find(delimiter)?;
        Some(&name[..from + at + delimiter.len()])
    }

    /// The states of a name that the list shows, each with its place among them.
    fn visible(&self, group: &Group) -> Vec<(states::Order, ListEntry)> {
        let ListInclude { snapshots, versions, deleted, deleted_with_versions, .. } = self.request.include;
        let only_deleted = self.request.show_only == Some(ShowOnly::Deleted);
        let is_shown = |blob: &Blob| {
            let wanted = match blob.state {
                BlobState::Current => true,
                BlobState::Snapshot(_) => snapshots,
                BlobState::Version(_) => versions,
                BlobState::DeletedBlob => deleted,
            };
            match blob.deleted {
                Some(_) => wanted && (deleted || only_deleted || deleted_with_versions),
                None => wanted && !only_deleted,
            }
        };
        let mut entries: Vec<(states::Order, ListEntry)> = group
            .blobs
            .iter()
            .filter(|blob| is_shown(blob))
            .map(|blob| (states::Order::of(blob.state), ListEntry::Blob(Box::new(blob.clone()))))
            .collect();
        let has_current = group.blobs.iter().any(|blob| blob.state == BlobState::Current);
        let newest = group.blobs.iter().rev().find(|blob| matches!(blob.state, BlobState::Version(_)));
        if let Some(newest) = newest.filter(|_| deleted_with_versions && !has_current && !versions) {
            entries.push((states::Order::LAST, ListEntry::VersionsOnly(Box::new(newest.clone()))));
        }
        if let Some((name, created)) = group.staged.clone().filter(|_| !has_current && !only_deleted) {
            entries.push((states::Order::LAST, ListEntry::Uncommitted { name, created }));
        }
        entries
    }
}
