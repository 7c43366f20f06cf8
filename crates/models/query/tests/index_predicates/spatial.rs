//! Random shapes, near the poles and the 180th meridian more often than elsewhere, and filters about them.

use crate::random::Random;
use orrery_value::Value;

const REACHES: [f64; 8] = [0.0, 1.0, 1e3, 1e5, 1e6, 5e6, 1.2e7, 2.1e7];
const METRES_PER_DEGREE: f64 = 111_000.0;

pub fn query(random: &mut Random) -> String {
    let metres = random.pick(&REACHES);
    let filter = match random.below(8) {
        0 => "ST_WITHIN(c.p, @shape)".to_owned(),
        1 => "ST_WITHIN(@shape, c.p)".to_owned(),
        2 => "ST_INTERSECTS(c.p, @shape)".to_owned(),
        3 => "ST_INTERSECTS(@shape, c.p)".to_owned(),
        4 => format!("ST_DISTANCE(c.p, @shape) < {metres}"),
        5 => format!("{metres} >= ST_DISTANCE(@shape, c.p)"),
        6 => format!("NOT (ST_DISTANCE(c.p, @shape) > {metres})"),
        _ => format!("ST_DISTANCE(c.p, @shape) BETWEEN 0 AND {metres}"),
    };
    format!("SELECT VALUE c.id FROM c WHERE {filter}")
}

pub fn shape(random: &mut Random) -> Value {
    let (longitude, latitude) = (
        random.pick(&[-180.0, -179.0, -90.0, 0.0, 13.4, 170.0, 180.0]),
        random.pick(&[-90.0, -89.0, -60.0, -1.0, 0.0, 45.0, 80.0, 89.99, 90.0]),
    );
    let size = random.pick(&[0.001, 1.0, 20.0, 80.0]);
    around(longitude, latitude, size, random)
}

/// A document whose shape is near a place of the other, or anywhere.
pub fn document(shape: &Value, random: &mut Random) -> Value {
    let mut places = Vec::new();
    collect_places(shape.member("coordinates"), &mut places);
    let (longitude, latitude) = random.pick(&places);
    let size = random.pick(&REACHES) / METRES_PER_DEGREE;
    let (longitude, latitude) = near(longitude, latitude, size.max(0.001), random);
    let shape = if random.chance(70) {
        geojson("Point", place(longitude, latitude))
    } else {
        around(longitude, latitude, random.pick(&[0.001, 1.0, 30.0]), random)
    };
    Value::Object(vec![("id".to_owned(), "a".into()), ("p".to_owned(), shape)])
}

fn around(longitude: f64, latitude: f64, size: f64, random: &mut Random) -> Value {
    match random.below(6) {
        0 => geojson("Point", place(longitude, latitude)),
        1 | 2 => {
            let places = (0..2 + random.below(4)).map(|_| near(longitude, latitude, size, random));
            geojson("LineString", Value::Array(places.map(|(lon, lat)| place(lon, lat)).collect()))
        }
        3 | 4 => geojson("Polygon", Value::Array(vec![ring(longitude, latitude, size, random)])),
        _ => {
            let (lon, lat) = near(longitude, latitude, 4.0 * size, random);
            let polygons = [(longitude, latitude), (lon, lat)];
            let polygon = |(lon, lat)| Value::Array(vec![ring(lon, lat, size, random)]);
            geojson("MultiPolygon", Value::Array(polygons.map(polygon).to_vec()))
        }
    }
}

/// A ring around a place, now and then the other way round: then the area is all but what is inside. Around a
/// pole it goes through all longitudes.
fn ring(longitude: f64, latitude: f64, size: f64, random: &mut Random) -> Value {
    const CORNERS: usize = 6;
    let mut places: Vec<Value> = (0..CORNERS)
        .map(|corner| {
            let angle = corner as f64 * std::f64::consts::TAU / CORNERS as f64;
            match latitude.abs() > 88.0 {
                true => place(-170.0 + 60.0 * corner as f64, latitude.signum() * (90.0 - size)),
                false => {
                    let latitude = (latitude + size * angle.sin()).clamp(-90.0, 90.0);
                    place(longitude + size * angle.cos(), latitude)
                }
            }
        })
        .collect();
    if random.chance(15) != (latitude < -88.0) {
        places.reverse();
    }
    places.extend(places.first().cloned());
    Value::Array(places)
}

fn near(longitude: f64, latitude: f64, size: f64, random: &mut Random) -> (f64, f64) {
    let mut part = || random.below(20_001) as f64 / 10_000.0 - 1.0;
    let widening = latitude.to_radians().cos().max(0.05);
    (longitude + part() * size / widening, (latitude + part() * size).clamp(-90.0, 90.0))
}

fn place(longitude: f64, latitude: f64) -> Value {
    let turned = (longitude + 180.0).rem_euclid(360.0) - 180.0;
    let turned = if longitude == 180.0 { 180.0 } else { turned };
    Value::Array(vec![turned.into(), latitude.into()])
}

fn geojson(kind: &str, coordinates: Value) -> Value {
    Value::Object(vec![("type".to_owned(), kind.into()), ("coordinates".to_owned(), coordinates)])
}

fn collect_places(coordinates: &Value, places: &mut Vec<(f64, f64)>) {
    match coordinates {
        Value::Array(items) => match &items[..] {
            [Value::Number(lon), Value::Number(lat)] => places.push((lon.as_f64(), lat.as_f64())),
            items => items.iter().for_each(|item| collect_places(item, places)),
        },
        _ => panic!("coordinates are arrays of numbers"),
    }
}
