//! The key pair of the development issuer, in the data folder: made on first use.

use super::private_file;
use crate::bearer::DevelopmentKey;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

const FILE: &str = "development-key.json";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    pkcs8: String,
}

pub fn load_or_make(folder: &Path) -> Result<DevelopmentKey, String> {
    let path = folder.join(FILE);
    let damaged =
        |why: &str| format!("{} is damaged ({why}); remove it to have a new one made", path.display());
    if !path.exists() {
        make(&path)?;
    }
    let bytes = fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let record: Record = serde_json::from_slice(&bytes).map_err(|error| damaged(&error.to_string()))?;
    if record.v != VERSION {
        return Err(format!("{} has version {}, and this build reads {VERSION}", path.display(), record.v));
    }
    let pkcs8 = STANDARD.decode(&record.pkcs8).map_err(|error| damaged(&error.to_string()))?;
    DevelopmentKey::read(&pkcs8).map_err(|error| damaged(&error))
}

fn make(path: &Path) -> Result<(), String> {
    let record = Record { v: VERSION, pkcs8: STANDARD.encode(DevelopmentKey::make()?) };
    let text = serde_json::to_vec_pretty(&record).map_err(|error| error.to_string())?;
    private_file::create(path, &text)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
}
