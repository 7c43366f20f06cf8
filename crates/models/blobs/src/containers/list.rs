//! List Containers: by name, those of one name that are deleted before the one that is there.

use super::operations::{read_deleted_row, read_row};
use super::{Container, ContainerPage, ListContainers};
use crate::limits;
use crate::marker;
use crate::refusal::{BlobError, Refusal};
use crate::row;
use orrery_catalog::storage::AccountName;
use orrery_core::Ticks;
use orrery_kv::{Error, KeyRange, META, Order, Read};
use std::cmp::Ordering;

/// Where a container stands in the list: its name, and among those of one name when it was deleted.
type Place = (String, u64);

pub fn list(
    state: &dyn Read,
    account: &AccountName,
    request: &ListContainers,
) -> Result<ContainerPage, BlobError> {
    let start = match &request.marker {
        Some(text) if !text.is_empty() => Some(read_place(text).ok_or(Refusal::InvalidInput("marker"))?),
        _ => None,
    };
    let from = start.as_ref().map_or("", |(name, _)| name.as_str()).max(&request.prefix);
    let mut alive = Containers::new(state, row::containers_from(account.as_str(), from), read_row);
    let mut deleted = match request.with_deleted {
        true => {
            let range = row::deleted_containers_from(account.as_str(), from);
            Containers::new(state, range, read_deleted_row)
        }
        false => Containers { rows: Box::new(std::iter::empty()), next: None },
    };
    let most = request.count_max.clamp(1, limits::LIST_ENTRIES_MAX);
    let mut page = ContainerPage { containers: Vec::new(), next: None };
    alive.step()?;
    deleted.step()?;
    loop {
        let is_deleted_first = match (&alive.next, &deleted.next) {
            (Some(alive), Some(deleted)) => place(deleted).cmp(&place(alive)) == Ordering::Less,
            (alive, _) => alive.is_none(),
        };
        let source = if is_deleted_first { &mut deleted } else { &mut alive };
        let Some(container) = source.next.take() else { return Ok(page) };
        source.step()?;
        if !container.id.name.as_str().starts_with(&request.prefix) {
            return Ok(page);
        }
        let is_hidden = container.id.name.is_system() && !request.with_system;
        if is_hidden || start.as_ref().is_some_and(|start| place(&container) < *start) {
            continue;
        }
        if page.containers.len() == most {
            page.next = Some(write_place(&place(&container)));
            return Ok(page);
        }
        page.containers.push(container);
    }
}

struct Containers<'a> {
    rows: Box<dyn Iterator<Item = Result<Container, Error>> + 'a>,
    next: Option<Container>,
}

impl<'a> Containers<'a> {
    fn new(
        state: &'a dyn Read,
        range: KeyRange,
        read: fn(&orrery_kv::Row) -> Result<Container, Error>,
    ) -> Self {
        let rows = state.range(META, &range, Order::Ascending).map(move |row| read(&row?));
        Self { rows: Box::new(rows), next: None }
    }

    fn step(&mut self) -> Result<(), Error> {
        self.next = self.rows.next().transpose()?;
        Ok(())
    }
}

fn place(container: &Container) -> Place {
    let at = container.deleted.map_or(Ticks::MAX, |deletion| deletion.version.0);
    (container.id.name.as_str().to_owned(), at.count())
}

fn write_place((name, at): &Place) -> String {
    marker::write(&[&at.to_be_bytes()[..], name.as_bytes()].concat())
}

fn read_place(text: &str) -> Option<Place> {
    let bytes = marker::read(text)?;
    let (at, name) = bytes.split_first_chunk()?;
    Some((String::from_utf8(name.to_vec()).ok()?, u64::from_be_bytes(*at)))
}
