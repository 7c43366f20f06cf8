//! Query features: those a client needs to execute a plan, and the service's message to a client that lacks
//! one.

use super::aggregate::Aggregate;
use super::info::{DistinctType, QueryInfo};

/// In the order of the service's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    Aggregate,
    CompositeAggregate,
    Distinct,
    GroupBy,
    MultipleAggregates,
    MultipleOrderBy,
    OffsetAndLimit,
    OrderBy,
    Top,
    NonValueAggregate,
    DCount,
    NonStreamingOrderBy,
    ListAndSetAggregate,
    CountIf,
    HybridSearch,
    WeightedRankFusion,
    /// Never required: it selects another form of hybrid plan.
    HybridSearchSkipOrderByRewrite,
}

impl Feature {
    /// The name that clients send.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aggregate => "Aggregate",
            Self::CompositeAggregate => "CompositeAggregate",
            Self::Distinct => "Distinct",
            Self::GroupBy => "GroupBy",
            Self::MultipleAggregates => "MultipleAggregates",
            Self::MultipleOrderBy => "MultipleOrderBy",
            Self::OffsetAndLimit => "OffsetAndLimit",
            Self::OrderBy => "OrderBy",
            Self::Top => "Top",
            Self::NonValueAggregate => "NonValueAggregate",
            Self::DCount => "DCount",
            Self::NonStreamingOrderBy => "NonStreamingOrderBy",
            Self::ListAndSetAggregate => "ListAndSetAggregate",
            Self::CountIf => "CountIf",
            Self::HybridSearch => "HybridSearch",
            Self::WeightedRankFusion => "WeightedRankFusion",
            Self::HybridSearchSkipOrderByRewrite => "HybridSearchSkipOrderByRewrite",
        }
    }
}

/// The service's message when `x-ms-cosmos-supported-query-features` lacks a required feature.
pub fn unsupported(features: &[Feature], client_header: &str) -> Option<String> {
    let known = |feature: &Feature| client_header.split(',').any(|name| name.trim() == feature.name());
    let missing: Vec<&Feature> = features.iter().filter(|feature| !known(feature)).collect();
    if missing.is_empty() {
        return None;
    }
    let mut message =
        "Query contains 1 or more unsupported features. Upgrade your SDK to a version that does \
                       support the requested features:"
            .to_owned();
    for feature in missing {
        message +=
            &format!("\nQuery contained {}, which the calling client does not support.", feature.name());
    }
    Some(message)
}

/// The features that a client needs to execute this plan.
pub(super) fn needed(info: &QueryInfo) -> Vec<Feature> {
    let mut features = of_aggregates(info);
    let mut need = |feature, needed| {
        if needed {
            features.push(feature);
        }
    };
    need(Feature::Distinct, info.distinct_type != DistinctType::None);
    need(Feature::DCount, info.distinct_count_alias.is_some());
    need(Feature::GroupBy, !info.group_by_expressions.is_empty());
    need(Feature::OffsetAndLimit, info.offset.is_some() || info.limit.is_some());
    need(Feature::OrderBy, info.order_by.len() == 1);
    need(Feature::MultipleOrderBy, info.order_by.len() > 1);
    need(Feature::NonStreamingOrderBy, info.has_non_streaming_order_by);
    need(Feature::Top, info.top.is_some());
    features
}

fn of_aggregates(info: &QueryInfo) -> Vec<Feature> {
    let in_members: Vec<Aggregate> =
        info.group_by_aliases.iter().filter_map(|(_, aggregate)| *aggregate).collect();
    let mut features = Vec::new();
    if !info.aggregates.is_empty() {
        features.push(Feature::Aggregate);
    }
    if !in_members.is_empty() {
        features.push(Feature::NonValueAggregate);
    }
    if in_members.len() > 1 {
        features.push(Feature::MultipleAggregates);
    }
    for aggregate in info.aggregates.iter().chain(&in_members) {
        match aggregate {
            Aggregate::CountIf => features.push(Feature::CountIf),
            Aggregate::MakeList | Aggregate::MakeSet => features.push(Feature::ListAndSetAggregate),
            Aggregate::Average | Aggregate::Count | Aggregate::Max | Aggregate::Min | Aggregate::Sum => {}
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::distributed::HybridForm;

    const PYTHON: &str = "Aggregate,CompositeAggregate,Distinct,MultipleOrderBy,OffsetAndLimit,OrderBy,Top,\
                          NonStreamingOrderBy,HybridSearch,CountIf,WeightedRankFusion";

    #[test]
    fn a_client_with_all_features_is_not_refused() {
        assert_eq!(unsupported(&[], ""), None);
        assert_eq!(unsupported(&[Feature::OrderBy, Feature::Top], PYTHON), None);
        assert_eq!(unsupported(&[Feature::OrderBy], "Distinct, OrderBy , Top"), None);
    }

    #[test]
    fn every_missing_feature_has_its_line() {
        let message =
            unsupported(&[Feature::Aggregate, Feature::GroupBy, Feature::NonValueAggregate], PYTHON);
        let expected = "Query contains 1 or more unsupported features. Upgrade your SDK to a version that does \
                        support the requested features:\n\
                        Query contained GroupBy, which the calling client does not support.\n\
                        Query contained NonValueAggregate, which the calling client does not support.";
        assert_eq!(message.as_deref(), Some(expected));
        // Only complete names match.
        assert!(unsupported(&[Feature::OrderBy], "MultipleOrderBy").is_some());
    }

    #[test]
    fn the_form_of_hybrid_plans_is_the_clients_choice() {
        assert_eq!(HybridForm::for_client(PYTHON), HybridForm::Ordered);
        assert_eq!(HybridForm::for_client("HybridSearch,HybridSearchSkipOrderByRewrite"), HybridForm::Scored);
    }
}
