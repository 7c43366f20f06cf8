//! The columns of an inventory, with Azure's names, and what a blob or a container has in them.

use crate::blob::{Blob, BlobKind, BlobState, CopyStatus, ImmutabilityMode};
use crate::containers::{Container, PublicAccess};
use crate::lease::{Lease, LeaseDuration, LeaseState};
use crate::tier::RehydratePriority;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_catalog::storage::Metadata;
use orrery_core::{Ticks, Timestamp};

/// A column by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    Integer,
    Flag,
    Time,
}

/// What a row has in a column; `None` is an empty field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Text(String),
    Integer(u64),
    Flag(bool),
    Time(Timestamp),
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Text }
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Integer }
}

const fn flag(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Flag }
}

const fn time(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Time }
}

const BLOB_COLUMNS: &[Column] = &[
    text("Name"),
    time("Creation-Time"),
    time("Last-Modified"),
    integer("Content-Length"),
    text("Content-MD5"),
    text("BlobType"),
    text("AccessTier"),
    time("AccessTierChangeTime"),
    flag("AccessTierInferred"),
    text("Tags"),
    time("Expiry-Time"),
    flag("hdi_isfolder"),
    text("Owner"),
    text("Group"),
    text("Permissions"),
    text("Acl"),
    text("Snapshot"),
    text("VersionId"),
    flag("IsCurrentVersion"),
    text("Metadata"),
    time("LastAccessTime"),
    text("Etag"),
    text("ContentType"),
    text("ContentEncoding"),
    text("ContentLanguage"),
    text("ContentCRC64"),
    text("CacheControl"),
    text("ContentDisposition"),
    text("LeaseStatus"),
    text("LeaseState"),
    text("LeaseDuration"),
    flag("ServerEncrypted"),
    flag("Deleted"),
    text("DeletionId"),
    time("DeletedTime"),
    integer("RemainingRetentionDays"),
    time("ImmutabilityPolicyUntilDate"),
    text("ImmutabilityPolicyMode"),
    flag("LegalHold"),
    text("CopyId"),
    text("CopyStatus"),
    text("CopySource"),
    text("CopyProgress"),
    time("CopyCompletionTime"),
    text("CopyStatusDescription"),
    text("CustomerProvidedKeySha256"),
    text("RehydratePriority"),
    text("ArchiveStatus"),
    integer("XmsBlobSequenceNumber"),
    text("EncryptionScope"),
    flag("IncrementalCopy"),
    integer("TagCount"),
];

const CONTAINER_COLUMNS: &[Column] = &[
    text("Name"),
    time("Last-Modified"),
    text("Metadata"),
    text("LeaseStatus"),
    text("LeaseState"),
    text("LeaseDuration"),
    text("PublicAccess"),
    flag("HasImmutabilityPolicy"),
    flag("HasLegalHold"),
    text("Etag"),
    text("DefaultEncryptionScope"),
    flag("DenyEncryptionScopeOverride"),
    flag("ImmutableStorageWithVersioningEnabled"),
    flag("Deleted"),
    text("Version"),
    time("DeletedTime"),
    integer("RemainingRetentionDays"),
];

impl Column {
    /// A column of rows about blobs.
    pub fn of_blobs(name: &str) -> Option<Self> {
        BLOB_COLUMNS.iter().find(|column| column.name == name).copied()
    }

    pub fn of_containers(name: &str) -> Option<Self> {
        CONTAINER_COLUMNS.iter().find(|column| column.name == name).copied()
    }
}

/// What a state of a blob has in a column.
pub fn blob_value(column: Column, container: &str, blob: &Blob, now: Timestamp) -> Option<Value> {
    let text = |text: &str| Some(Value::Text(text.to_owned()));
    let optional = |text: &Option<String>| text.clone().map(Value::Text);
    let moment = |at: Ticks| Some(Value::Time(at.timestamp()));
    let pending = blob.tier.pending(now);
    let copy = blob.copy.as_ref();
    match column.name {
        "Name" => text(&format!("{container}/{}", blob.name.as_str())),
        "Creation-Time" => moment(blob.created),
        "Last-Modified" => moment(blob.modified),
        "Content-Length" => Some(Value::Integer(blob.length())),
        "Content-MD5" => blob.headers.content_md5.map(|md5| Value::Text(STANDARD.encode(md5))),
        "BlobType" => text(match blob.kind {
            BlobKind::Block => "BlockBlob",
            BlobKind::Append { .. } => "AppendBlob",
            BlobKind::Page { .. } => "PageBlob",
        }),
        "AccessTier" => text(&blob.tier.tier(now).to_string()),
        "AccessTierChangeTime" => blob.tier.changed(now).and_then(moment),
        "AccessTierInferred" => Some(Value::Flag(blob.tier.is_inferred())),
        "Tags" => json_of(blob.tags.iter()),
        "Metadata" => json_of_metadata(&blob.metadata),
        "TagCount" => (!blob.tags.is_empty()).then(|| Value::Integer(blob.tags.len() as u64)),
        "Snapshot" => match blob.state {
            BlobState::Snapshot(at) => text(&at.to_string()),
            _ => None,
        },
        "VersionId" => blob.version.and_then(|version| text(&version.to_string())),
        "IsCurrentVersion" => blob.version.map(|_| Value::Flag(blob.is_current_version())),
        "LastAccessTime" => blob.last_access.map(Value::Time),
        "Etag" => text(&blob.etag().to_string()),
        "ContentType" => optional(&blob.headers.content_type),
        "ContentEncoding" => optional(&blob.headers.content_encoding),
        "ContentLanguage" => optional(&blob.headers.content_language),
        "CacheControl" => optional(&blob.headers.cache_control),
        "ContentDisposition" => optional(&blob.headers.content_disposition),
        "LeaseStatus" | "LeaseState" | "LeaseDuration" => lease_value(column.name, &blob.lease, now),
        "ServerEncrypted" => Some(Value::Flag(true)),
        "IncrementalCopy" => Some(Value::Flag(false)),
        "Deleted" => Some(Value::Flag(blob.deleted.is_some())),
        "DeletedTime" => blob.deleted.map(|deletion| Value::Time(deletion.at)),
        "RemainingRetentionDays" => blob.deleted.map(|deletion| Value::Integer(deletion.days_left(now))),
        "ImmutabilityPolicyUntilDate" => blob.immutability.map(|policy| Value::Time(policy.until)),
        "ImmutabilityPolicyMode" => blob.immutability.and_then(|policy| {
            text(match policy.mode {
                ImmutabilityMode::Unlocked => "Unlocked",
                ImmutabilityMode::Locked => "Locked",
            })
        }),
        "LegalHold" => Some(Value::Flag(blob.legal_hold)),
        "CopyId" => copy.and_then(|copy| text(&copy.id.to_string())),
        "CopyStatus" => copy.and_then(|copy| {
            text(match copy.status {
                CopyStatus::Pending => "pending",
                CopyStatus::Success => "success",
                CopyStatus::Aborted => "aborted",
                CopyStatus::Failed => "failed",
            })
        }),
        "CopySource" => copy.and_then(|copy| text(&copy.source)),
        "CopyProgress" => copy.and_then(|copy| {
            text(&format!("{}/{}", copy.bytes_copied, copy.bytes_total.unwrap_or(copy.bytes_copied)))
        }),
        "CopyCompletionTime" => copy.and_then(|copy| copy.completed).map(Value::Time),
        "CopyStatusDescription" => copy.and_then(|copy| optional(&copy.description)),
        "RehydratePriority" => pending.and_then(|pending| {
            text(match pending.priority {
                RehydratePriority::Standard => "Standard",
                RehydratePriority::High => "High",
            })
        }),
        "ArchiveStatus" => pending.and_then(|pending| {
            text(&format!("rehydrate-pending-to-{}", pending.to.to_string().to_ascii_lowercase()))
        }),
        "XmsBlobSequenceNumber" => match blob.kind {
            BlobKind::Page { sequence } => Some(Value::Integer(sequence)),
            BlobKind::Block | BlobKind::Append { .. } => None,
        },
        // Of hierarchical namespaces, keys of customers and scopes of encryption, there are none.
        _ => None,
    }
}

/// What a container has in a column.
pub fn container_value(column: Column, container: &Container, now: Timestamp) -> Option<Value> {
    let text = |text: &str| Some(Value::Text(text.to_owned()));
    match column.name {
        "Name" => text(container.id.name.as_str()),
        "Last-Modified" => Some(Value::Time(container.modified.timestamp())),
        "Metadata" => json_of_metadata(&container.metadata),
        "LeaseStatus" | "LeaseState" | "LeaseDuration" => lease_value(column.name, &container.lease, now),
        "PublicAccess" => match container.public_access {
            PublicAccess::None => None,
            PublicAccess::Blob => text("blob"),
            PublicAccess::Container => text("container"),
        },
        "HasImmutabilityPolicy" | "HasLegalHold" => Some(Value::Flag(false)),
        "DenyEncryptionScopeOverride" | "ImmutableStorageWithVersioningEnabled" => Some(Value::Flag(false)),
        "DefaultEncryptionScope" => text("$account-encryption-key"),
        "Etag" => text(&container.etag().to_string()),
        "Deleted" => Some(Value::Flag(container.deleted.is_some())),
        "Version" => container.deleted.and_then(|deletion| text(&deletion.version.to_string())),
        "DeletedTime" => container.deleted.map(|deletion| Value::Time(deletion.at)),
        "RemainingRetentionDays" => container.deleted.map(|deletion| {
            let left = deletion.until.millis().saturating_sub(now.millis());
            Value::Integer(left / (24 * 60 * 60 * 1000))
        }),
        _ => None,
    }
}

fn lease_value(column: &str, lease: &Lease, now: Timestamp) -> Option<Value> {
    let shown = match column {
        "LeaseStatus" if lease.is_locked(now) => "locked",
        "LeaseStatus" => "unlocked",
        "LeaseState" => match lease.state(now) {
            LeaseState::Available => "available",
            LeaseState::Leased => "leased",
            LeaseState::Expired => "expired",
            LeaseState::Breaking => "breaking",
            LeaseState::Broken => "broken",
        },
        _ => match lease.duration(now)? {
            LeaseDuration::Infinite => "infinite",
            LeaseDuration::Seconds(_) => "fixed",
        },
    };
    Some(Value::Text(shown.to_owned()))
}

fn json_of_metadata(metadata: &Metadata) -> Option<Value> {
    json_of(metadata.iter())
}

/// An object of texts; nothing, if it has no members.
fn json_of<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Value> {
    let members: serde_json::Map<String, serde_json::Value> =
        pairs.map(|(name, value)| (name.to_owned(), value.into())).collect();
    (!members.is_empty()).then(|| Value::Text(serde_json::Value::Object(members).to_string()))
}
