//! Queries over several partitions: which of them the server answers without the client's merging.
//!
//! The service's gateway concatenates the rows of ranges and merges nothing. A query whose answer needs merging is
//! refused with a plan, and the SDK runs its own pipeline over the ranges (wire guide §17, §28). So do we, unless
//! the server or the request asks for direct answers.

use crate::error::Error;
use crate::query::client_ranges;
use orrery_documents::catalog::Container;
use orrery_documents::item::settings;
use orrery_keys::Epk;
use orrery_query::Prepared;
use orrery_query::plan::distributed::{DistributeOptions, HybridForm, distribute, needs_merging};
use orrery_value::Value;

/// Where the rows of several ranges are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossPartition {
    /// The client, as with the service.
    #[default]
    Service,
    /// The server: every query is answered in full.
    Direct,
}

/// The partitions that a request names, and what its client can merge.
#[derive(Clone, Debug)]
pub struct QueryTarget {
    pub mode: CrossPartition,
    /// Whether it names a partition key, a range or bounds.
    pub is_scoped: bool,
    /// Whether it allows a query over all partitions.
    pub is_enabled: bool,
    /// The plan features that the client supports.
    pub features: String,
}

impl QueryTarget {
    /// For a caller that wants the whole result.
    pub fn direct() -> Self {
        Self { mode: CrossPartition::Direct, is_scoped: false, is_enabled: true, features: String::new() }
    }

    /// Whether each range is a page of its own.
    pub fn is_by_range(&self) -> bool {
        self.mode == CrossPartition::Service && !self.is_scoped
    }

    /// Refuses a query that the service's gateway would not answer; `named` are the partitions named by its filter.
    pub(crate) fn check(
        &self,
        prepared: &Prepared,
        parameters: &[(String, Value)],
        container: &Container,
        named: Option<&[(Epk, Epk)]>,
    ) -> Result<(), Error> {
        orrery_core::tour_step!();
        let query = &prepared.ast;
        if !self.is_by_range() || query.from.is_empty() || is_pinned(named) {
            return Ok(());
        }
        self.check_enabled()?;
        if !needs_merging(query) {
            return Ok(());
        }
        let hybrid = HybridForm::for_client(&self.features);
        let options =
            DistributeOptions { hybrid, is_one_partition: false, vectors: settings(container).vectors };
        let plan = distribute(query, parameters, &options)?;
        if plan.has_member_aggregates() {
            return Err(Error::AggregateWithoutValue);
        }
        Err(Error::NeedsMerging { plan: plan.to_json(&client_ranges(named)) })
    }

    /// Refuses a query over all partitions that is not marked as one.
    pub fn check_enabled(&self) -> Result<(), Error> {
        let is_fine = !self.is_by_range() || self.is_enabled;
        if is_fine { Ok(()) } else { Err(Error::CrossPartitionDisabled) }
    }
}

/// Whether the filter restricts the query to one logical partition.
pub(crate) fn is_pinned(named: Option<&[(Epk, Epk)]>) -> bool {
    let Some([first, others @ ..]) = named else { return false };
    first.0 == first.1 && others.iter().all(|other| other == first)
}
