//! Whatever meets is found, on every part of the earth; and not much else.

use super::*;
use orrery_query::Datum;
use orrery_query::functions::{self, Context};
use proptest::prelude::*;

const ALL_TYPES: [SpatialType; 4] =
    [SpatialType::Point, SpatialType::LineString, SpatialType::Polygon, SpatialType::MultiPolygon];

fn found(cells: &[u64], lookups: &[RangeInclusive<u64>]) -> bool {
    cells.iter().any(|cell| lookups.iter().any(|stretch| stretch.contains(cell)))
}

fn rectangle(west: f64, south: f64, east: f64, north: f64) -> Rectangle {
    Rectangle { west, south, east, north }
}

fn geojson(kind: &str, coordinates: &str) -> Value {
    Value::parse(&format!(r#"{{"type":"{kind}","coordinates":{coordinates}}}"#)).unwrap()
}

/// Longitude and latitude.
type Place = (f64, f64);

/// Somewhere, and sometimes just where the map has its edges.
fn places() -> impl Strategy<Value = Place> {
    let edge = prop::sample::select(vec![-1e-7, -1e-10, 0.0, 1e-10, 1e-7]);
    let longitude = prop_oneof![
        4 => -180.0..180.0f64,
        1 => edge.clone().prop_map(|near: f64| 180.0 - near.abs()),
        1 => edge.clone().prop_map(|near: f64| near.abs() - 180.0),
        1 => edge.clone(),
    ];
    let latitude = prop_oneof![
        4 => -90.0..90.0f64,
        1 => edge.clone().prop_map(|near: f64| 90.0 - near.abs()),
        1 => edge.clone().prop_map(|near: f64| near.abs() - 90.0),
        1 => edge,
    ];
    (longitude, latitude)
}

/// A ring around a place with corners in many directions, so far away in radians.
fn star(centre: Place, reaches: &[f64]) -> Vec<Place> {
    let (sin_y, cos_y) = centre.1.to_radians().sin_cos();
    let corner = |(number, scope): (usize, &f64)| {
        let (sin, cos) = (number as f64 / reaches.len() as f64 * std::f64::consts::TAU).sin_cos();
        let y = (sin_y * scope.cos() + cos_y * scope.sin() * sin).clamp(-1.0, 1.0).asin();
        let x = (cos * scope.sin()).atan2(cos_y * scope.cos() - sin_y * scope.sin() * sin).to_degrees();
        let x = centre.0 + x;
        let x = if x > 180.0 {
            x - 360.0
        } else if x < -180.0 {
            x + 360.0
        } else {
            x
        };
        (x, y.to_degrees())
    };
    let mut ring: Vec<Place> = reaches.iter().enumerate().map(corner).collect();
    ring.push(ring[0]);
    ring
}

fn listed(places: &[Place]) -> String {
    let all: Vec<String> = places.iter().map(|(x, y)| format!("[{x},{y}]")).collect();
    format!("[{}]", all.join(","))
}

fn stars() -> impl Strategy<Value = Vec<Place>> {
    let scope = prop_oneof![0.0001..0.01f64, 0.01..0.3f64, 0.3..1.2f64];
    let ring = (places(), scope.prop_flat_map(|most| prop::collection::vec(most / 4.0..most, 3..12)));
    (ring, prop::bool::weighted(0.1)).prop_map(|((centre, reaches), runs_right)| {
        let mut ring = star(centre, &reaches);
        if runs_right {
            ring.reverse();
        }
        ring
    })
}

fn shapes() -> impl Strategy<Value = Value> {
    let line = prop_oneof![
        prop::collection::vec(places(), 2..4),
        stars().prop_map(|mut ring| {
            ring.pop();
            ring
        }),
    ];
    prop_oneof![
        places().prop_map(|(x, y)| geojson("Point", &format!("[{x},{y}]"))),
        line.prop_map(|line| geojson("LineString", &listed(&line))),
        stars().prop_map(|ring| geojson("Polygon", &format!("[{}]", listed(&ring)))),
        (stars(), stars())
            .prop_map(|(a, b)| geojson("MultiPolygon", &format!("[[{}],[{}]]", listed(&a), listed(&b)))),
    ]
}

fn meet(a: &Value, b: &Value) -> bool {
    let function = functions::find("ST_INTERSECTS").unwrap();
    (function.eval)(&[Datum::of(a), Datum::of(b)], &Context::frozen()).is_true()
}

/// The rectangle that a question about a shape has.
fn asked(shape: &Value, is_flat: bool) -> Option<Rectangle> {
    let extent = Extent::of(&shape::read(shape)?.1, is_flat)?;
    let parts = extent.parts();
    let (first, last) = (parts.first()?, parts.last()?);
    Some(rectangle(first.west, extent.south, last.east, extent.north))
}

fn check_found(a: &Value, b: &Value, bounds: Option<&BoundingBox>) {
    let cells = cover(a, &ALL_TYPES, bounds);
    let lookups = lookups(&asked(b, bounds.is_some()).unwrap(), bounds);
    assert!(found(&cells, &lookups), "{} and {} meet", a.to_json(), b.to_json());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn shapes_that_meet_find_each_other(a in shapes(), b in shapes()) {
        if meet(&a, &b) {
            check_found(&a, &b, None);
            check_found(&b, &a, None);
        }
    }

    #[test]
    fn the_corners_and_edges_of_a_shape_are_found_where_they_are(shape in shapes(), at in 0usize..12) {
        let Some((_, read)) = shape::read(&shape) else { return Ok(()) };
        let all: Vec<_> = read.positions().collect();
        let corner = all[at % all.len()];
        let place = geojson("Point", &format!("[{},{}]", corner.x, corner.y));
        if meet(&shape, &place) {
            check_found(&shape, &place, None);
            check_found(&place, &shape, None);
        }
    }

    #[test]
    fn a_plane_finds_what_the_functions_say_meets(
        a in shapes(),
        b in shapes(),
        (x, y) in places(),
        (width, height) in (1e-3..500.0f64, 1e-3..500.0f64),
    ) {
        let bounds = BoundingBox { xmin: x, ymin: y, xmax: x + width, ymax: y + height };
        if meet(&a, &b) {
            check_found(&a, &b, Some(&bounds));
        }
    }

    #[test]
    fn rectangles_that_overlap_find_each_other(
        (x, y) in places(),
        sizes in prop::array::uniform4(prop_oneof![Just(0.0), 1e-9..1e-3f64, 1e-3..400.0f64]),
        (share_x, share_y) in (0.0..=1.0f64, 0.0..=1.0f64),
    ) {
        let [width, height, other_width, other_height] = sizes;
        let extent = Extent { west: x, east: x + width, south: y, north: (y + height).min(90.0) };
        // The other one begins at some place of the first, or holds it.
        let (west, south) = (x + width * share_x, extent.south + (extent.north - extent.south) * share_y);
        let turned = |x: f64| x - ((x + 180.0) / 360.0).floor() * 360.0;
        let asked = if other_width < 360.0 {
            rectangle(turned(west), south, turned(west + other_width), (south + other_height).min(90.0))
        } else {
            rectangle(-180.0, south, 180.0, (south + other_height).min(90.0))
        };
        let (cells, stretches) = (cells_of(&extent, None), lookups(&asked, None));
        prop_assert!(found(&cells, &stretches), "{extent:?} {asked:?}");
        prop_assert!(!cells.is_empty() && cells.len() <= SPATIAL_CELLS_MAX, "{cells:?}");
        prop_assert!(stretches.len() <= SPATIAL_LOOKUPS_MAX, "{}", stretches.len());
        prop_assert!(stretches.windows(2).all(|pair| pair[0].end() < pair[1].start()), "ascending and apart");
    }

    #[test]
    fn no_value_and_no_rectangle_breaks_it(
        numbers in prop::collection::vec(any::<f64>(), 8),
        sides in prop::array::uniform4(any::<f64>()),
    ) {
        let pairs: Vec<Value> = numbers.chunks(2).map(|pair| Value::Array(vec![pair[0].into(), pair[1].into()])).collect();
        let member = |name: &str, value| (name.to_owned(), value);
        let line = Value::Object(vec![member("type", "LineString".into()), member("coordinates", pairs.into())]);
        let [west, south, east, north] = sides;
        for bounds in [None, Some(&BoundingBox { xmin: -1e308, ymin: 0.0, xmax: 1e308, ymax: 1.0 })] {
            prop_assert!(cover(&line, &ALL_TYPES, bounds).len() <= SPATIAL_CELLS_MAX);
            prop_assert!(lookups(&rectangle(west, south, east, north), bounds).len() <= SPATIAL_LOOKUPS_MAX);
        }
    }
}

/// Ten thousand points, as noise has them.
fn points() -> Vec<(Place, Vec<u64>)> {
    let mut noise = 1u64;
    let mut share = || {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 11) as f64 / (1u64 << 53) as f64
    };
    let places = (0..10_000).map(|_| (share() * 360.0 - 180.0, share() * 180.0 - 90.0));
    places.map(|(x, y)| ((x, y), cover(&geojson("Point", &format!("[{x},{y}]")), &ALL_TYPES, None))).collect()
}

#[test]
fn a_small_rectangle_finds_few_of_many_points() {
    let points = points();
    assert!(points.iter().all(|(_, cells)| cells.len() == 1));
    for (west, south, size) in [
        (8.0, 47.0, 0.1),
        (-0.05, -0.05, 0.1),
        (-122.5, 37.5, 1.0),
        (-10.0, -10.0, 20.0),
        (33.0, 11.0, 20.0),
        (-50.0, 20.0, 40.0),
    ] {
        let asked = rectangle(west, south, west + size, south + size);
        let stretches = lookups(&asked, None);
        let is_inside = |(x, y): Place| {
            (asked.west..=asked.east).contains(&x) && (asked.south..=asked.north).contains(&y)
        };
        let inside = points.iter().filter(|(place, _)| is_inside(*place)).count();
        let found = points.iter().filter(|(_, cells)| found(cells, &stretches)).count();
        assert!(found >= inside && found <= 2 * inside + 3, "{asked:?}: {found} found, {inside} inside");
    }
}

#[test]
fn the_stored_cells_are_these() {
    let check = |kind: &str, coordinates: &str, bounds: Option<&BoundingBox>, expected: &[u64]| {
        let cells = cover(&geojson(kind, coordinates), &ALL_TYPES, bounds);
        assert_eq!(cells, expected, "{kind} {coordinates}: {cells:x?}");
    };
    let plane = BoundingBox { xmin: -1000.0, ymin: 0.0, xmax: 1000.0, ymax: 10.0 };
    check("Point", "[8.5417,47.3769]", None, &[0x1c03_c520_cfad_4121]);
    check("Point", "[8.5417,4.3769]", Some(&plane), &[0x0d40_2036_afc3_5bb9]);
    check("LineString", "[[8.5,47.3],[9.5,47.9]]", None, &[0x1c03_d000_0000_0000, 0x1c06_9000_0000_0000]);
    let both_sides = [
        0x0555_1000_0000_0000,
        0x0555_5000_0000_0000,
        0x0fff_b000_0000_0000,
        0x0fff_f000_0000_0000,
        0x1000_1000_0000_0000,
        0x1000_5000_0000_0000,
        0x1aaa_b000_0000_0000,
        0x1aaa_f000_0000_0000,
    ];
    check("Polygon", "[[[179,-1],[-179,-1],[-179,1],[179,1],[179,-1]]]", None, &both_sides);
}

#[test]
fn the_180th_meridian_is_no_edge() {
    let across = rectangle(179.5, -1.0, -179.5, 1.0);
    let check = |x: f64, expected: bool| {
        let cells = cover(&geojson("Point", &format!("[{x},0.5]")), &ALL_TYPES, None);
        assert_eq!(found(&cells, &lookups(&across, None)), expected, "{x}");
    };
    check(180.0, true);
    check(-180.0, true);
    check(179.6, true);
    check(-179.6, true);
    check(0.0, false);
    check(170.0, false);
    check(-170.0, false);
}

#[test]
fn a_type_that_the_index_was_not_told_of_is_found_by_every_question() {
    let line = geojson("LineString", "[[1,1],[2,2]]");
    let cells = cover(&line, &[SpatialType::Point], None);
    assert_eq!(cells, [ROOT]);
    assert!(found(&cells, &lookups(&rectangle(-60.0, -60.0, -59.9, -59.9), None)));
    assert!(!found(&cover(&line, &ALL_TYPES, None), &lookups(&rectangle(-60.0, -60.0, -59.9, -59.9), None)));
}

#[test]
fn what_is_no_shape_or_nowhere_has_no_cells() {
    for value in [
        Value::Undefined,
        Value::from("Point"),
        geojson("Point", "[200,0]"),
        geojson("Point", "[0,91]"),
        geojson("Polygon", "[[[0,0],[1,0],[1,1],[0,1]]]"),
        geojson("MultiPolygon", "[]"),
    ] {
        assert_eq!(cover(&value, &ALL_TYPES, None), [0u64; 0], "{}", value.to_json());
    }
    assert!(lookups(&rectangle(0.0, 5.0, 1.0, 4.0), None).is_empty());
}

#[test]
fn a_plane_is_divided_within_its_bounds_and_keeps_what_lies_outside() {
    let bounds = BoundingBox { xmin: 0.0, ymin: 0.0, xmax: 1000.0, ymax: 1000.0 };
    let check = |place: &str, asked: Rectangle, expected: bool| {
        let cells = cover(&geojson("Point", place), &ALL_TYPES, Some(&bounds));
        assert_eq!(found(&cells, &lookups(&asked, Some(&bounds))), expected, "{place} {asked:?}");
    };
    check("[50,50]", rectangle(40.0, 40.0, 60.0, 60.0), true);
    check("[50,50]", rectangle(80.0, 40.0, 90.0, 60.0), false);
    check("[5000,50]", rectangle(4000.0, 40.0, 6000.0, 60.0), true);
    check("[-7,-7]", rectangle(-8.0, -8.0, -6.0, -6.0), true);
    // A question on the globe that passes its edge.
    check("[179,5]", rectangle(178.0, 0.0, -178.0, 10.0), true);
}
