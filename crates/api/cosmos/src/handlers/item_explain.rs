//! How a query would be run: the plan, the partitions it reaches, and the way to its documents. A request of ours, by the
//! header `x-orrery-explain` on an ordinary query; nothing is read but what the choice of the way counts in indexes.

use super::item_feed::{place, scope};
use crate::failure::Failure;
use crate::partition_key::Scope;
use crate::query::body::QueryBody;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use http::StatusCode;
use orrery_document_store::QueryHost;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{Items, prune, settings};
use orrery_query::execute;
use orrery_query::plan::Rules;
use orrery_query::prepare_for;
use serde_json::{Value, json};
use std::sync::Arc;

pub async fn explain(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    let body = QueryBody::parse(&request.body().await?)?;
    let (scope, limits) = (scope(request, container)?, request.page_limits()?);
    let snapshot = cosmos.store().snapshot();
    let place = place(cosmos, container, &scope, snapshot.lsn());
    let container = container.clone();
    let work = move |host: &QueryHost| -> Result<Value, Failure> {
        let prepared = prepare_for(&body.text, &body.parameters, Rules::On, &settings(&container))?;
        let items = Items::new(&*snapshot, &container, &scope, host)?;
        let (items, named) = prune(items, &prepared, &body.parameters, &container);
        let items = items.indexed()?;
        let access = execute::explain(&prepared.plan, &items, host, limits)?;
        let partitions = reached(&scope, named.map(|named| named.len()));
        Ok(json!({
            "plan": prepared.plan.to_string(),
            "partitions": partitions,
            "access": access.to_string(),
        }))
    };
    let explained = cosmos.store().run_query(work).await??;
    Ok(Reply::new(StatusCode::OK, Charge::metadata()).headers(place).value(&explained))
}

/// Which logical partitions are looked into: `named` many that the filter names, else those of the scope.
fn reached(scope: &Scope, named: Option<usize>) -> String {
    match (scope, named) {
        (Scope::Partition(_), _) | (_, Some(1)) => "one".to_owned(),
        (_, Some(count)) => count.to_string(),
        (Scope::Between(..), None) => "all".to_owned(),
    }
}
