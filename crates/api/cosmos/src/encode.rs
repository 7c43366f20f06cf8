//! Resources and feeds as JSON (wire guide §8 to §12).

use orrery_core::{ItemRid, ResourceKind};
use orrery_documents::catalog::{Container, Database, Offer, OfferTarget};
use orrery_documents::item::{ItemRow, Statistics};
use orrery_documents::ranges::Range;
use orrery_documents::subresources::{Kind, Owner, Subresource};
use serde_json::{Map, Value, json};

pub fn database(database: &Database) -> Value {
    json!({
        "id": database.name.as_str(),
        "_rid": database.rid.to_string(),
        "_self": format!("dbs/{}/", database.rid),
        "_etag": database.etag.to_string(),
        "_colls": "colls/",
        "_users": "users/",
        "_ts": database.written.seconds(),
    })
}

pub fn container(container: &Container) -> Value {
    let mut object = container.definition().to_json();
    let system = json!({
        "_rid": container.rid_text(),
        "_ts": container.written().seconds(),
        "_self": container.self_link(),
        "_etag": container.etag().to_string(),
        "_docs": "docs/",
        "_sprocs": "sprocs/",
        "_triggers": "triggers/",
        "_udfs": "udfs/",
        "_conflicts": "conflicts/",
    });
    if let Value::Object(system) = system {
        object.extend(system);
    }
    Value::Object(object)
}

pub fn offer(offer: &Offer) -> Value {
    let (resource, owner) = match offer.target {
        OfferTarget::Database(rid) => (format!("dbs/{rid}/"), rid.to_string()),
        OfferTarget::Container(rid) => (format!("dbs/{}/colls/{rid}/", rid.database), rid.to_string()),
    };
    json!({
        "id": offer.rid.to_string(),
        "_rid": offer.rid.to_string(),
        "_self": format!("offers/{}/", offer.rid),
        "_etag": offer.etag.to_string(),
        "_ts": offer.written.seconds(),
        "resource": resource,
        "offerResourceId": owner,
        "offerType": "Invalid",
        "offerVersion": "V2",
        "content": offer.throughput.to_offer_content(),
    })
}

/// A user, a permission (with a token, if it has one), a script or a client encryption key.
pub fn child(owner: &Owner, child: &Subresource, token: Option<String>) -> Value {
    let mut object = Map::new();
    object.insert("id".into(), child.name.as_str().into());
    object.extend(child.members.clone());
    let rid = owner.subresource_rid(child.kind, child.ordinal);
    object.insert("_self".into(), format!("{}{}/{rid}/", owner.self_link(), child.kind.segment()).into());
    object.insert("_rid".into(), rid.into());
    object.insert("_etag".into(), child.etag.to_string().into());
    object.insert("_ts".into(), child.written.seconds().into());
    if child.kind == Kind::User {
        object.insert("_permissions".into(), "permissions/".into());
    }
    if let Some(token) = token {
        object.insert("_token".into(), token.into());
    }
    Value::Object(object)
}

pub fn range(container: &Container, range: &Range) -> Value {
    let rid = ItemRid::new(container.rid(), ResourceKind::PartitionKeyRange, u64::from(range.id) + 1);
    let share = 1.0 / container.ranges().leaves().len() as f64;
    json!({
        "_rid": rid.to_string(),
        "id": range.id.to_string(),
        "_etag": container.etag().to_string(),
        "minInclusive": range.min.to_string(),
        "maxExclusive": range.max.to_string(),
        "ridPrefix": range.id,
        "_self": format!("{}pkranges/{rid}/", container.self_link()),
        "throughputFraction": share,
        "status": "online",
        "parents": range.parents.iter().map(u32::to_string).collect::<Vec<_>>(),
        "_ts": container.written().seconds(),
        "lsn": u64::from(range.since),
    })
}

pub fn statistics(range: &Statistics) -> Value {
    json!({
        "id": range.range.to_string(),
        "sizeInKB": range.bytes.div_ceil(1024),
        "documentCount": range.items,
        "partitionKeys": [],
    })
}

/// `{"_rid": …, "<name>": […], "_count": n}`
pub fn feed(rid: &str, name: &str, resources: Vec<Value>) -> Value {
    let mut object = Map::new();
    object.insert("_rid".into(), rid.into());
    let count = resources.len();
    object.insert(name.into(), resources.into());
    object.insert("_count".into(), count.into());
    Value::Object(object)
}

pub fn item_feed(container: &Container, items: &[ItemRow]) -> Vec<u8> {
    let size: usize = items.iter().map(|item| item.text_length() + 256).sum();
    let mut out = Vec::with_capacity(size + 64);
    out.extend_from_slice(format!("{{\"_rid\":\"{}\",\"Documents\":[", container.rid_text()).as_bytes());
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        item.write_json(container, &mut out);
    }
    out.extend_from_slice(format!("],\"_count\":{}}}", items.len()).as_bytes());
    out
}
