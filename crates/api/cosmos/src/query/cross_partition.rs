//! Queries over several partitions: which of them the server answers itself.
//!
//! The service's gateway concatenates the rows of ranges and merges nothing. A query whose answer needs merging is
//! refused with a plan, and the SDK runs its own pipeline over the ranges (wire guide §17, §28). So do we, unless
//! the server or the request asks for direct answers.

use crate::failure::Failure;
use crate::header;
use crate::partition_key;
use crate::request::Request;
use crate::service::Cosmos;
use orrery_documents::catalog::Container;
use orrery_documents::item::settings;
use orrery_keys::Epk;
use orrery_query::Prepared;
use orrery_query::plan::distributed::{DistributeOptions, HybridForm, distribute, needs_merging};
use orrery_value::Value;

/// The value of the header [`header::CROSS_PARTITION`] that asks for a complete answer.
const DIRECT: &str = "direct";

/// Who merges the rows of several ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossPartition {
    /// The client, as with the service.
    #[default]
    Service,
    /// The server: every query is answered in full.
    Direct,
}

impl CrossPartition {
    /// The server's mode, unless the request asks for a direct answer.
    pub(crate) fn of(cosmos: &Cosmos, request: &Request) -> Self {
        let asks = |value: &str| value.eq_ignore_ascii_case(DIRECT);
        let is_asked = request.header(&header::CROSS_PARTITION).is_some_and(asks);
        if is_asked { Self::Direct } else { cosmos.cross_partition() }
    }
}

/// What a request says of the partitions that it is about.
pub(crate) struct QueryTarget {
    mode: CrossPartition,
    /// Whether it names a partition key, a range or bounds.
    is_scoped: bool,
    is_enabled: bool,
    /// What the client can do with a plan.
    features: String,
}

impl QueryTarget {
    pub(crate) fn of(cosmos: &Cosmos, request: &Request, container: &Container) -> Result<Self, Failure> {
        Ok(Self {
            mode: CrossPartition::of(cosmos, request),
            is_scoped: is_scoped(request, container)?,
            is_enabled: request.is_true(&header::ENABLE_CROSS_PARTITION),
            features: request.header(&header::SUPPORTED_QUERY_FEATURES).unwrap_or_default().to_owned(),
        })
    }

    /// Whether each range is a page of its own.
    pub(crate) fn is_by_range(&self) -> bool {
        self.mode == CrossPartition::Service && !self.is_scoped
    }

    /// Refuses a query that the service's gateway would not answer; `named` are the partitions that its filter names.
    pub(crate) fn check(
        &self,
        prepared: &Prepared,
        parameters: &[(String, Value)],
        container: &Container,
        named: Option<&[(Epk, Epk)]>,
    ) -> Result<(), Failure> {
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
            return Err(Failure::aggregate_without_value());
        }
        Err(Failure::needs_merging(plan.to_json(&super::plan::ranges(named))))
    }

    /// Refuses a query over all partitions that does not say that it is one.
    pub(crate) fn check_enabled(&self) -> Result<(), Failure> {
        let is_fine = !self.is_by_range() || self.is_enabled;
        if is_fine { Ok(()) } else { Err(Failure::cross_partition_disabled()) }
    }
}

/// An empty key names no partition, except in a container whose partition key came later than its items.
fn is_scoped(request: &Request, container: &Container) -> Result<bool, Failure> {
    if let Some(key) = request.header_or_refuse(&header::PARTITION_KEY)? {
        return partition_key::names_some(container, key);
    }
    let names = [&header::PARTITION_KEY_RANGE_ID, &header::START_EPK, &header::END_EPK];
    Ok(names.iter().any(|name| request.header(name).is_some_and(|value| !value.is_empty())))
}

/// Whether the filter leaves one logical partition.
pub(super) fn is_pinned(named: Option<&[(Epk, Epk)]>) -> bool {
    let Some([first, others @ ..]) = named else { return false };
    first.0 == first.1 && others.iter().all(|other| other == first)
}
