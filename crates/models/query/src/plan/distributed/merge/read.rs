//! Parses the JSON document of the query-plan endpoint.

use super::super::aggregate::Aggregate;
use super::super::info::{Direction, DistinctType, Distributed, HybridSearchInfo, QueryInfo, QueryRange};
use super::{elements, number};
use crate::error::QueryError;
use orrery_value::Value;

impl Distributed {
    /// Parses the document. An unknown name is an error, not skipped.
    pub fn read(document: &Value) -> Result<(Self, Vec<QueryRange>), QueryError> {
        Self::read_checked(document).map_err(|member| {
            QueryError::Refused(format!(
                "The query plan is not understood: its member '{member}' is unknown."
            ))
        })
    }

    fn read_checked(document: &Value) -> Result<(Self, Vec<QueryRange>), &'static str> {
        let hybrid = match document.member("hybridSearchQueryInfo") {
            Value::Undefined | Value::Null => None,
            hybrid => Some(HybridSearchInfo::read(hybrid)?),
        };
        let info = match document.member("queryInfo") {
            Value::Undefined | Value::Null if hybrid.is_some() => QueryInfo::default(),
            info @ Value::Object(_) => QueryInfo::read(info)?,
            _ => return Err("queryInfo"),
        };
        let ranges = elements(document.member("queryRanges")).iter().map(QueryRange::read);
        let ranges = ranges.collect::<Option<_>>().ok_or("queryRanges")?;
        Ok((Self { info, hybrid, features: Vec::new() }, ranges))
    }
}

impl QueryRange {
    fn read(value: &Value) -> Option<Self> {
        let flag = |name: &str| matches!(value.member(name), Value::Bool(true));
        Some(Self {
            min: text(value.member("min"))?,
            max: text(value.member("max"))?,
            is_min_inclusive: flag("isMinInclusive"),
            is_max_inclusive: flag("isMaxInclusive"),
        })
    }

    /// Whether it contains a key of the half-open range `[min, max)`.
    pub fn overlaps(&self, min: &str, max: &str) -> bool {
        let ends_after = if self.is_max_inclusive { *self.max >= *min } else { *self.max > *min };
        *self.min < *max && ends_after
    }
}

impl QueryInfo {
    fn read(value: &Value) -> Result<Self, &'static str> {
        let distinct_type = match value.member("distinctType") {
            Value::Undefined | Value::Null => DistinctType::None,
            Value::String(name) => match name.as_str() {
                "None" => DistinctType::None,
                "Ordered" => DistinctType::Ordered,
                "Unordered" => DistinctType::Unordered,
                _ => return Err("distinctType"),
            },
            _ => return Err("distinctType"),
        };
        let order_by = elements(value.member("orderBy")).iter().map(direction).collect::<Option<_>>();
        let aggregates = elements(value.member("aggregates")).iter().map(aggregate).collect::<Option<_>>();
        Ok(Self {
            distinct_type,
            top: count(value.member("top")),
            offset: count(value.member("offset")),
            limit: count(value.member("limit")),
            order_by: order_by.ok_or("orderBy")?,
            order_by_expressions: texts(value.member("orderByExpressions")),
            group_by_expressions: texts(value.member("groupByExpressions")),
            group_by_aliases: aliases(value).ok_or("groupByAliasToAggregateType")?,
            aggregates: aggregates.ok_or("aggregates")?,
            rewritten_query: text(value.member("rewrittenQuery")).unwrap_or_default(),
            has_select_value: matches!(value.member("hasSelectValue"), Value::Bool(true)),
            distinct_count_alias: match value.member("dCountInfo") {
                Value::Undefined | Value::Null => None,
                info => Some(text(info.member("dCountAlias")).unwrap_or_default()),
            },
            has_non_streaming_order_by: matches!(value.member("hasNonStreamingOrderBy"), Value::Bool(true)),
        })
    }
}

impl HybridSearchInfo {
    fn read(value: &Value) -> Result<Self, &'static str> {
        let components = elements(value.member("componentQueryInfos")).iter().map(QueryInfo::read);
        let weights = elements(value.member("componentWeights")).iter().map(number).collect::<Option<_>>();
        if !matches!(value.member("projectionQueryInfo"), Value::Undefined | Value::Null) {
            return Err("projectionQueryInfo");
        }
        Ok(Self {
            global_statistics_query: text(value.member("globalStatisticsQuery")).unwrap_or_default(),
            component_query_infos: components.collect::<Result<_, _>>()?,
            component_weights: weights.ok_or("componentWeights")?,
            skip: count(value.member("skip")),
            take: count(value.member("take")),
            requires_global_statistics: matches!(value.member("requiresGlobalStatistics"), Value::Bool(true)),
        })
    }
}

/// The members of a row in order, each with its aggregate if it has one.
fn aliases(info: &Value) -> Option<Vec<(String, Option<Aggregate>)>> {
    let types = info.member("groupByAliasToAggregateType");
    let named = texts(info.member("groupByAliases"));
    let names = match (types, named.is_empty()) {
        // Without GROUP BY the aggregates are listed only here.
        (Value::Object(members), true) => members.iter().map(|(name, _)| name.clone()).collect(),
        _ => named,
    };
    let alias = |name: String| {
        let aggregate = match types.member(&name) {
            Value::Undefined | Value::Null => None,
            of => Some(aggregate(of)?),
        };
        Some((name, aggregate))
    };
    names.into_iter().map(alias).collect()
}

fn direction(value: &Value) -> Option<Direction> {
    match text(value)?.as_str() {
        "Ascending" => Some(Direction::Ascending),
        "Descending" => Some(Direction::Descending),
        _ => None,
    }
}

fn aggregate(value: &Value) -> Option<Aggregate> {
    Aggregate::named(&text(value)?)
}

fn text(value: &Value) -> Option<String> {
    if let Value::String(text) = value { Some(text.clone()) } else { None }
}

fn texts(value: &Value) -> Vec<String> {
    elements(value).iter().filter_map(text).collect()
}

fn count(value: &Value) -> Option<u64> {
    let Value::Number(number) = value else { return None };
    number.as_i64().and_then(|count| u64::try_from(count).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_overlaps_what_has_one_of_its_keys() {
        let whole = QueryRange::whole();
        assert!(whole.overlaps("", "FF") && whole.overlaps("1F", "2F"));
        let point = QueryRange::point("1F");
        assert!(point.overlaps("1F", "2F") && point.overlaps("", "FF"));
        assert!(!point.overlaps("", "1F") && !point.overlaps("2F", "FF"));
        let half = QueryRange::half_open("1F", "2F");
        assert!(half.overlaps("", "FF") && !half.overlaps("2F", "FF") && !half.overlaps("", "1F"));
    }

    #[test]
    fn unknown_names_are_refused() {
        for document in [
            "{}",
            r#"{"queryInfo":null,"queryRanges":[]}"#,
            r#"{"queryInfo":{"distinctType":"Sometimes"}}"#,
            r#"{"queryInfo":{"orderBy":["Sideways"]}}"#,
            r#"{"queryInfo":{"aggregates":["Median"]}}"#,
            r#"{"queryInfo":{"groupByAliases":["a"],"groupByAliasToAggregateType":{"a":"Median"}}}"#,
            r#"{"queryInfo":{},"queryRanges":[{"min":1}]}"#,
            r#"{"hybridSearchQueryInfo":{"projectionQueryInfo":{}}}"#,
        ] {
            assert!(Distributed::read(&Value::read(document)).is_err(), "{document}");
        }
        assert!(Distributed::read(&Value::read(r#"{"queryInfo":{}}"#)).is_ok());
    }
}
