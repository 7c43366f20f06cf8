//! Queries over items, and the plans with which a client runs one itself (wire guide §17).

use super::item_feed::{place, scope};
use crate::failure::Failure;
use crate::header;
use crate::partition_key::Scope;
use crate::query::again::Understood;
use crate::query::body::QueryBody;
use crate::query::metrics;
use crate::reply::Reply;
use crate::request::Request;
use crate::script::functions::Scripted;
use crate::service::Cosmos;
use crate::usage::{Queried, Reach};
use bytes::Bytes;
use http::StatusCode;
use orrery_api_common::percent;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{Items, narrowed, partitions, settings};
use orrery_keys::Epk;
use orrery_query::Texts;
use orrery_query::access::{IndexOf, Path};
use orrery_query::execute::{Host, Page, page_needing};
use orrery_query::plan::Rules;
use orrery_query::plan::distributed::{
    DistributeOptions, Distributed, HybridForm, QueryRange, distribute, unsupported,
};
use orrery_store::QueryHost;
use std::sync::Arc;

pub async fn query(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    if request.is_true(&header::EXPLAIN) {
        return super::item_explain::explain(cosmos, request, container).await;
    }
    let asked = cosmos.again().read(&request.body().await?)?;
    let scope = scope(request, container)?;
    let fingerprint = asked.fingerprint;
    let resume = match request.header_or_refuse(&header::CONTINUATION)?.filter(|token| !token.is_empty()) {
        None => None,
        Some(token) => Some(cosmos.tokens().read_query(container.number(), fingerprint, token)?),
    };
    let limits = request.page_limits()?;
    let snapshot = cosmos.store().snapshot();
    let place = place(cosmos, container, &scope, snapshot.lsn());
    let track = cosmos.store().track(container.number(), &asked.body.text);
    let may_call_functions = names_functions(&asked.body.text);
    let work = {
        let (cosmos, container) = (cosmos.clone(), container.clone());
        move |host: &QueryHost| {
            let body = &asked.body;
            let understood = asked.understood(cosmos.store().texts(), &settings(&container))?;
            let Understood { prepared, need, .. } = &*understood;
            let scripted = &Scripted::new(host, &cosmos, &*snapshot, container.rid());
            let items = Items::new(&*snapshot, &container, &scope, scripted)?;
            let (items, named) = narrowed(items, prepared, &body.parameters, &container);
            let recall = cosmos.store().counts().at(snapshot.lsn());
            let items = items.remembering(recall).indexed()?;
            let (resume, filter) = (resume.as_deref(), body.resume.as_ref());
            let mut found = page_needing(&prepared.plan, need, &items, scripted, resume, filter, limits)?;
            items.named_by_scope().into_iter().for_each(|path| found.used.also(path));
            let reach = reach(&scope, named.as_deref(), &container);
            if !host.is_tired() {
                note(&cosmos, &container, &body.text, resume.is_none(), reach, &understood.paths, &found);
            }
            Ok::<_, Failure>((found, prepared.plan.descends(), host.elapsed_ms() as f64))
        }
    };
    let (page, descends, elapsed_ms) = match may_call_functions {
        true => cosmos.store().run_query(work).await??,
        false => cosmos.store().run_tracked(track, work).await??,
    };
    let reply = with_direction(reply(container, &page), descends).headers(place);
    let reply = metrics::add(reply, request, &page, elapsed_ms);
    let reply = match &page.next {
        None => reply,
        Some(state) => {
            let token = cosmos.tokens().write_query(container.number(), fingerprint, state);
            reply.header(header::CONTINUATION, token)
        }
    };
    let (first, second) = text(container, page);
    Ok(reply.json_in_two(first, second))
}

/// Whether a query may call user-defined functions, which may take seconds and so never run where requests are served.
fn names_functions(text: &str) -> bool {
    text.as_bytes().windows(3).any(|word| word.eq_ignore_ascii_case(b"udf"))
}

/// Tells clients that resume an ORDER BY in which order equal rows come: by resource id, in the direction of the
/// first key.
fn with_direction(reply: Reply, descends: Option<bool>) -> Reply {
    match descends {
        None => reply,
        Some(descends) => {
            let info = format!(r#"{{"reverseRidEnabled":false,"reverseIndexScan":{descends}}}"#);
            reply.header(header::QUERY_EXECUTION_INFO, info)
        }
    }
}

/// Remembers what was asked, for advice on it.
fn note(
    cosmos: &Cosmos,
    container: &Container,
    text: &str,
    is_first: bool,
    reach: Reach<'_>,
    paths: &[Path],
    page: &Page,
) {
    let missing = &missing(page)[..];
    let (rows, charge) = (page.count as u64, Charge::page(page));
    if is_first {
        cosmos.monitor().queried(container.number(), reach);
    }
    let page = Queried { text, is_first, reach, rows, charge, paths, missing };
    cosmos.usage().queried(container.number(), &page);
}

/// Which partitions were asked: those of the scope, or those that the filter names. A part of a range that is less
/// than the whole is some of them.
fn reach<'a>(scope: &'a Scope, named: Option<&'a [(Epk, Epk)]>, container: &Container) -> Reach<'a> {
    match (scope, named) {
        (Scope::Partition(epk), _) => Reach::Partition(epk.as_bytes()),
        (_, Some([(min, max)])) if min == max => Reach::Partition(min.as_bytes()),
        (_, Some(_)) => Reach::Some,
        (Scope::Between(min, max), None) => {
            let mut ranges = container.ranges().leaves().iter();
            let is_all = ranges.any(|range| *min <= range.min && range.max <= *max);
            if is_all { Reach::All } else { Reach::Some }
        }
    }
}

/// Composite indexes that would have helped: none where no index is read.
fn missing(page: &Page) -> Vec<Vec<(Path, bool)>> {
    if page.used.is_read_through {
        return Vec::new();
    }
    let potential = page.used.potential.iter().map(|one| &one.index);
    let composites = potential.filter_map(|index| match index {
        IndexOf::Composite(parts) => Some(parts.clone()),
        IndexOf::Path(_) => None,
    });
    composites.collect()
}

/// The answer in two pieces: the rows stay where they were written.
fn text(container: &Container, page: Page) -> (Bytes, Bytes) {
    let first = format!("{{\"_rid\":\"{}\",\"Documents\":[", container.rid_text());
    let mut second = page.rows;
    second.extend_from_slice(format!("],\"_count\":{}}}", page.count).as_bytes());
    (first.into(), second.into())
}

fn reply(container: &Container, page: &Page) -> Reply {
    Reply::new(StatusCode::OK, Charge::page(page))
        .header(header::ITEM_COUNT, page.count.to_string())
        .header(header::ALT_CONTENT_PATH, percent::encode_uri(container.path()))
        .header(header::CONTENT_PATH, container.rid_text())
}

/// How a client runs the query over the container's ranges itself.
pub async fn plan(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    let body = QueryBody::parse(&request.body().await?)?;
    let client = request.header(&header::SUPPORTED_QUERY_FEATURES).unwrap_or_default().to_owned();
    let (store, container) = (cosmos.store().clone(), container.clone());
    let plan =
        cosmos.store().run_query(move |_| planned(store.texts(), &body, &client, &container)).await??;
    Ok(Reply::new(StatusCode::OK, Charge::metadata()).json(plan))
}

fn planned(texts: &Texts, body: &QueryBody, client: &str, container: &Container) -> Result<String, Failure> {
    let settings = settings(container);
    let prepared = texts.prepare_for(&body.text, &body.parameters, Rules::On, &settings)?;
    let named = partitions(&prepared, &body.parameters, container);
    let options = DistributeOptions {
        hybrid: HybridForm::for_client(client),
        is_one_partition: matches!(named.as_deref(), Some([(min, max)]) if min == max),
        vectors: settings.vectors,
    };
    let distributed = distribute(&prepared.ast, &body.parameters, &options);
    // One range gives the whole answer: whatever the client cannot put together, it need not.
    let is_single = container.ranges().leaves().len() == 1;
    let plan = match distributed {
        Err(_) if is_single => Distributed::pass_through(&prepared.ast),
        Err(error) => return Err(error.into()),
        Ok(plan) => match unsupported(&plan.features, client) {
            None => plan,
            Some(_) if is_single => Distributed::pass_through(&prepared.ast),
            Some(message) => return Err(Failure::bad_request(message)),
        },
    };
    Ok(plan.to_json(&query_ranges(named)))
}

/// The ranges that a client asks. Where no document can match, or none is read, that is the very first key: some range
/// must be named for the client to hear it from.
fn query_ranges(named: Option<Vec<(Epk, Epk)>>) -> Vec<QueryRange> {
    let Some(mut partitions) = named else { return vec![QueryRange::whole()] };
    if partitions.is_empty() {
        return vec![QueryRange::point("")];
    }
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
