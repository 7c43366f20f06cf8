//! Offers: the throughput of databases and containers (wire guide §10).

use super::list_reply;
use crate::failure::Failure;
use crate::query::resources;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use crate::{encode, header};
use http::StatusCode;
use orrery_documents::catalog::{self, Offer};
use orrery_documents::charge::Charge;
use orrery_documents::definition::Throughput;
use serde_json::Value;
use std::sync::Arc;

pub fn list(cosmos: &Cosmos) -> Result<Reply, Failure> {
    let offers = all(cosmos)?;
    let count = offers.len();
    Ok(list_reply(&encode::feed("", "Offers", offers), count))
}

pub async fn query(cosmos: &Cosmos, request: &mut Request) -> Result<Reply, Failure> {
    let offers = all(cosmos)?;
    resources::query(cosmos, request, "", "Offers", offers).await
}

fn all(cosmos: &Cosmos) -> Result<Vec<Value>, Failure> {
    refuse_if_serverless(cosmos)?;
    Ok(cosmos.store().catalog().offers().map(|offer| shown(cosmos, offer)).collect())
}

/// A serverless account has no offers, and the service refuses rather than return an empty list.
fn refuse_if_serverless(cosmos: &Cosmos) -> Result<(), Failure> {
    if cosmos.store().is_serverless() {
        let message = "Reading or replacing offers is not supported for serverless accounts.";
        return Err(Failure::bad_request(message));
    }
    Ok(())
}

/// The current offer: with autoscale, the throughput in use, between a tenth of the maximum and the
/// maximum.
fn shown(cosmos: &Cosmos, offer: &Offer) -> Value {
    let mut json = encode::offer(offer);
    if let Throughput::Autoscale { max, .. } = offer.throughput {
        let in_use = cosmos.store().throughput_in_use(offer);
        json["content"]["offerThroughput"] = in_use.clamp(max / 10, max).into();
    }
    json
}

pub fn read(cosmos: &Cosmos, rid: &str) -> Result<Reply, Failure> {
    Ok(reply(cosmos, &*find(cosmos, rid)?))
}

pub async fn replace(cosmos: &Cosmos, request: &mut Request, rid: &str) -> Result<Reply, Failure> {
    let offer = find(cosmos, rid)?;
    let body = request.json_object().await?;
    check_owner(&offer, &body)?;
    let throughput = asked(request, &offer, body.get("content").unwrap_or(&Value::Null))?;
    let replaced = cosmos.store().replace_offer(offer.rid, throughput, request.preconditions()).await?;
    Ok(reply(cosmos, &replaced))
}

fn find(cosmos: &Cosmos, rid: &str) -> Result<Arc<Offer>, Failure> {
    refuse_if_serverless(cosmos)?;
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

/// The requested throughput; two headers switch between manual and autoscale.
fn asked(request: &Request, offer: &Offer, content: &Value) -> Result<Throughput, Failure> {
    if request.is_true(&header::MIGRATE_TO_AUTOSCALE) {
        return Ok(offer.throughput.to_autoscale(offer.highest));
    }
    if request.is_true(&header::MIGRATE_TO_MANUAL) {
        return Ok(offer.throughput.to_manual(offer.highest));
    }
    Ok(Throughput::from_offer_content(content)?)
}

fn reply(cosmos: &Cosmos, offer: &Offer) -> Reply {
    Reply::new(StatusCode::OK, Charge::metadata())
        .etag(offer.etag)
        .header(header::OFFER_REPLACE_PENDING, "false")
        .value(&shown(cosmos, offer))
}
