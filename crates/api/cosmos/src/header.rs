//! The names of the protocol's headers (wire guide §6).

use http::HeaderName;

macro_rules! headers {
    ($($name:ident = $text:literal;)*) => {
        $(pub const $name: HeaderName = HeaderName::from_static($text);)*
    };
}

headers! {
    ACTIVITY_ID = "x-ms-activity-id";
    ALT_CONTENT_PATH = "x-ms-alt-content-path";
    AUTOPILOT_SETTINGS = "x-ms-cosmos-offer-autopilot-settings";
    BATCH_ATOMIC = "x-ms-cosmos-batch-atomic";
    BATCH_CONTINUE_ON_ERROR = "x-ms-cosmos-batch-continue-on-error";
    CHANGE_FEED_WIRE_FORMAT = "x-ms-cosmos-changefeed-wire-format-version";
    CONSISTENCY_LEVEL = "x-ms-consistency-level";
    CONTENT_PATH = "x-ms-content-path";
    CONTINUATION = "x-ms-continuation";
    CROSS_PARTITION = "x-orrery-cross-partition";
    DATE = "x-ms-date";
    ENABLE_CROSS_PARTITION = "x-ms-documentdb-query-enablecrosspartition";
    END_EPK = "x-ms-end-epk";
    EXPLAIN = "x-orrery-explain";
    EXPIRY_SECONDS = "x-ms-documentdb-expiry-seconds";
    INDEX_UTILIZATION = "x-ms-cosmos-index-utilization";
    INDEXING_DIRECTIVE = "x-ms-indexing-directive";
    INDEX_PROGRESS = "x-ms-documentdb-collection-index-transformation-progress";
    INTENDED_COLLECTION = "x-ms-cosmos-intended-collection-rid";
    IS_BATCH = "x-ms-cosmos-is-batch-request";
    IS_QUERY = "x-ms-documentdb-isquery";
    IS_QUERY_PLAN = "x-ms-cosmos-is-query-plan-request";
    IS_UPSERT = "x-ms-documentdb-is-upsert";
    ITEM_COUNT = "x-ms-item-count";
    ITEM_LSN = "x-ms-item-lsn";
    LSN = "lsn";
    MAX_ITEM_COUNT = "x-ms-max-item-count";
    MIGRATE_TO_AUTOSCALE = "x-ms-cosmos-migrate-offer-to-autopilot";
    MIGRATE_TO_MANUAL = "x-ms-cosmos-migrate-offer-to-manual-throughput";
    OFFER_REPLACE_PENDING = "x-ms-offer-replace-pending";
    OFFER_THROUGHPUT = "x-ms-offer-throughput";
    PARTITION_KEY = "x-ms-documentdb-partitionkey";
    PARTITION_KEY_RANGE_ID = "x-ms-documentdb-partitionkeyrangeid";
    POPULATE_INDEX_METRICS = "x-ms-cosmos-populateindexmetrics";
    POPULATE_INDEX_METRICS_V2 = "x-ms-cosmos-populateindexmetrics-v2";
    POPULATE_QUERY_METRICS = "x-ms-documentdb-populatequerymetrics";
    POPULATE_STATISTICS = "x-ms-documentdb-populatepartitionstatistics";
    POPULATE_QUOTA = "x-ms-documentdb-populatequotainfo";
    POST_TRIGGER_INCLUDE = "x-ms-documentdb-post-trigger-include";
    PREFER = "prefer";
    PRE_IMAGES = "x-orrery-pre-images";
    PRIORITY_LEVEL = "x-ms-cosmos-priority-level";
    PRE_TRIGGER_INCLUDE = "x-ms-documentdb-pre-trigger-include";
    QUERY_EXECUTION_INFO = "x-ms-cosmos-query-execution-info";
    QUERY_METRICS = "x-ms-documentdb-query-metrics";
    REQUEST_DURATION_MS = "x-ms-request-duration-ms";
    REQUEST_CHARGE = "x-ms-request-charge";
    RESOURCE_QUOTA = "x-ms-resource-quota";
    RESOURCE_USAGE = "x-ms-resource-usage";
    RETRY_AFTER_MS = "x-ms-retry-after-ms";
    SCHEMA_WARNINGS = "x-orrery-schema-warnings";
    SCHEMA_VERSION = "x-ms-schemaversion";
    SCRIPT_ENABLE_LOGGING = "x-ms-documentdb-script-enable-logging";
    SCRIPT_LOG_RESULTS = "x-ms-documentdb-script-log-results";
    SERVICE_VERSION = "x-ms-serviceversion";
    SESSION_TOKEN = "x-ms-session-token";
    START_EPK = "x-ms-start-epk";
    SUPPORTED_QUERY_FEATURES = "x-ms-cosmos-supported-query-features";
    SUBSTATUS = "x-ms-substatus";
    VERSION = "x-ms-version";
}

/// Marks change-feed and incremental-feed requests.
pub const A_IM: HeaderName = HeaderName::from_static("a-im");
