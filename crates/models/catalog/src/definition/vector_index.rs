//! Vector indexes of an indexing policy: how to search the vectors at a path of the embedding policy.

use super::members::{DefinitionError, Parsed, invalid, wrong_input};
use super::members::{Members, spelled};
use super::path::PropertyPath;
use super::vector::VectorEmbedding;
use crate::limits;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorIndex {
    pub path: PropertyPath,
    pub kind: VectorIndexKind,
    pub quantization_bytes: Option<i64>,
    pub quantizer: Option<Quantizer>,
    pub search_list: Option<i64>,
    pub shard_key: Vec<PropertyPath>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorIndexKind {
    Flat,
    QuantizedFlat,
    DiskAnn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantizer {
    Product,
    Spherical,
}

const KINDS: [(&str, VectorIndexKind); 3] = [
    ("flat", VectorIndexKind::Flat),
    ("quantizedFlat", VectorIndexKind::QuantizedFlat),
    ("diskANN", VectorIndexKind::DiskAnn),
];

const QUANTIZERS: [(&str, Quantizer); 2] =
    [("product", Quantizer::Product), ("spherical", Quantizer::Spherical)];

pub(super) fn parse(raw: Vec<Value>) -> Parsed<Vec<VectorIndex>> {
    let parsed = raw.into_iter().map(parse_index).collect::<Result<Vec<_>, _>>()?;
    let (indexes, shown): (Vec<VectorIndex>, Vec<Value>) = parsed.into_iter().unzip();
    let mut seen = HashSet::new();
    if let Some(twice) = indexes.iter().find(|index| !seen.insert(&index.path)) {
        return Err(invalid(format!("The Vector Indexing Policy has the path '{}' twice.", twice.path)));
    }
    Ok((indexes, Value::Array(shown)))
}

/// Every index must be on an embedding, and an unquantized one on a small enough embedding.
pub(super) fn check(indexes: &[VectorIndex], embeddings: &[VectorEmbedding]) -> Result<(), DefinitionError> {
    let flat_max = limits::VECTOR_DIMENSIONS_FLAT_MAX;
    for index in indexes {
        let Some(count) = dimensions_of(index, embeddings) else {
            return Err(invalid(format!(
                "The Vector Indexing Policy's path::{} not matching in Embedding's path. Add it to the \
                 vectorEmbeddingPolicy.",
                index.path
            )));
        };
        if index.kind == VectorIndexKind::Flat && count > flat_max {
            return Err(invalid(format!(
                "The vector at '{}' has {count} dimensions. An index of type flat takes at most \
                 {flat_max}; use quantizedFlat or diskANN.",
                index.path
            )));
        }
    }
    Ok(())
}

/// Rules for new indexes. Indexes created before these rules stay unchanged.
pub(super) fn check_new<'a>(
    indexes: impl IntoIterator<Item = &'a VectorIndex>,
    embeddings: &[VectorEmbedding],
) -> Result<(), DefinitionError> {
    for index in indexes {
        let dimensions = dimensions_of(index, embeddings).unwrap_or_default();
        let bytes_max = limits::VECTOR_QUANTIZATION_BYTES_MAX.min(dimensions) as i64;
        check_range(index.quantization_bytes, "QuantizationByteSize", (1, bytes_max))?;
        let (count, count_max) = (index.shard_key.len(), limits::VECTOR_SHARD_PATHS_MAX);
        if count > count_max {
            return Err(invalid(format!(
                "The number of shard paths defined in the Vector Indexing Policy: {count} exceeds the maximum: \
                 {count_max}. Keep one path in the vectorIndexShardKey of '{}'.",
                index.path
            )));
        }
    }
    Ok(())
}

fn dimensions_of(index: &VectorIndex, embeddings: &[VectorEmbedding]) -> Option<u64> {
    embeddings.iter().find(|embedding| embedding.path == index.path).map(|found| found.dimensions)
}

/// A replace may add and drop vector indexes, but not change one.
pub(super) fn check_replace(old: &[VectorIndex], new: &[VectorIndex]) -> Result<(), DefinitionError> {
    let before: HashMap<_, _> = old.iter().map(|index| (&index.path, index)).collect();
    let changed = new.iter().any(|index| before.get(&index.path).is_some_and(|old| *old != index));
    if changed {
        return Err(invalid(
            "Paths in existing vector indexing policy cannot be modified in Collection Replace. They can \
             only be added or removed.",
        ));
    }
    Ok(())
}

fn parse_index(raw: Value) -> Parsed<VectorIndex> {
    let mut members = Members::of("vector index", raw)?;
    let text = members.required_string("path")?;
    let path = PropertyPath::parse(&text)
        .map_err(|error| invalid(format!("The vector index {error}. Give the path of one property.")))?;
    let named = members.required_string("type")?;
    let (kind_name, kind) = spelled(&named, &KINDS).ok_or_else(|| {
        invalid(format!("Index Type::{named} is invalid. Choose from flat, quantizedFlat and diskANN."))
    })?;
    let mut shown = Map::from_iter([("path".to_owned(), json!(text)), ("type".to_owned(), json!(kind_name))]);
    let quantization_bytes = members.integer("quantizationByteSize")?;
    shown.extend(quantization_bytes.map(|bytes| ("quantizationByteSize".to_owned(), json!(bytes))));
    let quantizer = quantizer(&mut members, &mut shown)?;
    let search_list = members.integer("indexingSearchListSize")?;
    let search_range = (limits::VECTOR_SEARCH_LIST_MIN, limits::VECTOR_SEARCH_LIST_MAX);
    check_range(search_list, "IndexingSearchListSize", search_range)?;
    shown.extend(search_list.map(|size| ("indexingSearchListSize".to_owned(), json!(size))));
    let shard_key = shard_key(&mut members, &mut shown)?;
    let index = VectorIndex { path, kind, quantization_bytes, quantizer, search_list, shard_key };
    Ok((index, members.followed_by_rest(shown)))
}

fn check_range(value: Option<i64>, name: &str, (min, max): (i64, i64)) -> Result<(), DefinitionError> {
    match value {
        Some(size) if !(min..=max).contains(&size) => Err(invalid(format!(
            "The Vector Indexing Policy parameter {name} value :: {size} is out of range. The allowed range is \
             between {min} and {max}."
        ))),
        _ => Ok(()),
    }
}

fn quantizer(
    members: &mut Members,
    shown: &mut Map<String, Value>,
) -> Result<Option<Quantizer>, DefinitionError> {
    let Some(named) = members.string("quantizerType")? else { return Ok(None) };
    let (name, quantizer) = spelled(&named, &QUANTIZERS)
        .ok_or_else(|| invalid(format!("QuantizerType::{named} is invalid. Choose product or spherical.")))?;
    shown.insert("quantizerType".to_owned(), json!(name));
    Ok(Some(quantizer))
}

fn shard_key(
    members: &mut Members,
    shown: &mut Map<String, Value>,
) -> Result<Vec<PropertyPath>, DefinitionError> {
    let texts = members.list("vectorIndexShardKey")?;
    let parse = |raw: &Value| {
        let text = raw.as_str();
        let text = text.ok_or_else(|| wrong_input("The vectorIndexShardKey must be an array of paths."))?;
        PropertyPath::parse(text).map_err(|error| {
            invalid(format!("The Vector Indexing Policy has an invalid Shard Path: {text}. The {error}."))
        })
    };
    let paths = texts.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    if !texts.is_empty() {
        shown.insert("vectorIndexShardKey".to_owned(), Value::Array(texts));
    }
    Ok(paths)
}
