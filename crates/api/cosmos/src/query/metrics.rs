//! Query metrics in response headers, if requested (wire guide §17.8).

use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_query::access::{IndexOf, IndexUsage, IndexUse, Path, PathDisplay};
use orrery_query::execute::Page;
use serde_json::{Value, json};

/// Adds the requested metrics.
pub fn add(reply: Reply, request: &Request, page: &Page, elapsed_ms: f64) -> Reply {
    let mut reply = reply;
    if request.is_true(&header::POPULATE_QUERY_METRICS) {
        reply = reply.header(header::QUERY_METRICS, query_metrics(page, elapsed_ms));
    }
    if request.is_true(&header::POPULATE_INDEX_METRICS) {
        let text = index_metrics(&page.index_usage).to_string();
        reply = reply.header(header::INDEX_UTILIZATION, STANDARD.encode(text));
    } else if request.is_true(&header::POPULATE_INDEX_METRICS_V2) {
        let text = index_metrics_v2(&page.index_usage).to_string();
        let text = percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC);
        reply = reply.header(header::INDEX_UTILIZATION, text.to_string());
    }
    reply
}

/// The first format: lists of single and composite indexes, used and missed.
fn index_metrics(used: &IndexUsage) -> Value {
    let single = |uses: &[IndexUse]| -> Value {
        let specs = uses.iter().filter_map(single_spec).map(|spec| {
            json!({
                "FilterExpression": "", "IndexSpec": spec,
                "FilterPreciseSet": true, "IndexPreciseSet": true, "IndexImpactScore": "High",
            })
        });
        specs.collect()
    };
    let composite = |uses: &[IndexUse]| -> Value {
        let specs = uses.iter().filter_map(composite_specs).map(|specs| {
            json!({
                "FilterExpressions": [], "IndexSpecs": specs,
                "IndexPreciseSet": true, "IndexImpactScore": "High",
            })
        });
        specs.collect()
    };
    json!({
        "UtilizedSingleIndexes": single(&used.utilized), "PotentialSingleIndexes": single(&used.potential),
        "UtilizedCompositeIndexes": composite(&used.utilized),
        "PotentialCompositeIndexes": composite(&used.potential),
    })
}

/// The second format.
fn index_metrics_v2(used: &IndexUsage) -> Value {
    let of = |uses: &[IndexUse]| {
        let single: Value =
            uses.iter().filter_map(single_spec).map(|spec| json!({ "IndexSpec": spec })).collect();
        let composite: Value =
            uses.iter().filter_map(composite_specs).map(|specs| json!({ "IndexSpecs": specs })).collect();
        json!({ "SingleIndexes": single, "CompositeIndexes": composite })
    };
    json!({ "Utilized": of(&used.utilized), "Potential": of(&used.potential) })
}

/// `/status/?`, as a policy would include it.
fn single_spec(one: &IndexUse) -> Option<String> {
    match &one.index {
        IndexOf::Path(path) => Some(format!("{}/?", PathDisplay(path))),
        IndexOf::Composite(_) => None,
    }
}

/// `/status ASC` for each part.
fn composite_specs(one: &IndexUse) -> Option<Vec<String>> {
    let IndexOf::Composite(parts) = &one.index else { return None };
    let spec = |(path, descends): &(Path, bool)| {
        format!("{} {}", PathDisplay(path), if *descends { "DESC" } else { "ASC" })
    };
    Some(parts.iter().map(spec).collect())
}

/// One client splits strictly at `;` and `=`: no trailing separator, no empty entry.
fn query_metrics(page: &Page, elapsed_ms: f64) -> String {
    let (documents, bytes) = match page.index_usage.is_index_only {
        // Counted as on the service: how few documents we read is of no use to a client.
        true => (0, 0),
        false => (page.metrics.documents_read, page.metrics.bytes_read),
    };
    let ratio = if documents == 0 { 1.0 } else { page.count as f64 / documents as f64 };
    let entries = [
        ("totalExecutionTimeInMs", format!("{elapsed_ms:.2}")),
        ("queryCompileTimeInMs", "0.00".to_owned()),
        ("queryLogicalPlanBuildTimeInMs", "0.00".to_owned()),
        ("queryPhysicalPlanBuildTimeInMs", "0.00".to_owned()),
        ("queryOptimizationTimeInMs", "0.00".to_owned()),
        ("VMExecutionTimeInMs", format!("{elapsed_ms:.2}")),
        ("indexLookupTimeInMs", "0.00".to_owned()),
        ("instructionCount", "0".to_owned()),
        ("documentLoadTimeInMs", "0.00".to_owned()),
        ("systemFunctionExecuteTimeInMs", "0.00".to_owned()),
        ("userFunctionExecuteTimeInMs", "0.00".to_owned()),
        ("retrievedDocumentCount", documents.to_string()),
        ("retrievedDocumentSize", bytes.to_string()),
        ("outputDocumentCount", page.count.to_string()),
        ("outputDocumentSize", page.rows.len().to_string()),
        ("writeOutputTimeInMs", "0.00".to_owned()),
        ("indexUtilizationRatio", format!("{:.2}", ratio.min(1.0))),
    ];
    entries.map(|(name, value)| format!("{name}={value}")).join(";")
}
