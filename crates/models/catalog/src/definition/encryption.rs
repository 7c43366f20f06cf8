//! The client encryption policy. Clients encrypt and decrypt; the server only stores the policy, if well
//! formed.

use super::members::{DefinitionError, Parsed, invalid};
use super::members::{Members, integer};
use super::path::PropertyPath;
use serde_json::Value;
use std::collections::HashSet;

const KEY_MEMBERS: [&str; 3] = ["clientEncryptionKeyId", "encryptionType", "encryptionAlgorithm"];

pub(super) fn parse(raw: Value) -> Parsed<()> {
    let mut members = Members::of("clientEncryptionPolicy", raw.clone())?;
    let mut seen = HashSet::new();
    for entry in members.list("includedPaths")? {
        let path = entry_path(entry)?;
        if let Some(path) = seen.replace(path) {
            return Err(invalid(format!("The clientEncryptionPolicy has the path '{path}' twice.")));
        }
    }
    let version = members.take("policyFormatVersion");
    if version.is_some_and(|version| !matches!(integer(&version), Some(1 | 2))) {
        return Err(invalid("The policyFormatVersion of the clientEncryptionPolicy must be 1 or 2."));
    }
    Ok(((), raw))
}

fn entry_path(raw: Value) -> Result<PropertyPath, DefinitionError> {
    let mut members = Members::of("clientEncryptionPolicy path", raw)?;
    let text = members.required_string("path")?;
    for name in KEY_MEMBERS {
        members.required_string(name)?;
    }
    PropertyPath::parse(&text).map_err(|error| invalid(format!("The client encryption {error}.")))
}
