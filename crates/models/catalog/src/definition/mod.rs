//! Container definitions: name, partition key, indexing and the other policies that a client may set.
//!
//! A body is parsed once. The result holds the typed parts for the rest of the model, and the normalised JSON
//! for responses: defaults filled in, enum spellings and legacy forms made uniform, unknown members kept.
//! Parsing that JSON gives the same definition.
//!
//! Each policy has its own file, with a `parse` from its JSON to the typed form and the JSON to show. Nothing
//! here stores anything; `replace.rs` defines which changes a replace permits.

mod change_feed;
mod composite;
mod computed;
mod conflict;
mod encryption;
mod full_text;
mod index_path;
mod indexing;
mod members;
mod partition_key;
mod path;
mod replace;
mod spatial;
mod throughput;
mod ttl;
mod unique;
mod vector;
mod vector_index;

pub use change_feed::ChangeFeedPolicy;
pub use composite::{CompositeIndex, CompositePath, SortOrder};
pub use computed::ComputedProperty;
pub use conflict::ConflictResolution;
pub use full_text::{FullTextIndex, FullTextPath, FullTextPolicy, Language};
pub use index_path::{IndexPath, IndexReach, IndexStep};
pub use indexing::{IndexingMode, IndexingPolicy};
pub use members::DefinitionError;
pub use partition_key::{PartitionKeyDefinition, PartitionKind};
pub use path::{InvalidPath, PropertyPath};
pub use spatial::{BoundingBox, Geospatial, SpatialIndex, SpatialType};
pub use throughput::Throughput;
pub use ttl::DefaultTtl;
pub use vector::{DistanceFunction, VectorDataType, VectorEmbedding};
pub use vector_index::{Quantizer, VectorIndex, VectorIndexKind};

use members::{Parsed, Sections};
use orrery_core::ContainerName;
use serde_json::{Map, Value};

/// A valid container definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerDefinition {
    name: ContainerName,
    indexing: IndexingPolicy,
    partition_key: PartitionKeyDefinition,
    default_ttl: Option<DefaultTtl>,
    analytical_ttl: Option<DefaultTtl>,
    unique_keys: Vec<Vec<PropertyPath>>,
    conflicts: ConflictResolution,
    geospatial: Geospatial,
    vectors: Vec<VectorEmbedding>,
    full_text: Option<FullTextPolicy>,
    computed: Vec<ComputedProperty>,
    change_feed: Option<ChangeFeedPolicy>,
    json: Map<String, Value>,
}

/// Members that the service adds to responses. Clients that edit a response send them back; they are not part
/// of the definition.
const ANSWER_MEMBERS: [&str; 10] =
    ["_rid", "_self", "_etag", "_ts", "_docs", "_sprocs", "_triggers", "_udfs", "_conflicts", "statistics"];

/// System properties of every item.
const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];

impl ContainerDefinition {
    /// The definition in the body of a create.
    pub fn parse(mut body: Map<String, Value>) -> Result<Self, DefinitionError> {
        indexing::complete_default(&mut body);
        let definition = Self::read(body)?;
        vector_index::check_new(&definition.indexing.vectors, &definition.vectors)?;
        Ok(definition)
    }

    /// Parses a definition as shown or stored by a server. It was valid when created, and rules for new
    /// definitions may be newer.
    pub fn read(mut body: Map<String, Value>) -> Result<Self, DefinitionError> {
        body.retain(|name, _| !ANSWER_MEMBERS.contains(&name.as_str()));
        let mut sections = Sections::new(body);
        let definition = Self {
            // The order of these lines is the member order in responses.
            name: sections.required("id", parse_name)?,
            indexing: sections.defaulted(indexing::INDEXING_POLICY, indexing::parse)?,
            partition_key: sections.required("partitionKey", partition_key::parse)?,
            default_ttl: sections.optional("defaultTtl", |raw| ttl::parse("defaultTtl", &raw))?,
            analytical_ttl: sections
                .optional("analyticalStorageTtl", |raw| ttl::parse("analyticalStorageTtl", &raw))?,
            unique_keys: sections.optional("uniqueKeyPolicy", unique::parse)?.unwrap_or_default(),
            conflicts: sections.defaulted("conflictResolutionPolicy", conflict::parse)?,
            geospatial: sections.defaulted("geospatialConfig", spatial::parse_config)?,
            vectors: sections.optional("vectorEmbeddingPolicy", vector::parse)?.unwrap_or_default(),
            full_text: sections.optional("fullTextPolicy", full_text::parse)?,
            computed: sections.optional("computedProperties", computed::parse)?.unwrap_or_default(),
            change_feed: sections.optional("changeFeedPolicy", change_feed::parse)?,
            json: {
                sections.optional("clientEncryptionPolicy", encryption::parse)?;
                sections.finish()
            },
        };
        definition.check_indexes_against_policies()?;
        Ok(definition)
    }

    pub fn name(&self) -> &ContainerName {
        &self.name
    }

    pub fn partition_key(&self) -> &PartitionKeyDefinition {
        &self.partition_key
    }

    pub fn indexing(&self) -> &IndexingPolicy {
        &self.indexing
    }

    /// `None` if items do not expire, whatever their own `ttl`.
    pub fn default_ttl(&self) -> Option<DefaultTtl> {
        self.default_ttl
    }

    pub fn analytical_ttl(&self) -> Option<DefaultTtl> {
        self.analytical_ttl
    }

    /// The path sets whose combined values are unique in a logical partition.
    pub fn unique_keys(&self) -> &[Vec<PropertyPath>] {
        &self.unique_keys
    }

    pub fn conflicts(&self) -> &ConflictResolution {
        &self.conflicts
    }

    pub fn geospatial(&self) -> Geospatial {
        self.geospatial
    }

    pub fn vectors(&self) -> &[VectorEmbedding] {
        &self.vectors
    }

    pub fn full_text(&self) -> Option<&FullTextPolicy> {
        self.full_text.as_ref()
    }

    pub fn computed(&self) -> &[ComputedProperty] {
        &self.computed
    }

    pub fn change_feed(&self) -> Option<ChangeFeedPolicy> {
        self.change_feed
    }

    /// The definition as shown by the service, without the system members of the stored resource.
    pub fn to_json(&self) -> Map<String, Value> {
        self.json.clone()
    }

    fn check_indexes_against_policies(&self) -> Result<(), DefinitionError> {
        spatial::check(&self.indexing.spatial, self.geospatial)?;
        vector_index::check(&self.indexing.vectors, &self.vectors)?;
        full_text::check(&self.indexing.full_text, self.full_text.as_ref())
    }
}

fn parse_name(raw: Value) -> Parsed<ContainerName> {
    let Value::String(text) = &raw else {
        return Err(members::invalid("The container's 'id' must be a string."));
    };
    Ok((ContainerName::parse(text)?, raw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn definition(extra: Value) -> ContainerDefinition {
        let mut body = json!({"id": "c", "partitionKey": {"paths": ["/pk"]}}).as_object().unwrap().clone();
        body.extend(extra.as_object().unwrap().clone());
        ContainerDefinition::parse(body).unwrap()
    }

    fn path(text: &str) -> PropertyPath {
        PropertyPath::parse(text).unwrap()
    }

    #[test]
    fn a_bare_definition_has_the_defaults() {
        let bare = definition(json!({}));
        assert_eq!(bare.name().as_str(), "c");
        assert_eq!(bare.partition_key().kind(), PartitionKind::HashV1);
        assert_eq!(bare.partition_key().paths(), [path("/pk")]);
        assert_eq!((bare.default_ttl(), bare.analytical_ttl()), (None, None));
        assert_eq!(bare.conflicts(), &ConflictResolution::LastWriterWins { path: path("/_ts") });
        assert!(bare.unique_keys().is_empty() && bare.vectors().is_empty() && bare.computed().is_empty());
        assert_eq!(bare.indexing().mode, IndexingMode::Consistent);
        assert_eq!(bare.indexing().included, [IndexPath::root()]);
        assert_eq!(bare.indexing().excluded, [IndexPath::etag()]);
    }

    #[test]
    fn the_typed_parts_match_the_body() {
        let full = definition(json!({
            "partitionKey": {"paths": ["/a", "/b"], "kind": "MultiHash"},
            "defaultTtl": 60,
            "analyticalStorageTtl": -1,
            "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/x", "/\"y z\""]}]},
            "conflictResolutionPolicy": {"mode": "custom"},
            "changeFeedPolicy": {"retentionDuration": 10},
            "fullTextPolicy": {"defaultLanguage": "de-DE", "fullTextPaths": [{"path": "/t"}]},
            "vectorEmbeddingPolicy": {"vectorEmbeddings": [{"path": "/v", "dataType": "int8",
                "dimensions": 4}]},
            "indexingPolicy": {
                "compositeIndexes": [[{"path": "/a"}, {"path": "/b", "order": "descending"}]],
                "vectorIndexes": [{"path": "/v", "type": "diskANN"}],
            },
        }));
        assert_eq!(full.partition_key().kind(), PartitionKind::MultiHash);
        assert_eq!(full.default_ttl(), Some(DefaultTtl::Seconds(60)));
        assert_eq!(full.analytical_ttl(), Some(DefaultTtl::Never));
        assert_eq!(full.unique_keys(), [vec![path("/x"), path("/\"y z\"")]]);
        assert_eq!(full.conflicts(), &ConflictResolution::Custom { procedure: None });
        assert_eq!(full.change_feed(), Some(ChangeFeedPolicy { retention_minutes: 10, pre_images: false }));
        assert_eq!(full.full_text().unwrap().paths[0].language.to_string(), "de-DE");
        assert_eq!(full.vectors()[0].data_type, VectorDataType::Int8);
        assert_eq!(full.indexing().vectors[0].kind, VectorIndexKind::DiskAnn);
        let orders: Vec<SortOrder> =
            full.indexing().composites[0].paths().iter().map(|part| part.order).collect();
        assert_eq!(orders, [SortOrder::Ascending, SortOrder::Descending]);
    }
}
