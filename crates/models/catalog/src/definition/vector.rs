//! The vector embedding policy: the paths of vectors, their element type, dimensions and distance function.

use super::members::{DefinitionError, Parsed, invalid};
use super::members::{Members, spelled};
use super::path::PropertyPath;
use crate::limits;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorEmbedding {
    pub path: PropertyPath,
    pub data_type: VectorDataType,
    pub dimensions: u64,
    pub distance: DistanceFunction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorDataType {
    Float32,
    Float16,
    Int8,
    Uint8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistanceFunction {
    Euclidean,
    Cosine,
    DotProduct,
}

const DATA_TYPES: [(&str, VectorDataType); 4] = [
    ("float32", VectorDataType::Float32),
    ("float16", VectorDataType::Float16),
    ("int8", VectorDataType::Int8),
    ("uint8", VectorDataType::Uint8),
];

const DISTANCES: [(&str, DistanceFunction); 3] = [
    ("euclidean", DistanceFunction::Euclidean),
    ("cosine", DistanceFunction::Cosine),
    ("dotproduct", DistanceFunction::DotProduct),
];

const DIMENSIONS_DEFAULT: i64 = 1536;

pub(super) fn parse(raw: Value) -> Parsed<Vec<VectorEmbedding>> {
    let mut members = Members::of("vectorEmbeddingPolicy", raw)?;
    let entries = members.list("vectorEmbeddings")?;
    let parsed = entries.into_iter().map(parse_embedding).collect::<Result<Vec<_>, _>>()?;
    let (embeddings, shown): (Vec<VectorEmbedding>, Vec<Value>) = parsed.into_iter().unzip();
    let mut seen = HashSet::new();
    if let Some(twice) = embeddings.iter().find(|embedding| !seen.insert(&embedding.path)) {
        return Err(invalid(format!("The Vector Embedding Policy has the Path:{} twice.", twice.path)));
    }
    let shown = Map::from_iter([("vectorEmbeddings".to_owned(), Value::Array(shown))]);
    Ok((embeddings, members.followed_by_rest(shown)))
}

fn parse_embedding(raw: Value) -> Parsed<VectorEmbedding> {
    let mut members = Members::of("vector embedding", raw)?;
    let text = members.required_string("path")?;
    let path = PropertyPath::parse(&text).map_err(|_| {
        invalid(format!(
            "The Vector Embedding Policy has an invalid Path:{text}. Give the path of one property, such \
             as /vector."
        ))
    })?;
    let (type_name, data_type) = data_type(&mut members)?;
    let dimensions = dimensions(&mut members)?;
    let (distance_name, distance) = distance(&mut members)?;
    let mut shown = Map::new();
    shown.insert("path".to_owned(), json!(text));
    shown.insert("dataType".to_owned(), json!(type_name));
    shown.insert("dimensions".to_owned(), json!(dimensions));
    shown.insert("distanceFunction".to_owned(), json!(distance_name));
    Ok((VectorEmbedding { path, data_type, dimensions, distance }, members.followed_by_rest(shown)))
}

fn data_type(members: &mut Members) -> Result<(&'static str, VectorDataType), DefinitionError> {
    let named = members.string("dataType")?.unwrap_or_else(|| "float32".to_owned());
    spelled(&named, &DATA_TYPES).ok_or_else(|| {
        invalid(format!(
            "The Vector Embedding Policy has an invalid DataType:{named}. Choose from float32, float16, \
             int8 and uint8."
        ))
    })
}

fn dimensions(members: &mut Members) -> Result<u64, DefinitionError> {
    let count = members.integer("dimensions")?.unwrap_or(DIMENSIONS_DEFAULT);
    let dimensions_max = limits::VECTOR_DIMENSIONS_MAX;
    match u64::try_from(count) {
        Ok(dimensions) if (1..=dimensions_max).contains(&dimensions) => Ok(dimensions),
        Ok(1..) => Err(invalid(format!(
            "The Vector Embedding Policy has Dimensions:{count} which is more than the maximum supported \
             value {dimensions_max}."
        ))),
        _ => Err(invalid(format!(
            "The Vector Embedding Policy has Dimensions:{count}, it should be a positive integer."
        ))),
    }
}

fn distance(members: &mut Members) -> Result<(&'static str, DistanceFunction), DefinitionError> {
    let named = members.string("distanceFunction")?.unwrap_or_else(|| "cosine".to_owned());
    spelled(&named, &DISTANCES).ok_or_else(|| {
        invalid(format!(
            "The Vector Embedding Policy has an invalid DistanceFunction:{named}. Choose from euclidean, \
             cosine and dotproduct."
        ))
    })
}
