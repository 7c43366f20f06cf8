//! `ORDER BY VectorDistance(…)`: best first, and what is best depends on the distance that is measured.

use super::info::Direction;
use super::tree::is_call;
use crate::functions::vector::Distance;
use crate::parse::{Expr, ExprKind};
use orrery_value::Value;

/// The direction that puts the best first: a distance grows with difference, the others with likeness.
pub(super) fn best_first(distance: Distance) -> Direction {
    if distance.is_similarity() { Direction::Descending } else { Direction::Ascending }
}

pub(super) fn is_distance(expr: &Expr) -> bool {
    is_call(expr, "VectorDistance").is_some()
}

/// The distance that a call of `VectorDistance` measures: the one in its options, else the one of the path's
/// policy. Nothing if the expression is no such call.
pub(super) fn distance(
    expr: &Expr,
    parameters: &[(String, Value)],
    policy: &[(Vec<String>, Distance)],
) -> Option<Distance> {
    let args = is_call(expr, "VectorDistance")?;
    let of_policy = || {
        let paths = args.iter().take(2).filter_map(path);
        paths
            .filter_map(|path| policy.iter().find(|(known, _)| *known == path))
            .map(|(_, distance)| *distance)
            .next()
    };
    let asked = args.get(3).and_then(|options| option(options, parameters));
    Some(asked.or_else(of_policy).unwrap_or_default())
}

fn option(options: &Expr, parameters: &[(String, Value)]) -> Option<Distance> {
    const NAME: &str = "distanceFunction";
    let value = |name: &str| parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let text = |value: &Value| if let Value::String(text) = value { Some(text.clone()) } else { None };
    let name = match &options.kind {
        ExprKind::Parameter(name) => text(value(name)?.member(NAME)),
        ExprKind::Object(members) => match &members.iter().find(|(name, _)| name == NAME)?.1.kind {
            ExprKind::String(name) => Some(name.clone()),
            ExprKind::Parameter(name) => text(value(name)?),
            _ => None,
        },
        _ => None,
    };
    Distance::parse(&name?)
}

/// The members from the document down, without the document's name.
fn path(expr: &Expr) -> Option<Vec<String>> {
    match &expr.kind {
        ExprKind::Name(_) => Some(Vec::new()),
        ExprKind::Member(of, member) => {
            let mut path = path(of)?;
            path.push(member.clone());
            Some(path)
        }
        _ => None,
    }
}
