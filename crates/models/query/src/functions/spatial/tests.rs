//! Facts about many shapes, checked against slower methods and against time bounds.

use super::distance;
use super::earth::{self, position};
use super::geojson;
use super::relate::{intersects, within};
use super::shape::{Location, Shape};
use super::tree::{TooComplex, VisitBudget};
use super::validity::fault;
use super::vector3::{Arc, Vector};
use crate::datum::Datum;
use proptest::prelude::*;

/// A ring around a position, with a corner in each of many directions at the given distances.
fn star(centre: (f64, f64), reaches: &[f64]) -> Vec<Vector> {
    let centre = position(centre.0, centre.1);
    let east =
        if centre.z.abs() < 0.9 { Vector::Z.cross(centre).unit() } else { Vector::X.cross(centre).unit() };
    let north = centre.cross(east);
    let corner = |(number, reach): (usize, &f64)| {
        let (sin, cos) = (number as f64 / reaches.len() as f64 * std::f64::consts::TAU).sin_cos();
        centre * reach.cos() + (east * cos + north * sin) * reach.sin()
    };
    let mut ring: Vec<Vector> = reaches.iter().enumerate().map(corner).collect();
    ring.push(ring[0]);
    ring
}

/// Whether a position is in one of the triangles between a star's centre and its edges.
fn is_in_star(centre: Vector, ring: &[Vector], place: Vector) -> bool {
    ring.windows(2).any(|edge| {
        let corners = [centre, edge[0], edge[1], centre];
        corners.windows(2).all(|side| Arc::new(side[0], side[1]).side(place) > 0.0)
    })
}

fn reversed(ring: &[Vector]) -> Vec<Vector> {
    ring.iter().rev().copied().collect()
}

fn area(ring: Vec<Vector>) -> Shape {
    Shape::area(&[vec![ring]])
}

fn places() -> impl Strategy<Value = (f64, f64)> {
    (-180.0..180.0f64, -90.0..90.0f64)
}

proptest! {
    #[test]
    fn a_place_is_inside_a_star_if_it_is_in_one_of_its_triangles(
        centre in places(),
        reaches in prop::collection::vec(0.001..1.2f64, 5..40),
        place in places(),
        share in 0.0..2.0f64,
    ) {
        let (middle, ring, visits) = (position(centre.0, centre.1), star(centre, &reaches), VisitBudget::new());
        // Anywhere on the earth, and near the ring.
        let near = Arc::new(middle, ring[reaches.len() / 2]);
        for place in [position(place.0, place.1), near.at(near.length * share)] {
            let expected = is_in_star(middle, &ring, place);
            let on_a_side = ring.iter().any(|&corner| Arc::new(middle, corner).side(place).abs() < 1e-9);
            if !on_a_side {
                let found = area(ring.clone()).place(place, &visits);
                prop_assert_eq!(found, Ok(if expected { Location::Inside } else { Location::Outside }));
                let other_way = area(reversed(&ring)).place(place, &visits);
                prop_assert_eq!(other_way, Ok(if expected { Location::Outside } else { Location::Inside }));
            }
        }
    }

    #[test]
    fn a_star_is_valid_meets_what_is_beside_it_and_holds_its_smaller_self(
        centre in places(),
        reaches in prop::collection::vec(0.01..0.5f64, 5..30),
    ) {
        let visits = VisitBudget::new();
        let outer = area(star(centre, &reaches));
        let inner = area(star(centre, &reaches.iter().map(|reach| reach * 0.5).collect::<Vec<_>>()));
        let opposite = area(star((centre.0, -centre.1), &reaches.iter().map(|_| 1e-4).collect::<Vec<_>>()));
        prop_assert_eq!(fault(&outer, &visits), Ok(None));
        prop_assert_eq!(intersects(&outer, &inner, &visits), Ok(true));
        prop_assert_eq!(within(&outer, &inner, &visits), Ok(false));
        prop_assert_eq!(within(&outer, &outer, &visits), Ok(true));
        if centre.1.abs() > 45.0 {
            prop_assert_eq!(intersects(&outer, &opposite, &visits), Ok(false));
        }
    }

    #[test]
    fn any_coordinates_give_an_answer(
        numbers in prop::collection::vec((-200.0..200.0f64, -100.0..100.0f64), 0..12),
        small in prop::collection::vec((-2..3i32, -2..3i32), 0..12),
    ) {
        let visits = VisitBudget::new();
        let small: Vec<(f64, f64)> = small.into_iter().map(|(x, y)| (f64::from(x), f64::from(y))).collect();
        for mut list in [numbers, small] {
            let line = coordinates(&list);
            list.extend(list.first().copied());
            let ring = coordinates(&list);
            for text in [
                format!(r#"{{"type": "LineString", "coordinates": {line}}}"#),
                format!(r#"{{"type": "Polygon", "coordinates": [{ring}]}}"#),
                format!(r#"{{"type": "MultiPolygon", "coordinates": [[{ring}], [{line}]]}}"#),
            ] {
                if let Ok(shape) = geojson::read(&Datum::read(&text), &visits) {
                    prop_assert_eq!(intersects(&shape, &shape, &visits), Ok(true));
                    prop_assert_eq!(within(&shape, &shape, &visits), Ok(true));
                }
            }
        }
    }
}

fn coordinates(positions: &[(f64, f64)]) -> String {
    let position = |(longitude, latitude): &(f64, f64)| format!("[{longitude}, {latitude}]");
    format!("[{}]", positions.iter().map(position).collect::<Vec<_>>().join(", "))
}

#[test]
fn the_distance_to_a_line_is_that_of_its_nearest_point() {
    let (point, from, to) = (position(5.0, 48.0), position(-60.0, 5.0), position(70.0, 30.0));
    let found = distance::metres(&Shape::point(point), &Shape::line(&[from, to]), &VisitBudget::new());
    let line = Arc::new(from, to);
    let places = (0..=100_000).map(|i| line.at(line.length * f64::from(i) / 100_000.0));
    let least = places.map(|place| earth::metres(point, place)).fold(f64::INFINITY, f64::min);
    assert!(found.is_ok_and(|found| found <= least && found > least - 0.01), "{found:?} {least}");
}

#[test]
fn a_centimetre_edge_still_has_a_plane() {
    let edge = Arc::new(position(12.3, 45.6), position(12.300_000_1, 45.600_000_1));
    assert!(edge.length > 1e-9 && edge.length < 1e-8, "{}", edge.length);
    assert!(edge.normal.dot(edge.start).abs() < 1e-15, "{}", edge.normal.dot(edge.start));
}

#[test]
fn a_coast_of_many_thousand_points_is_checked_and_searched() {
    let reaches: Vec<f64> = (0..10_000).map(|i| 0.2 + 0.01 * f64::from(i * 7919 % 1000) / 1000.0).collect();
    let coast = area(star((12.0, 48.0), &reaches));
    let visits = VisitBudget::new();
    assert_eq!(fault(&coast, &visits), Ok(None));
    assert_eq!(coast.place(position(12.0, 48.0), &visits), Ok(Location::Inside));
    assert_eq!(coast.place(position(12.0, 70.0), &visits), Ok(Location::Outside));
}

#[test]
fn many_islands_are_checked_together() {
    let island =
        |i: u32| vec![star((f64::from(i % 60) * 3.0 - 90.0, f64::from(i / 60) * 2.0 - 50.0), &[0.01; 6])];
    let islands: Vec<_> = (0..3000).map(island).collect();
    assert_eq!(fault(&Shape::area(&islands), &VisitBudget::new()), Ok(None));
}

/// Slanted teeth side by side, each as long as the comb: every box overlaps every other.
fn comb(teeth: u32) -> Vec<Vector> {
    let tooth = |i: u32| {
        let shift = f64::from(i) * 20.0 / f64::from(teeth);
        [position(shift, 0.0), position(shift + 40.0, 40.0)]
    };
    let mut ring: Vec<Vector> = (0..teeth).flat_map(tooth).collect();
    ring.extend([position(70.0, -20.0), ring[0]]);
    ring
}

#[test]
fn shapes_made_to_overlap_everywhere_are_refused() {
    assert_eq!(fault(&area(comb(200)), &VisitBudget::new()), Ok(None));
    assert_eq!(fault(&area(comb(20_000)), &VisitBudget::new()), Err(TooComplex));
}
