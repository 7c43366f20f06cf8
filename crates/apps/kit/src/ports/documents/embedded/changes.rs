//! The change feed: latest versions, in commit order.
//!
//! A cursor is `<container>:<lsn>`: all commits up to that LSN have been seen. It contains the container's
//! number so that a cursor of an earlier container with the same name is refused instead of misread.

use super::items::value_of;
use super::query::{limits_of, scope};
use super::{Embedded, errors};
use crate::ports::documents::{Changes, Cursor, StoreError};
use orrery_core::Lsn;
use orrery_document_store::{ChangesRequest, ChangesStart, Encoded, Priority};
use orrery_documents::catalog::Container;
use orrery_documents::item::ItemRow;

pub async fn page(
    port: &Embedded,
    container: &str,
    partition: Option<&str>,
    since: Option<&Cursor>,
    items_max: usize,
) -> Result<Changes, StoreError> {
    let container = port.container(container)?;
    let newest = port.store().durable_lsn();
    let after = since.map_or(Ok(Lsn(0)), |cursor| position(cursor, &container, newest))?;
    let request = ChangesRequest {
        scope: scope(&container, partition)?,
        start: ChangesStart::After(after),
        since: None,
        limits: limits_of(items_max),
        priority: Priority::High,
    };
    let encode = |container: &Container, items: &[ItemRow]| Encoded {
        bytes: items.iter().map(|row| row.text_length()).sum(),
        body: items.iter().map(|row| value_of(container, row)).collect::<Result<Vec<_>, _>>(),
    };
    let page = port.store().changes(&container, &request, encode).await.map_err(errors::store)?;
    Ok(Changes { items: page.body?, next: cursor(&container, page.after), has_more: page.has_more })
}

/// A cursor after everything committed.
pub fn end(port: &Embedded, container: &str, partition: Option<&str>) -> Result<Cursor, StoreError> {
    let container = port.container(container)?;
    scope(&container, partition)?;
    Ok(cursor(&container, port.store().durable_lsn()))
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
