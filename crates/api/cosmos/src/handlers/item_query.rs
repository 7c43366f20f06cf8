//! Queries over items (wire guide §17).

use super::item_feed::{place, scope};
use crate::failure::Failure;
use crate::header;
use crate::partition_key::Scope;
use crate::query::again::Understood;
use crate::query::cross_partition::QueryTarget;
use crate::query::metrics;
use crate::query::pages::{Begin, Pages, Received};
use crate::reply::Reply;
use crate::request::Request;
use crate::script::functions::Scripted;
use crate::service::Cosmos;
use crate::usage::{Queried, Reach};
use bytes::Bytes;
use http::StatusCode;
use orrery_api_common::percent;
use orrery_document_store::QueryHost;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{Items, Pruning, settings};
use orrery_keys::Epk;
use orrery_query::access::{IndexOf, Path};
use orrery_query::execute::{Host, Page, page_with_predicate};
use orrery_query::plan::distributed::needs_merging;
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
    let (scope, target) = (scope(request, container)?, QueryTarget::of(cosmos, request, container)?);
    let token = request.header_or_refuse(&header::CONTINUATION)?.filter(|token| !token.is_empty());
    let token = token.map(Received::parse).transpose()?;
    let limits = request.page_limits()?;
    let snapshot = cosmos.store().snapshot();
    let seen = snapshot.lsn();
    let track = cosmos.store().track(container.number(), &asked.body.text);
    let may_call_functions = names_functions(&asked.body.text);
    let work = {
        let (cosmos, container) = (cosmos.clone(), container.clone());
        move |host: &QueryHost| {
            let body = &asked.body;
            let understood = asked.understood(cosmos.store().texts(), &settings(&container))?;
            let Understood { prepared, need, question, .. } = &*understood;
            let named = Pruning::of(prepared, &body.parameters, &container);
            let partitions = named.partitions();
            target.check(prepared, &body.parameters, &container, partitions.as_deref())?;
            let is_by_range =
                target.is_by_range() && !prepared.ast.from.is_empty() && !needs_merging(&prepared.ast);
            let seal = cosmos.tokens().of_query(container.number(), *question);
            let pages = Pages { container: &container, scope: &scope, named: partitions.as_deref(), seal };
            let Begin { scope, resume, is_by_range } = pages.begin(token.as_ref(), is_by_range)?;
            let scripted = &Scripted::new(host, &cosmos, &*snapshot, container.rid());
            let items = named.restrict(Items::new(&*snapshot, &container, &scope, scripted)?);
            let recall = cosmos.store().counts().at(snapshot.lsn());
            let items = items.with_statistics(recall).indexed()?;
            let filter = body.resume.as_ref();
            let mut found = page_with_predicate(
                &prepared.plan,
                need,
                &items,
                scripted,
                resume.as_deref(),
                filter,
                limits,
            )?;
            items.scope_key_paths().into_iter().for_each(|path| found.index_usage.add_path(path));
            let partitions = reached(&scope, partitions.as_deref(), &container);
            if !host.is_tired() {
                note(&cosmos, &container, &body.text, token.is_none(), partitions, &understood.paths, &found);
            }
            let next = match is_by_range {
                false => found.next.as_deref().map(|state| pages.seal.seal(state)),
                true => pages.next(token.is_some(), &scope, found.next.as_deref()),
            };
            let descends = prepared.plan.descends();
            Ok::<_, Failure>(Answer {
                page: found,
                scope,
                next,
                descends,
                elapsed_ms: host.elapsed_ms() as f64,
            })
        }
    };
    let answer = match may_call_functions {
        true => cosmos.store().run_query(work).await??,
        false => cosmos.store().run_tracked(track, work).await??,
    };
    let Answer { page, scope, next, descends, elapsed_ms } = answer;
    let reply = with_direction(reply(container, &page), descends);
    let reply = reply.headers(place(cosmos, container, &scope, seen));
    let reply = metrics::add(reply, request, &page, elapsed_ms);
    let reply = match next {
        None => reply,
        Some(token) => reply.header(header::CONTINUATION, token),
    };
    let (first, second) = text(container, page);
    Ok(reply.json_in_two(first, second))
}

/// Whether a query may call user-defined functions, which may take seconds and so never run where requests are served.
fn names_functions(text: &str) -> bool {
    text.as_bytes().windows(3).any(|word| word.eq_ignore_ascii_case(b"udf"))
}

/// A page, the piece of the container that it covers, and the token of the next one.
struct Answer {
    page: Page,
    scope: Scope,
    next: Option<String>,
    descends: Option<bool>,
    elapsed_ms: f64,
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
fn reached<'a>(scope: &'a Scope, named: Option<&'a [(Epk, Epk)]>, container: &Container) -> Reach<'a> {
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
    if page.index_usage.is_scan_only {
        return Vec::new();
    }
    let potential = page.index_usage.potential.iter().map(|one| &one.index);
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
