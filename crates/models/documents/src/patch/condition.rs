//! A patch's condition: the end of a query, asked of the one item.

use crate::item::{FeedScope, Items, Target};
use orrery_catalog::Container;
use orrery_core::limits;
use orrery_kv::Read;
use orrery_query::execute::{Host, Limits, page};
use orrery_query::limits::QUERY_TEXT_BYTES_MAX;
use orrery_query::parse::{OrderBy, Query, TextSpan};
use orrery_query::plan::{Plan, Rules};
use orrery_query::{QueryError, prepare};

/// What stands before the condition to make it a query.
const SELECT: &str = "SELECT VALUE true ";

/// `FROM c WHERE …`, understood.
#[derive(Clone, Debug)]
pub struct Condition(Plan);

impl Condition {
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        if text.len() > QUERY_TEXT_BYTES_MAX - SELECT.len() {
            return Err(QueryError::Refused("The condition of the patch is too long.".into()));
        }
        let begins = text.trim_ascii_start().get(..4).is_some_and(|word| word.eq_ignore_ascii_case("from"));
        if !begins {
            return Err(malformed());
        }
        let prepared = prepare(&[SELECT, text].concat(), &[], Rules::On).map_err(in_the_condition)?;
        if is_condition(&prepared.ast) { Ok(Self(prepared.plan)) } else { Err(malformed()) }
    }

    /// Whether it holds for the item as it is in `state`.
    pub fn holds(
        &self,
        state: &dyn Read,
        container: &Container,
        target: &Target,
        host: &dyn Host,
    ) -> Result<bool, QueryError> {
        let items = Items::new(state, container, &FeedScope::Partition(target.epk.clone()), host)?;
        let items = items.restrict_ids(&[(target.epk.clone(), target.id.as_str().to_owned())]);
        let one = Limits { items: 1, bytes: limits::PAGE_BYTES_MAX };
        match page(&self.0, &items, host, None, None, one) {
            Ok(page) => Ok(page.count > 0),
            Err(QueryError::TooLong(_)) => {
                Err(QueryError::TooLong("The condition of the patch took too long; make it simpler.".into()))
            }
            Err(error) => Err(error),
        }
    }
}

fn malformed() -> QueryError {
    let message = "The condition of a patch has the form FROM c WHERE …, without any other clause.";
    QueryError::Refused(message.into())
}

fn is_condition(query: &Query) -> bool {
    let is_unordered = matches!(&query.order_by, OrderBy::Keys(keys) if keys.is_empty());
    query.from.len() == 1 && query.group_by.is_empty() && query.window.is_none() && is_unordered
}

/// Places in the text count from where the condition begins.
fn in_the_condition(error: QueryError) -> QueryError {
    match error {
        QueryError::Text(mut complaint) => {
            let moved = |at: u32| at.saturating_sub(SELECT.len() as u32);
            complaint.at = TextSpan { start: moved(complaint.at.start), end: moved(complaint.at.end) };
            complaint.into()
        }
        other => other,
    }
}
