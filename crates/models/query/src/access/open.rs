//! What is left of a filter: the conditions that a document must be asked for.

use super::indexes::Path;
use super::path::{Slots, path_of};
use crate::bind::bound::{Block, Expr};
use crate::parse::BinaryOp;
use orrery_value::Value;

/// The conditions of a filter, all of which must be true.
pub(crate) fn conditions(block: &Block) -> Vec<&Expr> {
    match &block.filter {
        None => Vec::new(),
        Some(Expr::All(all)) => all.iter().collect(),
        Some(one) => vec![one],
    }
}

/// The same without those that follow from what is known of every document that is looked at. Only what needs no
/// document is known well enough: numbers stand for paths and partitions in indexes, and a document says it in words.
pub(crate) fn open_conditions<'b>(block: &'b Block, known: &[(Path, Value)]) -> Vec<&'b Expr> {
    let mut open = conditions(block);
    if !known.is_empty() {
        let slots = Slots::of(block);
        open.retain(|condition| !is_known(condition, &slots, known));
    }
    open
}

fn is_known(condition: &Expr, slots: &Slots<'_>, known: &[(Path, Value)]) -> bool {
    let Expr::Binary(BinaryOp::Equal, a, b) = condition else { return false };
    let (of, value) = match (a.as_constant(), b.as_constant()) {
        (None, Some(value)) => (a, value),
        (Some(value), None) => (b, value),
        _ => return false,
    };
    let path = path_of(of, slots);
    path.is_some_and(|path| known.iter().any(|(its, known)| *its == path && known == value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::indexes::Step;
    use crate::plan::Rules;
    use crate::prepare;

    /// How many conditions are left where all documents have `a = 1`.
    fn left(filter: &str) -> usize {
        let text = format!("SELECT VALUE c FROM c JOIN t IN c.tags WHERE {filter}");
        let block = prepare(&text, &[], Rules::On).unwrap().plan.query.block;
        open_conditions(&block, &[([Step::Member("a".to_owned())].into(), Value::from(1i64))]).len()
    }

    #[test]
    fn what_every_document_has_is_not_asked() {
        assert_eq!(left("c.a = 1"), 0);
        assert_eq!(left("1 = c.a AND c.b = 2"), 1);
        assert_eq!(left("c.b = 2 AND c['a'] = 1 AND t = 1"), 2);
    }

    #[test]
    fn all_else_is_asked() {
        for filter in [
            "c.a = 2",
            "c.b = 1",
            "c.a > 0",
            "c.a = 1 OR c.b = 2",
            "NOT (c.a = 1)",
            "c.a = c.a",
            "t = 1",
            "c.a.a = 1",
        ] {
            assert_eq!(left(filter), 1, "{filter}");
        }
    }
}
