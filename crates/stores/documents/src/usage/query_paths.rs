//! The paths of a query: those whose index it could use, or would need.
//!
//! These are the paths of its filter, its order, its groups and its aggregates, and of the filters of its subqueries; a
//! path that is only selected needs no index. Vector and full-text functions use indexes of their own, not that of the
//! path. Whether the planner used an index does not matter: over few items it uses none.

use orrery_query::access::{Path, SlotPaths, path_of, subexpressions};
use orrery_query::bind::bound::{Block, Expr, SourceOf};

/// The distinct paths, in order.
pub(crate) fn paths_of(block: &Block) -> Vec<Path> {
    let mut paths = Vec::new();
    let slots = SlotPaths::of(block);
    of_block(block, &slots, &mut paths);
    paths.sort();
    paths.dedup();
    paths
}

/// How the paths of an expression are used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paths {
    Asked,
    /// Only its subqueries use any.
    Shown,
}

fn of_block(block: &Block, slots: &SlotPaths<'_>, paths: &mut Vec<Path>) {
    for source in &block.from {
        match &source.of {
            SourceOf::Collection => {}
            SourceOf::Value(expr) | SourceOf::Each(expr) => of_expr(expr, Paths::Shown, slots, paths),
            SourceOf::Rows(inner) | SourceOf::EachOfRows(inner) => of_inner(inner, slots, paths),
        }
    }
    let grouping = block.grouping.iter();
    let grouping = grouping.flat_map(|grouping| {
        let keys = grouping.keys.iter().map(|(_, key)| key);
        keys.chain(grouping.aggregates.iter().map(|aggregate| &aggregate.arg))
    });
    let order = block.order.iter().map(|key| &key.expr);
    for expr in block.filter.iter().chain(grouping).chain(order) {
        of_expr(expr, Paths::Asked, slots, paths);
    }
    of_expr(&block.select, Paths::Shown, slots, paths);
}

fn of_inner(block: &Block, slots: &SlotPaths<'_>, paths: &mut Vec<Path>) {
    let slots = slots.inside(block);
    of_block(block, &slots, paths);
}

fn of_expr(expr: &Expr, use_of: Paths, slots: &SlotPaths<'_>, paths: &mut Vec<Path>) {
    match expr {
        Expr::Subquery(block) | Expr::Exists(block) | Expr::ArrayOf(block) => of_inner(block, slots, paths),
        Expr::Call(function, _) if has_own_index(function.0.name) => {}
        other => match path_of(other, slots) {
            Some(path) if use_of == Paths::Asked => paths.push(path),
            Some(_) => {}
            None => subexpressions(other).into_iter().for_each(|child| of_expr(child, use_of, slots, paths)),
        },
    }
}

/// Whether a function uses a vector index or a full-text index.
fn has_own_index(function: &str) -> bool {
    let name = function.trim_start_matches('_').to_ascii_uppercase();
    name.starts_with("FULLTEXT") || name.starts_with("VECTOR")
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_query::access::PathDisplay;
    use orrery_query::plan::Rules;
    use orrery_query::prepare;

    fn check(text: &str, expected: &str) {
        let block = prepare(text, &[], Rules::On).unwrap().plan.query.block;
        let shown: Vec<String> = paths_of(&block).iter().map(|path| PathDisplay(path).to_string()).collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn filters_orders_groups_and_aggregates_ask() {
        check("SELECT c.a FROM c WHERE c.b = 1 AND NOT c.d.e ORDER BY c.f", "/b /d/e /f");
        check("SELECT c.a, MAX(c.b) FROM c GROUP BY c.a", "/a /b");
        check("SELECT * FROM c WHERE CONTAINS(c.a, 'x') OR c.b IN (1, c.d) OR c.e LIKE 'x%'", "/a /b /d /e");
        check("SELECT * FROM c", "");
        check("SELECT VALUE 1 FROM c WHERE c.b = 1 AND c.b > 0", "/b");
    }

    #[test]
    fn elements_are_asked_for_by_their_aliases() {
        check("SELECT c.id FROM c JOIN t IN c.tags WHERE t.k = 1", "/tags/[]/k");
        check("SELECT c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.k = 1)", "/tags/[]/k");
        check("SELECT VALUE c.tags[0].k FROM c WHERE c.tags[0].k = 1", "/tags");
        check("SELECT c.id FROM c WHERE ARRAY_CONTAINS(c.tags, {'k': 1}, true)", "/tags");
    }

    #[test]
    fn what_is_selected_does_not_ask_but_a_subquery_in_it_does() {
        check(
            "SELECT c.a, ARRAY(SELECT VALUE t FROM t IN c.tags WHERE t.k = c.b) AS x FROM c",
            "/b /tags/[]/k",
        );
        check("SELECT VALUE x.a FROM (SELECT VALUE c FROM c WHERE c.b = 1) AS x", "/b");
    }

    #[test]
    fn vectors_and_texts_have_indexes_of_their_own() {
        check("SELECT TOP 5 c.id FROM c ORDER BY VectorDistance(c.v, [1, 2])", "");
        check("SELECT c.id FROM c WHERE FullTextContains(c.text, 'x') AND c.a = 1", "/a");
    }
}
