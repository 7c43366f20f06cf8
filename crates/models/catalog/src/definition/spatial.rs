//! Spatial indexes, and whether coordinates are geographic or planar.
//!
//! A plane has no natural bounds, so with `Geometry` each index specifies its bounding box; with `Geography`
//! none may.

use super::index_path::{self, IndexPath};
use super::members::{DefinitionError, Parsed, invalid};
use super::members::{Members, spelled};
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Geospatial {
    #[default]
    Geography,
    Geometry,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SpatialIndex {
    pub path: IndexPath,
    /// Never empty.
    pub types: Vec<SpatialType>,
    pub bounds: Option<BoundingBox>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpatialType {
    Point,
    LineString,
    Polygon,
    MultiPolygon,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingBox {
    pub xmin: f64,
    pub ymin: f64,
    pub xmax: f64,
    pub ymax: f64,
}

const TYPES: [(&str, SpatialType); 4] = [
    ("Point", SpatialType::Point),
    ("LineString", SpatialType::LineString),
    ("Polygon", SpatialType::Polygon),
    ("MultiPolygon", SpatialType::MultiPolygon),
];

pub(super) fn parse_config(raw: Value) -> Parsed<Geospatial> {
    let mut members = Members::of("geospatialConfig", raw)?;
    let named = members.string("type")?.unwrap_or_else(|| "Geography".to_owned());
    let kinds = [("Geography", Geospatial::Geography), ("Geometry", Geospatial::Geometry)];
    let (name, kind) = spelled(&named, &kinds).ok_or_else(|| {
        invalid(format!(
            "The type '{named}' of the geospatialConfig is invalid. Choose 'Geography' or 'Geometry'."
        ))
    })?;
    let shown = Map::from_iter([("type".to_owned(), json!(name))]);
    Ok((kind, members.followed_by_rest(shown)))
}

pub(super) fn parse(raw: Vec<Value>) -> Parsed<Vec<SpatialIndex>> {
    let parsed = raw.into_iter().map(parse_index).collect::<Result<Vec<_>, _>>()?;
    let (indexes, shown) = parsed.into_iter().unzip();
    Ok((indexes, Value::Array(shown)))
}

pub(super) fn check(indexes: &[SpatialIndex], geospatial: Geospatial) -> Result<(), DefinitionError> {
    let wrong = indexes.iter().find(|index| index.bounds.is_some() != (geospatial == Geospatial::Geometry));
    match (wrong, geospatial) {
        (None, _) => Ok(()),
        (Some(index), Geospatial::Geometry) => Err(invalid(format!(
            "The spatial index on '{}' has no boundingBox. With the geospatialConfig type 'Geometry' each \
             needs one.",
            index.path
        ))),
        (Some(index), Geospatial::Geography) => Err(invalid(format!(
            "The spatial index on '{}' has a boundingBox, which the geospatialConfig type 'Geography' does not \
             take; it goes only with 'Geometry'.",
            index.path
        ))),
    }
}

fn parse_index(raw: Value) -> Parsed<SpatialIndex> {
    let mut members = Members::of("spatial index", raw)?;
    let path = IndexPath::parse(&members.required_string("path")?).map_err(index_path::refusal)?;
    let (names, types) = parse_types(members.list("types")?)?;
    let bounds = members.take("boundingBox").map(parse_bounds).transpose()?;
    let mut shown = Map::new();
    shown.insert("path".to_owned(), json!(path.to_string()));
    shown.insert("types".to_owned(), json!(names));
    if let Some((_, json)) = &bounds {
        shown.insert("boundingBox".to_owned(), json.clone());
    }
    let bounds = bounds.map(|(bounds, _)| bounds);
    Ok((SpatialIndex { path, types, bounds }, members.followed_by_rest(shown)))
}

/// An index without types covers all of them.
fn parse_types(raw: Vec<Value>) -> Result<(Vec<&'static str>, Vec<SpatialType>), DefinitionError> {
    if raw.is_empty() {
        return Ok(TYPES.into_iter().unzip());
    }
    let known = |named: &Value| named.as_str().and_then(|text| spelled(text, &TYPES));
    let found = raw.iter().map(|named| {
        known(named).ok_or_else(|| {
            invalid(format!(
                "The spatial index type {named} is invalid. Choose from Point, LineString, Polygon and \
                 MultiPolygon."
            ))
        })
    });
    Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().unzip())
}

fn parse_bounds(raw: Value) -> Parsed<BoundingBox> {
    let side = |name: &str| raw.get(name).and_then(Value::as_f64);
    let bounds = match (side("xmin"), side("ymin"), side("xmax"), side("ymax")) {
        (Some(xmin), Some(ymin), Some(xmax), Some(ymax)) => BoundingBox { xmin, ymin, xmax, ymax },
        _ => return Err(invalid("A boundingBox needs the numbers xmin, ymin, xmax and ymax.")),
    };
    if bounds.xmin >= bounds.xmax || bounds.ymin >= bounds.ymax {
        return Err(invalid("A boundingBox needs xmin below xmax and ymin below ymax."));
    }
    Ok((bounds, raw))
}
