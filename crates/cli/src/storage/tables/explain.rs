//! `--explain`: what a query reads of a table, and what is left out of it afterwards.
//!
//! The plan is made here, by the planner that servers of this version use: it depends on the filter alone.

use orrery_tables::plan::{Access, QueryPlan};
use orrery_tables::{Filter, KeyBounds};
use serde_json::{Value, json};

pub struct Explained {
    access: Access,
    reads: Vec<String>,
    /// The condition that is evaluated for each entity that is read.
    residual: Option<String>,
}

impl Explained {
    pub fn of(filter: Option<&str>) -> Result<Self, String> {
        let filter = filter.filter(|text| !text.trim().is_empty()).map(Filter::parse).transpose();
        let filter = filter.map_err(|error| format!("the filter is not understood: {error}"))?;
        let plan = QueryPlan::new(filter.as_ref(), &KeyBounds::default());
        let reads = plan.ranges().iter().map(ToString::to_string).collect();
        Ok(Self { access: plan.access(), reads, residual: plan.residual() })
    }

    pub fn to_json(&self) -> Value {
        json!({ "access": self.access.name(), "reads": self.reads, "filter": self.residual, "advice": self.advice() })
    }

    pub fn draw(&self) -> String {
        let mut text = format!("access  {}: {}\n", self.access.name(), meaning(self.access));
        for range in &self.reads {
            text += &format!("reads   {range}\n");
        }
        text += &match &self.residual {
            Some(residual) => format!("filter  {residual}   (evaluated for each entity that is read)\n"),
            None => "filter  nothing is left to evaluate: every entity that is read is wanted\n".to_owned(),
        };
        text += &self.advice().map(|advice| format!("advice  {advice}\n")).unwrap_or_default();
        text
    }

    fn advice(&self) -> Option<&'static str> {
        match (self.access, &self.residual) {
            (Access::FullScan, Some(_)) => Some(
                "the whole table is read for the sake of some entities; a condition on PartitionKey, joined by and, \
                 reads that partition alone",
            ),
            (Access::PartitionRange, Some(_)) => {
                Some("several partitions are read for the sake of some entities; PartitionKey eq reads one")
            }
            _ => None,
        }
    }
}

fn meaning(access: Access) -> &'static str {
    match access {
        Access::Nothing => "no entity can pass the filter, and none is read",
        Access::Point => "single entities, by their keys",
        Access::RowRange => "some rows of a partition",
        Access::Partition => "all rows of a partition",
        Access::PartitionRange => "several partitions",
        Access::FullScan => "the whole table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(filter: Option<&str>, expected: &Value) {
        let mut explained = Explained::of(filter).expect("a filter").to_json();
        explained.as_object_mut().expect("an object").remove("advice");
        assert_eq!(explained, *expected, "{filter:?}");
    }

    #[test]
    fn a_plan_says_what_is_read_and_what_is_filtered_afterwards() {
        check(None, &json!({ "access": "full scan", "reads": ["table"], "filter": null }));
        check(Some(" "), &json!({ "access": "full scan", "reads": ["table"], "filter": null }));
        check(
            Some("PartitionKey eq 'p' and RowKey eq 'r'"),
            &json!({ "access": "point", "reads": ["point 'p' 'r'"], "filter": null }),
        );
        check(
            Some("PartitionKey eq 'p' and RowKey ge 'a' and n gt 1"),
            &json!({ "access": "row range", "reads": ["rows 'p' ['a', end)"], "filter": "n gt 1" }),
        );
        check(Some("n gt 1"), &json!({ "access": "full scan", "reads": ["table"], "filter": "n gt 1" }));
        check(Some("PartitionKey eq 1"), &json!({ "access": "nothing", "reads": [], "filter": null }));
    }

    #[test]
    fn a_scan_comes_with_advice() {
        let advice = |filter: &str| Explained::of(Some(filter)).expect("a filter").advice();
        assert!(advice("n gt 1").is_some_and(|text| text.contains("PartitionKey")));
        assert!(advice("PartitionKey gt 'a' and n gt 1").is_some_and(|text| text.contains("several")));
        assert_eq!(advice("PartitionKey eq 'a' and n gt 1"), None);
        let drawn = Explained::of(Some("n gt 1")).expect("a filter").draw();
        assert!(
            drawn.starts_with("access  full scan: the whole table\nreads   table\nfilter  n gt 1"),
            "{drawn}"
        );
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let refused = Explained::of(Some("n gt")).err().expect("it is no filter");
        assert!(
            refused.contains("the filter is not understood") && refused.contains("position"),
            "{refused}"
        );
    }
}
