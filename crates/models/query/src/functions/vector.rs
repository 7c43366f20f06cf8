//! Vector distances: `VectorDistance`, exact, and `_VectorScore`, which clients receive in plans.
//!
//! The meaning of the number depends on the function: a cosine is 1 for the same direction and -1 for the
//! opposite one, a dot product grows with similarity, a Euclidean distance is 0 for the same vector and grows
//! with difference. Arrays that are not vectors of the same length have no distance, and the zero vector has
//! no cosine.

use super::{Context, Function, function};
use crate::datum::Datum;

pub(super) const TABLE: &[Function] =
    &[function("VectorDistance", 2, 4, vector_distance), function("_VectorScore", 2, 4, vector_distance)];

/// The distance function, from a container's vector policy or a query's options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distance {
    #[default]
    Cosine,
    DotProduct,
    Euclidean,
}

impl Distance {
    /// Finds a function by its name in policies and options, ignoring case.
    pub fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "cosine" => Some(Self::Cosine),
            "dotproduct" => Some(Self::DotProduct),
            "euclidean" => Some(Self::Euclidean),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::DotProduct => "dotproduct",
            Self::Euclidean => "euclidean",
        }
    }

    /// Whether greater means more similar; `ORDER BY` then puts the greatest first.
    pub fn is_similarity(self) -> bool {
        self != Self::Euclidean
    }
}

/// The distance of two vectors; `None` if their lengths differ, they are empty, or the result is not finite.
pub fn distance(kind: Distance, a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.is_empty() {
        return None;
    }
    let number = match kind {
        Distance::DotProduct => dot(a, b),
        Distance::Euclidean => a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt(),
        // Rounding must not make two parallel vectors more similar than identical ones.
        Distance::Cosine => (dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())).clamp(-1.0, 1.0),
    };
    number.is_finite().then_some(number)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The numbers of an array that contains nothing else.
pub fn numbers(array: &Datum<'_>) -> Option<Vec<f64>> {
    array.elements()?.iter().map(Datum::as_f64).collect()
}

fn vector_distance<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    let result = || {
        let kind = options(args.get(2), args.get(3))?;
        distance(kind, &numbers(&args[0])?, &numbers(&args[1])?)
    };
    result().map_or(Datum::Undefined, Into::into)
}

/// The distance function of a call. The option to force a brute-force search changes nothing, since there is
/// no vector index.
fn options(brute_force: Option<&Datum<'_>>, options: Option<&Datum<'_>>) -> Option<Distance> {
    let defined = |value: Option<&Datum<'_>>| value.is_some_and(|value| !value.is_undefined());
    if defined(brute_force) && brute_force.and_then(Datum::as_bool).is_none() {
        return None;
    }
    let Some(options) = options.filter(|value| !value.is_undefined()) else {
        return Some(Distance::default());
    };
    options.members()?;
    if !is_data_type(&options.member("dataType")) {
        return None;
    }
    match options.member("distanceFunction") {
        Datum::Undefined => Some(Distance::default()),
        name => Distance::parse(name.as_str()?),
    }
}

/// All numbers are doubles, whichever of these types the vectors had.
fn is_data_type(value: &Datum<'_>) -> bool {
    const KNOWN: [&str; 4] = ["float32", "float16", "int8", "uint8"];
    value.is_undefined()
        || value.as_str().is_some_and(|name| KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_never_leaves_its_range() {
        let a = [0.5, 0.3];
        let b = a.map(|x| x * 3.0);
        assert!(distance(Distance::Cosine, &a, &b).is_some_and(|it| (1.0 - 1e-15..=1.0).contains(&it)));
        let c = a.map(|x| x * -7.0);
        assert!(distance(Distance::Cosine, &a, &c).is_some_and(|it| (-1.0..=-1.0 + 1e-15).contains(&it)));
    }

    #[test]
    fn an_infinite_distance_is_undefined() {
        let a = [1e300, 1e300];
        for kind in [Distance::Cosine, Distance::DotProduct, Distance::Euclidean] {
            assert_eq!(distance(kind, &a, &a.map(|x| -x)), None, "{kind:?}");
        }
    }
}
