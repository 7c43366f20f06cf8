//! ORDER BY: the permitted sort keys, and the composite index that several keys require.
//!
//! The service sorts by document paths. The only other expressions it accepts are a single distance, and the
//! scores that it writes into the component queries of a hybrid search.

use super::bound::{Block, Expr, OrderKey, Rank, Source, SourceOf};
use super::{Binder, CompositeIndex, Settings, rank};
use crate::error::{Complaint, QueryError};
use crate::parse::{self, OrderBy, Query};

impl Binder<'_> {
    pub(super) fn order(
        &mut self,
        query: &Query,
        grouped: bool,
    ) -> Result<(Vec<OrderKey>, Option<Rank>), QueryError> {
        match &query.order_by {
            OrderBy::Keys(keys) => {
                if let Some(first) = keys.first().filter(|_| !query.group_by.is_empty()) {
                    let message = "'ORDER BY' is not supported in presence of GROUP BY.";
                    return Err(Complaint::new("SC2103", first.expr.at, message).into());
                }
                // A single row needs no order.
                let keys = if grouped { &[][..] } else { keys };
                let is_alone = keys.len() == 1;
                let keys = keys.iter().map(|key| self.order_key(key, is_alone));
                Ok((keys.collect::<Result<_, _>>()?, None))
            }
            OrderBy::Rank(_) if grouped || query.distinct => {
                let message =
                    "'ORDER BY RANK' is not supported in presence of GROUP BY, aggregates or DISTINCT.";
                Err(Complaint::new("SC2103", query.at, message).into())
            }
            OrderBy::Rank(score) => Ok((Vec::new(), Some(self.rank(score)?))),
        }
    }

    fn order_key(&mut self, key: &parse::OrderKey, is_alone: bool) -> Result<OrderKey, QueryError> {
        let expr = self.expr(&key.expr)?;
        let refused = |code, message: &str| Err(Complaint::new(code, key.expr.at, message).into());
        if !(is_path(&expr) || is_alone && is_distance_or_score(&expr)) {
            return refused(
                "SC2206",
                "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.",
            );
        }
        match rank::best_first(&expr) {
            Some(_) if key.direction.is_some() => refused(
                "SC2240",
                "Specifying a sorting order (ASC or DESC) with VectorDistance function is not supported.",
            ),
            Some(descending) => Ok(OrderKey { expr, descending }),
            None => Ok(OrderKey { expr, descending: key.descends() }),
        }
    }
}

fn is_path(expr: &Expr) -> bool {
    match expr {
        Expr::Slot(_) => true,
        Expr::Member(of, _) => is_path(of),
        Expr::Index(of, index) => is_path(of) && index.as_constant().is_some(),
        _ => false,
    }
}

fn is_distance_or_score(expr: &Expr) -> bool {
    let Expr::Call(function, _) = expr else { return false };
    let name = function.0.name;
    name.starts_with('_') || ["VectorDistance", "ST_DISTANCE"].iter().any(|it| name.eq_ignore_ascii_case(it))
}

impl Settings {
    /// Refuses an ORDER BY over several properties that no composite index serves, whatever the filter
    /// says. An index serves if it has exactly these paths in this sequence, all in these directions or
    /// all in the opposite ones.
    pub fn check_order(&self, block: &Block) -> Result<(), QueryError> {
        let Some(composites) = self.composites.as_ref().filter(|_| block.order.len() > 1) else {
            return Ok(());
        };
        let key = |key: &OrderKey| Some((document_path(&key.expr, &block.from)?, key.descending));
        let keys = block.order.iter().map(key).collect::<Option<CompositeIndex>>();
        match keys {
            Some(keys) if composites.iter().any(|index| serves(index, &keys)) => Ok(()),
            _ => Err(QueryError::Refused(
                "The order by query does not have a corresponding composite index that it can be served from."
                    .to_owned(),
            )),
        }
    }
}

fn serves(index: &CompositeIndex, keys: &CompositeIndex) -> bool {
    let is_same = |turned: bool| {
        index
            .iter()
            .zip(keys)
            .all(|((path, down), (wanted, wanted_down))| path == wanted && (*down != *wanted_down) == turned)
    };
    index.len() == keys.len() && (is_same(false) || is_same(true))
}

/// The members from the document to the property that an expression names, if it names one.
fn document_path(expr: &Expr, from: &[Source]) -> Option<Vec<String>> {
    match expr {
        Expr::Slot(slot) => match &from.iter().find(|source| source.slot == *slot)?.of {
            SourceOf::Collection => Some(Vec::new()),
            SourceOf::Value(part) => document_path(part, from),
            SourceOf::Each(_) | SourceOf::Rows(_) | SourceOf::EachOfRows(_) => None,
        },
        Expr::Member(of, name) => {
            let mut path = document_path(of, from)?;
            path.push(name.clone());
            Some(path)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Rules;
    use crate::prepare_for;

    /// With the composite indexes `(a, b)`, `(a, b DESC)` and `(a, b, part.c)`.
    fn settings() -> Settings {
        let index = |keys: &[(&str, bool)]| {
            let part = |(path, down): &(&str, bool)| (path.split('.').map(str::to_owned).collect(), *down);
            keys.iter().map(part).collect::<CompositeIndex>()
        };
        let composites = [
            index(&[("a", false), ("b", false)]),
            index(&[("x", false), ("y", true)]),
            index(&[("a", false), ("b", false), ("part.c", false)]),
        ];
        Settings { composites: Some(composites.into()), ..Settings::default() }
    }

    fn is_served(text: &str, settings: &Settings) -> bool {
        match prepare_for(text, &[], Rules::On, settings) {
            Ok(_) => true,
            Err(QueryError::Refused(why)) => {
                assert!(why.contains("does not have a corresponding composite index"), "{why}");
                false
            }
            Err(error) => panic!("{text}: {error}"),
        }
    }

    fn check(order: &str, expected: bool) {
        let text = format!("SELECT * FROM c ORDER BY {order}");
        assert_eq!(is_served(&text, &settings()), expected, "{text}");
    }

    #[test]
    fn several_keys_need_an_index_of_the_same_paths_in_one_sense() {
        check("c.a, c.b", true);
        check("c.a DESC, c.b DESC", true);
        check("c.a ASC, c.b DESC", false);
        check("c.b, c.a", false);
        check("c.x, c.y DESC", true);
        check("c.x DESC, c.y", true);
        check("c.x, c.y", false);
        check("c.a, c.b, c.part.c", true);
        check("c.a DESC, c.b DESC, c.part.c DESC", true);
    }

    #[test]
    fn a_part_of_an_index_is_not_enough() {
        check("c.b, c.part.c", false);
        check("c.x, c.y DESC, c.z", false);
        check("c.a, c.missing", false);
    }

    #[test]
    fn one_key_needs_no_composite_index() {
        check("c.a", true);
        check("c.missing DESC", true);
    }

    #[test]
    fn a_filter_relaxes_nothing() {
        assert!(!is_served("SELECT * FROM c WHERE c.z = 1 ORDER BY c.z, c.a", &settings()));
        assert!(is_served("SELECT * FROM c WHERE c.z = 1 ORDER BY c.a, c.b", &settings()));
    }

    #[test]
    fn paths_are_those_of_the_document() {
        assert!(is_served("SELECT VALUE p FROM root.part AS p ORDER BY p.c", &settings()));
        assert!(!is_served("SELECT VALUE t FROM t IN c.tags ORDER BY t.a, t.b", &settings()));
        assert!(!is_served("SELECT VALUE p FROM c.part AS p ORDER BY p.a, p.b", &settings()));
        let part = vec![(vec!["part".to_owned(), "a".to_owned()], false), (vec!["b".to_owned()], false)];
        let of_part = Settings { composites: Some(vec![part]), ..Settings::default() };
        assert!(is_served("SELECT VALUE p.a FROM c JOIN p IN c.list ORDER BY c.part.a, c.b", &of_part));
    }

    #[test]
    fn without_a_policy_any_order_goes() {
        assert!(is_served("SELECT * FROM c ORDER BY c.any, c.other", &Settings::default()));
        let none = Settings { composites: Some(Vec::new()), ..Settings::default() };
        assert!(!is_served("SELECT * FROM c ORDER BY c.any, c.other", &none));
        assert!(is_served("SELECT COUNT(1) FROM c ORDER BY c.any, c.other", &none), "one row has no order");
    }
}
