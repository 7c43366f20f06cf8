//! Full-text policy: which properties contain prose, in which language, and which of them are indexed.

use super::members::Members;
use super::members::{DefinitionError, Parsed, invalid};
use super::path::PropertyPath;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullTextPolicy {
    pub default_language: Language,
    pub paths: Vec<FullTextPath>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullTextPath {
    pub path: PropertyPath,
    /// The policy's default for paths without a language.
    pub language: Language,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullTextIndex {
    pub path: PropertyPath,
}

/// A supported language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language(&'static str);

const LANGUAGES: [&str; 7] = ["en-US", "de-DE", "es-ES", "fr-FR", "it-IT", "pt-BR", "pt-PT"];

/// The languages by their Windows locale identifiers, which older clients send. Spanish has one per sort
/// order.
const LOCALE_IDS: [(&str, &str); 8] = [
    ("1033", "en-US"),
    ("1031", "de-DE"),
    ("1034", "es-ES"),
    ("3082", "es-ES"),
    ("1036", "fr-FR"),
    ("1040", "it-IT"),
    ("1046", "pt-BR"),
    ("2070", "pt-PT"),
];

impl Language {
    pub fn parse(raw: &str) -> Result<Self, DefinitionError> {
        let by_number = LOCALE_IDS.into_iter().find(|(number, _)| *number == raw).map(|(_, name)| name);
        let name = by_number.or_else(|| LANGUAGES.into_iter().find(|known| *known == raw));
        name.map(Self).ok_or_else(|| {
            invalid(format!(
                "The Full Text Policy contains an unsupported language {raw}. Supported languages are: {}.",
                LANGUAGES.join(", ")
            ))
        })
    }
}

impl Default for Language {
    fn default() -> Self {
        Self(LANGUAGES[0])
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The policy is shown as sent: a path without a language stays without one.
pub(super) fn parse(raw: Value) -> Parsed<FullTextPolicy> {
    let mut members = Members::of("fullTextPolicy", raw.clone())?;
    let default_language = language(&mut members, "defaultLanguage")?.unwrap_or_default();
    let mut paths = Vec::new();
    for entry in members.list("fullTextPaths")? {
        paths.push(parse_path(entry, default_language)?);
    }
    let mut seen = HashSet::new();
    if let Some(twice) = paths.iter().find(|entry| !seen.insert(&entry.path)) {
        return Err(invalid(format!("The Full Text Policy contains the Path: {} twice.", twice.path)));
    }
    Ok((FullTextPolicy { default_language, paths }, raw))
}

pub(super) fn parse_indexes(raw: Vec<Value>) -> Parsed<Vec<FullTextIndex>> {
    let parsed = raw
        .into_iter()
        .enumerate()
        .map(|(at, entry)| parse_index(at, entry))
        .collect::<Result<Vec<_>, _>>()?;
    let (indexes, shown): (Vec<FullTextIndex>, Vec<Value>) = parsed.into_iter().unzip();
    let mut seen = HashSet::new();
    if let Some(twice) = indexes.iter().find(|index| !seen.insert(&index.path)) {
        return Err(invalid(format!("The path of the Full Text Index {} is there twice.", twice.path)));
    }
    Ok((indexes, Value::Array(shown)))
}

/// Every index must be on a path of the policy.
pub(super) fn check(
    indexes: &[FullTextIndex],
    policy: Option<&FullTextPolicy>,
) -> Result<(), DefinitionError> {
    let known: HashSet<_> = policy.iter().flat_map(|policy| &policy.paths).map(|entry| &entry.path).collect();
    match indexes.iter().find(|index| !known.contains(&index.path)) {
        None => Ok(()),
        Some(index) => Err(invalid(format!(
            "The path of the Full Text Index {} does not match the path specified in the Full Text Policy.",
            index.path
        ))),
    }
}

fn parse_path(raw: Value, default_language: Language) -> Result<FullTextPath, DefinitionError> {
    let mut members = Members::of("fullTextPolicy path", raw)?;
    let text = members.required_string("path")?;
    let path = PropertyPath::parse(&text)
        .map_err(|_| invalid(format!("The Full Text Policy contains an invalid Path: {text}")))?;
    let language = language(&mut members, "language")?.unwrap_or(default_language);
    Ok(FullTextPath { path, language })
}

fn language(members: &mut Members, name: &str) -> Result<Option<Language>, DefinitionError> {
    members.string(name)?.map(|raw| Language::parse(&raw)).transpose()
}

fn parse_index(at: usize, raw: Value) -> Parsed<FullTextIndex> {
    let mut members = Members::of("full-text index", raw)?;
    let text = members
        .string("path")?
        .ok_or_else(|| invalid(format!("Missing path in full-text index specification at index ({at})")))?;
    let path = PropertyPath::parse(&text).map_err(|_| {
        invalid(format!("Full-text index specification at index ({at}) contains invalid path '{text}'."))
    })?;
    let shown = Map::from_iter([("path".to_owned(), json!(text))]);
    Ok((FullTextIndex { path }, members.followed_by_rest(shown)))
}
