//! The query-plan endpoint: how a client runs a query over the container's ranges itself (wire guide §17.5).

use super::body::QueryBody;
use super::cross_partition::CrossPartition;
use crate::failure::Failure;
use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use http::StatusCode;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{partitions, settings};
use orrery_keys::Epk;
use orrery_query::ParseCache;
use orrery_query::plan::Rules;
use orrery_query::plan::distributed::{
    DistributeOptions, Distributed, HybridForm, QueryRange, distribute, unsupported,
};
use std::sync::Arc;

pub async fn plan(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    let body = QueryBody::parse(&request.body().await?)?;
    let features = request.header(&header::SUPPORTED_QUERY_FEATURES).unwrap_or_default().to_owned();
    let client = Client { features, mode: CrossPartition::of(cosmos, request) };
    let (store, container) = (cosmos.store().clone(), container.clone());
    let plan =
        cosmos.store().run_query(move |_| planned(store.texts(), &body, &client, &container)).await??;
    Ok(Reply::new(StatusCode::OK, Charge::metadata()).json(plan))
}

struct Client {
    features: String,
    mode: CrossPartition,
}

fn planned(
    texts: &ParseCache,
    body: &QueryBody,
    client: &Client,
    container: &Container,
) -> Result<String, Failure> {
    let settings = settings(container);
    let prepared = texts.prepare_for(&body.text, &body.parameters, Rules::On, &settings)?;
    let named = partitions(&prepared, &body.parameters, container);
    let options = DistributeOptions {
        hybrid: HybridForm::for_client(&client.features),
        is_one_partition: super::cross_partition::is_pinned(named.as_deref()),
        vectors: settings.vectors,
    };
    let distributed = distribute(&prepared.ast, &body.parameters, &options);
    // One range gives the whole answer: whatever the client cannot put together, it need not.
    let is_whole = client.mode == CrossPartition::Direct && container.ranges().leaves().len() == 1;
    let plan = match distributed {
        Err(_) if is_whole => Distributed::pass_through(&prepared.ast),
        Err(error) => return Err(error.into()),
        Ok(plan) => match unsupported(&plan.features, &client.features) {
            None => plan,
            Some(_) if is_whole => Distributed::pass_through(&prepared.ast),
            Some(message) => return Err(Failure::bad_request(message)),
        },
    };
    Ok(plan.to_json(&ranges(named.as_deref())))
}

/// The ranges that a client asks. Where no document can match, or none is read, that is the very first key: some range
/// must be named for the client to hear it from.
pub(super) fn ranges(named: Option<&[(Epk, Epk)]>) -> Vec<QueryRange> {
    let Some(named) = named else { return vec![QueryRange::whole()] };
    if named.is_empty() {
        return vec![QueryRange::point("")];
    }
    let mut partitions = named.to_vec();
    partitions.sort();
    partitions.dedup();
    let range = |(min, max): &(Epk, Epk)| {
        if min == max {
            QueryRange::point(&min.to_string())
        } else {
            QueryRange::half_open(&min.to_string(), &max.to_string())
        }
    };
    partitions.iter().map(range).collect()
}
