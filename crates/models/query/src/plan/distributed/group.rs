//! Aggregates and GROUP BY: each range gives its part of every group, and the client adds the parts up.
//!
//! Without GROUP BY there is one group, and no `groupByItems`. Rows of ranges are only parts, so DISTINCT,
//! TOP and OFFSET LIMIT are for the client alone; and as one row needs no order, ORDER BY is dropped.

use super::aggregate::{Aggregated, Member, list};
use super::info::{DistinctType, Distributed, QueryInfo};
use super::tree::{array, expr, item, object, select};
use super::{Planner, refused};
use crate::error::QueryError;
use crate::parse::{Expr, ExprKind, Query, Select, print, print_expr};

impl Planner<'_> {
    pub(super) fn grouped(&self, aggregated: Option<Aggregated>) -> Result<Distributed, QueryError> {
        let mut info = QueryInfo::of(self.query);
        self.bounds()?.tell(&mut info);
        if self.query.distinct && !self.query.group_by.is_empty() {
            info.distinct_type = DistinctType::Unordered;
        }
        let payload = self.part_payload(aggregated, &mut info)?;
        info.group_by_expressions = self.query.group_by.iter().map(print_expr).collect();
        info.rewritten_query = print(&Query {
            filter: self.query.filter.clone(),
            group_by: self.query.group_by.clone(),
            ..select(self.part_select(payload, &info), self.query.from.clone())
        });
        Ok(Distributed::of(info))
    }

    /// What a range says of a group beside its keys.
    fn part_payload(&self, aggregated: Option<Aggregated>, info: &mut QueryInfo) -> Result<Expr, QueryError> {
        match (aggregated, &self.query.select) {
            (Some(Aggregated::Value(aggregate, part)), _) => {
                info.aggregates = vec![aggregate];
                Ok(part)
            }
            (Some(Aggregated::Members(members)), _) => Ok(members_payload(members, info)),
            (None, Select::List(items)) => Ok(members_payload(list(items)?, info)),
            (None, Select::Value(value)) => Ok(value.clone()),
            (None, Select::All) => Err(refused("'SELECT *' is not supported in presence of GROUP BY.")),
        }
    }

    fn part_select(&self, payload: Expr, info: &QueryInfo) -> Select {
        let keys = self.query.group_by.iter().map(|key| object(vec![("item", key.clone())])).collect();
        match &self.query.group_by[..] {
            [] if info.has_select_value => Select::Value(payload),
            [] => Select::List(vec![item(payload, "payload")]),
            _ => Select::List(vec![item(array(keys), "groupByItems"), item(payload, "payload")]),
        }
    }
}

fn members_payload(members: Vec<Member>, info: &mut QueryInfo) -> Expr {
    let aliases = members.iter().map(|member| (member.name.clone(), member.aggregate));
    info.group_by_aliases = aliases.collect();
    expr(ExprKind::Object(members.into_iter().map(|member| (member.name, member.expr)).collect()))
}
