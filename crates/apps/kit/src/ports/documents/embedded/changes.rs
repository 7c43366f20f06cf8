//! The change feed: latest versions, in the order of commits.
//!
//! A cursor is `<container>:<lsn>`: all commits up to that one were seen. The number of the container is in it so that
//! one of an earlier container of the same name is refused and not misread.

use super::items::value_of;
use super::query::{limits_of, scope};
use super::{Inner, errors};
use crate::ports::documents::{Changes, Cursor, StoreError};
use orrery_core::Lsn;
use orrery_document_store::on_a_thread;
use orrery_documents::catalog::Container;
use orrery_documents::changes::{Start, latest};

pub async fn page(
    inner: &Inner,
    container: &str,
    partition: Option<&str>,
    since: Option<&Cursor>,
    items_max: usize,
) -> Result<Changes, StoreError> {
    let container = inner.container(container)?;
    let scope = scope(&container, partition)?;
    let (snapshot, now) = (inner.store.snapshot(), inner.store.env().now());
    let after = since.map_or(Ok(Lsn(0)), |cursor| position(cursor, &container, snapshot.lsn()))?;
    let work = move || {
        let start = Start { after, since: None };
        let found = latest(&snapshot, &container, &scope, start, limits_of(items_max), now);
        let found = found.map_err(errors::engine)?;
        let items = found.changes.iter().map(|row| value_of(&container, row)).collect::<Result<_, _>>()?;
        let next = cursor(&container, found.after);
        Ok(Changes { items, next, has_more: found.has_more })
    };
    on_a_thread(work).await.map_err(errors::broke_off)?
}

/// All that is committed was seen.
pub fn end(inner: &Inner, container: &str, partition: Option<&str>) -> Result<Cursor, StoreError> {
    let container = inner.container(container)?;
    scope(&container, partition)?;
    Ok(cursor(&container, inner.store.snapshot().lsn()))
}

fn cursor(container: &Container, after: Lsn) -> Cursor {
    Cursor(format!("{}:{after}", container.number()))
}

fn position(cursor: &Cursor, container: &Container, newest: Lsn) -> Result<Lsn, StoreError> {
    let parts = cursor.0.split_once(':').and_then(|(number, lsn)| Some((number, lsn.parse().ok()?)));
    match parts {
        Some((number, lsn)) if number == container.number().to_string() && lsn <= newest.0 => Ok(Lsn(lsn)),
        _ => Err(errors::refused(
            400,
            "the cursor is not of this container, or of data that was lost; begin again without one",
        )),
    }
}
