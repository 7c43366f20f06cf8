//! The account's keys and the folder's secret: made at first start, kept in the data folder.
//!
//! On loopback the published emulator key works, as code and tests expect. Bound to anything else, only the
//! folder's own keys do.

use crate::config::Config;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_api_common::{EMULATOR_KEY, Key, Keys};
use orrery_core::Env;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    primary: String,
    secondary: String,
    primary_readonly: String,
    secondary_readonly: String,
    token_secret: String,
}

pub struct AccountKeys {
    pub keys: Keys,
    /// The key to show to a person who connects.
    pub shown: String,
    pub token_secret: [u8; 32],
    /// Whether they were made by this start.
    pub are_new: bool,
}

pub fn load_or_make(config: &Config) -> Result<AccountKeys, String> {
    let path = config.data.join("keys.json");
    let (record, are_new) = match fs::read(&path) {
        Ok(bytes) => (read(&path, &bytes)?, false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (make(&path)?, true),
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    let key = |text: &str| Key::parse(text).map_err(|error| damaged(&path, &error.to_string()));
    let own = record.primary.clone();
    let (primary, secondary, shown) = match config.is_loopback() {
        true => (EMULATOR_KEY.to_owned(), own, EMULATOR_KEY.to_owned()),
        false => (own.clone(), record.secondary, own),
    };
    let secret = STANDARD.decode(&record.token_secret).ok().and_then(|bytes| bytes.try_into().ok());
    Ok(AccountKeys {
        keys: Keys {
            primary: key(&primary)?,
            secondary: key(&secondary)?,
            primary_readonly: Some(key(&record.primary_readonly)?),
            secondary_readonly: Some(key(&record.secondary_readonly)?),
        },
        shown,
        token_secret: secret.ok_or_else(|| damaged(&path, "the token secret is not 32 bytes"))?,
        are_new,
    })
}

fn damaged(path: &Path, why: &str) -> String {
    format!("{} is damaged ({why}); restore it, or remove it to have new keys made", path.display())
}

fn read(path: &Path, bytes: &[u8]) -> Result<Record, String> {
    let record: Record = serde_json::from_slice(bytes).map_err(|error| damaged(path, &error.to_string()))?;
    if record.v != VERSION {
        return Err(format!("{} has version {}, and this build reads {VERSION}", path.display(), record.v));
    }
    Ok(record)
}

fn make(path: &Path) -> Result<Record, String> {
    let key = || Env::secret::<64>().map(|bytes| STANDARD.encode(bytes)).map_err(|error| error.to_string());
    let record = Record {
        v: VERSION,
        primary: key()?,
        secondary: key()?,
        primary_readonly: key()?,
        secondary_readonly: key()?,
        token_secret: STANDARD.encode(Env::secret::<32>().map_err(|error| error.to_string())?),
    };
    let text = serde_json::to_vec_pretty(&record).map_err(|error| error.to_string())?;
    write_private(path, &text).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    Ok(record)
}

/// Whole or not at all, and readable by its owner only.
fn write_private(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&new)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    path.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}
