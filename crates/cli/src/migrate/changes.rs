//! Pages of a container's change feed, of one range.

use crate::client::{Database, allowed, elements, not_understood};
use crate::limits;
use http::Method;
use orrery_value::{Value, raw};

/// Which feed, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From<'a> {
    /// The items as they are, from the beginning or after a position.
    Items(Option<&'a str>),
    /// Every change after a position; `*` is now.
    Versions(&'a str),
    /// No change: the position of the feed.
    Now,
}

/// A change: the item after it and before it, as far as there is one.
#[derive(Clone, Debug, Default)]
pub struct Change {
    pub current: Option<Value>,
    pub previous: Option<Value>,
    /// It expired.
    pub is_expiry: bool,
}

#[derive(Debug)]
pub enum Page {
    Changes {
        changes: Vec<Change>,
        position: String,
        is_end: bool,
    },
    /// The range was split.
    Split,
    /// The position is older than the retention, or the container does not retain all versions.
    Forgotten,
}

impl Database<'_> {
    pub async fn changes(
        &self,
        container: &str,
        range: Option<&str>,
        from: From<'_>,
    ) -> Result<Page, String> {
        let mut call = self.on_items(Method::GET, container);
        call.headers.push(("x-ms-max-item-count", limits::MIGRATION_PAGE_ITEMS_MAX.to_string()));
        call.headers.extend(range.map(|range| ("x-ms-documentdb-partitionkeyrangeid", range.to_owned())));
        match from {
            From::Items(position) => {
                call.headers.push(("a-im", "Incremental Feed".to_owned()));
                call.headers.extend(position.map(|position| ("if-none-match", position.to_owned())));
            }
            From::Now => call
                .headers
                .extend([("a-im", "Incremental Feed".to_owned()), ("if-none-match", "*".to_owned())]),
            From::Versions(position) => call.headers.extend([
                ("a-im", "Full-Fidelity Feed".to_owned()),
                // Where an item was before tells what of the target is to go.
                ("x-orrery-pre-images", "true".to_owned()),
                ("x-ms-cosmos-changefeed-wire-format-version", "2021-09-15".to_owned()),
                ("if-none-match", position.to_owned()),
            ]),
        }
        let answer = allowed(self.remote.call(&call).await?, &[200, 304, 400, 410])?;
        match (answer.status.as_u16(), from) {
            (410, _) => return Ok(Page::Split),
            (400, From::Versions(_)) => return Ok(Page::Forgotten),
            (400, _) => return Err(answer.refusal()),
            _ => {}
        }
        let position = answer.header("etag").map(str::to_owned).ok_or_else(not_understood)?;
        if answer.status == 304 {
            return Ok(Page::Changes { changes: Vec::new(), position, is_end: true });
        }
        let changes = elements(&answer)?.into_iter().map(|text| match from {
            From::Items(_) | From::Now => Ok(Change { current: Some(item(text)?), ..Change::default() }),
            From::Versions(_) => version(text),
        });
        Ok(Page::Changes { changes: changes.collect::<Result<_, String>>()?, position, is_end: false })
    }
}

fn version(envelope: &str) -> Result<Change, String> {
    let image = |name: &str| raw::member(envelope, name).map(item).transpose();
    let is_some = |item: &Value| !item.member("id").is_undefined();
    let metadata = raw::member(envelope, "metadata").map(Value::read).unwrap_or_default();
    let is_expiry = matches!(metadata.member("timeToLiveExpired"), Value::Bool(true));
    Ok(Change {
        current: image("current")?.filter(is_some),
        previous: image("previous")?.filter(is_some),
        is_expiry,
    })
}

fn item(text: &str) -> Result<Value, String> {
    Value::parse(text).map_err(|_| not_understood())
}
