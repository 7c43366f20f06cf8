//! Copies: within the store without moving a byte, and from elsewhere with content that the caller brings.

use crate::error::Error;
use crate::store::BlobStore;
use crate::upload::{ExpectedHashes, Uploaded};
use orrery_blobs::blob::CopyId;
use orrery_blobs::lease::LeaseId;
use orrery_blobs::operations::{
    self, Copied, CopyOptions, CopySource, PendingCopy, Place, PutOptions, RangeRequest, Written,
};
use orrery_blobs::{Address, Conditions, Refusal, Selector};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The copies from elsewhere that go on in this process.
#[derive(Debug, Default)]
pub(crate) struct ActiveCopies(Mutex<HashSet<CopyId>>);

impl ActiveCopies {
    pub fn has(&self, id: CopyId) -> bool {
        self.ids().contains(&id)
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<CopyId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BlobStore {
    /// Copies a blob of this store, with its blocks and pages, at once. Both share their content.
    pub async fn copy_blob(
        &self,
        from: &Address,
        selector: Selector,
        to: &Address,
        options: CopyOptions,
    ) -> Result<Copied, Error> {
        let of_source = |_| Refusal::CopySource(Box::new(Refusal::ContainerNotFound));
        let (times, service) = (self.0.options.rehydration, self.service(&from.container.account)?);
        self.write(to, |txn, place, stamp| {
            let container = self.container(&from.container).map_err(of_source)?.number();
            let from = Place { container, settings: &service.settings, name: &from.name };
            operations::copy_blob(txn, CopySource { place: from, selector }, place, &options, times, stamp)
        })
        .await
    }

    /// A range of a blob of this store as if it had been uploaded, for blocks, appends and pages from an address.
    pub async fn upload_from(
        &self,
        from: &Address,
        selector: Selector,
        range: Option<RangeRequest>,
        conditions: &Conditions,
        bytes_max: u64,
    ) -> Result<Uploaded, Error> {
        let opened = self.open_blob(from, selector, range, conditions).await;
        let mut reader = opened.map_err(|error| match error {
            Error::Refused(Refusal::ConditionNotMet { .. }) => Error::Refused(Refusal::SourceConditionNotMet),
            Error::Refused(refusal) => Error::Refused(Refusal::CopySource(Box::new(refusal))),
            error => error,
        })?;
        let mut writer = self.upload(bytes_max);
        while let Some(bytes) = reader.next().await {
            writer.write(bytes?).await?;
        }
        writer.finish(ExpectedHashes::default()).await
    }

    /// Begins a copy from elsewhere: the blob is there, empty, and its copy pending. It fails when the process is stopped before it
    /// ended.
    pub async fn begin_copy(
        &self,
        address: &Address,
        source_url: String,
        options: PutOptions,
    ) -> Result<PendingCopy, Error> {
        let begun = self.write(address, |txn, place, stamp| {
            let pending = operations::begin_copy(txn, place, &source_url, &options, stamp)?;
            // Before others can see that it is pending.
            self.0.copies.ids().insert(pending.id);
            Ok(pending)
        });
        begun.await
    }

    /// How far a pending copy has come. `NoPendingCopy` if it was aborted meanwhile.
    pub async fn note_copy_progress(
        &self,
        address: &Address,
        id: CopyId,
        copied: u64,
        total: Option<u64>,
    ) -> Result<(), Error> {
        self.write(address, |txn, place, stamp| {
            operations::note_copy_progress(txn, place, id, copied, total, stamp)
        })
        .await
    }

    /// The content is there; its headers, metadata and tags are those of `options`.
    pub async fn finish_copy(
        &self,
        address: &Address,
        id: CopyId,
        uploaded: Uploaded,
        options: PutOptions,
    ) -> Result<Written, Error> {
        self.write(address, |txn, place, stamp| {
            operations::finish_copy(txn, place, id, uploaded.content(), &options, stamp)
        })
        .await
        .inspect(|_| self.end_copy(id))
    }

    fn end_copy(&self, id: CopyId) {
        self.0.copies.ids().remove(&id);
    }

    /// The source could not be read.
    pub async fn fail_copy(&self, address: &Address, id: CopyId, why: String) -> Result<(), Error> {
        self.end_copy(id);
        self.write(address, |txn, place, stamp| operations::fail_copy(txn, place, id, &why, stamp)).await
    }

    /// Abort Copy Blob: an empty blob stays.
    pub async fn abort_copy(
        &self,
        address: &Address,
        id: CopyId,
        lease: Option<LeaseId>,
    ) -> Result<(), Error> {
        let aborted =
            self.write(address, |txn, place, stamp| operations::abort_copy(txn, place, id, lease, stamp));
        aborted.await.inspect(|()| self.end_copy(id))
    }
}
