//! A plan as text, from output to input: `Project c.id ─ Filter c.n > 1 ─ Scan c`.

use super::Plan;
use crate::bind::bound::{Block, Expr, Score, SourceOf};
use crate::lex::is_name;
use orrery_value::Value;
use std::fmt;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Printer { names: &self.query.names }.block(&self.query.block))
    }
}

struct Printer<'a> {
    names: &'a [String],
}

impl Printer<'_> {
    fn block(&self, block: &Block) -> String {
        let mut nodes = Vec::new();
        match (block.offset, block.limit) {
            (0, None) => {}
            (0, Some(limit)) => nodes.push(format!("Limit {limit}")),
            (offset, limit) => {
                let limit = limit.map_or_else(String::new, |limit| format!(" limit {limit}"));
                nodes.push(format!("Offset {offset}{limit}"));
            }
        }
        if block.distinct {
            nodes.push("Distinct".to_owned());
        }
        nodes.push(format!("Project {}", self.expr(&block.select)));
        nodes.extend(self.order(block));
        nodes.extend(self.grouping(block));
        nodes.extend(block.filter.as_ref().map(|filter| format!("Filter {}", self.expr(filter))));
        nodes.extend(block.from.iter().rev().map(|source| {
            let name = if source.name.is_empty() { &self.names[source.slot] } else { &source.name };
            match &source.of {
                SourceOf::Collection => format!("Scan {name}"),
                SourceOf::Value(expr) => format!("Bind {name} = {}", self.expr(expr)),
                SourceOf::Each(expr) => format!("Each {name} IN {}", self.expr(expr)),
                SourceOf::Rows(block) => format!("Rows {name} = ({})", self.block(block)),
                SourceOf::EachOfRows(block) => format!("Each {name} IN ({})", self.block(block)),
            }
        }));
        nodes.join(" ─ ")
    }

    fn order(&self, block: &Block) -> Option<String> {
        if let Some(rank) = &block.rank {
            let scores = rank.scores.iter().map(|score| match score {
                Score::FullText { text, terms } => format!("BM25({}, {terms:?})", self.expr(text)),
                Score::Own { expr, .. } => self.expr(expr),
            });
            return Some(format!("Rank {}", scores.collect::<Vec<_>>().join(", ")));
        }
        let keys = block.order.iter().map(|key| {
            let direction = if key.descending { " DESC" } else { "" };
            format!("{}{direction}", self.expr(&key.expr))
        });
        let keys: Vec<String> = keys.collect();
        (!keys.is_empty()).then(|| format!("Sort {}", keys.join(", ")))
    }

    fn grouping(&self, block: &Block) -> Option<String> {
        let grouping = block.grouping.as_ref()?;
        let keys: Vec<String> =
            grouping.keys.iter().map(|(slot, key)| format!("${slot} = {}", self.expr(key))).collect();
        let aggregates = grouping.aggregates.iter().map(|aggregate| {
            format!("${} = {}({})", aggregate.slot, aggregate.function.name(), self.expr(&aggregate.arg))
        });
        let aggregates = aggregates.collect::<Vec<_>>().join(", ");
        Some(match (keys.is_empty(), aggregates.is_empty()) {
            (true, _) => format!("Aggregate {aggregates}"),
            (false, true) => format!("Group by {}", keys.join(", ")),
            (false, false) => format!("Group by {} into {aggregates}", keys.join(", ")),
        })
    }

    fn list(&self, list: &[Expr]) -> String {
        list.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }

    /// An operand, in parentheses unless it is atomic.
    fn part(&self, expr: &Expr) -> String {
        let text = self.expr(expr);
        match expr {
            Expr::Binary(..)
            | Expr::All(_)
            | Expr::Any(_)
            | Expr::Conditional(..)
            | Expr::In { .. }
            | Expr::InSet { .. }
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::Unary(..) => format!("({text})"),
            _ => text,
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        let not = |negated: &bool| if *negated { "NOT " } else { "" };
        match expr {
            Expr::Constant(Value::Undefined) => "undefined".to_owned(),
            Expr::Constant(value) => value.to_json(),
            Expr::Slot(slot) => self.slot(*slot),
            Expr::Member(of, name) if is_name(name) => format!("{}.{name}", self.part(of)),
            Expr::Member(of, name) => format!("{}[{name:?}]", self.part(of)),
            Expr::Index(of, index) => format!("{}[{}]", self.part(of), self.expr(index)),
            Expr::Unary(op, of) => format!("{op}{}", self.part(of)),
            Expr::Binary(op, a, b) => format!("{} {op} {}", self.part(a), self.part(b)),
            Expr::All(terms) => terms.iter().map(|term| self.part(term)).collect::<Vec<_>>().join(" AND "),
            Expr::Any(terms) => terms.iter().map(|term| self.part(term)).collect::<Vec<_>>().join(" OR "),
            Expr::Conditional(a, b, c) => format!("{} ? {} : {}", self.part(a), self.part(b), self.part(c)),
            Expr::In { value, list, negated } => {
                format!("{} {}IN ({})", self.part(value), not(negated), self.list(list))
            }
            Expr::InSet { value, set, negated } => {
                let set: Vec<String> = set.iter().map(Value::to_json).collect();
                format!("{} {}IN {{{}}}", self.part(value), not(negated), set.join(", "))
            }
            Expr::Between { value, low, high, negated } => {
                format!(
                    "{} {}BETWEEN {} AND {}",
                    self.part(value),
                    not(negated),
                    self.part(low),
                    self.part(high)
                )
            }
            Expr::Like { value, pattern, escape, negated } => {
                let escape = escape
                    .as_ref()
                    .map_or_else(String::new, |escape| format!(" ESCAPE {}", self.part(escape)));
                format!("{} {}LIKE {}{escape}", self.part(value), not(negated), self.part(pattern))
            }
            Expr::Array(items) => format!("[{}]", self.list(items)),
            Expr::Object(members) => {
                let members = members.iter().map(|(name, value)| format!("{name:?}: {}", self.expr(value)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
            Expr::Call(function, args) => format!("{}({})", function.0.name, self.list(args)),
            Expr::Udf(name, args) => format!("udf.{name}({})", self.list(args)),
            Expr::Subquery(block) => format!("({})", self.block(block)),
            Expr::Exists(block) => format!("EXISTS({})", self.block(block)),
            Expr::ArrayOf(block) => format!("ARRAY({})", self.block(block)),
        }
    }

    /// Keys and aggregates are shown by number, aliases by name.
    fn slot(&self, slot: usize) -> String {
        match self.names[slot].as_str() {
            name if name.is_empty() || name.starts_with('#') => format!("${slot}"),
            name => name.to_owned(),
        }
    }
}
