//! Offers: the throughput of databases and containers (wire guide §10).

use super::list_reply;
use crate::failure::Failure;
use crate::query::resources;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use crate::{encode, header};
use http::StatusCode;
use orrery_core::limits;
use orrery_documents::catalog::{self, Offer};
use orrery_documents::charge::Charge;
use orrery_documents::definition::Throughput;
use serde_json::Value;
use std::sync::Arc;

pub fn list(cosmos: &Cosmos) -> Reply {
    let offers = all(cosmos);
    let count = offers.len();
    list_reply(&encode::feed("", "Offers", offers), count)
}

pub async fn query(cosmos: &Cosmos, request: &mut Request) -> Result<Reply, Failure> {
    let offers = all(cosmos);
    resources::query(cosmos, request, "", "Offers", offers).await
}

fn all(cosmos: &Cosmos) -> Vec<Value> {
    cosmos.store().catalog().offers().map(|offer| encode::offer(offer)).collect()
}

pub fn read(cosmos: &Cosmos, rid: &str) -> Result<Reply, Failure> {
    Ok(reply(&*find(cosmos, rid)?))
}

pub async fn replace(cosmos: &Cosmos, request: &mut Request, rid: &str) -> Result<Reply, Failure> {
    let offer = find(cosmos, rid)?;
    let body = request.json_object().await?;
    check_owner(&offer, &body)?;
    let throughput = asked(request, &offer, body.get("content").unwrap_or(&Value::Null))?;
    let (conditions, stamp) = (request.preconditions(), cosmos.stamp());
    let replaced = cosmos
        .store()
        .write_catalog(move |txn| catalog::replace_offer(txn, offer.rid, &throughput, conditions, stamp))
        .await?;
    Ok(reply(&replaced.value))
}

fn find(cosmos: &Cosmos, rid: &str) -> Result<Arc<Offer>, Failure> {
    let catalog = cosmos.store().catalog();
    catalog
        .offer(rid)
        .cloned()
        .ok_or_else(|| Failure::not_found(format!("Resource Not Found: there is no offer '{rid}'.")))
}

/// An offer cannot be moved to another resource.
fn check_owner(offer: &Offer, body: &serde_json::Map<String, Value>) -> Result<(), Failure> {
    let ours = encode::offer(offer);
    for member in ["resource", "offerResourceId"] {
        if body.get(member).is_some_and(|given| *given != ours[member]) {
            return Err(Failure::from(catalog::CatalogError::OfferMoved));
        }
    }
    Ok(())
}

/// What the offer shall be; two headers switch between manual and autoscale.
fn asked(request: &Request, offer: &Offer, content: &Value) -> Result<Throughput, Failure> {
    let current = match offer.throughput {
        Throughput::Manual(rate) | Throughput::Autoscale { max: rate, .. } => rate,
    };
    if request.is_true(&header::MIGRATE_TO_AUTOSCALE) {
        let max =
            current.max(limits::THROUGHPUT_AUTOSCALE_MIN).next_multiple_of(limits::THROUGHPUT_AUTOSCALE_STEP);
        return Ok(Throughput::Autoscale { max, increment_percent: None });
    }
    if request.is_true(&header::MIGRATE_TO_MANUAL) {
        return Ok(Throughput::Manual(current.max(limits::THROUGHPUT_MANUAL_MIN)));
    }
    Ok(Throughput::from_offer_content(content)?)
}

fn reply(offer: &Offer) -> Reply {
    Reply::new(StatusCode::OK, Charge::metadata())
        .etag(offer.etag)
        .header(header::OFFER_REPLACE_PENDING, "false")
        .value(&encode::offer(offer))
}
