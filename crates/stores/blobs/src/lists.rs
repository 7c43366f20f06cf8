//! Lists of blobs, and finding them by tags.

use crate::error::Error;
use crate::limits;
use crate::store::BlobStore;
use orrery_blobs::containers::Container;
use orrery_blobs::operations::{BlobPage, FindBlobs, FoundBlob, FoundPage, ListBlobs};
use orrery_blobs::tags::{self, ContainerFind, FindMarker, TagFilter, TagSet};
use orrery_blobs::{Blob, ContainerId, Refusal};
use orrery_catalog::storage::AccountName;
use std::sync::Arc;

impl BlobStore {
    pub fn list_blobs(&self, container: &ContainerId, request: &ListBlobs) -> Result<BlobPage, Error> {
        let container = self.container(container)?;
        Ok(orrery_blobs::list(&*self.snapshot(), container.number(), request)?)
    }

    /// Of all containers of an account, or of one. Container by container, by name.
    pub fn find_blobs(&self, account: &AccountName, request: &FindBlobs) -> Result<FoundPage, Error> {
        let marker = match &request.marker {
            Some(text) if !text.is_empty() => {
                Some(FindMarker::read(text).ok_or(Refusal::InvalidInput("marker"))?)
            }
            _ => None,
        };
        let containers = self.containers_to_find_in(account, request, marker.as_ref())?;
        let (snapshot, most) = (self.snapshot(), request.count_max.clamp(1, limits::LIST_ENTRIES_MAX));
        let mut page = FoundPage { blobs: Vec::new(), next: None };
        for container in containers {
            let name = &container.id.name;
            if page.blobs.len() == most {
                let marker = FindMarker { container: name.as_str().to_owned(), after: None };
                page.next = Some(marker.write());
                break;
            }
            let after = marker.as_ref().filter(|marker| marker.container == name.as_str());
            let find = ContainerFind {
                container: container.number(),
                filter: &request.filter,
                after: after.and_then(|marker| marker.after.clone()),
                count_max: most - page.blobs.len(),
            };
            let found = tags::find(&*snapshot, &find)?;
            let describe = |blob: Blob| FoundBlob {
                container: name.clone(),
                tags: named(&request.filter, &blob),
                version: blob.version,
                name: blob.name,
            };
            page.blobs.extend(found.blobs.into_iter().map(describe));
            if let Some(rest) = found.rest {
                let marker = FindMarker { container: name.as_str().to_owned(), after: Some(rest) };
                page.next = Some(marker.write());
                break;
            }
        }
        Ok(page)
    }

    fn containers_to_find_in(
        &self,
        account: &AccountName,
        request: &FindBlobs,
        marker: Option<&FindMarker>,
    ) -> Result<Vec<Arc<Container>>, Error> {
        if let Some(name) = &request.container {
            let container = self.container(&ContainerId { account: account.clone(), name: name.clone() })?;
            let is_other = request.filter.container.as_ref().is_some_and(|other| other != name);
            return Ok(if is_other { Vec::new() } else { vec![container] });
        }
        let from = marker.map_or("", |marker| marker.container.as_str());
        let mut containers = self.0.containers.of_account(account, from);
        if let Some(name) = &request.filter.container {
            containers.retain(|container| container.id.name == *name);
        }
        Ok(containers)
    }
}

/// The tags of a blob that a filter names.
fn named(filter: &TagFilter, blob: &Blob) -> TagSet {
    let is_named = |key: &str| filter.comparisons.iter().any(|comparison| comparison.key == key);
    let tags = blob.tags.iter().filter(|(key, _)| is_named(key));
    let tags = TagSet::new(tags.map(|(key, value)| (key.to_owned(), value.to_owned())));
    tags.expect("some tags of a blob are tags")
}
