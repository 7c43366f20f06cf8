//! The body of a write: the keys and properties of an entity, or the name of a table.
//!
//! A property's type is in a member of its own, `"p@odata.type": "Edm.Int64"`, before it or after it. Members that begin
//! with `odata.` and other annotations are answers sent back, and mean nothing; so does a Timestamp. A null is as good as
//! no property.

use super::scalar::{self, Scalar};
use orrery_tables::entity::{PARTITION_KEY, ROW_KEY, TIMESTAMP};
use orrery_tables::{EdmType, EntityBuilder, InvalidEntity};
use orrery_value::raw::unescape;
use orrery_value::{JsonError, Scan, scan_object, utf8};
use std::borrow::Cow;

/// An entity as a body has it. A write to one that the URL names needs no keys in the body.
#[derive(Debug)]
pub struct EntityBody {
    pub partition_key: Option<String>,
    pub row_key: Option<String>,
    pub properties: EntityBuilder,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBody {
    #[error("The body is not a JSON object: {0}.")]
    Json(#[from] JsonError),
    #[error("The type '{name}' of the property '{property}' is not known.")]
    UnknownType { property: String, name: String },
    #[error("The value of the property '{property}' is no {}.", expected.name())]
    Value { property: String, expected: EdmType },
    #[error("The body has no TableName that is a string.")]
    NoTableName,
    #[error(transparent)]
    Entity(#[from] InvalidEntity),
}

pub fn read_entity(body: &[u8]) -> Result<EntityBody, InvalidBody> {
    let (scan, text) = (scan_object(body)?, utf8(body)?);
    let types = Types::read(&scan, text)?;
    let mut entity = EntityBody { partition_key: None, row_key: None, properties: EntityBuilder::new() };
    for (name, token) in members(&scan, text) {
        if name.contains('@') || name.starts_with("odata.") || name == TIMESTAMP {
            continue;
        }
        let annotated = if is_key(&name) { Some(EdmType::String) } else { types.of(&name) };
        let scalar = scalar::read(token, annotated)
            .map_err(|error| InvalidBody::Value { property: clipped(&name), expected: error.0 })?;
        entity.put(&name, &scalar)?;
    }
    Ok(entity)
}

/// `{"TableName":"x"}`
pub fn read_table_name(body: &[u8]) -> Result<String, InvalidBody> {
    let (scan, text) = (scan_object(body)?, utf8(body)?);
    let named = members(&scan, text).find(|(name, _)| name == "TableName");
    let name = named.and_then(|(_, token)| scalar::text_of(token));
    name.map(Cow::into_owned).ok_or(InvalidBody::NoTableName)
}

impl EntityBody {
    fn put(&mut self, name: &str, scalar: &Scalar<'_>) -> Result<(), InvalidEntity> {
        match (name, scalar) {
            (_, Scalar::Null) => {}
            (PARTITION_KEY, Scalar::Text(text)) => self.partition_key = Some(text.to_string()),
            (ROW_KEY, Scalar::Text(text)) => self.row_key = Some(text.to_string()),
            (_, scalar) => {
                let value = scalar.value().expect("a value that is not null was read");
                self.properties.push(name, value)?;
            }
        }
        Ok(())
    }
}

/// The annotations of a body, by the property that they are about.
struct Types<'a>(Vec<(Cow<'a, str>, EdmType)>);

impl<'a> Types<'a> {
    fn read(scan: &Scan, text: &'a str) -> Result<Self, InvalidBody> {
        let mut types = Vec::new();
        for (name, token) in members(scan, text) {
            let Some(property) = name.strip_suffix("@odata.type") else { continue };
            let unknown = || {
                let name = scalar::text_of(token).unwrap_or(Cow::Borrowed(token));
                InvalidBody::UnknownType { property: clipped(property), name: clipped(&name) }
            };
            let edm_type =
                scalar::text_of(token).and_then(|name| EdmType::parse(&name)).ok_or_else(unknown)?;
            let property = match &name {
                Cow::Borrowed(name) => Cow::Borrowed(&name[..property.len()]),
                Cow::Owned(_) => Cow::Owned(property.to_owned()),
            };
            types.push((property, edm_type));
        }
        types.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(Self(types))
    }

    fn of(&self, property: &str) -> Option<EdmType> {
        let found = self.0.binary_search_by(|(known, _)| (**known).cmp(property));
        found.ok().map(|at| self.0[at].1)
    }
}

/// Names, and the JSON of their values.
fn members<'a>(scan: &Scan, text: &'a str) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
    scan.members.iter().map(move |member| (unescape(member.name.of(text)), member.value.of(text)))
}

fn is_key(name: &str) -> bool {
    matches!(name, PARTITION_KEY | ROW_KEY)
}

/// As much of a client's text as a sentence repeats.
fn clipped(text: &str) -> String {
    text.chars().take(crate::limits::SHOWN_CHARS_MAX).collect()
}
