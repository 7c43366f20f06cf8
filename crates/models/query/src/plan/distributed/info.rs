//! The query plan as data, and as the JSON document that clients read.

use super::aggregate::Aggregate;
use super::feature::{Feature, needed};
pub use crate::parse::Direction;
use crate::parse::{Query, Select};
use orrery_value::{Number, Value};

/// How to run a query over several ranges, and the features a client needs for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Distributed {
    pub info: QueryInfo,
    /// The plan of a query with `ORDER BY RANK`; `info` is then empty and not serialized.
    pub hybrid: Option<HybridSearchInfo>,
    /// Without duplicates, in the order of the service's list.
    pub features: Vec<Feature>,
}

/// The steps that a client applies to the rows of all ranges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryInfo {
    pub distinct_type: DistinctType,
    pub top: Option<u64>,
    pub offset: Option<u64>,
    pub limit: Option<u64>,
    pub order_by: Vec<Direction>,
    /// The sort expressions as text, one for each of `order_by`.
    pub order_by_expressions: Vec<String>,
    pub group_by_expressions: Vec<String>,
    /// The members of a row in order, each with its aggregate if it has one.
    pub group_by_aliases: Vec<(String, Option<Aggregate>)>,
    /// The aggregate after VALUE.
    pub aggregates: Vec<Aggregate>,
    /// The query to send to every range; empty if the original text will do.
    pub rewritten_query: String,
    pub has_select_value: bool,
    /// The member that holds a count of distinct rows; empty with VALUE.
    pub distinct_count_alias: Option<String>,
    pub has_non_streaming_order_by: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DistinctType {
    #[default]
    None,
    /// Equal rows are adjacent.
    Ordered,
    Unordered,
}

/// The plan of a search ranked by one or several scores.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridSearchInfo {
    pub global_statistics_query: String,
    /// One component per score.
    pub component_query_infos: Vec<QueryInfo>,
    /// Empty if all weights are equal; never negative.
    pub component_weights: Vec<f64>,
    pub skip: Option<u64>,
    pub take: Option<u64>,
    pub requires_global_statistics: bool,
}

/// A range of effective partition keys as upper-case hexadecimal text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRange {
    pub min: String,
    pub max: String,
    pub is_min_inclusive: bool,
    pub is_max_inclusive: bool,
}

impl QueryRange {
    /// The whole key space.
    pub fn whole() -> Self {
        Self::half_open("", "FF")
    }

    pub fn half_open(min: &str, max: &str) -> Self {
        Self { min: min.to_owned(), max: max.to_owned(), is_min_inclusive: true, is_max_inclusive: false }
    }

    /// A single key.
    pub fn point(key: &str) -> Self {
        Self { is_max_inclusive: true, ..Self::half_open(key, key) }
    }

    fn to_value(&self) -> Value {
        object([
            ("min", Value::from(&*self.min)),
            ("max", Value::from(&*self.max)),
            ("isMinInclusive", Value::from(self.is_min_inclusive)),
            ("isMaxInclusive", Value::from(self.is_max_inclusive)),
        ])
    }
}

impl Distributed {
    pub(super) fn of(info: QueryInfo) -> Self {
        Self::with(needed(&info).into_iter(), info, None)
    }

    pub(super) fn of_hybrid(hybrid: HybridSearchInfo) -> Self {
        let weighted = (!hybrid.component_weights.is_empty()).then_some(Feature::WeightedRankFusion);
        Self::with([Feature::HybridSearch].into_iter().chain(weighted), QueryInfo::default(), Some(hybrid))
    }

    fn with(
        features: impl Iterator<Item = Feature>,
        info: QueryInfo,
        hybrid: Option<HybridSearchInfo>,
    ) -> Self {
        let mut features: Vec<Feature> = features.collect();
        features.sort_unstable();
        features.dedup();
        Self { info, hybrid, features }
    }

    /// Whether an aggregate is a member of a row (in a SELECT list or a group) and not the row itself.
    pub fn has_member_aggregates(&self) -> bool {
        self.info.group_by_aliases.iter().any(|(_, aggregate)| aggregate.is_some())
    }

    /// The body of a query-plan response. Ranges are sorted by key and do not overlap.
    pub fn to_value(&self, ranges: &[QueryRange]) -> Value {
        let (info, hybrid) = match &self.hybrid {
            Some(hybrid) => (Value::Null, hybrid.to_value()),
            None => (self.info.to_value(), Value::Null),
        };
        object([
            ("partitionedQueryExecutionInfoVersion", Value::from(2i64)),
            ("queryInfo", info),
            ("queryRanges", Value::Array(ranges.iter().map(QueryRange::to_value).collect())),
            ("hybridSearchQueryInfo", hybrid),
        ])
    }

    pub fn to_json(&self, ranges: &[QueryRange]) -> String {
        self.to_value(ranges).to_json()
    }
}

impl QueryInfo {
    /// The plan of a query that every range answers unchanged.
    pub(super) fn of(query: &Query) -> Self {
        Self { has_select_value: matches!(query.select, Select::Value(_)), ..Self::default() }
    }

    pub fn to_value(&self) -> Value {
        let alias = |(name, _): &(String, _)| Value::from(&**name);
        let aggregate = |aggregate: Aggregate| Value::from(aggregate.name());
        let of_alias =
            |(name, of): &(String, Option<Aggregate>)| (name.clone(), of.map_or(Value::Null, aggregate));
        let distinct_count = |alias: &String| object([("dCountAlias", Value::from(&**alias))]);
        object([
            ("distinctType", Value::from(self.distinct_type.name())),
            ("top", number(self.top)),
            ("offset", number(self.offset)),
            ("limit", number(self.limit)),
            ("orderBy", Value::Array(self.order_by.iter().map(|way| Value::from(way.name())).collect())),
            ("orderByExpressions", strings(&self.order_by_expressions)),
            ("groupByExpressions", strings(&self.group_by_expressions)),
            ("groupByAliases", Value::Array(self.group_by_aliases.iter().map(alias).collect())),
            ("aggregates", Value::Array(self.aggregates.iter().copied().map(aggregate).collect())),
            (
                "groupByAliasToAggregateType",
                Value::Object(self.group_by_aliases.iter().map(of_alias).collect()),
            ),
            ("rewrittenQuery", Value::from(&*self.rewritten_query)),
            ("hasSelectValue", Value::from(self.has_select_value)),
            ("dCountInfo", self.distinct_count_alias.as_ref().map_or(Value::Null, distinct_count)),
            ("hasNonStreamingOrderBy", Value::from(self.has_non_streaming_order_by)),
        ])
    }
}

impl HybridSearchInfo {
    pub fn to_value(&self) -> Value {
        let infos = self.component_query_infos.iter().map(QueryInfo::to_value).collect();
        object([
            ("globalStatisticsQuery", Value::from(&*self.global_statistics_query)),
            ("componentQueryInfos", Value::Array(infos)),
            ("componentWithoutPayloadQueryInfos", Value::Array(Vec::new())),
            ("projectionQueryInfo", Value::Null),
            (
                "componentWeights",
                Value::Array(self.component_weights.iter().copied().map(Value::from).collect()),
            ),
            ("skip", number(self.skip)),
            ("take", number(self.take)),
            ("requiresGlobalStatistics", Value::from(self.requires_global_statistics)),
        ])
    }
}

impl DistinctType {
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Ordered => "Ordered",
            Self::Unordered => "Unordered",
        }
    }
}

impl Direction {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascending => "Ascending",
            Self::Descending => "Descending",
        }
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn strings(texts: &[String]) -> Value {
    Value::Array(texts.iter().map(|text| Value::from(&**text)).collect())
}

fn number(count: Option<u64>) -> Value {
    let count = count.map(|count| Number::Int(i64::try_from(count).unwrap_or(i64::MAX)));
    count.map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[test]
    fn the_plan_without_steps_is_the_document_that_clients_know() {
        let plan = Distributed::pass_through(&parse("SELECT * FROM c ORDER BY c.n").unwrap());
        let expected = concat!(
            r#"{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"#,
            r#""offset":null,"limit":null,"orderBy":[],"orderByExpressions":[],"groupByExpressions":[],"#,
            r#""groupByAliases":[],"aggregates":[],"groupByAliasToAggregateType":{},"rewrittenQuery":"","#,
            r#""hasSelectValue":false,"dCountInfo":null,"hasNonStreamingOrderBy":false},"#,
            r#""queryRanges":[{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}],"#,
            r#""hybridSearchQueryInfo":null}"#
        );
        assert_eq!(plan.to_json(&[QueryRange::whole()]), expected);
        assert_eq!(plan.features, []);
    }

    #[test]
    fn a_point_is_a_range_with_both_ends() {
        let json = QueryRange::point("0A").to_value().to_json();
        assert_eq!(json, r#"{"min":"0A","max":"0A","isMinInclusive":true,"isMaxInclusive":true}"#);
    }
}
