//! Lists of containers, blobs, blocks and pages as XML (wire guide §7, §8.3, §8.5, §9.2).

use crate::properties as words;
use crate::reply::date;
use crate::tags;
use bytes::Bytes;
use orrery_api_storage::metadata;
use orrery_api_storage::xml::Writer;
use orrery_blob_store::model::blob::{Blob, BlobKind, BlobState};
use orrery_blob_store::model::containers::{Container, ContainerPage};
use orrery_blob_store::model::operations::{BlobPage, Block, BlockLists, FoundPage, ListEntry, PageList};
use orrery_core::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// What was asked of a list, as the answer repeats it.
#[derive(Clone, Debug, Default)]
pub struct ListHead {
    /// The account's URL, with a slash at its end.
    pub endpoint: String,
    pub container: Option<String>,
    pub prefix: Option<String>,
    pub marker: Option<String>,
    pub results_max: Option<usize>,
    pub delimiter: Option<String>,
    /// The words of `include`.
    pub include: Vec<String>,
    pub now: Timestamp,
}

impl ListHead {
    pub fn includes(&self, word: &str) -> bool {
        self.include.iter().any(|included| included.eq_ignore_ascii_case(word))
    }

    fn write(&self, list: &mut Writer) {
        list.text("Prefix", self.prefix.as_deref().unwrap_or_default());
        list.text("Marker", self.marker.as_deref().unwrap_or_default());
        if let Some(max) = self.results_max {
            list.text("MaxResults", &max.to_string());
        }
        if let Some(delimiter) = &self.delimiter {
            list.text("Delimiter", delimiter);
        }
    }

    fn attributes(&self) -> Vec<(&str, &str)> {
        let container = self.container.as_deref().map(|name| ("ContainerName", name));
        [("ServiceEndpoint", self.endpoint.as_str())].into_iter().chain(container).collect()
    }
}

pub fn containers(head: &ListHead, page: &ContainerPage) -> Bytes {
    list(head, page.next.as_deref(), |results| {
        head.write(results);
        results.element("Containers", |containers| {
            for container in &page.containers {
                containers.element("Container", |inside| write_container(inside, head, container));
            }
        });
    })
}

fn list(head: &ListHead, next: Option<&str>, inside: impl FnOnce(&mut Writer)) -> Bytes {
    let mut writer = Writer::new();
    writer.element_with("EnumerationResults", &head.attributes(), |results| {
        inside(results);
        results.text("NextMarker", next.unwrap_or_default());
    });
    writer.finish()
}

fn write_container(writer: &mut Writer, head: &ListHead, container: &Container) {
    writer.text("Name", container.id.name.as_str());
    if let Some(deletion) = container.deleted {
        writer.text("Deleted", "true");
        writer.text("Version", &deletion.version.to_string());
    }
    writer.element("Properties", |inside| {
        inside.text("Last-Modified", &date(container.modified));
        inside.text("Etag", &container.etag().quoted());
        inside.text("LeaseStatus", words::lease_status(&container.lease, head.now));
        inside.text("LeaseState", words::lease_state(container.lease.state(head.now)));
        if let Some(duration) = container.lease.duration(head.now) {
            inside.text("LeaseDuration", words::lease_duration(duration));
        }
        if let Some(access) = words::public_access(container.public_access) {
            inside.text("PublicAccess", access);
        }
        inside.text("HasImmutabilityPolicy", "false");
        inside.text("HasLegalHold", "false");
        inside.text("DefaultEncryptionScope", "$account-encryption-key");
        inside.text("DenyEncryptionScopeOverride", "false");
        if let Some(deletion) = container.deleted {
            inside.text("DeletedTime", &deletion.at.to_http());
            let left = deletion.until.millis().saturating_sub(head.now.millis());
            inside.text("RemainingRetentionDays", &(left / MILLIS_PER_DAY).to_string());
        }
    });
    if head.includes("metadata") {
        metadata::write_xml(writer, container.metadata.iter());
    }
}

const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1000;

/// `Blobs` is there even where it is empty: clients take it apart.
pub fn blobs(head: &ListHead, page: &BlobPage) -> Bytes {
    list(head, page.next.as_deref(), |results| {
        head.write(results);
        results.element("Blobs", |blobs| {
            for entry in &page.entries {
                write_entry(blobs, head, entry);
            }
        });
    })
}

fn write_entry(writer: &mut Writer, head: &ListHead, entry: &ListEntry) {
    match entry {
        ListEntry::Prefix(prefix) => writer.element("BlobPrefix", |inside| write_name(inside, prefix)),
        ListEntry::Blob(blob) => writer.element("Blob", |inside| write_blob(inside, head, blob, false)),
        ListEntry::VersionsOnly(blob) => {
            writer.element("Blob", |inside| write_blob(inside, head, blob, true))
        }
        ListEntry::Uncommitted { name, created } => writer.element("Blob", |inside| {
            write_name(inside, name.as_str());
            inside.element("Properties", |properties| {
                properties.text("Creation-Time", &date(*created));
                properties.text("Last-Modified", &date(*created));
                properties.empty("Etag");
                properties.text("Content-Length", "0");
                properties.text("Content-Type", words::DEFAULT_CONTENT_TYPE);
                properties.text("BlobType", "BlockBlob");
            });
        }),
    }
}

/// A name with characters that XML does not have is percent-encoded, and says so.
fn write_name(writer: &mut Writer, name: &str) {
    let is_text = |character: char| !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if name.chars().all(is_text) {
        return writer.text("Name", name);
    }
    let encoded = utf8_percent_encode(name, NON_ALPHANUMERIC).to_string();
    writer.text_with("Name", &[("Encoded", "true")], &encoded);
}

fn write_blob(writer: &mut Writer, head: &ListHead, blob: &Blob, has_versions_only: bool) {
    write_name(writer, blob.name.as_str());
    if blob.deleted.is_some() {
        writer.text("Deleted", "true");
    }
    if let BlobState::Snapshot(snapshot) = blob.state {
        writer.text("Snapshot", &snapshot.to_string());
    }
    if let Some(version) = blob.version.filter(|_| !matches!(blob.state, BlobState::Snapshot(_))) {
        writer.text("VersionId", &version.to_string());
    }
    if blob.is_current_version() {
        writer.text("IsCurrentVersion", "true");
    }
    writer.element("Properties", |inside| write_properties(inside, head, blob));
    if head.includes("metadata") {
        metadata::write_xml(writer, blob.metadata.iter());
    }
    if head.includes("tags") && !blob.tags.is_empty() {
        tags::write(writer, &blob.tags);
    }
    if has_versions_only {
        writer.text("HasVersionsOnly", "true");
    }
    writer.empty("OrMetadata");
}

fn write_properties(writer: &mut Writer, head: &ListHead, blob: &Blob) {
    writer.text("Creation-Time", &date(blob.created));
    writer.text("Last-Modified", &date(blob.modified));
    writer.text("Etag", &blob.etag().to_string());
    writer.text("Content-Length", &blob.length().to_string());
    let headers = &blob.headers;
    writer.text("Content-Type", headers.content_type.as_deref().unwrap_or(words::DEFAULT_CONTENT_TYPE));
    writer.text("Content-Encoding", headers.content_encoding.as_deref().unwrap_or_default());
    writer.text("Content-Language", headers.content_language.as_deref().unwrap_or_default());
    writer.empty("Content-CRC64");
    writer.text("Content-MD5", &headers.content_md5.map(words::md5_text).unwrap_or_default());
    writer.text("Cache-Control", headers.cache_control.as_deref().unwrap_or_default());
    writer.text("Content-Disposition", headers.content_disposition.as_deref().unwrap_or_default());
    if let BlobKind::Page { sequence } = blob.kind {
        writer.text("x-ms-blob-sequence-number", &sequence.to_string());
    }
    writer.text("BlobType", words::kind(blob.kind));
    write_tier(writer, head, blob);
    writer.text("LeaseStatus", words::lease_status(&blob.lease, head.now));
    writer.text("LeaseState", words::lease_state(blob.lease.state(head.now)));
    if let Some(duration) = blob.lease.duration(head.now) {
        writer.text("LeaseDuration", words::lease_duration(duration));
    }
    writer.text("ServerEncrypted", "true");
    if head.includes("copy") {
        write_copy(writer, blob);
    }
    if let BlobKind::Append { is_sealed: true, .. } = blob.kind {
        writer.text("Sealed", "true");
    }
    if let Some(deletion) = blob.deleted {
        writer.text("DeletedTime", &deletion.at.to_http());
        writer.text("RemainingRetentionDays", &deletion.days_left(head.now).to_string());
    }
    if !blob.tags.is_empty() {
        writer.text("TagCount", &blob.tags.len().to_string());
    }
    if let Some(at) = blob.last_access {
        writer.text("LastAccessTime", &at.to_http());
    }
    if let Some(policy) = blob.immutability.filter(|_| head.includes("immutabilitypolicy")) {
        writer.text("ImmutabilityPolicyUntilDate", &policy.until.to_http());
        writer.text("ImmutabilityPolicyMode", words::immutability_mode(policy.mode));
    }
    if blob.legal_hold && head.includes("legalhold") {
        writer.text("LegalHold", "true");
    }
}

fn write_tier(writer: &mut Writer, head: &ListHead, blob: &Blob) {
    let Some(tier) = words::tier(blob, head.now) else { return };
    writer.text("AccessTier", &tier.to_string());
    if blob.tier.is_inferred() {
        writer.text("AccessTierInferred", "true");
    }
    if let Some(changed) = blob.tier.changed(head.now) {
        writer.text("AccessTierChangeTime", &date(changed));
    }
    if let Some(pending) = blob.tier.pending(head.now) {
        writer.text("ArchiveStatus", &words::archive_status(pending.to));
        writer.text("RehydratePriority", words::priority(pending.priority));
    }
}

fn write_copy(writer: &mut Writer, blob: &Blob) {
    let Some(copy) = &blob.copy else { return };
    writer.text("CopyId", &copy.id.to_string());
    writer.text("CopySource", &copy.source);
    writer.text("CopyStatus", words::copy_status(copy.status));
    writer.text("CopyProgress", &words::copy_progress(copy));
    if let Some(at) = copy.completed {
        writer.text("CopyCompletionTime", &at.to_http());
    }
    if let Some(why) = &copy.description {
        writer.text("CopyStatusDescription", why);
    }
}

pub fn found(head: &ListHead, filter: &str, page: &FoundPage) -> Bytes {
    list(head, page.next.as_deref(), |results| {
        results.text("Where", filter);
        results.element("Blobs", |blobs| {
            for found in &page.blobs {
                blobs.element("Blob", |inside| {
                    write_name(inside, found.name.as_str());
                    inside.text("ContainerName", found.container.as_str());
                    tags::write(inside, &found.tags);
                    if let Some(version) = found.version {
                        inside.text("VersionId", &version.to_string());
                    }
                });
            }
        });
    })
}

/// Which of the lists are asked for.
pub fn blocks(lists: &BlockLists, committed: bool, uncommitted: bool) -> Bytes {
    let mut writer = Writer::new();
    let write = |root: &mut Writer, name: &str, blocks: &[Block]| {
        root.element(name, |list| {
            for block in blocks {
                list.element("Block", |inside| {
                    inside.text("Name", &block.id.to_string());
                    inside.text("Size", &block.length.to_string());
                });
            }
        });
    };
    writer.element("BlockList", |root| {
        if committed {
            write(root, "CommittedBlocks", &lists.committed);
        }
        if uncommitted {
            write(root, "UncommittedBlocks", &lists.uncommitted);
        }
    });
    writer.finish()
}

/// The last byte of a range is in it.
pub fn pages(list: &PageList) -> Bytes {
    let mut writer = Writer::new();
    writer.element("PageList", |root| {
        for page in &list.ranges {
            let name = if page.is_cleared { "ClearRange" } else { "PageRange" };
            root.element(name, |inside| {
                inside.text("Start", &page.range.start.to_string());
                inside.text("End", &(page.range.end - 1).to_string());
            });
        }
        if let Some(next) = &list.next {
            root.text("NextMarker", next);
        }
    });
    writer.finish()
}
