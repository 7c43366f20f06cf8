//! How a query ran, in the headers that ask for it (wire guide §17.8).

use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_query::execute::Page;
use serde_json::json;

/// Adds the metrics that the request asks for.
pub fn add(reply: Reply, request: &Request, page: &Page, elapsed_ms: f64) -> Reply {
    let mut reply = reply;
    if request.is_true(&header::POPULATE_QUERY_METRICS) {
        reply = reply.header(header::QUERY_METRICS, query_metrics(page, elapsed_ms));
    }
    if request.is_true(&header::POPULATE_INDEX_METRICS) {
        let none = json!({
            "UtilizedSingleIndexes": [], "PotentialSingleIndexes": [],
            "UtilizedCompositeIndexes": [], "PotentialCompositeIndexes": [],
        });
        reply = reply.header(header::INDEX_UTILIZATION, STANDARD.encode(none.to_string()));
    } else if request.is_true(&header::POPULATE_INDEX_METRICS_V2) {
        let none = json!({
            "Utilized": { "SingleIndexes": [], "CompositeIndexes": [] },
            "Potential": { "SingleIndexes": [], "CompositeIndexes": [] },
        });
        let text = none.to_string();
        let text = percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC);
        reply = reply.header(header::INDEX_UTILIZATION, text.to_string());
    }
    reply
}

/// One client splits strictly at `;` and `=`: no trailing separator, no empty entry.
fn query_metrics(page: &Page, elapsed_ms: f64) -> String {
    let read = page.metrics;
    let ratio = if read.documents_read == 0 { 1.0 } else { page.count as f64 / read.documents_read as f64 };
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
        ("retrievedDocumentCount", read.documents_read.to_string()),
        ("retrievedDocumentSize", read.bytes_read.to_string()),
        ("outputDocumentCount", page.count.to_string()),
        ("outputDocumentSize", page.rows.len().to_string()),
        ("writeOutputTimeInMs", "0.00".to_owned()),
        ("indexUtilizationRatio", format!("{:.2}", ratio.min(1.0))),
    ];
    entries.map(|(name, value)| format!("{name}={value}")).join(";")
}
