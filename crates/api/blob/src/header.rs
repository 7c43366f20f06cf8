//! The names of headers that the blob service has beside those of all storage services (wire guide §7, §8).

use http::HeaderName;

macro_rules! headers {
    ($($name:ident = $text:literal;)*) => {
        $(pub const $name: HeaderName = HeaderName::from_static($text);)*
    };
}

headers! {
    ACCESS_TIER = "x-ms-access-tier";
    ACCESS_TIER_CHANGE_TIME = "x-ms-access-tier-change-time";
    ACCESS_TIER_INFERRED = "x-ms-access-tier-inferred";
    ACCOUNT_KIND = "x-ms-account-kind";
    APPEND_OFFSET = "x-ms-blob-append-offset";
    ARCHIVE_STATUS = "x-ms-archive-status";
    BLOB_CACHE_CONTROL = "x-ms-blob-cache-control";
    BLOB_CONTENT_DISPOSITION = "x-ms-blob-content-disposition";
    BLOB_CONTENT_ENCODING = "x-ms-blob-content-encoding";
    BLOB_CONTENT_LANGUAGE = "x-ms-blob-content-language";
    BLOB_CONTENT_LENGTH = "x-ms-blob-content-length";
    BLOB_CONTENT_MD5 = "x-ms-blob-content-md5";
    BLOB_CONTENT_TYPE = "x-ms-blob-content-type";
    BLOB_PUBLIC_ACCESS = "x-ms-blob-public-access";
    BLOB_SEALED = "x-ms-blob-sealed";
    BLOB_SEQUENCE_NUMBER = "x-ms-blob-sequence-number";
    BLOB_TYPE = "x-ms-blob-type";
    COMMITTED_BLOCK_COUNT = "x-ms-blob-committed-block-count";
    CONDITION_APPEND_POSITION = "x-ms-blob-condition-appendpos";
    CONDITION_MAX_SIZE = "x-ms-blob-condition-maxsize";
    CONTENT_CRC64 = "x-ms-content-crc64";
    COPY_ACTION = "x-ms-copy-action";
    COPY_COMPLETION_TIME = "x-ms-copy-completion-time";
    COPY_ID = "x-ms-copy-id";
    COPY_PROGRESS = "x-ms-copy-progress";
    COPY_SOURCE = "x-ms-copy-source";
    COPY_SOURCE_AUTHORIZATION = "x-ms-copy-source-authorization";
    COPY_SOURCE_TAG_OPTION = "x-ms-copy-source-tag-option";
    COPY_STATUS = "x-ms-copy-status";
    COPY_STATUS_DESCRIPTION = "x-ms-copy-status-description";
    CREATION_TIME = "x-ms-creation-time";
    DEFAULT_ENCRYPTION_SCOPE = "x-ms-default-encryption-scope";
    DELETED_CONTAINER_NAME = "x-ms-deleted-container-name";
    DELETED_CONTAINER_VERSION = "x-ms-deleted-container-version";
    DELETE_SNAPSHOTS = "x-ms-delete-snapshots";
    DELETE_TYPE_PERMANENT = "x-ms-delete-type-permanent";
    DENY_ENCRYPTION_SCOPE_OVERRIDE = "x-ms-deny-encryption-scope-override";
    HAS_IMMUTABILITY_POLICY = "x-ms-has-immutability-policy";
    HAS_LEGAL_HOLD = "x-ms-has-legal-hold";
    IF_SEQUENCE_NUMBER_EQ = "x-ms-if-sequence-number-eq";
    IF_SEQUENCE_NUMBER_LE = "x-ms-if-sequence-number-le";
    IF_SEQUENCE_NUMBER_LT = "x-ms-if-sequence-number-lt";
    IF_TAGS = "x-ms-if-tags";
    IMMUTABILITY_MODE = "x-ms-immutability-policy-mode";
    IMMUTABILITY_UNTIL = "x-ms-immutability-policy-until-date";
    IMMUTABLE_WITH_VERSIONING = "x-ms-immutable-storage-with-versioning-enabled";
    IS_CURRENT_VERSION = "x-ms-is-current-version";
    IS_HNS_ENABLED = "x-ms-is-hns-enabled";
    LAST_ACCESS_TIME = "x-ms-last-access-time";
    LEASE_ACTION = "x-ms-lease-action";
    LEASE_BREAK_PERIOD = "x-ms-lease-break-period";
    LEASE_DURATION = "x-ms-lease-duration";
    LEASE_ID = "x-ms-lease-id";
    LEASE_STATE = "x-ms-lease-state";
    LEASE_STATUS = "x-ms-lease-status";
    LEASE_TIME = "x-ms-lease-time";
    LEGAL_HOLD = "x-ms-legal-hold";
    PAGE_WRITE = "x-ms-page-write";
    PROPOSED_LEASE_ID = "x-ms-proposed-lease-id";
    RANGE = "x-ms-range";
    RANGE_GET_CONTENT_CRC64 = "x-ms-range-get-content-crc64";
    RANGE_GET_CONTENT_MD5 = "x-ms-range-get-content-md5";
    REHYDRATE_PRIORITY = "x-ms-rehydrate-priority";
    REQUEST_SERVER_ENCRYPTED = "x-ms-request-server-encrypted";
    REQUIRES_SYNC = "x-ms-requires-sync";
    SEAL_BLOB = "x-ms-seal-blob";
    SEQUENCE_NUMBER_ACTION = "x-ms-sequence-number-action";
    SERVER_ENCRYPTED = "x-ms-server-encrypted";
    SKU_NAME = "x-ms-sku-name";
    SNAPSHOT = "x-ms-snapshot";
    SOURCE_CONTENT_CRC64 = "x-ms-source-content-crc64";
    SOURCE_CONTENT_MD5 = "x-ms-source-content-md5";
    SOURCE_IF_MATCH = "x-ms-source-if-match";
    SOURCE_IF_MODIFIED_SINCE = "x-ms-source-if-modified-since";
    SOURCE_IF_NONE_MATCH = "x-ms-source-if-none-match";
    SOURCE_IF_TAGS = "x-ms-source-if-tags";
    SOURCE_IF_UNMODIFIED_SINCE = "x-ms-source-if-unmodified-since";
    SOURCE_LEASE_ID = "x-ms-source-lease-id";
    SOURCE_RANGE = "x-ms-source-range";
    STRUCTURED_BODY = "x-ms-structured-body";
    TAGS = "x-ms-tags";
    TAG_COUNT = "x-ms-tag-count";
    VERSION_ID = "x-ms-version-id";
}
